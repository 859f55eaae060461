"""Findings without pointers, for pickle, copy and joblib: numbers, bytes and numpy arrays, and the C structs made of them
again."""
from __future__ import annotations

import ctypes as ct
from typing import Any, Dict, List, Optional

import numpy as np

from . import _library as c_side
from ._arrays import Array

TYPES = (4, 8, 8, 2, 2, 4, 2, 1, 1, 2, 4, 1)           # bytes of spot_dtype
NESTED = (c_side.Match, c_side.Interval)


def _is_plain(kind: Any) -> bool:
    return kind in NESTED or (issubclass(kind, ct._SimpleCData) and kind not in (ct.c_void_p, ct.c_char_p)) or (
        issubclass(kind, ct.Array) and kind._type_ is ct.c_char)


def _plain(struct: Any) -> Dict[str, Any]:
    """Numbers and texts of a struct, without its pointers and arrays of structs."""
    return {name: _plain(getattr(struct, name)) if kind in NESTED else getattr(struct, name)
            for name, kind in struct._fields_ if _is_plain(kind)}


def _fill(struct: Any, plain: Dict[str, Any]) -> Any:
    """Takes over the fields that this version of the struct has, too."""
    kinds = dict(struct._fields_)
    for name, value in plain.items():
        if isinstance(value, dict):
            _fill(getattr(struct, name), value)
        elif name in kinds and _is_plain(kinds[name]):
            setattr(struct, name, value)
    return struct


def _numbers(pointer: Any, *shape: int) -> Optional[Array]:
    return np.ctypeslib.as_array(pointer, shape).copy() if pointer and np.prod(shape) else None


class Memory:
    """Keeps arrays alive to which structs point."""

    def __init__(self) -> None:
        self.kept: List[Any] = []

    def pointer(self, array: Optional[Array], kind: Any) -> Any:
        if array is None:
            return None
        array = np.ascontiguousarray(array)
        self.kept.append(array)
        return array.ctypes.data_as(ct.POINTER(kind))

    def structs(self, kind: Any, plain: List[Dict[str, Any]]) -> Any:
        """An array of structs; None where there are none."""
        if not plain:
            return None
        made = (kind * len(plain))(*[_fill(kind(), p) for p in plain])
        self.kept.append(made)
        return made

    def text(self, words: bytes) -> bytes:
        self.kept.append(words)
        return words


# --- A slice.
def _save_conjunction(k: Any) -> Dict[str, Any]:
    return {**_plain(k), "item": list(k.item[:k.items]), "name": [k.name[i] for i in range(k.items)]}


def _load_conjunction(plain: Dict[str, Any], memory: Memory) -> Any:
    k = _fill(c_side.Conjunction(), {name: v for name, v in plain.items() if name not in ("item", "name")})
    for i, (item, name) in enumerate(zip(plain["item"], plain["name"])):
        k.item[i], k.name[i] = item, memory.text(name)
    memory.kept.append(k)
    return ct.pointer(k)


def _save_slice(s: Any) -> Dict[str, Any]:
    proof = s.proof.contents if s.proof else None
    return {**_plain(s), "row": _numbers(s.row, s.size), "neighbour": list(s.neighbour[:s.neighbours]),
            "word": [{**_plain(w), "phrase": w.phrase} for w in s.word[:s.words]],
            "conjunction": _save_conjunction(s.conjunction.contents) if s.conjunction else None,
            "proof": proof and {**_plain(proof), "piece": [_plain(p) for p in proof.piece[:proof.pieces]],
                                "rule": [proof.rule[i] for i in range(proof.rule_items)],
                                "origin": _numbers(proof.origin, s.size)}}


def _load_slice(s: Any, plain: Dict[str, Any], memory: Memory) -> None:
    _fill(s, {name: v for name, v in plain.items() if name not in ("row", "neighbour", "word", "conjunction", "proof")})
    s.row = memory.pointer(plain["row"], ct.c_int)
    for i, row in enumerate(plain["neighbour"]):
        s.neighbour[i] = row
    words = memory.structs(c_side.Word, [{k: v for k, v in w.items() if k != "phrase"} for w in plain["word"]])
    for i, w in enumerate(plain["word"]):
        words[i].phrase = memory.text(w["phrase"])
    if words:
        s.word = ct.cast(words, ct.POINTER(c_side.Word))
    if plain["conjunction"]:
        s.conjunction = _load_conjunction(plain["conjunction"], memory)
    if plain["proof"]:
        proof = _fill(c_side.Proof(), {k: v for k, v in plain["proof"].items() if k not in ("piece", "rule", "origin")})
        proof.origin = memory.pointer(plain["proof"]["origin"], ct.c_uint8)
        names = plain["proof"].get("rule", [])
        if names:
            proof.rule = (ct.c_char_p * len(names))(*[memory.text(name) for name in names])
        pieces = memory.structs(c_side.Piece, plain["proof"]["piece"])
        if pieces:
            proof.piece = ct.cast(pieces, ct.POINTER(c_side.Piece))
        memory.kept.append(proof)
        s.proof = ct.pointer(proof)


