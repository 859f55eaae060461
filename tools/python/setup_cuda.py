"""The package spotter-cuda: the CUDA plugin $SPOTTER_PLUGIN, which goes beside the library of the package spotter of the same
version $SPOTTER_VERSION. tools/wheel --cuda makes its wheel."""
import os
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel


class Plugin(build_py):
    def run(self):
        place = Path(self.build_lib) / "spotter" / "lib"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.environ["SPOTTER_PLUGIN"], place / "libspotter_cuda.so")


class OfAnyPython(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True


version = os.environ["SPOTTER_VERSION"]
setup(name="spotter-cuda", version=version, description="CUDA kernels of Spotter", packages=["spotter"],
      package_dir={"spotter": "."}, python_requires=">=3.9", install_requires=[f"spotter=={version}"], distclass=OfOneMachine,
      cmdclass={"build_py": Plugin, "bdist_wheel": OfAnyPython})
