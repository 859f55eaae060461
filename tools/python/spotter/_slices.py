"""Slices as Python objects, as a table and as HTML."""
from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._arrays import Array
from ._missing import needed

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


class Merge(NamedTuple):
    """A merge of Ward's tree of a class (include/spotter/discover.h). class_: its name, None for all rows. part: of the proof,
    whose rows the tree has; None without a proof. left, right: what is merged; below the number of rows a row, else that number
    and the place of an earlier merge. height: as scipy's linkage has it. rows, wrong, rate: of the cluster. judged,
    judged_wrong: rows of the other part that join it, None without a proof. p: of this cluster alone, uncorrected among
    thousands; NaN where there is none."""
    class_: Optional[str]
    part: Optional[int]
    left: int
    right: int
    height: float
    rows: int
    wrong: int
    rate: float
    judged: Optional[int]
    judged_wrong: Optional[int]
    p: float


@dataclass(frozen=True)
class Piece:
    """A slice of one search, in the words of slices.json. method; part: 0 or 1, on which it was found; seed; rank within its
    search. found, found_wrong: rows of that part, wrong ones among them. judged, wrong: rows of the other part, wrong ones;
    expected_wrong: those that the classes' rates let expect. p: exact, one-sided; corrected_p: for all pieces together
    (Westfall and Young). judged_groups: groups of the judged rows; 0: rows are alone."""
    method: str
    seed: int
    part: int
    rank: int
    found: int
    found_wrong: int
    judged: int
    wrong: int
    expected_wrong: float
    p: float
    corrected_p: float
    judged_groups: int = 0


@dataclass(frozen=True)
class Proof:
    """What rows that the search has not seen say of a slice, in the words of slices.json (include/spotter/discover.h).

    claim: "confirmed", "suggested" or "chance". corrected_p: for all slices. judged, wrong: rows; judged_groups: groups of
    the judged rows, 0 where rows are alone; least_p: the least p that so many can give. class_rate: error rate of their
    classes. excess: error rate less class_rate, excess_low to excess_high its 95 % interval; to_expect: the excess to
    expect on new rows. expected_rate: error rate that predicted class and confidence alone let expect, NaN where not known.
    predicted: class that most wrong rows are taken for, None where not known; predicted_share of them. pieces: list of
    Piece, the surest first."""
    claim: str
    corrected_p: float
    judged: int
    wrong: int
    class_rate: float
    excess: float
    excess_low: float
    excess_high: float
    to_expect: float
    expected_rate: float
    predicted: Optional[str]
    predicted_share: float
    pieces: List[Piece]
    judged_groups: int = 0
    least_p: float = 0


WITHOUT = ("predicted", "suspect")                                # None where JSON has null; other numbers are NaN then


def _read(told: Dict[str, Any]) -> Dict[str, Any]:
    return {name: float("nan") if value is None and name not in WITHOUT else value for name, value in told.items()}


class Slice:
    """A group of rows on which the classifier fails. Its words are those of slices.json.

    number: from 1, the same on the page, in files and in tables: slices_[number - 1] is this one. entry: number of the entry,
    a cause, that has it (entries_[entry - 1]). rows (size,) int: ascending.
    size, wrong: number of rows, and of certainly wrong rows. error_rate, share_of_errors (of all wrong rows of the class),
    mean_confidence, score: float. class_rate: error rate of the whole class. nearest_correct: correct rows nearest to the mean
    of the slice. class_, name: the class's number, -1 for all, and its name; rank: 1 is the first of its class. method: what
    found it. predicted: the class that most wrong rows are taken for, predicted_share of them; None where probs did not tell.

    suspect: labels among its rows that may be wrong, None where probs do not tell; error_rate_without: error rate of the other
    rows, NaN where there are none.

    proof: Proof, where it was asked for; claim: its claim; else both None.

    rule: list of str, the attributes of a slice that is a rule: rows are then all rows of the class that have them; else None.
    said: in words what it shows: its rule, else its conjunction; "" where there is neither.

    After describe: words, list of dict with phrase, score, auc, p; conjunction, a dict with items (list of str) and the figures
    on the rows that the search has not seen (held_out) and on all; None where there is none."""

    number: int
    entry: int
    rows: Array
    size: int
    wrong: int
    error_rate: float
    class_rate: float
    mean_confidence: float
    share_of_errors: float
    score: float
    nearest_correct: Array
    rank: int
    class_: int
    name: str
    method: str
    predicted: Optional[str]
    predicted_share: float
    suspect: Optional[int]
    error_rate_without: float
    proof: Optional[Proof]
    words: List[Dict[str, Any]]
    conjunction: Optional[Dict[str, Any]]
    rule: Optional[List[str]]

    def __init__(self, told: Dict[str, Any], finding: Dict[str, Any], rows: Array,
                 taken_for: Tuple[Optional[str], float]) -> None:
        for name in ("number", "entry", "rank", "size", "wrong", "error_rate", "mean_confidence", "share_of_errors", "score"):
            setattr(self, name, float("nan") if told[name] is None else told[name])
        self.rows = rows
        self.class_rate = finding["wrong"] / finding["rows"] if finding["rows"] else float("nan")
        self.nearest_correct = np.array([near["row"] for near in told["nearest_correct"]], np.int32)
        self.class_ = -1 if finding["class_number"] is None else finding["class_number"]
        self.name = "all" if finding["class"] is None else finding["class"]
        self.predicted, self.predicted_share = taken_for
        labels = _read(told.get("labels", {"suspect": None, "error_rate_without": None}))
        self.suspect, self.error_rate_without = labels["suspect"], labels["error_rate_without"]
        self.proof = None
        self.rule = told.get("rule", {}).get("items")
        if "proof" in told:
            self.proof = Proof(**{**_read(told["proof"]), "pieces": [Piece(**_read(p)) for p in told["proof"]["pieces"]]})
            if self.proof.predicted is not None:
                self.predicted, self.predicted_share = self.proof.predicted, self.proof.predicted_share
        found_by = dict.fromkeys(p.method for p in self.proof.pieces) if self.proof else []
        self.method = finding.get("method") or ", ".join(found_by)
        self.read_description(told)

    @property
    def claim(self) -> Optional[str]:
        return self.proof.claim if self.proof else None

    def read_description(self, told: Dict[str, Any]) -> None:
        self.words = [_read(word) for word in told.get("words", [])]
        k = told.get("conjunction")
        self.conjunction = k and {"items": k["items"], "held_out": _read(k["held_out"]), "all": _read(k["all"])}

    @property
    def said(self) -> str:
        return " and ".join(self.rule or (self.conjunction or {}).get("items", []))

    def __repr__(self) -> str:
        said = f", claim={self.claim!r}, excess={self.proof.excess:+.3f}, p={self.proof.corrected_p:.2g}" if self.proof else ""
        if self.proof and self.proof.judged_groups:
            said += f", judged={self.proof.judged} in {self.proof.judged_groups} groups"
        said += f", taken for {self.predicted!r}" if self.predicted is not None else ""
        for text in ("; ".join(w["phrase"] for w in self.words), self.said):
            said += f", {text!r}" if text else ""
        return (f"Slice(number={self.number}, class={self.name!r}, size={self.size}, error_rate={self.error_rate:.3f}, "
                f"class_rate={self.class_rate:.3f}{said})")


