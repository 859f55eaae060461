"""The rows of a user as a spot_subject, and what a search found in them."""
from __future__ import annotations

import ctypes as ct
import json
import re
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _library as c_side
from . import _state
from ._arrays import Array
from ._given import is_path, listed
from ._inputs import Inputs, plain_labels
from ._library import Context, InputError, lib, texts
from ._slices import Merge

PROOF = [field[0] for field in c_side.ProofOptions._fields_]
ARRAYS = ("feature", "target", "has", "prob", "confidence", "predicted", "head", "box", "instance", "group")
NUMBERS = ("skipped", "left_out", "exif", "pillow")
KEPT = (*ARRAYS, "names", "ids", "images", "group_names")
PARTS = 2 << 20                                        # distances that are computed at a time
HYPOTHESES = 64


class _Owner:
    """A spot_subject of C, which is closed when no array of it is left."""

    def __init__(self) -> None:
        self.c = c_side.Subject()

    def array(self, pointer: Optional[int], kind: Any, *shape: int) -> Optional[Array]:
        """A view of C's memory, which keeps it."""
        if not pointer:
            return None
        made = (kind * int(np.prod(shape))).from_address(pointer)
        made._owner = self
        return np.frombuffer(made, np.dtype(kind)).reshape(shape)

    def __del__(self, close: Any = lib.spot_subject_close) -> None:
        close(ct.byref(self.c))


