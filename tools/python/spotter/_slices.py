"""Slices as Python objects, as a table and as HTML."""
from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from . import _library as c_side
from ._arrays import Array
from ._missing import needed

FIELDS = [field[0] for field in c_side.Piece._fields_]
CLAIMS = ("chance", "suggested", "confirmed")
SHOWN = 10                                             # slices in a notebook's table


def schema() -> Dict[str, Any]:
    """The JSON Schema (draft 2020-12) of slices.json, which write and `spotter discover` make, of its schemas 1 and 2:
    `jsonschema.validate(json.load(open("found/slices.json")), spotter.schema())`."""
    return json.loads(Path(__file__).with_name("slices.schema.json").read_text(encoding="utf-8"))


class Interval(NamedTuple):
    """A number with its 95 % interval."""
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Piece:
    """A slice of one search. method; part: 0 or 1, on which it was found; seed; rank within its search. found, found_wrong:
    rows of that part, wrong ones among them. judged, wrong: rows of the other part, wrong ones; base: wrong ones that the
    classes' rates let expect. p: exact, one-sided; corrected for all pieces together (Westfall and Young)."""
    method: str
    part: int
    seed: int
    rank: int
    found: int
    found_wrong: int
    judged: int
    wrong: int
    base: float
    p: float
    corrected: float


@dataclass(frozen=True)
class Proof:
    """What rows that the search has not seen say of a slice (include/spotter/discover.h).

    claim: "confirmed", "suggested" or "chance". p: corrected for all slices. judged, wrong: rows; class_rate: error rate of
    their classes. excess: error rate less class_rate, an Interval; shrunk: the excess to expect on new rows. cell: error rate
    that predicted class and confidence alone let expect, NaN where not known. predicted: class that most wrong rows are taken
    for, None where not known; predicted_share of them. pieces: list of Piece, the surest first. cause: a number that slices of
    several classes share which seem to have one cause; None: the slice stands alone."""
    claim: str
    p: float
    judged: int
    wrong: int
    class_rate: float
    excess: Interval
    shrunk: float
    cell: float
    predicted: Optional[str]
    predicted_share: float
    pieces: List[Piece]
    cause: Optional[int] = None


def _read_proof(proof: Any, names: Sequence[str], method: str) -> Proof:
    pieces = [Piece(method, *[getattr(p, name) for name in FIELDS[1:]]) for p in proof.piece[:proof.pieces]]
    return Proof(CLAIMS[proof.claim], proof.p, proof.judged, proof.wrong, proof.class_rate,
                 Interval(proof.excess.value, proof.excess.low, proof.excess.high), proof.shrunk, proof.cell,
                 names[proof.predicted] if 0 <= proof.predicted < len(names) else None, proof.predicted_share, pieces,
                 proof.cause or None)


