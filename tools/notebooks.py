"""Run the notebooks of docs/notebooks and store them with their outputs: `python tools/notebooks.py`.

Needs the extra `docs`. The tests run the code of the notebooks too, without a kernel and without touching the files.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def run(path: Path) -> None:
    """Execute one notebook in a fresh kernel, and write it back without times and other marks of the machine."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    for number, cell in enumerate(notebook.cells):
        cell.metadata, cell.id = {}, f"cell-{number}"
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        run(path)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")