class Subject:
    """A spot_subject over numpy arrays, which it keeps alive."""

    feature: Array
    target: Any                                        # (n,); None where a row may have several classes (has)
    has: Optional[Array]
    prob: Optional[Array]
    confidence: Any
    predicted: Optional[Array]
    head: Optional[Array]
    names: List[str]
    ids: Optional[List[str]]
    images: Optional[List[Any]]
    box: Optional[Array]
    instance: Optional[Array]
    group: Optional[Array]                             # (n,) the number of each row's group; None: each row is alone
    group_names: Optional[List[str]]
    words: List[Any]
    c: Any
    heard: Sequence[str] = ()                          # warnings of reading
    kept: Optional[Array] = None                       # (n,) as spot_subject.file_row

    def __init__(self, embeddings: Any, targets: Any = None, probs: Any = None, losses: Any = None, ids: Any = None,
                 images: Any = None, names: Optional[Sequence[str]] = None, called: str = "targets",
                 groups: Any = None) -> None:
        """names: of all classes, in the order of their numbers; None: the targets tell. called: the name of targets."""
        inputs = Inputs()
        inputs.files.embeddings = inputs.features(embeddings)
        assert inputs.feature is not None
        if (probs is None) == (losses is None):
            raise InputError("give probs or losses, one of them")
        n, labels = len(inputs.feature), None if targets is None else plain_labels(targets, called)
        if labels is None:
            labels, names = np.zeros(n, np.int64), ["all"]
            if getattr(probs, "ndim", 1) == 2 and probs.shape[1] > 1:
                raise InputError(f"probs has shape {tuple(probs.shape)}, but {called} are not given: which class is each row?")
        inputs.answers(labels, probs, losses, names, called)
        if ids is not None:
            inputs.files.ids = inputs.ids(ids)
        if groups is not None:
            inputs.files.groups = c_side.bytes_of(groups) if is_path(groups) else inputs.groups(groups)
        with Context("cpu", 0) as c:
            self._take(read_subject(c, inputs), inputs, ids is not None)
            self.heard = list(c.warnings)
        if images is not None:
            self._show([str(word) for word in listed(images, "images", "a list of paths")])

    def _take(self, owner: _Owner, inputs: Inputs, has_ids: bool) -> None:
        s = owner.c
        n, k, view = s.n, s.classes, owner.array
        feature = view(s.feature, ct.c_float, n, s.d) if inputs.feature is None or inputs.feature.ctypes.data != s.feature \
            else inputs.feature
        self._bind(feature, [s.class_name[i].decode(errors="surrogateescape") for i in range(k)],
                   [s.id[i].decode(errors="surrogateescape") for i in range(n)] if s.id and (has_ids or s.file_row) else None,
                   [s.image[i] and s.image[i].decode(errors="surrogateescape") for i in range(n)] if s.image else None,
                   target=view(s.target, ct.c_int, n), has=view(s.has, ct.c_uint8, n, k), prob=view(s.prob, ct.c_float, n, k),
                   confidence=view(s.confidence, ct.c_float, n), predicted=view(s.predicted, ct.c_int, n),
                   head=view(s.head, ct.c_float, k, s.d), box=view(s.box, ct.c_float, n, 4),
                   instance=view(s.instance, c_side.Instance, n), group=view(s.group, ct.c_int, n),
                   group_names=[name.decode(errors="surrogateescape") for name in s.group_name[:s.groups]] if s.group_name
                   else None, source=s.source, encoder=s.encoder,
                   kept=view(s.file_row, ct.c_int, n), blocks=[(b.d, b.scale, b.encoder) for b in s.block[:s.blocks]],
                   numbers=[getattr(s, name) for name in NUMBERS])

    def _bind(self, feature: Any, names: List[str], ids: Optional[List[str]], images: Optional[List[Any]],
              source: bytes = b"", encoder: bytes = b"", kept: Optional[Array] = None,
              numbers: Sequence[int] = (0, 0, 0, 0), group_names: Optional[List[str]] = None,
              blocks: Sequence[Tuple[int, float, bytes]] = (),
              **arrays: Optional[Array]) -> None:
        self.kept, self.group_names = None if kept is None else np.ascontiguousarray(kept, np.int32), group_names
        n, given = len(feature), {name: arrays.get(name) for name in ARRAYS[1:]}
        self.feature, self.names, self.ids, self.images = feature, names, ids, images
        self.__dict__.update(given)
        self.blocks = list(blocks)
        for words, what in ((ids, "ids"), (images, "images")):
            if words is not None and len(words) != n:
                raise InputError(f"{what} has {len(words)} entries for {n} rows")
        self.words = [texts(names)] + [texts(w) if w is not None else None for w in (ids, images, group_names)]
        self.c = c_side.Subject(n=n, d=feature.shape[1], classes=len(names), feature=feature.ctypes.data,
                                class_name=self.words[0], id=self.words[1], image=self.words[2], group_name=self.words[3],
                                groups=0 if self.group is None else int(self.group.max()) + 1,
                                source=source or f"arrays of {n} rows".encode(), encoder=encoder, **dict(zip(NUMBERS, numbers)),
                                blocks=len(blocks), block=tuple(c_side.FeatureBlock(*b) for b in blocks),
                                file_row=None if self.kept is None else self.kept.ctypes.data,
                                **{name: None if a is None else a.ctypes.data for name, a in given.items()})

    def _show(self, images: List[Any]) -> None:
        """The rows' pictures, by path."""
        self._bind(**{**self.__getstate__(), "images": images})

    @classmethod
    def read(cls, c: Context, inputs: Inputs, has_ids: bool) -> Subject:
        """Of any inputs of the command."""
        one = cls.__new__(cls)
        one._take(read_subject(c, inputs), inputs, has_ids)
        return one

    @classmethod
    def of_rows(cls, feature: Array, target: Array, confidence: Array, names: List[str], ids: List[str],
                images: Optional[List[Any]], box: Array, instance: Array, source: bytes, encoder: bytes,
                group: Optional[Array] = None, group_names: Optional[List[str]] = None) -> Subject:
        """A detector's objects and detections: instance (n,) as spot_instance."""
        one = cls.__new__(cls)
        one._bind(feature, names, ids, images, source, encoder, target=target, confidence=confidence, box=box,
                  instance=instance, group=group, group_names=group_names)
        return one

    def labels_of(self, targets: Any) -> Array:
        """Numbers or words of these classes, as a new Subject with these names takes them."""
        a = plain_labels(targets, "targets")
        counted = self.names == [str(k) for k in range(len(self.names))]
        if a.dtype.kind != "O" and not counted and all(name.lstrip("-").isdigit() for name in self.names):
            a = np.array([str(int(v)) for v in a], object)
        if a.dtype.kind != "O":
            return a
        unknown = sorted(set(a) - set(self.names))
        if unknown:
            raise InputError(f"there was no class {unknown[0]!r} when this was fitted")
        return a

    # --- Without pointers.
    def __getstate__(self) -> Dict[str, Any]:
        return {**{name: getattr(self, name) for name in KEPT}, "encoder": self.c.encoder, "source": self.c.source,
                "numbers": [getattr(self.c, name) for name in NUMBERS], "kept": self.kept,
                "blocks": self.blocks}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        whole: Dict[str, Any] = {name: value if name not in ARRAYS or value is None else np.ascontiguousarray(value)
                                 for name, value in state.items()}
        if whole.get("instance") is not None and whole["instance"].dtype != np.dtype(c_side.Instance):
            whole["instance"] = None                   # of another version of spotter
        self._bind(**whole)

    # --- Which rows are wrong, as C says.
    def _outcomes(self) -> Tuple[Array, Array]:
        wrong, predicted = np.zeros(self.c.n, np.uint8), np.full(self.c.n, -1, np.int32)
        if self.target is not None:
            lib.spot_subject_outcomes(ct.byref(self.c), ct.c_void_p(wrong.ctypes.data), ct.c_void_p(predicted.ctypes.data))
        return wrong.astype(bool), predicted

    def wrong(self) -> Array:
        """(n,) bool; where a row may have several classes, none is known to be wrong as a whole."""
        return self._outcomes()[0]

    def predictions(self) -> Optional[Array]:
        """(n,) class numbers; None where the probabilities do not tell."""
        predicted = self._outcomes()[1]
        return None if (predicted < 0).any() else predicted


