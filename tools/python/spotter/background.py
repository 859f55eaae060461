"""Does a classifier depend on the background? Any Python function can be the classifier."""
from __future__ import annotations

import ctypes as ct
import json
import os
from typing import Any, Callable, Dict, Optional

from . import _library as c_side
from ._arrays import Array
from ._classifier import Classifier, Group, Groups, Place, config_text, group, groups
from ._given import real
from ._library import Context, InputError


class Background(Classifier):
    """predict: uint8 (n, side, side, 3) -> logits (n, outputs), or a tuple of logits, embeddings (n, dim) and, if wanted,
    activations of channels (n, channels), scaled to 0..1 in each layer (include/spotter/predictor.h). The outputs are the
    classes in the order of their folders.

    The other arguments are those of the command, and its config's groups as dicts (`spotter help config background`), its
    lists as lists of dicts; what a group says goes before the other arguments:

        found = spotter.Background(predict, images="photos", masks="masks", backgrounds="scenes").run("runs/mine")
        found["bg_gap"], found["turned_by_some_background"], found["sets"]["mixed-rand"]["accuracy"]

    identity: a text that changes whenever predict's answers do; the same run with the same text is not computed again. Without
    it every run is.
    """

    config: Dict[str, Any]
    out: str

    def __init__(self, predict: Callable[[Array], Any], images: Place, backgrounds: Place, masks: Place = "",
                 coco: Place = "", size: int = 224, n: int = 32, identity: Optional[str] = None, device: str = "auto",
                 threads: int = 0, verbose: bool = False, *, data: Group = None, suite: Group = None, ontology: Group = None,
                 measure: Group = None, verdict: Group = None, encoders: Groups = None, vary: Groups = None) -> None:
        self.config = {
            "study": "background",
            "data": group("data", data, images=str(images), masks=str(masks), coco=str(coco), backgrounds=str(backgrounds),
                          size=size),
            "suite": group("suite", suite, choice="random", n=n),
            "ontology": group("ontology", ontology), "measure": group("measure", measure),
            "verdict": group("verdict", verdict), **groups(encoders=encoders, vary=vary)}
        super().__init__(predict, identity, self.config["data"]["size"], device=device, threads=threads, verbose=verbose)

    def run(self, out: Place) -> Dict[str, Any]:
        """Computes or continues the run directory `out`; the results, as `out`/background.json has them for the model."""
        options = c_side.BackgroundOptions(c_side.RunPlace(c_side.bytes_of(out)), dim=self.widths[1], channels=self.widths[2])
        self._run("spot_background", options, config_text(self.config))
        self.out = os.fsdecode(out)
        with open(os.path.join(self.out, "background.json")) as f:
            return json.load(f)["models"][0]

    def report(self, path: Place, budget: int = 10 << 20) -> None:
        """Writes the page of the latest run."""
        if not hasattr(self, "out"):
            raise InputError("there is no run yet; call run(out) first")
        how = c_side.ReportOptions(int(real(budget, "budget", 1, 4e9)), False, 64, 0)
        with Context(**self.machine) as c:
            c("spot_report_background", c_side.bytes_of(path), c_side.bytes_of(self.out), ct.byref(how))
