"""Under which camera and light does a classifier fail? Any Python function can be the classifier."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Dict, Optional, Sequence, Union

from . import _library as c_side
from ._arrays import Array
from ._classifier import Classifier, Place


class Examine(Classifier):
    """predict: uint8 (n, size, size, 3) -> logits (n, outputs). The outputs are the classes of the 3-D models in order.

    objects: a folder CLASS/model.obj, archives of Sweet Home 3D or ShapeNet's folder. examiners: their names, or dicts with
    settings; the other arguments are the config's groups as dicts (`spotter help config examine`):

        found = spotter.Examine(predict, objects="models", renders=1000, examiners=["cem", "random"]).run("runs/mine")
        for s in found["summaries"]: print(s["examiner"], s["curve"][-1]["robust"])

    identity: a text that changes whenever predict's answers do; the same run with the same text is not computed again. Without
    it every run is.
    """

    config: Dict[str, Any]
    out: str

    def __init__(self, predict: Callable[[Array], Any], objects: Place, size: int = 224, renders: int = 1000,
                 seeds: int = 3, examiners: Sequence[Union[str, Dict[str, Any]]] = ("cem",), identity: Optional[str] = None,
                 device: str = "auto", threads: int = 0, verbose: bool = False, **groups: Any) -> None:
        self.config = {**groups, "study": "examine"}
        self.config["objects"] = {"catalogue": str(objects), "choice": "first", "held_out": 1, **groups.get("objects", {})}
        self.config["render"] = {"size": size, **groups.get("render", {})}
        self.config["search"] = {"renders": renders, "seeds": seeds, **groups.get("search", {})}
        self.config["examiners"] = [{"method": e} if isinstance(e, str) else e for e in examiners]
        super().__init__(predict, identity, self.config["render"]["size"], device=device, threads=threads, verbose=verbose)

    def run(self, out: Place) -> Dict[str, Any]:
        """Computes or continues the run directory `out`; the results, as `out`/examine.json has them."""
        self._run("spot_examine", c_side.ExamineOptions(out=c_side.bytes_of(out)), json.dumps(self.config).encode())
        self.out = str(out)
        with open(os.path.join(self.out, "examine.json")) as f:
            return json.load(f)