# --- A fit. Its tensors may be the features themselves, which are kept once.
def _save_fit(fit: Any, feature: Array) -> List[Dict[str, Any]]:
    tensors = []
    for t in fit.tensor[:fit.count]:
        count = t.rows * max(t.columns, 1) * TYPES[t.type]
        same = t.data == feature.ctypes.data and count == feature.nbytes
        tensors.append({**_plain(t), "values": None if same or not count else np.frombuffer(ct.string_at(t.data, count),
                                                                                             np.uint8), "features": same})
    return tensors


def _load_fit(fit: Any, tensors: List[Dict[str, Any]], feature: Array, memory: Memory) -> None:
    fit.count = len(tensors)
    for t, plain in zip(fit.tensor, tensors):
        _fill(t, {k: v for k, v in plain.items() if k not in ("values", "features")})
        t.owned = False
        if plain["features"]:
            t.data = feature.ctypes.data
        elif plain["values"] is not None:
            t.data = ct.cast(memory.pointer(plain["values"], ct.c_uint8), ct.c_void_p)


# --- All findings.
def save(findings: Any, feature: Array) -> Dict[str, Any]:
    """What load makes the same findings of."""
    each = []
    for f in findings.finding[:findings.count]:
        each.append({**_plain(f), "row": _numbers(f.row, f.n), "map": _numbers(f.points.at, f.points.n, f.points.d),
                     "map_size": (f.points.n, f.points.d), "objective": f.points.objective,
                     "slice": [_save_slice(s) for s in f.slice[:f.slices]], "fit": _save_fit(f.fit, feature)})
    return {"finding": each, "map": _numbers(findings.map, len(feature), 2),
            "left_class": _numbers(findings.left_class, findings.left_out), "left_out": findings.left_out,
            "decided": _plain(findings.decided),
            "suspects": {**_plain(findings.suspects), "row": _numbers(findings.suspects.row, findings.suspects.count),
                         "cls": _numbers(findings.suspects.cls, findings.suspects.count)}}


def load(state: Dict[str, Any], feature: Array) -> tuple:
    """(findings, what keeps their arrays alive)."""
    memory, findings, inner = Memory(), c_side.Findings(), ("row", "map", "map_size", "objective", "slice", "fit")
    made = memory.structs(c_side.Finding, [{k: v for k, v in f.items() if k not in inner} for f in state["finding"]])
    for f, plain in zip(made or (), state["finding"]):
        f.row = memory.pointer(plain["row"], ct.c_int)
        f.points.n, f.points.d = plain["map_size"]
        f.points.objective, f.points.at = plain["objective"], memory.pointer(plain["map"], ct.c_float)
        for s, one in zip(f.slice, plain["slice"]):
            _load_slice(s, one, memory)
        _load_fit(f.fit, plain["fit"], feature, memory)
    findings.count, findings.left_out = len(state["finding"]), state["left_out"]
    if made:
        findings.finding = ct.cast(made, ct.POINTER(c_side.Finding))
    findings.left_class = memory.pointer(state["left_class"], ct.c_int)
    findings.map = memory.pointer(state["map"], ct.c_float)
    _fill(findings.decided, state.get("decided") or {})
    suspects = state.get("suspects")                   # None: of an earlier version
    if suspects:
        _fill(findings.suspects, {k: v for k, v in suspects.items() if k not in ("row", "cls")})
        findings.suspects.row = memory.pointer(suspects["row"], ct.c_int)
        findings.suspects.cls = memory.pointer(suspects["cls"], ct.c_int)
    return findings, memory


# --- Attributes.
def save_attributes(a: Any) -> Optional[Dict[str, Any]]:
    if not a.items:
        return None
    at = {"column": ct.c_int, "range": ct.c_double, "bit": ct.c_uint64}
    size = {"range": 2 * a.items, "bit": a.items * a.words}
    return {"rows": a.rows, "words": a.words, "name": [n or b"" for n in (ct.c_char_p * a.items).from_address(a.name)],
            **{f: np.ctypeslib.as_array((kind * size.get(f, a.items)).from_address(getattr(a, f))).copy()
               for f, kind in at.items()}}


def load_attributes(state: Optional[Dict[str, Any]], memory: Memory) -> Any:
    a = c_side.Attributes()
    if state is None:
        return a
    names = (ct.c_char_p * len(state["name"]))(*state["name"])
    memory.kept += [names, state]
    a.rows, a.items, a.words, a.name = state["rows"], len(names), state["words"], ct.addressof(names)
    a.column, a.range, a.bit = (state[f].ctypes.data for f in ("column", "range", "bit"))
    return a