def read_subject(c: Context, inputs: Inputs) -> _Owner:
    owner = _Owner()
    try:
        c.patiently("spot_subject_read", ct.byref(owner.c), ct.byref(inputs.bound()))
    except InputError as e:
        e.args = (inputs.plain(str(e)),)
        raise
    owner.c.source = inputs.without_folder(owner.c.source)
    return owner


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
            if re.search(rb"^study: *discover", text, re.M):
                with tempfile.NamedTemporaryFile(suffix=".yaml") as f:
                    f.write(text)
                    f.flush()
                    c("spot_methods_load", cfg.c, f.name.encode())
            else:
                c("spot_config_parse", cfg.c, text, ct.c_size_t(len(text)), b"settings")
        except InputError as e:
            said = re.sub(r"^settings line 1: (bdms\[0\](\.| ))?(top\b)?", lambda m: "n_slices" if m.group(3) else "", str(e))
            raise InputError(said.replace(" is null;", " is None;")) from None
    return cfg


class Search(NamedTuple):
    """text: the methods as a config says them. seeds: None: the config's. cls, least, fit, memory: as spot_discover_options."""
    text: bytes
    seeds: Optional[List[int]]
    cls: int = -2
    least: int = 20
    fit: bool = True
    memory: int = 0
    proof: Optional[Dict[str, Any]] = None