class Slice:
    """A group of rows on which the classifier fails.

    rows (size,) int: ascending. size, wrong: number of rows, and of certainly wrong rows. error_rate, share (of all wrong rows
    of the class), mean_confidence, score: float. class_rate: error rate of the whole class. neighbours: correct rows nearest to
    the mean of the slice. class_, name: the class and its name; rank: 1 is the first of its class. predicted: the class that
    most wrong rows are taken for, predicted_share of them; None where probs did not tell.

    proof: Proof, where it was asked for; claim: its claim; else both None.

    After describe: words, list of dict with phrase, score, auc, p; conjunction, a dict with items (list of str) and the figures
    on the rows that the search has not seen (held_out) and on all; None where there is none."""

    rows: Array
    size: int
    wrong: int
    error_rate: float
    class_rate: float
    mean_confidence: float
    share: float
    score: float
    neighbours: Array
    rank: int
    class_: int
    name: str
    predicted: Optional[str]
    predicted_share: float
    proof: Optional[Proof]
    words: List[Dict[str, Any]]
    conjunction: Optional[Dict[str, Any]]

    def __init__(self, s: Any, rank: int, finding: Any, subject: Any, method: str) -> None:
        self.rows = np.ctypeslib.as_array(s.row, (s.size,)).copy() if s.size else np.zeros(0, np.int32)
        self.size, self.wrong, self.error_rate = s.size, s.wrong, s.error_rate
        self.class_rate = finding.wrong / finding.n if finding.n else float("nan")
        self.mean_confidence, self.share, self.score = s.mean_confidence, s.share, s.score
        self.neighbours = np.array(s.neighbour[:s.neighbours], np.int32)
        self.rank, self.class_ = rank, finding.cls
        self.name = "all" if finding.cls < 0 else subject.names[finding.cls]
        self.predicted, self.predicted_share = subject.taken_for(self.rows)
        self.proof = _read_proof(s.proof.contents, subject.names, method) if s.proof else None
        if self.proof and self.proof.predicted is not None:
            self.predicted, self.predicted_share = self.proof.predicted, self.proof.predicted_share
        self.read_description(s)

    @property
    def claim(self) -> Optional[str]:
        return self.proof.claim if self.proof else None

    def read_description(self, s: Any) -> None:
        fields = [field[0] for field in c_side.Match._fields_]
        self.words = [{"phrase": w.phrase.decode(errors="replace"), "score": w.score, "auc": w.auc, "p": w.p}
                      for w in s.word[:s.words]]
        self.conjunction = None
        if s.conjunction:
            k = s.conjunction.contents
            self.conjunction = {"items": [k.name[i].decode(errors="replace") for i in range(k.items)],
                                **{part: {f: getattr(getattr(k, part), f) for f in fields} for part in ("held_out", "all")}}

    def __repr__(self) -> str:
        claim = f", claim={self.claim!r}" if self.proof else ""
        return (f"Slice(class={self.name!r}, rank={self.rank}, size={self.size}, error_rate={self.error_rate:.3f}, "
                f"share={self.share:.3f}{claim})")


def columns(slices: Sequence[Slice]) -> Dict[str, List[Any]]:
    """The table of slices: a list for each column."""
    table: Dict[str, List[Any]] = {"slice": list(range(len(slices))), "class": [s.name for s in slices]}
    for name in ("rank", "size", "wrong", "error_rate", "class_rate", "share", "mean_confidence", "score", "predicted",
                 "predicted_share"):
        table[name] = [getattr(s, name) for s in slices]
    if any(s.proof for s in slices):
        for name in ("claim", "p", "judged", "shrunk", "cell", "cause"):
            table[name] = [getattr(s.proof, name) if s.proof else None for s in slices]
        table["excess"] = [s.proof.excess.value if s.proof else None for s in slices]
        table["excess_low"] = [s.proof.excess.low if s.proof else None for s in slices]
        table["excess_high"] = [s.proof.excess.high if s.proof else None for s in slices]
    if any(s.words for s in slices):
        table["words"] = ["; ".join(w["phrase"] for w in s.words) for s in slices]
    if any(s.conjunction for s in slices):
        table["conjunction"] = [" and ".join(s.conjunction["items"]) if s.conjunction else "" for s in slices]
    return table


def frame(table: Dict[str, Any], what: str) -> Any:
    return needed("pandas", what).DataFrame(table)


def as_html(title: str, slices: Sequence[Slice]) -> str:
    """A table for a notebook."""
    heads = ["", "class", "rows", "wrong", "class rate", "taken for"]
    tested = any(s.proof for s in slices)
    told = any(s.words or s.conjunction for s in slices)
    heads += (["excess [95 %]", "claim"] if tested else []) + (["words"] if told else [])
    lines = []
    for i, s in enumerate(slices[:SHOWN]):
        taken = "" if s.predicted is None else f"{s.predicted} ({s.predicted_share:.0%})"
        cells = [i, s.name, s.size, f"{s.error_rate:.0%}", f"{s.class_rate:.0%}", taken]
        if tested:
            e = s.proof.excess if s.proof else None
            cells += [f"{e.value:+.2f} [{e.low:.2f}, {e.high:.2f}]" if e else "", s.claim or ""]
        if told:
            cells += [", ".join(w["phrase"] for w in s.words) or " and ".join((s.conjunction or {}).get("items", []))]
        lines.append("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in cells) + "</tr>")
    more = f"<p>and {len(slices) - SHOWN} more</p>" if len(slices) > SHOWN else ""
    head = "".join(f"<th>{h}</th>" for h in heads)
    return (f"<div><p><code>{html.escape(title)}</code>: {len(slices)} slices</p><table><thead><tr>{head}</tr></thead><tbody>"
            f"{''.join(lines)}</tbody></table>{more}</div>")
