"""Spotter finds the blindspots of image classifiers.

    from spotter import PlaneSpot
    found = PlaneSpot(n_slices=10).fit(embeddings, targets, probs)
    for s in found.slices_: print(s)
    found.report("report.html")

Background tells whether a classifier depends on the background, Examine under which camera and light it fails. spotter.scene
draws SpotCheck's data sets; spotter.shifts generates pictures of distribution shifts with diffusers.
"""
import importlib

from . import scene
from ._library import InputError, SpotterError, VERSION as __version__
from .background import Background
from .examine import Examine
from .methods import Barlow, Domino, George, Method, Multiaccuracy, PlaneSpot, Slice, Spotlight

__all__ = ["Background", "Barlow", "Domino", "Examine", "George", "InputError", "Method", "Multiaccuracy", "PlaneSpot",
           "Slice", "SpotterError", "Spotlight", "scene", "shifts", "__version__"]


def __getattr__(name):
    if name == "shifts":                               # when it is asked for: few need it
        return importlib.import_module(".shifts", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
