"""Two versions of a classifier on the same rows: what became of each blindspot.

    change = spotter.compare(embeddings, targets, probs_v1, probs_v2)
    assert not change.failed, change
    for s in change.slices: print(s)
"""
import ctypes as ct
import html
from typing import Any, List, Optional, Sequence, Tuple

import numpy as np

from . import _library as c_side
from ._arrays import Array
from ._given import flag, listed, real, refuse, text as text_of
from ._given import level as as_level
from ._library import Context, InputError, lib
from ._slices import frame

_VERDICTS = ("pending", "same", "better", "mended", "worse", "new")
_NAME = 80
NAMES = "a list of the names of the two versions"
GUARDS = "a dict of names and (n,) arrays of bool, or of names and (array, margin)"


class _Proof(ct.Structure):
    _fields_ = [("parts", ct.c_int), ("holdout", ct.c_double), ("neighbours", ct.c_int), ("chance", ct.c_int),
                ("level", ct.c_double), ("same", ct.c_double), ("seed", ct.c_uint64)]


class _Guard(ct.Structure):
    _fields_ = [("name", ct.c_char_p), ("cls", ct.c_int), ("margin", ct.c_double), ("rows", ct.POINTER(ct.c_uint8))]


class _Options(ct.Structure):
    _fields_ = [("search", ct.c_void_p), ("proof", _Proof), ("level", ct.c_double), ("share", ct.c_double * 4),
                ("margin", ct.c_double), ("beyond", ct.c_double), ("guard", ct.POINTER(_Guard)), ("guards", ct.c_int),
                ("retrain", ct.POINTER(ct.POINTER(c_side.Subject))), ("retrains", ct.c_int), ("features", ct.c_int),
                ("name", ct.c_char_p * 2), ("data", ct.c_char_p)]


class _Interval(ct.Structure):
    _fields_ = [("value", ct.c_double), ("low", ct.c_double), ("high", ct.c_double)]


class _Counts(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("wrong", ct.c_int * 2), ("lost", ct.c_int), ("gained", ct.c_int),
                ("lost_row", ct.POINTER(ct.c_int)), ("gained_row", ct.POINTER(ct.c_int)), ("before", ct.c_double),
                ("groups", ct.c_int), ("margin", ct.c_double), ("beyond", ct.c_double), ("p_worse", ct.c_double),
                ("p_better", ct.c_double), ("p_same", ct.c_double), ("change", _Interval), ("corrected", _Interval),
                ("needed", ct.c_double), ("shift", ct.c_double), ("as_others", ct.c_bool)]


class _Slice(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("verdict", ct.c_int), ("confirmed", ct.c_bool * 2), ("rule", ct.c_char_p),
                ("size", ct.c_int), ("row", ct.POINTER(ct.c_int)), ("compared", ct.c_int), ("at", ct.POINTER(ct.c_int)),
                ("counts", _Counts), ("class_rate", ct.c_double * 2), ("pieces", ct.c_int), ("piece", ct.c_void_p)]


class _Class(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("name", ct.c_char_p), ("verdict", ct.c_int), ("counts", _Counts)]


class _Row(ct.Structure):
    _fields_ = [("row", ct.c_int), ("cls", ct.c_int)]


class _Spread(ct.Structure):
    _fields_ = [("files", ct.c_int), ("share", ct.c_double * 2), ("move", ct.c_double), ("freedom", ct.c_int)]


class _Shift(ct.Structure):
    _fields_ = [("slices", ct.c_int), ("freedom", ct.c_int), ("middle", ct.c_double), ("spread", ct.c_double),
                ("as_others", ct.c_int)]


class _Versions(ct.Structure):
    _fields_ = [("name", (ct.c_char * _NAME) * 2), ("data", ct.c_char * _NAME), ("n", ct.c_int), ("tests", ct.c_int * 4),
                ("level", ct.c_double), ("margin", ct.c_double), ("beyond", ct.c_double), ("share", ct.c_double * 4),
                ("features", ct.c_int), ("spread", _Spread), ("shift", _Shift), ("slices", ct.c_int),
                ("slice", ct.POINTER(_Slice)),
                ("classes", ct.c_int), ("of", ct.POINTER(_Class)), ("guards", ct.c_int), ("guard", ct.POINTER(_Class)),
                ("outside", ct.c_int), ("lost", ct.POINTER(_Row)), ("failed", ct.c_bool), ("pending", ct.c_bool),
                ("equal", ct.c_bool), ("arena", c_side.Arena)]


