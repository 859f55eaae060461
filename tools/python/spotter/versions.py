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
from ._given import listed, real, refuse, text as text_of
from ._given import level as as_level
from ._library import Context, lib
from ._slices import frame

_VERDICTS = ("pending", "same", "better", "mended", "worse", "new")
_NAME = 80
NAMES = "a list of the names of the two versions"


class _Proof(ct.Structure):
    _fields_ = [("parts", ct.c_int), ("holdout", ct.c_double), ("neighbours", ct.c_int), ("chance", ct.c_int),
                ("level", ct.c_double), ("same", ct.c_double), ("seed", ct.c_uint64)]


class _Options(ct.Structure):
    _fields_ = [("search", ct.c_void_p), ("proof", _Proof), ("level", ct.c_double),
                ("margin", ct.c_double), ("name", ct.c_char_p * 2), ("data", ct.c_char_p)]


class _Interval(ct.Structure):
    _fields_ = [("value", ct.c_double), ("low", ct.c_double), ("high", ct.c_double)]


class _Counts(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("wrong", ct.c_int * 2), ("lost", ct.c_int), ("gained", ct.c_int), ("p_worse", ct.c_double),
                ("p_better", ct.c_double), ("enough", ct.c_int), ("groups", ct.c_int)]


class _Slice(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("verdict", ct.c_int), ("confirmed", ct.c_bool * 2), ("size", ct.c_int),
                ("row", ct.POINTER(ct.c_int)), ("compared", ct.c_int), ("at", ct.POINTER(ct.c_int)), ("counts", _Counts),
                ("class_rate", ct.c_double * 2), ("change", _Interval), ("pieces", ct.c_int), ("piece", ct.c_void_p)]


class _Class(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("verdict", ct.c_int), ("counts", _Counts), ("change", _Interval)]


class _Row(ct.Structure):
    _fields_ = [("row", ct.c_int), ("cls", ct.c_int)]


class _Versions(ct.Structure):
    _fields_ = [("name", (ct.c_char * _NAME) * 2), ("data", ct.c_char * _NAME), ("n", ct.c_int),
                ("tests", ct.c_int), ("level", ct.c_double), ("margin", ct.c_double), ("slices", ct.c_int),
                ("slice", ct.POINTER(_Slice)), ("classes", ct.c_int), ("of", ct.POINTER(_Class)), ("outside", ct.c_int),
                ("lost", ct.POINTER(_Row)), ("failed", ct.c_bool), ("equal", ct.c_bool), ("arena", c_side.Arena)]


_MIRRORED = {"spot_proof_options": _Proof, "spot_versions_options": _Options, "spot_version_slice": _Slice,
             "spot_version_class": _Class, "spot_versions": _Versions}


class Change:
    """What became of some rows. verdict: "new", "worse", "pending", "same", "better" or "mended". rows: number of them;
    before, now: error rates on them; lost, gained: rows that turned wrong, right; change, low, high: now - before with its 95 %
    interval; p_worse, p_better: exact and corrected for all tests; enough: rows that only one version has wrong, all the same
    one, which would show a change; groups: of the rows, which the tests take as wholes; 0: rows are alone."""

    class_: int
    name: str
    verdict: str
    rows: int
    lost: int
    gained: int
    enough: int
    groups: int
    before: float
    now: float
    change: float
    low: float
    high: float
    p_worse: float
    p_better: float

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        k = c.counts
        self.class_, self.name = c.cls, "all" if c.cls < 0 else names[c.cls]
        self.verdict, self.rows, self.lost, self.gained, self.enough = _VERDICTS[c.verdict], k.rows, k.lost, k.gained, k.enough
        self.groups = k.groups
        self.before, self.now = [w / k.rows if k.rows else float("nan") for w in k.wrong]
        self.change, self.low, self.high = c.change.value, c.change.low, c.change.high
        self.p_worse, self.p_better = k.p_worse, k.p_better

    def __repr__(self) -> str:
        return (f"{type(self).__name__}(class={self.name!r}, verdict={self.verdict!r}, rows={self.rows}, "
                f"before={self.before:.3f}, now={self.now:.3f}, p_worse={self.p_worse:.2g}, p_better={self.p_better:.2g})")


class ChangedSlice(Change):
    """A confirmed blindspot, or a slice that changed. members (size,): all its rows; compared (rows,): those on which the
    versions are compared; confirmed_before, confirmed_now: whether the errors of each version confirm it; class_rate: its
    class's error rate now."""

    members: Array
    compared: Array
    confirmed_before: bool
    confirmed_now: bool
    class_rate: float

    def __init__(self, c: Any, names: Sequence[str]) -> None:
        super().__init__(c, names)
        self.members = np.array(c.row[:c.size], np.int32)
        self.compared = np.array(c.at[:c.compared], np.int32)
        self.confirmed_before, self.confirmed_now = map(bool, c.confirmed)
        self.class_rate = c.class_rate[1]


