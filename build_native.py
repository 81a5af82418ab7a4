"""The build hook: compiles `goldrank._native` where there is a compiler, and leaves it out where there is none.

GOLDRANK_NATIVE says what is wanted: `auto` (the default), `require` (fail without it), `off`.
"""

import os
import sysconfig
import tempfile
import warnings
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "src/goldrank/_native.c"
LIMITED_API = "0x030B0000"


class NativeBuild(BuildHookInterface):
    """Adds the module to a wheel, or puts it beside the sources of an editable installation."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        wanted = os.environ.get("GOLDRANK_NATIVE", "auto")
        if wanted == "off":
            return
        editable = version == "editable"
        # With the limited API one wheel fits all later versions of Python; free-threaded ones do not have it.
        limited = not sysconfig.get_config_var("Py_GIL_DISABLED")
        try:
            built = self._build(editable, limited)
        except Exception as error:
            if wanted == "require":
                raise
            self.app.display_warning(f"goldrank._native is left out; nothing else needs it: {error}")
            return
        if not editable:
            build_data["force_include"][built] = f"goldrank/{Path(built).name}"
        build_data["pure_python"] = False
        python, abi, platform = self.build_config.builder.get_best_matching_tag().split("-")
        build_data["tag"] = f"cp311-abi3-{platform}" if limited else f"{python}-{abi}-{platform}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if temporary := getattr(self, "_temporary", None):
            temporary.cleanup()

    def _build(self, in_place: bool, limited: bool) -> str:
        from setuptools import Distribution, Extension

        extension = Extension(
            "goldrank._native",
            [SOURCE],
            define_macros=[("Py_LIMITED_API", LIMITED_API)] if limited else [],
            py_limited_api=limited,
            extra_compile_args=[] if os.name == "nt" else ["-O2", "-ffp-contract=off"],
        )
        self._temporary = tempfile.TemporaryDirectory()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # setuptools warns of its own commands, which are not what is used here
            distribution = Distribution({"ext_modules": [extension], "package_dir": {"": "src"}})
            command = distribution.get_command_obj("build_ext")
            command.inplace = in_place
            command.build_lib = command.build_temp = self._temporary.name
            command.force = True
            command.ensure_finalized()
            command.run()
            return str(command.get_outputs()[0])
