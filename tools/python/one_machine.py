"""For setup.py and setup_cuda.py: wheels with machine code that no Python links with: one kind of machine, every Python 3."""
from setuptools import Distribution
from wheel.bdist_wheel import bdist_wheel


class OfAnyPython(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class OfOneMachine(Distribution):
    def has_ext_modules(self):
        return True
