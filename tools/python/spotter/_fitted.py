"""The rows of a user as a spot_subject, and what fit found in them."""
from __future__ import annotations

import ctypes as ct
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import _library as c_side
from . import _state
from ._arrays import Array, as_array, classes, columns_of, floats, matrix
from ._library import Context, InputError, lib, texts

PROOF = [field[0] for field in c_side.ProofOptions._fields_]
KEPT = ("feature", "target", "prob", "confidence", "names", "ids", "images", "box", "instance")
PARTS = 2 << 20                                        # distances that are computed at a time


def _in_order(probs: Any, names: List[str]) -> Any:
    """A data frame whose columns are called as the classes, with the columns in their order; others as they are."""
    columns = columns_of(probs)
    if columns is None or sorted(columns) != sorted(names) or list(columns) == names:
        return probs
    return probs[names]


class Subject:
    """A spot_subject over numpy arrays, which it keeps alive."""

    feature: Array
    target: Array
    prob: Optional[Array]
    confidence: Array
    names: List[str]
    ids: Optional[List[str]]
    images: Optional[List[Any]]
    box: Optional[Array]
    instance: Optional[Array]
    words: List[Any]
    c: Any

    def __init__(self, embeddings: Any, targets: Any = None, probs: Any = None, losses: Any = None, ids: Any = None,
                 images: Any = None, names: Optional[List[str]] = None) -> None:
        """names: of all classes, for targets that are numbers of theirs; None: the targets tell."""
        feature = matrix(embeddings, "embeddings")
        n = len(feature)
        target, told = (np.zeros(n, np.int32), ["all"]) if targets is None else classes(targets, n)
        if names is not None and len(told) > len(names):
            raise InputError(f"targets has class {len(told) - 1}; there were {len(names)} classes when this was fitted")
        names = told if names is None else list(names)
        prob = None
        if (probs is None) == (losses is None):
            raise InputError("give probs or losses, one of them")
        if losses is not None:
            loss = floats(as_array(losses, "losses"), "losses")
            self._check_rows(loss, n, "losses")
            if not (loss >= 0).all():
                raise InputError(f"losses[{int(np.flatnonzero(~(loss >= 0))[0])}] is negative or no number")
            confidence = np.exp(-loss)
        else:
            given = floats(as_array(_in_order(probs, names), "probs"), "probs")
            if given.ndim == 2 and given.shape[1] > 1:
                names += [str(k) for k in range(len(names), given.shape[1])] if told is names and names[0] == "0" else []
                if given.shape != (n, len(names)):
                    hint = "; give targets: which class is each row?" if targets is None else \
                        "; classes are numbered from 0" if len(names) == given.shape[1] + 1 and n and target.min() == 1 else ""
                    raise InputError(f"probs has shape {given.shape}; here are {n} rows and {len(names)} classes{hint}")
                prob, confidence = given, given[np.arange(n), target]
            else:
                confidence = given.reshape(-1)
                self._check_rows(confidence, n, "probs")
                if len(names) == 2:                    # of class 1, as binary classifiers give it
                    confidence = np.where(target == 1, confidence, 1 - confidence)
        self._bind(feature, target, prob, np.ascontiguousarray(confidence, np.float32), names,
                   None if ids is None else [str(word) for word in ids],
                   None if images is None else [str(word) for word in images])

    def _bind(self, feature: Array, target: Array, prob: Optional[Array], confidence: Array,
              names: List[str], ids: Optional[List[str]], images: Optional[List[Any]], encoder: bytes = b"",
              box: Optional[Array] = None, instance: Optional[Array] = None, source: bytes = b"") -> None:
        n = len(feature)
        self.feature, self.target, self.prob, self.confidence, self.names = feature, target, prob, confidence, names
        self.ids, self.images, self.box, self.instance = ids, images, box, instance
        for words, what in ((ids, "ids"), (images, "images")):
            if words is not None and len(words) != n:
                raise InputError(f"{what} has {len(words)} entries for {n} rows")
        self.words = [texts(names)] + [texts(w) if w is not None else None for w in (ids, images)]
        self.c = c_side.Subject(n=n, d=feature.shape[1], classes=len(names), feature=feature.ctypes.data,
                                target=target.ctypes.data, prob=None if prob is None else prob.ctypes.data,
                                confidence=self.confidence.ctypes.data, class_name=self.words[0], id=self.words[1],
                                image=self.words[2], box=None if box is None else box.ctypes.data,
                                instance=None if instance is None else instance.ctypes.data,
                                source=source or f"arrays of {n} rows".encode(), encoder=encoder)

    @classmethod
    def of_rows(cls, feature: Array, target: Array, confidence: Array, names: List[str], ids: List[str],
                images: Optional[List[Any]], box: Array, instance: Array, source: bytes, encoder: bytes) -> Subject:
        """A detector's objects and detections: instance (n,) as spot_instance."""
        one = cls.__new__(cls)
        one._bind(feature, target, None, confidence, names, ids, images, encoder, box, instance, source)
        return one

    @staticmethod
    def _check_rows(a: Array, n: int, what: str) -> None:
        if a.shape != (n,):
            raise InputError(f"{what} has shape {a.shape}; embeddings have {n} rows")

    def class_numbers(self, targets: Any) -> Array:
        """Numbers or words of these classes as numbers."""
        a = as_array(targets, "targets")
        if a.dtype.kind not in "OUS":
            return a
        place = {name: k for k, name in enumerate(self.names)}
        unknown = [w for w in a.astype(str) if w not in place]
        if unknown:
            raise InputError(f"there was no class {unknown[0]!r} when this was fitted")
        return np.array([place[w] for w in a.astype(str)], np.int32)

    # --- Without pointers.
    def __getstate__(self) -> Dict[str, Any]:
        return {**{name: getattr(self, name) for name in KEPT}, "encoder": self.c.encoder, "source": self.c.source}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        arrays = ("feature", "target", "prob", "confidence", "box", "instance")
        whole: Dict[str, Any] = {name: value if name not in arrays or value is None else np.ascontiguousarray(value)
                 for name, value in state.items()}
        if whole.get("instance") is not None and whole["instance"].dtype != np.dtype(c_side.Instance):
            whole["instance"] = None                   # of another version of spotter
        self._bind(**whole)

    # --- Which rows are wrong, as spot_subject_wrong says.
    def wrong(self) -> Array:
        if self.prob is None:
            return 1 - self.confidence.astype(np.float64) > 0.5
        return self.prob.argmax(1) != self.target

    def predictions(self) -> Optional[Array]:
        """(n,) class numbers; None where the probabilities do not tell."""
        if self.prob is not None:
            return self.prob.argmax(1)
        if len(self.names) != 2 or self.instance is not None:
            return None
        return np.where(self.wrong(), 1 - self.target, self.target)

    def taken_for(self, rows: Array) -> Tuple[Optional[str], float]:
        """The class that most wrong ones of these rows are taken for, and its share of them."""
        wrong, predicted = rows[self.wrong()[rows]], self.predictions()
        if predicted is None or not len(wrong):
            return None, float("nan")
        count = np.bincount(predicted[wrong], minlength=len(self.names))
        return self.names[int(count.argmax())], float(count.max() / count.sum())