_MIRRORED = {"spot_proof_options": _Proof, "spot_versions_options": _Options, "spot_version_slice": _Slice,
             "spot_version_class": _Class, "spot_versions": _Versions,
             "spot_version_guard": _Guard}


class Change:
    """What became of some rows. verdict: "new", "worse", "pending", "same", "better" or "mended". rows: number of them;
    before, now: error rates on them, before with further trainings the mean of all of them; lost, gained: rows that turned
    wrong, right; lost_rows (lost,), gained_rows (gained,): these rows, ascending; change, low, high: now - before with its
    95 % interval; corrected_low, corrected_high: the ends that the verdict looks at, corrected for all tests; margin: changes
    up to it are the same; beyond: worse is above it; p_worse, p_better, p_same: corrected; needed: where pending, rows (or
    groups) of this kind that would decide, inf: no number does, else 0; groups: of the rows, which the tests take as wholes;
    0: rows are alone; shift: of a slice, the mean change of the log odds of its rows' classes (nan: not known); as_others: it
    changed in errors beyond chance, and its log odds no more than those of other slices, as an equal training might have done:
    it is pending."""

    class_: int
    name: str
    verdict: str
    rows: int
    lost: int
    gained: int
    lost_rows: Array
    gained_rows: Array
    groups: int
    before: float
    now: float
    change: float
    low: float
    high: float
    corrected_low: float
    corrected_high: float
    margin: float
    beyond: float
    p_worse: float
    p_better: float
    p_same: float
    needed: float
    shift: float
    as_others: bool

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        k = c.counts
        self.class_, self.name = c.cls, "all" if c.cls < 0 else names[c.cls]
        self.verdict, self.rows, self.lost, self.gained = _VERDICTS[c.verdict], k.rows, k.lost, k.gained
        self.lost_rows = np.array(k.lost_row[:k.lost], np.int32)
        self.gained_rows = np.array(k.gained_row[:k.gained], np.int32)
        self.groups, self.before = k.groups, k.before
        self.now = k.wrong[1] / k.rows if k.rows else float("nan")
        self.change, self.low, self.high = k.change.value, k.change.low, k.change.high
        self.corrected_low, self.corrected_high = k.corrected.low, k.corrected.high
        self.margin, self.beyond = k.margin, k.beyond
        self.p_worse, self.p_better, self.p_same, self.needed = k.p_worse, k.p_better, k.p_same, k.needed
        self.shift, self.as_others = k.shift, k.as_others

    def __repr__(self) -> str:
        return (f"{type(self).__name__}({self._title()}, verdict={self.verdict!r}, rows={self.rows}, "
                f"before={self.before:.3f}, now={self.now:.3f}, p_worse={self.p_worse:.2g}, p_better={self.p_better:.2g})")

    def _title(self) -> str:
        return f"class={self.name!r}"


class Guarded(Change):
    """Rows that were named before. guard: their name."""

    guard: str

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        super().__init__(c, names)
        self.guard = c.name.decode(errors="replace")

    def _title(self) -> str:
        return f"guard={self.guard!r}"


class ChangedSlice(Change):
    """A confirmed blindspot, or a slice that changed. members (size,): all its rows; compared (rows,): those on which the
    versions are compared; confirmed_before, confirmed_now: whether the errors of each version confirm it; class_rate: its
    class's error rate now; rule: "colour=grey & px=16" where the slice is all rows of its class with these items, else None."""

    members: Array
    compared: Array
    confirmed_before: bool
    confirmed_now: bool
    class_rate: float
    rule: Optional[str]

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        super().__init__(c, names)
        self.members = np.array(c.row[:c.size], np.int32)
        self.compared = np.array(c.at[:c.compared], np.int32)
        self.confirmed_before, self.confirmed_now = map(bool, c.confirmed)
        self.class_rate = c.class_rate[1]
        self.rule = None if c.rule is None else c.rule.decode(errors="replace")


_FEATURES = ("neutral", "version 1", "both")