def taken_for(names: Sequence[str], wrong: Array, predicted: Optional[Array], rows: Array) -> Tuple[Optional[str], float]:
    """The class that most wrong ones of these rows are taken for, and its share of them."""
    rows = rows[wrong[rows]]
    if predicted is None or not len(rows):
        return None, float("nan")
    count = np.bincount(predicted[rows], minlength=len(names))
    return names[int(count.argmax())], float(count.max() / count.sum())


def columns(slices: Sequence[Slice]) -> Dict[str, List[Any]]:
    """The table of slices: a list for each column, in the words of slices.json."""
    table: Dict[str, List[Any]] = {"number": [s.number for s in slices], "entry": [s.entry for s in slices],
                                   "class": [s.name for s in slices]}
    for name in ("rank", "size", "wrong", "error_rate", "class_rate", "share_of_errors", "mean_confidence", "score",
                 "predicted", "predicted_share", "suspect", "error_rate_without"):
        table[name] = [getattr(s, name) for s in slices]
    if any(s.proof for s in slices):
        for name in ("claim", "corrected_p", "judged", "excess", "excess_low", "excess_high", "to_expect", "expected_rate"):
            table[name] = [getattr(s.proof, name) if s.proof else None for s in slices]
        if any(s.proof and s.proof.judged_groups for s in slices):
            table["judged_groups"] = [s.proof.judged_groups if s.proof else None for s in slices]
        table["judged_wrong"] = [s.proof.wrong if s.proof else None for s in slices]
    table["method"] = [s.method for s in slices]
    if any(s.words for s in slices):
        table["words"] = ["; ".join(w["phrase"] for w in s.words) for s in slices]
    if any(s.rule for s in slices):
        table["rule"] = [" and ".join(s.rule or []) for s in slices]
    if any(s.conjunction for s in slices):
        table["conjunction"] = [" and ".join(s.conjunction["items"]) if s.conjunction else "" for s in slices]
    return table


def frame(table: Dict[str, Any], what: str) -> Any:
    return needed("pandas", what).DataFrame(table)


def as_html(title: str, slices: Sequence[Slice]) -> str:
    """A table for a notebook."""
    heads = ["#", "class", "rows", "wrong", "class rate", "taken for"]
    tested = any(s.proof for s in slices)
    told = any(s.words or s.said for s in slices)
    grouped = any(s.proof and s.proof.judged_groups for s in slices)
    heads += (["judged"] if grouped else []) + (["excess [95 %]", "p", "claim"] if tested else []) + (["words"] if told else [])
    lines = []
    for s in slices[:SHOWN]:
        taken = "" if s.predicted is None else f"{s.predicted} ({s.predicted_share:.0%})"
        cells = [s.number, s.name, s.size, f"{s.error_rate:.0%}", f"{s.class_rate:.0%}", taken]
        if grouped:
            cells += [f"{s.proof.judged} in {s.proof.judged_groups} groups" if s.proof else ""]
        if tested:
            e = s.proof
            cells += [f"{e.excess:+.2f} [{e.excess_low:.2f}, {e.excess_high:.2f}]" if e else "",
                      f"{e.corrected_p:.2g}" if e else "", s.claim or ""]
        if told:
            cells += [", ".join(w["phrase"] for w in s.words) or s.said]
        lines.append("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in cells) + "</tr>")
    more = f"<p>and {len(slices) - SHOWN} more</p>" if len(slices) > SHOWN else ""
    head = "".join(f"<th>{h}</th>" for h in heads)
    return (f"<div><p><code>{html.escape(title)}</code>: {len(slices)} slices</p><table><thead><tr>{head}</tr></thead><tbody>"
            f"{''.join(lines)}</tbody></table>{more}</div>")
