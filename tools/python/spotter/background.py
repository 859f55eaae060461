"""Does a classifier depend on the background? Any Python function can be the classifier."""
import ctypes as ct
import json
import os

import numpy as np

from . import _library as c_side
from ._library import SIZES, Context, InputError, lib

INPUT = next(s for s in range(32) if lib.spot_status_name(s) == b"INPUT")
PREDICT = ct.CFUNCTYPE(ct.c_int, ct.c_void_p, ct.c_void_p, ct.POINTER(c_side.Prediction))


class Background:
    """predict: uint8 (n, side, side, 3) -> logits (n, outputs), or a tuple of logits, embeddings (n, dim) and, if wanted,
    activations of channels (n, channels), scaled to 0..1 in each layer (include/spotter/predictor.h). The outputs are the
    classes in the order of their folders.

    The other arguments are those of the command, and its config's groups as dicts (`spotter help config background`):

        found = spotter.Background(predict, images="photos", masks="masks", backgrounds="scenes").run("runs/mine")
        found["bg_gap"], found["turned_by_some_background"], found["sets"]["mixed-rand"]["accuracy"]

    identity: a text that changes whenever predict's answers do; the same run with the same text is not computed again. Without
    it every run is.
    """

    def __init__(self, predict, images, backgrounds, masks="", coco="", size=224, n=32, identity=None, device="auto", threads=0,
                 verbose=False, **groups):
        self.predict, self.identity, self.failure = predict, identity, None
        self.machine = dict(device=device, threads=threads, verbose=verbose)
        self.config = {**groups, "study": "background"}
        self.config["data"] = {"images": str(images), "masks": str(masks), "coco": str(coco), "backgrounds": str(backgrounds),
                               "size": size, **groups.get("data", {})}
        self.config["suite"] = {"choice": "random", "n": n, **groups.get("suite", {})}
        side = self.config["data"]["size"]
        self.widths = [array.shape[1] for array in self._answers(np.full((1, side, side, 3), 128, np.uint8))]

    def _answers(self, rgb):
        """Three arrays of the batch, with a width of 0 for those that predict has not."""
        said = self.predict(rgb)
        said = said if isinstance(said, tuple) else (said,)
        if len(said) > 3:
            raise InputError(f"predict gave {len(said)} arrays; it gives logits, embeddings and activations of channels")
        arrays = [np.asarray(array, np.float32) for array in said]
        for array in arrays:
            if array.ndim != 2 or len(array) != len(rgb):
                raise InputError(f"predict gave an array of shape {array.shape} for {len(rgb)} pictures")
        return arrays + [np.zeros((len(rgb), 0), np.float32)] * (3 - len(arrays))

    def _call(self, c, _, asked):
        p = asked.contents
        try:
            rgb = np.ctypeslib.as_array(ct.cast(p.rgb, ct.POINTER(ct.c_uint8)), (p.n, p.side, p.side, 3)).copy()
            for array, width, out in zip(self._answers(rgb), self.widths, (p.logit, p.embedding, p.channel)):
                if array.shape[1] != width:
                    raise InputError(f"predict gave {array.shape[1]} numbers a picture where it gave {width} at first")
                if out:
                    ct.memmove(out, np.ascontiguousarray(array).ctypes.data, array.nbytes)
            return 0
        except BaseException as e:                         # it goes on where run() was called
            self.failure = e
            return lib.spot_fail(ct.c_void_p(c), INPUT, b"predict failed: %s", str(e).encode())

    def run(self, out):
        """Computes or continues the run directory `out`; the results, as `out`/background.json has them for the model."""
        call, self.failure = PREDICT(self._call), None
        identity = None if self.identity is None else self.identity.encode()
        options = c_side.BackgroundOptions(out=c_side.bytes_of(out), shards=1, function=ct.cast(call, ct.c_void_p),
                                           outputs=self.widths[0], dim=self.widths[1], channels=self.widths[2],
                                           identity=identity)
        cfg, report = ct.create_string_buffer(SIZES["spot_background_config"]), (ct.c_char * SIZES["spot_background_report"])()
        text = json.dumps(self.config).encode()
        with Context(**self.machine) as c:
            c("spot_background_parse", cfg, text, ct.c_size_t(len(text)), b"settings")
            try:
                c.patiently("spot_background_run", cfg, ct.byref(options), report)
            except Exception:
                if self.failure is not None:
                    raise self.failure from None
                raise
        self.out = str(out)
        with open(os.path.join(self.out, "background.json")) as f:
            return json.load(f)["models"][0]

    def report(self, path, budget=10 << 20):
        """Writes the page of the latest run."""
        if not hasattr(self, "out"):
            raise InputError("there is no run yet; call run(out) first")
        how = c_side.ReportOptions(budget, False, 64, 0)
        with Context(**self.machine) as c:
            c("spot_report_background", c_side.bytes_of(path), c_side.bytes_of(self.out), ct.byref(how))