class Comparison:
    """failed: something is worse or new; pending: it is not, and the rows cannot tell of all rows, a class or a guard. slices:
    list of ChangedSlice, the gravest first. classes: list of Change, all rows first. guards: list of Guarded. lost_outside
    (k,): rows outside all slices that were right and are wrong. features: "neutral", "version 1" or "both", whose the slices
    were searched in. trainings: further ones of version 1; move: the change of a class that 95 % of their pairs stay within,
    nan without them. names, data; warnings: list of str."""

    names: Tuple[str, ...]
    data: str
    failed: bool
    pending: bool
    equal: bool
    level: float
    margin: float
    beyond: float
    features: str
    trainings: int
    move: float
    slices: List[ChangedSlice]
    classes: List[Change]
    guards: List[Guarded]
    lost_outside: Array
    warnings: List[str]

    def __init__(self, v: Any, names: Sequence[str]) -> None:
        self.names, self.data = tuple(n.value.decode(errors="replace") for n in v.name), v.data.decode(errors="replace")
        self.failed, self.pending, self.equal = v.failed, v.pending, v.equal
        self.level, self.margin, self.beyond, self.features = v.level, v.margin, v.beyond, _FEATURES[v.features]
        self.trainings, self.move = v.spread.files, v.spread.move if v.spread.files else float("nan")
        self.slices = [ChangedSlice(v.slice[i], names) for i in range(v.slices)]
        self.classes = [Change(v.of[i], names) for i in range(v.classes)]
        self.guards = [Guarded(v.guard[i], names) for i in range(v.guards)]
        self.lost_outside = np.array([v.lost[i].row for i in range(v.outside)], np.int32)

    def to_frame(self) -> Any:
        """A pandas DataFrame, a row for each slice, each class, each guard: kind ("slice", "class", "guard"), class, title (a
        rule or a guard), verdict, rows, before, now, change, low, high, corrected_low, corrected_high, lost, gained, p_worse,
        p_better, p_same, needed."""
        all_: List[Change] = [*self.slices, *self.classes, *self.guards]
        kinds = ["slice"] * len(self.slices) + ["class"] * len(self.classes) + ["guard"] * len(self.guards)
        names = ("verdict", "rows", "before", "now", "change", "low", "high", "corrected_low", "corrected_high", "lost",
                 "gained", "p_worse", "p_better", "p_same", "needed")
        return frame({"kind": kinds, "class": [c.name for c in all_],
                      "title": [getattr(c, "rule", None) or getattr(c, "guard", None) or "" for c in all_],
                      **{name: [getattr(c, name) for c in all_] for name in names}}, "to_frame")

    def _repr_html_(self) -> str:
        lines = "".join(f"<tr><td>{html.escape(c.name)}</td><td>{c.verdict}</td><td>{c.rows}</td><td>{c.before:.0%}</td>"
                        f"<td>{c.now:.0%}</td><td>{c.change:+.2f} [{c.low:.2f}, {c.high:.2f}]</td></tr>"
                        for c in [*self.slices, *self.guards, *[c for c in self.classes if c.verdict in ("worse", "better")]])
        return (f"<div><p>{html.escape(repr(self).splitlines()[0])}</p><table><thead><tr><th>class</th><th>verdict</th>"
                f"<th>rows</th><th>before</th><th>now</th><th>change [95 %]</th></tr></thead><tbody>{lines}"
                "</tbody></table></div>")

    def __repr__(self) -> str:
        head = f"{self.names[0]} -> {self.names[1]}: {'worse' if self.failed else 'nothing is shown to be worse'}"
        changed = [c for c in self.classes if c.verdict in ("worse", "better")]
        return "\n  ".join([head, *map(repr, [*self.slices, *self.guards, *changed])])


def _check() -> None:
    for name, struct in _MIRRORED.items():
        if c_side.SIZES.get(name) != ct.sizeof(struct):
            raise ImportError(f"the library's {name} takes {c_side.SIZES.get(name)} bytes, here it is {ct.sizeof(struct)}; "
                              "install library and package from one build")


def _named(name: str, make: Any) -> Any:
    """make(), whose sentence of failure says which argument it is about."""
    try:
        return make()
    except InputError as e:
        raise InputError(f"{name}: {e}") from None


def _take_guards(options: Any, guards: Any, rows: int) -> Any:
    """The arrays of `guards`, which must stay while options is used."""
    kept: List[Any] = []
    if guards is None:
        return kept
    if not hasattr(guards, "items"):
        refuse(guards, "guards", GUARDS)
    out = (_Guard * max(1, len(guards)))()
    for g, (name, what) in zip(out, guards.items()):
        mask, margin = what if isinstance(what, tuple) and len(what) == 2 else (what, float("nan"))
        array = np.asarray(mask)
        if array.shape != (rows,) or array.dtype != bool:
            refuse(what, f"guards[{name!r}]", f"{GUARDS}; here are {rows} rows")
        if margin == margin:
            real(margin, f"the margin of guards[{name!r}]", 0, 0.5)
        array = np.ascontiguousarray(array, np.uint8)
        kept.append(array)
        g.name, g.cls, g.margin = text_of(str(name), "guards"), -1, margin
        g.rows = array.ctypes.data_as(ct.POINTER(ct.c_uint8))
    options.guard, options.guards = out, len(guards)
    return [out, kept]


