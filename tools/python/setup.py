"""Puts the C library into the package: from $SPOTTER_BUILD, else from the build folder of the checkout that this stands in."""
import os
import re
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

here = Path(__file__).resolve().parent
root = here.parent.parent
build = Path(os.environ.get("SPOTTER_BUILD", root / "build"))


def version():
    stated = re.search(r"project\(spotter VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text())
    return stated.group(1)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        library = build / "libspotter.so"
        if not library.exists():
            raise SystemExit(f"{library} is not there: run tools/build first, or set SPOTTER_BUILD to a build folder")
        place = Path(self.build_lib) / "spotter" / "lib"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(library.resolve(), place / "libspotter.so")
        plugin = build / "libspotter_cuda.so"
        if plugin.exists():
            shutil.copy(plugin, place)


class OfOneMachine(Distribution):
    """What is built holds machine code, so it is no wheel for any machine."""
    def has_ext_modules(self):
        return True


setup(version=version(), packages=["spotter"], cmdclass={"build_py": BuildWithLibrary}, distclass=OfOneMachine)