class Fitted:
    """Findings with all that they point to."""

    def __init__(self, subject: Subject, search: Search, threads: int, device: str) -> None:
        self.subject, self.search, self.threads, self.device = subject, search, threads, device
        self.findings, self.attributes = c_side.Findings(), c_side.Attributes()
        self.memory: Optional[_state.Memory] = None
        self._open()

    def _open(self) -> None:
        search = self.search
        self.cfg = config_of(search.text)
        seeds = [self.cfg.seed] if search.seeds is None else search.seeds
        self.seeds, self.options = (ct.c_uint64 * len(seeds))(*seeds), lib.spot_discover_defaults()
        o = self.options
        o.bdm, o.bdms, o.seed, o.seeds = self.cfg.methods, self.cfg.count, self.seeds, len(seeds)
        o.cls, o.least, o.fit, o.memory = search.cls, search.least, search.fit, search.memory
        self.proof = None if search.proof is None else c_side.ProofOptions(**search.proof)
        if self.proof is not None:
            o.proof = ct.pointer(self.proof)
        if self.attributes.items:
            o.attributes = ct.pointer(self.attributes)

    def search_also(self, entry: Dict[str, Any]) -> None:
        """One method more, before the search."""
        text = json.loads(self.search.text)
        self.search = self.search._replace(text=json.dumps({**text, "bdms": [*text["bdms"], entry]}).encode())
        self._open()

    def context(self) -> Context:
        return Context(self.device, self.threads)

    def run(self, c: Context, place: Optional[c_side.DiscoverPlace] = None) -> None:
        """In a folder, if there is a place."""
        if self.attributes.items:
            self.options.attributes = ct.pointer(self.attributes)
        given = (ct.byref(self.findings), ct.byref(self.subject.c), ct.byref(self.options))
        if place is None:
            c.patiently("spot_discover", *given)
        else:
            c.patiently("spot_discover_run", *given, ct.byref(place), ct.byref(c_side.RunReport()))

    def __getstate__(self) -> Dict[str, Any]:
        return {"schema": 2, "subject": self.subject, "search": tuple(self.search), "threads": self.threads,
                "device": self.device, "attributes": _state.save_attributes(self.attributes),
                "findings": _state.save(self.findings, self.subject.feature)}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.findings, self.attributes = c_side.Findings(), c_side.Attributes()        # close() finds them, come what may
        if state["schema"] != 2:
            raise InputError("these findings were saved by another version of spotter")
        self.subject, self.search = state["subject"], Search(*state["search"])
        self.threads, self.device = state["threads"], state["device"]
        self.findings, memory = _state.load(state["findings"], self.subject.feature)
        self.attributes, self.memory = _state.load_attributes(state["attributes"], memory), memory
        self._open()

    def each(self) -> Any:
        """The findings, one by one."""
        return iter(self.findings.finding[:self.findings.count])

    def told(self) -> Dict[str, Any]:
        """The document of slices.json."""
        text = ct.c_void_p()
        with Context("cpu", 1) as c:
            c("spot_findings_json", ct.byref(text), ct.byref(self.findings), ct.byref(self.subject.c), ct.byref(self.options))
        return dict(json.loads(c_side.taken(text)))

    def merges(self) -> List[Merge]:
        """Every merge of Ward's trees of the classes that the search examines."""
        made = c_side.Merges()
        with self.context() as c:
            try:
                c.patiently("spot_discover_merges", ct.byref(made), ct.byref(self.subject.c), ct.byref(self.options))
                return [Merge(None if m.cls < 0 else self.subject.names[m.cls], None if m.part < 0 else m.part, m.left, m.right,
                              m.height, m.rows, m.wrong, m.wrong / m.rows, *((None, None) if m.judged < 0 else
                                                                           (m.judged, m.judged_wrong)), m.p)
                        for m in made.merge[:made.count]]
            finally:
                lib.spot_tree_merges_close(ct.byref(made))

    def order(self) -> List[Tuple[int, int]]:
        """(finding, place in it) of each slice, in the order of their numbers."""
        number = ct.POINTER(ct.c_int)()
        with Context("cpu", 1) as c:
            c("spot_slice_numbers", ct.byref(number), ct.byref(self.findings), ct.byref(self.subject.c))
        all_ = sorted((number[i * HYPOTHESES + k], i, k) for i, f in enumerate(self.each()) for k in range(f.slices))
        c_side.free(number)
        return [(i, k) for _, i, k in all_]

    def blind_member(self, new: Subject, targeted: bool) -> Array:
        """(n, slices) uint8: by the five nearest rows of the class in fit, blind to probabilities. A merged finding's own rule
        is this; the rules of methods ask for probabilities, so their slices are voted on here."""
        return self._members(new, targeted, lambda c, f, rows: self._assign(c, f, new, rows) if f.merged else
                             self._vote(f, new.feature[rows]))

    def assign(self, new: Subject, targeted: bool) -> Array:
        """(n, slices) uint8 by the method's own rule; slices that were judged and merged: by their neighbours."""
        return self._members(new, targeted, lambda c, f, rows: self._assign(c, f, new, rows))

    def _members(self, new: Subject, targeted: bool, rule: Callable[[Context, Any, Array], Array]) -> Array:
        """A column for each slice, by their numbers; those of a class have its rows only, where these are known."""
        parts = []
        with self.context() as c:
            for f in self.each():
                rows = _rows_of(new, f.cls) if f.cls >= 0 and targeted else np.arange(new.c.n)
                part = np.zeros((new.c.n, f.slices), np.uint8)
                if f.slices and len(rows):
                    part[rows] = rule(c, f, rows)
                parts.append(part)
        order = self.order()
        return np.stack([parts[i][:, k] for i, k in order], 1) if order else np.zeros((new.c.n, 0), np.uint8)

    def _vote(self, f: Any, feature: Array) -> Array:
        rows = np.ctypeslib.as_array(f.row, (f.n,))
        member = np.stack([np.isin(rows, np.ctypeslib.as_array(s.row, (s.size,))) for s in f.slice[:f.slices]], 1)
        return nearest_vote(feature, self.subject.feature[rows], member)

    def _assign(self, c: Context, f: Any, new: Subject, rows: Array) -> Array:
        feature = np.ascontiguousarray(new.feature[rows])
        confidence = np.ascontiguousarray(self._sure(new, f.cls)[rows])
        view = c_side.View(n=len(rows), d=feature.shape[1], feature=feature.ctypes.data, confidence=confidence.ctypes.data)
        member = np.zeros((len(rows), f.slices), np.uint8)
        c("spot_assign", member.ctypes.data_as(ct.c_void_p), ct.c_int(f.slices), ct.byref(view), ct.byref(f.fit),
          ct.c_void_p(self.cfg.method(f.bdm)))
        return member

    @staticmethod
    def _sure(s: Subject, cls: int) -> Array:
        prob: Any = s.prob
        return prob[:, cls] if s.confidence is None else s.confidence

    def close(self) -> None:
        lib.spot_findings_close(ct.byref(self.findings))
        if self.memory is None:
            lib.spot_attributes_close(ct.byref(self.attributes))

    def __del__(self) -> None:
        if "findings" in self.__dict__:
            self.close()


def _rows_of(s: Subject, cls: int) -> Array:
    has: Any = s.has
    return np.flatnonzero(s.target == cls if has is None else has[:, cls])
