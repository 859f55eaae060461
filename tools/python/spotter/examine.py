"""Under which camera and light does a classifier fail? Any Python function can be the classifier."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, Mapping, Optional, Sequence, Union

from . import _library as c_side
from ._arrays import Array
from ._given import listed, refuse
from ._classifier import Classifier, Group, Groups, Place, config_text, group, groups

EXAMINERS = "a list of the examiners' names, or of dicts with settings"


class Examine(Classifier):
    """predict: uint8 (n, size, size, 3) -> logits (n, outputs). The outputs are the classes of the 3-D models in order.

    objects: a folder CLASS/model.obj, archives of Sweet Home 3D or ShapeNet's folder; or a dict with the settings of the
    config's `objects`, this one as `catalogue`. examiners: their names, or dicts with settings; the other arguments are the
    config's groups as dicts (`spotter help config examine`), its lists as lists of dicts:

        found = spotter.Examine(predict, objects="models", renders=1000, examiners=["cem", "random"]).run("runs/mine")
        for s in found["summaries"]: print(s["examiner"], s["curve"][-1]["robust"])

    identity: a text that changes whenever predict's answers do; the same run with the same text is not computed again. Without
    it every run is.
    """

    config: Dict[str, Any]
    out: str

    def __init__(self, predict: Callable[[Array], Any], objects: Union[Place, Mapping[str, Any]], size: int = 224,
                 renders: int = 1000, seeds: int = 3, examiners: Sequence[Union[str, Dict[str, Any]]] = ("cem",),
                 identity: Optional[str] = None, device: str = "auto", threads: int = 0, verbose: bool = False, *,
                 render: Group = None, search: Group = None, valid: Group = None, maps: Group = None, classes: Groups = None,
                 factors: Groups = None) -> None:
        several = [examiners] if isinstance(examiners, (str, Mapping)) else listed(examiners, "examiners", EXAMINERS)
        if not all(isinstance(e, (str, Mapping)) for e in several):
            refuse(examiners, "examiners", EXAMINERS)
        given = objects if isinstance(objects, Mapping) else {"catalogue": str(objects)}
        self.config = {
            "study": "examine",
            "objects": group("objects", given, choice="first", held_out=1),
            "render": group("render", render, size=size), "search": group("search", search, renders=renders, seeds=seeds),
            "valid": group("valid", valid), "maps": group("maps", maps),
            **groups(classes=classes, factors=factors,
                     examiners=[{"method": e} if isinstance(e, str) else e for e in several])}
        super().__init__(predict, identity, self.config["render"]["size"], device=device, threads=threads, verbose=verbose)

    def run(self, out: Place) -> Dict[str, Any]:
        """Computes or continues the run directory `out`; the results, as `out`/examine.json has them."""
        options = c_side.ExamineOptions(c_side.RunPlace(c_side.bytes_of(out)))
        self._run("spot_examine", options, config_text(self.config))
        self.out = os.fsdecode(out)
        with open(os.path.join(self.out, "examine.json")) as f:
            return json.load(f)
