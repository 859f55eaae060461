"""Spotter finds the blindspots of image classifiers.

    import spotter
    found = spotter.discover(embeddings, labels, probs)          # the command `spotter discover`, judged
    print(found)
    found.report("report.html")

look asks a PyTorch classifier for these arrays, read_rows a table. The discovery methods are also classes as scikit-learn has
them: PlaneSpot, Spotlight, Domino, Barlow, George, Multiaccuracy, Itemsets, Influence, SVM, Density,
DbscanGroup and JoinSpot, and the baselines Random, Confidence, Confusion, KMeans, Ward and Mistakes.

Background tells whether a classifier depends on the background, Examine under which camera and light it fails. spotter.scene
draws SpotCheck's data sets; spotter.shifts generates pictures of distribution shifts with diffusers.
"""
import importlib
from typing import TYPE_CHECKING, Any

from . import _missing, scene
from ._claims import Claim, Count, NewPicture, RowClaim
from ._detections import Detections, detections
from ._discover import Found, discover
from ._library import InputError, ParameterError, SpotterError, VERSION as __version__
from ._look import Look, look
from .background import Background
from .examine import Examine
from ._slices import Interval, Merge, Piece, Proof, Slice, schema
from ._tables import Rows, read_rows
from .methods import (Barlow, Confidence, Confusion, DbscanGroup, Density, Domino, George, Influence, Itemsets, JoinSpot,
                      KMeans, Method, Mistakes, Multiaccuracy, PlaneSpot, Random, SVM, Spotlight, Ward)
from .versions import Change, ChangedSlice, Comparison, Guarded, compare

__all__ = ["Background", "Barlow", "Change", "ChangedSlice", "Claim", "Comparison", "Confidence", "Confusion", "Count",
           "DbscanGroup", "Density", "Detections", "Domino", "Examine", "Found", "George", "Influence", "InputError",
           "Interval", "Itemsets", "JoinSpot", "KMeans", "Look", "Merge", "Method", "Mistakes", "Multiaccuracy", "NewPicture",
           "NotFittedError", "ParameterError", "Piece", "PlaneSpot", "Proof", "Random", "RowClaim", "Rows", "SVM", "Slice",
           "SpotterError", "Spotlight", "Ward", "compare", "detections", "discover", "look", "read_rows", "scene", "schema",
           "shifts", "__version__"]

if TYPE_CHECKING:                                      # both are loaded when they are asked for, below
    from . import shifts as shifts

    class NotFittedError(InputError, AttributeError):
        """fit was not called."""


def __getattr__(name: str) -> Any:
    if name == "NotFittedError":                       # of scikit-learn, which takes a second to load
        return _missing.not_fitted()
    if name == "shifts":                               # when it is asked for: few need it
        return importlib.import_module(".shifts", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
