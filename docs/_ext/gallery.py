"""The gallery: examples laid out by section, and their pictures.

Examples are short scripts in one folder, `examples/`. sphinx-gallery wants a folder for each section: `settings` lays
them out that way below `docs/_build` before it begins.
"""

import gc
import shutil
import warnings
from pathlib import Path
from typing import Any

import jax
from sphinx_gallery.scrapers import figure_rst
from sphinx_gallery.sorting import ExplicitOrder

from sections import SECTIONS, folder


def settings(docs: Path) -> dict[str, Any]:
    """The settings of sphinx-gallery, for the folder of the documents."""
    lay_out(docs.parent / "examples", docs / "_build" / "examples")
    return {
        "examples_dirs": ["_build/examples"],
        "gallery_dirs": ["gallery"],
        "filename_pattern": r"\.py$",
        "subsection_order": ExplicitOrder([f"_build/examples/{folder(title)}" for title in SECTIONS]),
        "within_subsection_order": "gallery.in_order",
        "image_scrapers": ("gallery.saved_figures",),
        "capture_repr": (),
        "reset_modules": ("matplotlib", "gallery.forget"),
        "only_warn_on_example_error": True,  # a warning is an error of `make docs`, which then names them all
        "download_all_examples": False,
        "min_reported_time": 1e9,
        "show_memory": False,
        "write_computation_times": False,
        "remove_config_comments": True,
        "plot_gallery": "True",
    }


def lay_out(examples: Path, staged: Path) -> None:
    """Copy the examples into a folder for each section, with a heading; files that have not changed stay."""
    sections = {folder(title): (title, text, names) for title, (text, names) in SECTIONS.items()}
    text = "Each example is a script in `examples/` of the repository, with its truth; it asserts its own accuracy."
    write(staged / "GALLERY_HEADER.rst", heading("Gallery", text, "="))
    for name, (title, text, names) in sections.items():
        write(staged / name / "GALLERY_HEADER.rst", heading(title, text, "-"))
        for example in names:
            write(staged / name / f"{example}.py", (examples / f"{example}.py").read_text())
        shutil.copytree(examples / "data", staged / name / "data", dirs_exist_ok=True)


def heading(title: str, text: str, mark: str) -> str:
    """A heading in reStructuredText, underlined by a mark, and what stands below it."""
    return f"{title}\n{mark * len(title)}\n\n{text.replace('`', '``')}\n"


def write(path: Path, text: str) -> None:
    """Write a file unless it has this text already, so that what did not change is not run again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def in_order(name: str) -> int:
    """Where an example stands within its section."""
    order = [example for _, names in SECTIONS.values() for example in names]
    return order.index(Path(name).stem)


def forget(gallery_conf: dict[str, Any], source: str) -> None:
    """Examples run in one process: what one has set or compiled is not left to the next."""
    warnings.formatwarning = told
    jax.config.update("jax_enable_x64", False)
    jax.clear_caches()
    gc.collect()


def told(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> str:
    """A warning on one line, without the place of the script on the machine where the site is built."""
    return f"{category.__name__}: {message}\n"


def saved_figures(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The figures that an example saved below `out/`, and those that it left open."""
    from matplotlib import pyplot as plt

    source = Path(block_vars["src_file"])
    paths, found = block_vars["image_path_iterator"], []
    for picture in sorted((source.parent / "out" / "examples").glob(f"{source.stem}*.png")):
        target = next(paths)
        shutil.move(picture, target)
        found.append(target)
    for number in plt.get_fignums():
        target = next(paths)
        plt.figure(number).savefig(target)
        found.append(target)
    plt.close("all")
    return figure_rst(found, gallery_conf["src_dir"])