def nearest_vote(new: Array, old: Array, member: Array, neighbours: int = 5) -> Array:
    """(len(new), slices) bool: a new row belongs where most of its nearest old rows do. member: (len(old), slices) bool."""
    k = min(neighbours, len(old))
    out = np.zeros((len(new), member.shape[1]), bool)
    square, step = (old.astype(np.float64) ** 2).sum(1), max(1, PARTS // max(len(old), 1))
    for at in range(0, len(new) if k else 0, step):
        rows = new[at:at + step]
        near = np.argpartition(square - 2 * (rows.astype(np.float64) @ old.T), k - 1, axis=1)[:, :k]
        out[at:at + step] = 2 * member[near].sum(1) > k
    return out


def config_of(text: bytes, device: str = "cpu", threads: int = 1) -> c_side.Config:
    """A spot_config; an error names the setting as Python does."""
    cfg = c_side.Config("spot_config")
    with Context(device, threads) as c:
        try:
            c("spot_config_parse", cfg.c, text, ct.c_size_t(len(text)), b"settings")
        except InputError as e:
            said = re.sub(r"^settings line 1: (bdms\[0\](\.| ))?(top\b)?", lambda m: "n_slices" if m.group(3) else "", str(e))
            raise InputError(said.replace(" is null;", " is None;")) from None
    return cfg


class Fitted:
    """Findings with all that they point to. text: the method as a config says it."""

    def __init__(self, subject: Subject, text: bytes, seed: int, threads: int, device: str) -> None:
        self.subject, self.text, self.seed = subject, text, ct.c_uint64(seed)
        self.threads, self.device = threads, device
        self.findings, self.memory, self.loaded = c_side.Findings(), None, False
        self.proof: Optional[c_side.ProofOptions] = None
        self._open()

    def _open(self) -> None:
        self.cfg = config_of(self.text)
        self.options = lib.spot_discover_defaults()
        self.options.bdm = self.cfg.methods
        self.options.bdms, self.options.seed, self.options.seeds = 1, ct.pointer(self.seed), 1
        self.options.fit = True

    def context(self) -> Context:
        return Context(self.device, self.threads)

    def run(self, cls: int, proof: Optional[c_side.ProofOptions]) -> List[str]:
        """The warnings."""
        self.options.cls, self.proof = cls, proof
        if proof is not None:
            self.options.proof = ct.pointer(proof)
        with self.context() as c:
            c.patiently("spot_discover", ct.byref(self.findings), ct.byref(self.subject.c), ct.byref(self.options))
            return c.warnings

    def __getstate__(self) -> Dict[str, Any]:
        proof = self.proof and {name: getattr(self.proof, name) for name in PROOF}
        return {"schema": 1, "subject": self.subject, "text": self.text, "seed": self.seed.value, "threads": self.threads,
                "device": self.device, "cls": self.options.cls, "proof": proof,
                "findings": _state.save(self.findings, self.subject.feature)}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.findings = c_side.Findings()              # close() finds them, whatever happens below
        if state["schema"] != 1:
            raise InputError("these findings were saved by a later version of spotter")
        self.subject, self.text, self.seed = state["subject"], state["text"], ct.c_uint64(state["seed"])
        self.threads, self.device = state["threads"], state["device"]
        self.findings, self.memory = _state.load(state["findings"], self.subject.feature)
        self._open()
        self.options.cls, self.proof = state["cls"], state["proof"] and c_side.ProofOptions(**state["proof"])
        if self.proof is not None:
            self.options.proof = ct.pointer(self.proof)

    def each(self) -> Any:
        """The findings, one by one."""
        return iter(self.findings.finding[:self.findings.count])

    def blind_member(self, new: Subject, targeted: bool) -> Array:
        """(n, slices) uint8: by the five nearest rows of the class in fit, blind to probabilities. A merged finding's own rule
        is this; the rules of methods ask for probabilities, so their slices are voted on here."""
        return self._members(new, targeted, lambda c, f, rows: self._assign(c, f, new, rows) if f.merged else
                             self._vote(f, new.feature[rows]))

    def assign(self, new: Subject, targeted: bool) -> Array:
        """(n, slices) uint8 by the method's own rule; slices that were judged and merged: by their neighbours."""
        return self._members(new, targeted, lambda c, f, rows: self._assign(c, f, new, rows))

    def _members(self, new: Subject, targeted: bool, rule: Callable[[Context, Any, Array], Array]) -> Array:
        """The columns of all findings; those of a class have its rows only, where these are known."""
        parts = []
        with self.context() as c:
            for f in self.each():
                rows = np.flatnonzero(new.target == f.cls) if f.cls >= 0 and targeted else np.arange(new.c.n)
                part = np.zeros((new.c.n, f.slices), np.uint8)
                if f.slices and len(rows):
                    part[rows] = rule(c, f, rows)
                parts.append(part)
        return np.concatenate(parts, 1) if parts else np.zeros((new.c.n, 0), np.uint8)

    def _vote(self, f: Any, feature: Array) -> Array:
        rows = np.ctypeslib.as_array(f.row, (f.n,))
        member = np.stack([np.isin(rows, np.ctypeslib.as_array(s.row, (s.size,))) for s in f.slice[:f.slices]], 1)
        return nearest_vote(feature, self.subject.feature[rows], member)

    def _assign(self, c: Context, f: Any, new: Subject, rows: Array) -> Array:
        feature = np.ascontiguousarray(new.feature[rows])
        confidence = np.ascontiguousarray(new.confidence[rows])
        view = c_side.View(n=len(rows), d=feature.shape[1], feature=feature.ctypes.data, confidence=confidence.ctypes.data)
        member = np.zeros((len(rows), f.slices), np.uint8)
        c("spot_assign", member.ctypes.data_as(ct.c_void_p), ct.c_int(f.slices), ct.byref(view), ct.byref(f.fit),
          ct.c_void_p(self.options.bdm))
        return member

    def close(self) -> None:
        lib.spot_findings_close(ct.byref(self.findings))

    def __del__(self) -> None:
        if "findings" in self.__dict__:
            self.close()