class Comparison:
    """failed: something is worse or new. slices: list of ChangedSlice, the gravest first. classes: list of Change, all rows
    first. lost_outside (k,): rows outside all slices that were right and are wrong. names, data; warnings: list of str."""

    names: Tuple[str, ...]
    data: str
    failed: bool
    equal: bool
    tests: int
    level: float
    margin: float
    slices: List[ChangedSlice]
    classes: List[Change]
    lost_outside: Array
    warnings: List[str]

    def __init__(self, v: Any, names: Sequence[str]) -> None:
        self.names, self.data = tuple(n.value.decode(errors="replace") for n in v.name), v.data.decode(errors="replace")
        self.failed, self.equal, self.tests, self.level, self.margin = v.failed, v.equal, v.tests, v.level, v.margin
        self.slices = [ChangedSlice(v.slice[i], names) for i in range(v.slices)]
        self.classes = [Change(v.of[i], names) for i in range(v.classes)]
        self.lost_outside = np.array([v.lost[i].row for i in range(v.outside)], np.int32)

    def to_frame(self) -> Any:
        """A pandas DataFrame, a row for each slice, then for each class: kind ("slice" or "class"), class, verdict, rows,
        before, now, change, low, high, lost, gained, p_worse, p_better, enough."""
        both: List[Change] = [*self.slices, *self.classes]
        names = ("verdict", "rows", "before", "now", "change", "low", "high", "lost", "gained", "p_worse", "p_better", "enough")
        return frame({"kind": ["slice"] * len(self.slices) + ["class"] * len(self.classes), "class": [c.name for c in both],
                      **{name: [getattr(c, name) for c in both] for name in names}}, "to_frame")

    def _repr_html_(self) -> str:
        lines = "".join(f"<tr><td>{html.escape(c.name)}</td><td>{c.verdict}</td><td>{c.rows}</td><td>{c.before:.0%}</td>"
                        f"<td>{c.now:.0%}</td><td>{c.change:+.2f} [{c.low:.2f}, {c.high:.2f}]</td></tr>"
                        for c in [*self.slices, *[c for c in self.classes if c.verdict in ("worse", "better")]])
        return (f"<div><p>{html.escape(repr(self).splitlines()[0])}</p><table><thead><tr><th>class</th><th>verdict</th>"
                f"<th>rows</th><th>before</th><th>now</th><th>change [95 %]</th></tr></thead><tbody>{lines}"
                "</tbody></table></div>")

    def __repr__(self) -> str:
        head = f"{self.names[0]} -> {self.names[1]}: {'worse' if self.failed else 'nothing is shown to be worse'}"
        changed = [c for c in self.classes if c.verdict in ("worse", "better")]
        return "\n  ".join([head, *map(repr, [*self.slices, *changed])])


def _check() -> None:
    for name, struct in _MIRRORED.items():
        if c_side.SIZES.get(name) != ct.sizeof(struct):
            raise ImportError(f"the library's {name} takes {c_side.SIZES.get(name)} bytes, here it is {ct.sizeof(struct)}; "
                              "install library and package from one build")


def compare_subjects(first: Any, second: Any, method: Any, names: Sequence[str] = ("version 1", "version 2"),
                     data: Optional[str] = None, margin: float = 0.05, level: float = 0.05) -> Comparison:
    """compare for two subjects as a method's fit makes them; method: its settings are those of the search."""
    from ._method import Method, class_number

    _check()
    if not isinstance(method, Method):
        refuse(method, "method", "a Method, such as spotter.Ward()")
    method._check()
    two = listed(names, "names", NAMES)
    if len(two) != 2:
        refuse(names, "names", NAMES)
    real(margin, "margin", 0.001, 0.5), as_level(level)
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
        options.margin, options.level = margin, level
        options.name = (ct.c_char_p * 2)(*[text_of(n, "names") for n in two])
        options.data = text_of(data, "data")
        both = (ct.POINTER(c_side.Subject) * 2)(ct.pointer(first.c), ct.pointer(second.c))
        v = _Versions()
        try:
            c.patiently("spot_versions_compare", ct.byref(v), both, ct.byref(options))
            out = Comparison(v, first.names)
        finally:
            lib.spot_versions_close(ct.byref(v))
        out.warnings = c.warnings
    return out


def compare(embeddings: Any, targets: Any, probs_v1: Any, probs_v2: Any, method: Any = None,
            names: Sequence[str] = ("version 1", "version 2"), data: Optional[str] = None, margin: float = 0.05,
            level: float = 0.05, groups: Any = None) -> Comparison:
    """Compares version 2 of a classifier with version 1 on the same rows, blindspot by blindspot, and returns a Comparison.

    embeddings, targets, probs: as a method's fit takes them, in the same order. method: what finds slices,
    by default Ward(); its target_class, seed, device and threads count. names, data: names of the versions and of the
    rows. margin: a difference of error rates that counts as none. level: the chance that an equal version is called worse.
    groups (n,): as a method's fit takes them; rows of a group, as frames of a video, stay together in the parts and the tests,
    and each Change has its number of groups."""
    from ._fitted import Subject
    from .methods import Ward

    first = Subject(embeddings, targets, probs_v1, groups=groups)
    second = Subject(first.feature, targets, probs_v2, groups=groups)
    return compare_subjects(first, second, Ward() if method is None else method, names, data, margin, level)
