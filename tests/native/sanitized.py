"""Run the tests of the compiled core with a core that checks every address and every undefined operation.

    python tests/native/sanitized.py [arguments of pytest]

It needs gcc and its sanitizers. The package is copied to a temporary folder, so that the core in use stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ["-O1", "-g", "-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-cast-function-type", "-Werror"]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "goldrank"
        shutil.copytree(ROOT / "src" / "goldrank", package, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
        subprocess.run(
            [
                *("gcc", *FLAGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fPIC", "-shared"),
                *("-ffp-contract=off", "-DPy_LIMITED_API=0x030B0000", f"-I{sysconfig.get_paths()['include']}"),
                *(str(package / "_native.c"), "-o", str(package / "_native.abi3.so")),
            ],
            check=True,
        )
        found = [
            subprocess.run(
                ["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True
            ).stdout.strip()
            for name in ("libasan.so", "libubsan.so")
        ]
        settings = {
            "LD_PRELOAD": " ".join(found),
            "PYTHONMALLOC": "malloc",  # so that every object is a block of its own, with guarded ends
            "ASAN_OPTIONS": "detect_leaks=0",
            "PYTHONPATH": folder,
            "GOLDRANK_PURE": "0",
        }
        tests = [str(ROOT / "tests" / "native"), "-n", "0", "-p", "no:cacheprovider", *sys.argv[1:]]
        return subprocess.run([sys.executable, "-m", "pytest", *tests], cwd=ROOT, env=os.environ | settings).returncode


if __name__ == "__main__":
    sys.exit(main())
