"""Copies builds into the package: from $SPOTTER_BUILD, else from the build folder of this checkout, into lib; and those of
$SPOTTER_WIDER, "x86-64-v4=FOLDER", for CPUs with more instructions, into lib-x86-64-v4. spotter_program.py chooses. Of the
folder $SPOTTER_FONTS it takes DejaVu's letters, for systems without any."""
import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))         # pip leaves it out
from one_machine import OfAnyPython, OfOneMachine  # noqa: E402

build = Path(os.environ.get("SPOTTER_BUILD", Path(__file__).resolve().parents[2] / "build"))
library = build / "libspotter.so"
beside = ("libspotter_cpu.so", "spotter", "spotter-mesh")       # of each build that has them; the plugin is of every build


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
        wider = [pair.split("=", 1) for pair in os.environ.get("SPOTTER_WIDER", "").split(":") if pair]
        for folder, source in [("lib", build), *((f"lib-{cpu}", Path(of)) for cpu, of in wider)]:
            place = Path(self.build_lib) / "spotter" / folder
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy((source / "libspotter.so").resolve(), place / "libspotter.so")
            for name in (*beside, *(("libspotter_cuda.so",) if folder == "lib" else ())):
                if (source / name).exists():
                    shutil.copy(source / name, place)
            if os.environ.get("SPOTTER_CARRY"):
                carry(place)
        if os.environ.get("SPOTTER_FONTS"):
            fonts = Path(self.build_lib) / "spotter" / "fonts"
            fonts.mkdir(exist_ok=True)
            for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
                shutil.copy(Path(os.environ["SPOTTER_FONTS"]) / name, fonts)
            (fonts / "fonts.conf").write_text('<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n'
                                              '<fontconfig>\n  <dir prefix="relative">.</dir>\n'
                                              '  <cachedir prefix="xdg">fontconfig</cachedir>\n</fontconfig>\n')


setup(version=version(), packages=["spotter"], py_modules=["spotter_program"], distclass=OfOneMachine,
      package_data={"spotter": ["py.typed", "*.pyi", "*.schema.json", "llms.txt"]},
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": OfAnyPython})
