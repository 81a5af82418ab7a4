"""Run the notebooks and keep their output: `python examples/notebooks/run.py [NAME ...]`, with nbclient, ipykernel."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with fresh output, and nothing in it of the machine or the time; the first cell that fails raises."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(HERE)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where, record_timing=False).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            nbformat.write(executed(path), path)
            print(path.name)
