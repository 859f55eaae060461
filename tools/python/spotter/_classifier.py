"""A Python function as the classifier of a study."""
from __future__ import annotations

import ctypes as ct
import json
import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _library as c_side
from ._arrays import Array, as_array
from ._given import flag, plain, refuse, shown, text, whole
from ._library import SIZES, Context, InputError, lib

Place = Union[str, "os.PathLike[str]"]                  # a path
Group = Optional[Mapping[str, Any]]                     # settings of a group of the config; None: the defaults
Groups = Optional[Sequence[Mapping[str, Any]]]          # a list of such groups
INPUT = next(s for s in range(32) if lib.spot_status_name(s) == b"INPUT")
PREDICT = ct.CFUNCTYPE(ct.c_int, ct.c_void_p, ct.c_void_p, ct.POINTER(c_side.Prediction))


def group(name: str, given: Group, **defaults: Any) -> Dict[str, Any]:
    """A group of the config: the given settings over the defaults."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{name} is a group of settings; give a dict, not {shown(given)}")
    return {**defaults, **(given or {})}


def groups(**lists: Groups) -> Dict[str, Any]:
    """The lists of groups that are given."""
    for name, given in lists.items():
        if given is not None and not (isinstance(given, (list, tuple)) and all(isinstance(g, Mapping) for g in given)):
            raise InputError(f"{name} is a list of groups; give a list of dicts, not {shown(given)}")
    return {name: [dict(g) for g in given] for name, given in lists.items() if given is not None}


def config_text(config: Dict[str, Any]) -> bytes:
    """A config as JSON, which is YAML."""
    try:
        return json.dumps(config, default=plain).encode()
    except (TypeError, ValueError) as e:
        raise InputError(f"a setting is no number, text, list or dict: {e}") from None


class Classifier:
    """predict: uint8 (n, side, side, 3) -> logits, or a tuple of logits, embeddings and activations of channels."""

    predict: Callable[[Array], Any]
    identity: Optional[str]
    widths: List[int]

    def __init__(self, predict: Callable[[Array], Any], identity: Optional[str], side: int, device: str = "auto",
                 threads: int = 0, verbose: bool = False) -> None:
        if not callable(predict):
            refuse(predict, "predict", "a function from pictures to logits")
        whole(threads, "threads", 0, 1024)
        self.predict, self.identity, self._named = predict, identity, text(identity, "identity")
        self.failure: Optional[BaseException] = None
        self.machine: Dict[str, Any] = {"device": device, "threads": threads, "verbose": flag(verbose, "verbose")}
        side = whole(side, "size", 1, 16384)
        self.widths = [array.shape[1] for array in self._answers(np.full((1, side, side, 3), 128, np.uint8))]

    def _answers(self, rgb: Array) -> List[Array]:
        """Three arrays of the batch, with a width of 0 for those that predict has not."""
        said = self.predict(rgb)
        said = said if isinstance(said, tuple) else (said,)
        if len(said) > 3:
            raise InputError(f"predict gave {len(said)} arrays; it gives logits, embeddings and activations of channels")
        arrays = [np.asarray(as_array(array, "the answer of predict"), np.float32) for array in said]
        for array in arrays:
            if array.ndim != 2 or len(array) != len(rgb):
                raise InputError(f"predict gave an array of shape {array.shape} for {len(rgb)} pictures")
        return arrays + [np.zeros((len(rgb), 0), np.float32)] * (3 - len(arrays))

    def _call(self, c: Any, _: Any, asked: Any) -> int:
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
            return int(lib.spot_fail(ct.c_void_p(c), INPUT, b"predict failed: %s", str(e).encode(errors="replace")))

    def _run(self, study: str, options: Any, config: bytes) -> None:
        """Parses the config's text and runs the study; an exception of predict goes on here."""
        call, self.failure = PREDICT(self._call), None
        options.function, options.place.shards, options.outputs = ct.cast(call, ct.c_void_p), 1, self.widths[0]
        options.identity = self._named
        cfg, report = c_side.Config(f"{study}_config"), (ct.c_char * SIZES["spot_run_report"])()
        with Context(**self.machine) as c:
            c(f"{study}_parse", cfg.c, config, ct.c_size_t(len(config)), b"")
            try:
                c.patiently(f"{study}_run", cfg.c, ct.byref(options), report)
            except Exception:
                if self.failure is not None:
                    raise self.failure from None
                raise
