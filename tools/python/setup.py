"""Copies the C library into the package: from $SPOTTER_BUILD, else from the build folder of this checkout."""
import ctypes
import os
import re
import shutil
import subprocess
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


def carry(place):
    """Copies what the library needs beside it, where its run path, $ORIGIN/../lib, finds it; libraries of the system stay."""
    system = re.compile(r"(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libcuda)\.so")
    for program in list(place.iterdir()):
        said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        if "not found" in said:
            raise SystemExit(f"{program} misses libraries:\n{said}")
        for path in re.findall(r"=> (/\S+) ", said):
            if not system.match(Path(path).name) and not (place / Path(path).name).exists():
                shutil.copy(path, place)


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        place = Path(self.build_lib) / "spotter" / "lib"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(library.resolve(), place / "libspotter.so")
        for beside in ("libspotter_cuda.so", "spotter-mesh"):
            if (build / beside).exists():
                shutil.copy(build / beside, place)
        if os.environ.get("SPOTTER_CARRY"):
            carry(place)


class OfOneMachine(Distribution):
    """The package has machine code, so its wheel is for one kind of machine."""
    def has_ext_modules(self):
        return True


setup(version=version(), packages=["spotter"], package_data={"spotter": ["py.typed", "*.pyi", "slices.schema.json"]},
      cmdclass={"build_py": BuildWithLibrary}, distclass=OfOneMachine)
