"""Packages that are used where they are installed, and errors that are theirs there."""
from __future__ import annotations

import functools
import importlib
from typing import Any

from ._library import InputError, SpotterError


class Missing(SpotterError, ImportError):
    """A package that only this call needs is not installed."""


def needed(package: str, what: str, install: str = "") -> Any:
    """The module; Missing, with the command that installs it, where it does not load."""
    try:
        return importlib.import_module(package)
    except ImportError as e:
        raise Missing(f"{what} needs {package}, which does not load ({e}): pip install "
                      f"{install or package.split('.')[0]}") from None


@functools.lru_cache(maxsize=None)
def not_fitted() -> type:
    """NotFittedError: an InputError that is also scikit-learn's where it is installed, else a ValueError and AttributeError."""
    try:
        bases: tuple = (InputError, importlib.import_module("sklearn.exceptions").NotFittedError)
    except ImportError:
        bases = (InputError, AttributeError)
    return type("NotFittedError", bases, {"__module__": "spotter", "__doc__": "fit was not called."})
