"""Copies the C library into the package: from $SPOTTER_BUILD, else from the build folder of this checkout."""
import ctypes
import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

build = Path(os.environ.get("SPOTTER_BUILD", Path(__file__).resolve().parents[2] / "build"))
library = build / "libspotter.so"


def version():
    if not library.exists():
        raise SystemExit(f"{library} is not there: run tools/build first, or set SPOTTER_BUILD to a build folder")
    call = ctypes.CDLL(str(library)).spot_version
    call.restype = ctypes.c_char_p
    return call().decode()


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        place = Path(self.build_lib) / "spotter" / "lib"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(library.resolve(), place / "libspotter.so")
        for beside in ("libspotter_cuda.so", "spotter-mesh"):
            if (build / beside).exists():
                shutil.copy(build / beside, place)


class OfOneMachine(Distribution):
    """The package has machine code, so its wheel is for one kind of machine."""
    def has_ext_modules(self):
        return True


setup(version=version(), packages=["spotter"], package_data={"spotter": ["py.typed"]}, cmdclass={"build_py": BuildWithLibrary}, distclass=OfOneMachine)
