"""The gallery: which example stands in which section, and where its pictures are.

Examples are short scripts in one folder, `examples/`. sphinx-gallery wants a folder for each section, so `settings` lays them out
that way below `docs/_build` before it begins.
"""

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst
from sphinx_gallery.sorting import ExplicitOrder

#: Sections in order: title, what is said of it, and its examples in order. Every example stands in exactly one.
SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "First steps": (
        "One operator, many inputs.",
        ("darcy", "poisson_disk", "heat", "helmholtz", "own_kernel"),
    ),
    "Geometry": (
        "Holes, outlines from files, surfaces given by a function, corners.",
        ("annulus", "holes", "gear", "torus", "solid", "l_shape"),
    ),
    "Materials": (
        "Coefficients that jump, and coefficients from arrays.",
        ("layers", "wall", "inclusion", "groundwater"),
    ),
    "Waves and time": (
        "Space–time, absorbing boundaries, and long times slab by slab.",
        ("damped_wave", "march", "periodic_flow", "impedance"),
    ),
    "Systems": (
        "Several unknowns: flow, elasticity, electromagnetism, chemistry.",
        ("stokes", "cavity", "elasticity", "reaction_diffusion", "maxwell"),
    ),
    "Data and uncertainty": (
        "Sensors, noise, and sources found by their gradient.",
        ("noisy_sensors", "unknown_boundary", "find_the_source"),
    ),
}


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
        "download_all_examples": False,
        "min_reported_time": 1e9,
        "show_memory": False,
        "write_computation_times": False,
        "remove_config_comments": True,
        "plot_gallery": "True",
    }


def folder(title: str) -> str:
    """The folder of a section."""
    return title.lower().replace(" ", "_")


def lay_out(examples: Path, staged: Path) -> None:
    """Copy the examples into a folder for each section, with a heading; files that have not changed stay."""
    sections = {folder(title): (title, text, names) for title, (text, names) in SECTIONS.items()}
    write(staged / "GALLERY_HEADER.rst", heading("Gallery", "Each example is a script in `examples/` that asserts its own accuracy."))
    for name, (title, text, names) in sections.items():
        write(staged / name / "GALLERY_HEADER.rst", heading(title, text))
        for example in names:
            write(staged / name / f"{example}.py", (examples / f"{example}.py").read_text())
        shutil.copytree(examples / "data", staged / name / "data", dirs_exist_ok=True)


def heading(title: str, text: str) -> str:
    """A heading in reStructuredText, with a line below it."""
    return f"{title}\n{'=' * len(title)}\n\n{text.replace('`', '``')}\n"


def write(path: Path, text: str) -> None:
    """Write a file unless it has this text already, so that what did not change is not run again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def in_order(name: str) -> int:
    """Where an example stands within its section."""
    order = [example for _, names in SECTIONS.values() for example in names]
    return order.index(Path(name).stem)


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
