"""The package spotter-cuda: the CUDA plugin $SPOTTER_PLUGIN, which goes beside the library of the package spotter of the same
version $SPOTTER_VERSION. tools/wheel --cuda makes its wheel."""
import os
import shutil
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

sys.path.insert(0, str(Path(__file__).resolve().parent))
from one_machine import OfAnyPython, OfOneMachine  # noqa: E402


class Plugin(build_py):
    def run(self):
        place = Path(self.build_lib) / "spotter" / "lib"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.environ["SPOTTER_PLUGIN"], place / "libspotter_cuda.so")


version = os.environ["SPOTTER_VERSION"]
setup(name="spotter-cuda", version=version, description="CUDA kernels of Spotter", packages=["spotter"],
      package_dir={"spotter": "."}, python_requires=">=3.9", install_requires=[f"spotter=={version}"], distclass=OfOneMachine,
      cmdclass={"build_py": Plugin, "bdist_wheel": OfAnyPython})