def compare_subjects(first: Any, second: Any, method: Any, names: Sequence[str] = ("version 1", "version 2"),
                     data: Optional[str] = None, margin: Optional[float] = None, level: float = 0.05, guards: Any = None,
                     retrain: Sequence[Any] = (), neutral: bool = False) -> Comparison:
    """compare for subjects as a method's fit makes them; method: its settings are those of the search."""
    from ._method import Method, class_number

    _check()
    if not isinstance(method, Method):
        refuse(method, "method", "a Method, such as spotter.Ward()")
    method._check()
    two = listed(names, "names", NAMES)
    if len(two) != 2:
        refuse(names, "names", NAMES)
    as_level(level)
    if margin is not None:
        real(margin, "margin", 0, 0.5)
    lib.spot_versions_defaults.restype = _Options
    lib.spot_versions_close.restype = None
    with Context(method.device, method.threads) as c:
        text, cfg = method._text(), c_side.Config("spot_config")
        c("spot_config_parse", cfg.c, text, ct.c_size_t(len(text)), b"settings")
        search_seed = ct.c_uint64(method.seed)
        search = lib.spot_discover_defaults()
        search.bdm = cfg.methods
        search.bdms, search.seed, search.seeds, search.least = 1, ct.pointer(search_seed), 1, method.least
        search.cls = class_number(method.target_class, first.names, "target_class")
        options = lib.spot_versions_defaults()
        options.search = ct.addressof(search)
        options.level, options.features = level, 0 if neutral else 1
        if margin is not None:
            options.margin = options.beyond = margin
        options.name = (ct.c_char_p * 2)(*[text_of(n, "names") for n in two])
        options.data = text_of(data, "data")
        kept = _take_guards(options, guards, first.c.n)
        more = (ct.POINTER(c_side.Subject) * max(1, len(retrain)))(*[ct.pointer(t.c) for t in retrain])
        options.retrain, options.retrains = more, len(retrain)
        both = (ct.POINTER(c_side.Subject) * 2)(ct.pointer(first.c), ct.pointer(second.c))
        v = _Versions()
        try:
            c.patiently("spot_versions_compare", ct.byref(v), both, ct.byref(options))
            out = Comparison(v, first.names)
        finally:
            lib.spot_versions_close(ct.byref(v))
        out.warnings = c.warnings
        del kept
    return out


def compare(embeddings: Any, targets: Any, probs_v1: Any, probs_v2: Any, method: Any = None,
            names: Sequence[str] = ("version 1", "version 2"), data: Optional[str] = None, margin: Optional[float] = None,
            level: float = 0.05, groups: Any = None, embeddings_v2: Any = None, neutral: bool = False, guards: Any = None,
            retrain: Any = ()) -> Comparison:
    """Compares version 2 of a classifier with version 1 on the same rows, blindspot by blindspot, and returns a Comparison.

    embeddings, targets, probs: as a method's fit takes them, in the same order. embeddings_v2: features of version 2, where
    embeddings are of version 1: both are searched together, since those of one version take its side. neutral: embeddings are
    of neither. method: what finds slices, by default Ward(); its target_class, seed, device and threads count. names, data:
    names of the versions and of the rows. level: the chance that a version which is nowhere worse is called so. margin: a
    difference of error rates that counts as none, and above which worse lies; by default 0.05, and worse is beyond the spread
    of `retrain` where that has three. guards: {name: rows (n,) bool} or {name: (rows, margin)}, asked before all slices.
    retrain: a list of probabilities of further trainings of version 1; version 2 is compared with the mean of all. groups (n,):
    as a method's fit takes them; rows of a group, as frames of a video, stay together in the parts and the tests, and each
    Change has its number of groups."""
    from ._fitted import Subject
    from .methods import Ward

    first = Subject(embeddings, targets, probs_v1, groups=groups)
    if embeddings_v2 is None:
        second = Subject(first.feature, targets, probs_v2, groups=groups)
    else:
        second = _named("embeddings_v2", lambda: Subject(embeddings_v2, targets, probs_v2, groups=groups))
    if embeddings_v2 is None:
        second.c.feature = first.c.feature
    flag(neutral, "neutral")
    if not isinstance(retrain, (list, tuple)):
        refuse(retrain, "retrain", "a list of arrays of probabilities, one a training")
    more = [_named("retrain", lambda p=p: Subject(first.feature, targets, p, groups=groups)) for p in retrain]
    return compare_subjects(first, second, Ward() if method is None else method, names, data, margin, level, guards, more,
    neutral)
