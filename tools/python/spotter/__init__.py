"""Spotter finds the blindspots of image classifiers.

    from spotter import PlaneSpot
    found = PlaneSpot(n_slices=10).fit(embeddings, targets, probs)
    for s in found.slices_: print(s)
    found.report("report.html")
"""
from . import scene
from ._library import InputError, SpotterError, VERSION as __version__
from .methods import Barlow, Domino, George, Method, Multiaccuracy, PlaneSpot, Slice, Spotlight

__all__ = ["Barlow", "Domino", "George", "InputError", "Method", "Multiaccuracy", "PlaneSpot", "Slice", "SpotterError",
           "Spotlight", "scene", "__version__"]
