"""python_checks.py - what the tests of the Python package share."""
import numpy as np

import spotter


class Skip(Exception):
    """Something that only this test needs is not here."""


def package(name):
    """The module."""
    try:
        return __import__(name)
    except ImportError:
        raise Skip(f"no {name}") from None


def fiftyone_with_database():
    """The module, whose data sets live in a mongod, of its own or FIFTYONE_DATABASE_URI's."""
    fiftyone = package("fiftyone")
    try:
        fiftyone.list_datasets()
    except Exception as e:                             # of fiftyone or pymongo, by what is missing
        why = " ".join(str(e).split())[:100]
        raise Skip(f"fiftyone {fiftyone.__version__} has no database ({type(e).__name__}: {why})") from None
    return fiftyone


def planted(n=600, d=12, seed=0):
    """Three classes; a place of class 1 is taken for class 2."""
    rng = np.random.default_rng(seed)
    target, place = rng.integers(0, 3, n), rng.integers(0, 3, n)
    feature = rng.normal(0, 0.3, (n, d)).astype(np.float32)
    feature[np.arange(n), 3 * place + target] += 4
    blind = (target == 1) & (place == 2)
    probs = np.full((n, 3), 0.05) + 0.85 * np.eye(3)[np.where(blind, 2, target)]
    return feature, target, probs.astype(np.float32), blind


def raises(words, call, kind=spotter.InputError):
    """The error that the call must raise, with these words in it."""
    try:
        call()
    except kind as e:
        assert words in str(e), f"{words!r} is not in {e!s}"
        return e
    raise AssertionError(f"nothing was raised; {words!r} was to be")
