"""An environment of its own with numpy, click, msgspec and goldrank, and nothing else; made without a network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import files
from pathlib import Path

import places

LIGHT = ("numpy", "click", "msgspec")
"""The packages that a light install needs."""


def make(folder: Path) -> Path:
    """The Python of a new environment."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    script = "Scripts" if os.name == "nt" else "bin"
    here = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for package in LIGHT:
        tops = {file.parts[0]: Path(str(file.locate())) for file in files(package) or ()}
        for top, inside in tops.items():
            if top not in ("..", "__pycache__"):
                _put(inside, top, here)
    (here / "goldrank.pth").write_text(f"{places.ROOT / 'src'}\n")
    return folder / script / Path(sys.executable).name


def _put(inside: Path, top: str, here: Path) -> None:
    """A package's folder or file, by a link where that is possible; `inside` is a file of it."""
    origin = next(folder for folder in (inside, *inside.parents) if folder.name == top)
    try:
        (here / top).symlink_to(origin)
    except OSError:  # Windows lets few people make links
        (shutil.copytree if origin.is_dir() else shutil.copy)(origin, here / top)


def call(python: Path, *arguments: str, folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    """Python with arguments, in a folder, with a clean home and none of our variables."""
    environment = {"HOME": str(folder), "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    if "SYSTEMROOT" in os.environ:
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [str(python), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False, **options
    )  # type: ignore[call-overload]
    return done
