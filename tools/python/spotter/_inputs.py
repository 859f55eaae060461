"""What the user gives, as C's readers take it: arrays in memory under a name, paths, and small files made for the call. C
decides what labels and probabilities mean; here is only what Python's own objects need."""
from __future__ import annotations

import ctypes as ct
import os
import re
import tempfile
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from . import _library as c_side
from ._arrays import Array, as_array, filled, is_missing, matrix
from ._given import listed, shown
from ._library import InputError, texts

TYPES = {"f4": 0, "i8": 1, "f8": 2, "f2": 3, "i4": 5, "i2": 6, "i1": 7, "u1": 8, "u2": 9, "u4": 10, "b1": 11}    # spot_dtype
WORDS = 12


def words_of(a: Array, what: str, holes: bool = False) -> List[str]:
    """An array of objects, or of texts, as texts; what is missing is "" with holes, else an InputError with its row."""
    if a.dtype.kind == "S":
        return [w.decode(errors="surrogateescape") for w in a.tolist()]
    if a.dtype.kind != "O":
        return [str(w) for w in a]
    missing = next((i for i, v in enumerate(a) if is_missing(v)), None)
    if missing is not None and not holes:
        raise InputError(f"{what}: row {missing} is {a[missing]!r}, which is missing; every row needs one")
    return ["" if is_missing(w) else str(w) for w in a]


def plain_labels(value: Any, what: str, holes: bool = False) -> Array:
    """Numbers, or an array of objects that are texts. holes: rows may lack one, which is NaN or "" then."""
    if isinstance(value, (list, tuple)) and any(isinstance(v, str) for v in value):
        value = np.fromiter(value, object, len(value)) # numpy would write a NaN among words as a word
    a = as_array(value, what)
    if isinstance(a, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(a)
        if masked.any() and not holes:
            raise InputError(f"{what}: row {int(np.argwhere(masked)[0][0])} is missing; every row needs one")
        a = np.where(masked, None, a.data.astype(object)) if masked.any() and a.ndim == 1 else \
            filled(a, what) if holes else a.data
    if a.dtype.kind == "O" and a.ndim == 1 and (holes or not any(map(is_missing, a))):
        kinds = {type(v) for v in a if not is_missing(v)}
        if kinds and all(issubclass(k, (int, float, np.number, np.bool_)) for k in kinds):
            whole = all(issubclass(k, (int, np.integer, np.bool_)) for k in kinds) and not any(map(is_missing, a))
            return np.array([int(v) for v in a], np.int64) if whole else filled(a, what)
    if a.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} is of type {a.dtype}")
    if a.dtype.kind not in "OUSbiuf" or a.dtype.kind in "OUS" and a.ndim != 1:
        raise InputError(f"{what} is of type {a.dtype}, shape {a.shape}; it must be class numbers or words, one a row")
    return np.array(words_of(a, what, holes), object) if a.dtype.kind in "OUS" else a


def as_numbers(value: Any, what: str) -> Array:
    """float32; C looks at the values."""
    a = as_array(value, what)
    if a.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} is of type {a.dtype}")
    a = filled(a, what)
    if a.dtype.kind not in "fiub":
        raise InputError(f"{what} is of type {a.dtype}, which are no numbers")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(a, np.float32)


KEYWORDS = {"skip-bad-rows": "skip_bad_rows=True", "logits": "logits=True", "follow-links": "follow_links=True"}


class Inputs:
    """Arrays under their names, for spot_subject_files; `files` is that struct. Everything lives as long as this."""

    def __init__(self) -> None:
        self.files = c_side.SubjectFiles(resize=256, crop=224)
        self.kept: List[Any] = []
        self.arrays: List[c_side.Array] = []
        self.feature: Optional[Array] = None
        self._folder: Optional[tempfile.TemporaryDirectory[str]] = None

    # --- Arrays.
    def _lend(self, name: str, kind: int, shape: Sequence[int], data: int) -> bytes:
        one = c_side.Array(type=kind, rank=len(shape), count=int(np.prod(shape)), data=data, name=name.encode())
        one.dim[:len(shape)] = list(shape)
        self.arrays.append(one)
        return name.encode()

    def numbers(self, a: Array, name: str) -> bytes:
        if a.dtype.kind == "u" and a.dtype.itemsize == 8:
            a = a.astype(np.int64)
        a = np.ascontiguousarray(a, a.dtype.newbyteorder("="))
        if a.dtype.str[1:] not in TYPES:
            a = a.astype(np.float64)
        self.kept.append(a)
        return self._lend(name, TYPES[a.dtype.str[1:]], a.shape, a.ctypes.data)

    def probs(self, value: Any) -> bytes:
        name, columns = self.numbers(as_numbers(value, "probs"), "probs"), column_names(value)
        if columns is not None and self.arrays[-1].rank == 2:
            self.kept.append(texts(columns))
            self.arrays[-1].column = self.kept[-1]
        return name

    def words(self, words: Sequence[str], name: str) -> bytes:
        kept = texts(words)
        self.kept.append(kept)
        return self._lend(name, WORDS, (len(words),), ct.addressof(kept))

    def features(self, value: Any, finite: bool = True, source: int = 0, encoder: Optional[bytes] = None) -> bytes:
        """finite: as of matrix; else C looks at the values. source: its place among several, from 0. encoder: what made it."""
        name = "embeddings" if not source else f"embeddings {source + 1}"
        feature = matrix(value, name, finite)
        self.feature = feature if self.feature is None else self.feature
        self.numbers(feature, name)
        self.arrays[-1].encoder = encoder
        return name.encode()

    def labels(self, a: Array, name: str = "labels") -> bytes:
        """Of plain_labels."""
        return self.words(list(a), name) if a.dtype.kind == "O" else self.numbers(a, name)

    def answers(self, labels: Any, probs: Any, losses: Any, names: Optional[Sequence[str]], called: str = "labels") -> None:
        """labels: plain_labels. Columns that bear names are matched in C."""
        if probs is not None:
            self.files.probs = self.probs(probs)
            columns = column_names(probs)
            if columns and labels.dtype.kind in "iuf" and labels.ndim == 1 and all(c.isdigit() for c in columns):
                labels = np.array([_digits(v) for v in labels.tolist()], object)   # classes_ may be numbers that are names
        if losses is not None:
            self.files.losses = self.numbers(as_numbers(losses, "losses"), "losses")
        self.files.labels = self.labels(labels, called)
        if names is not None:
            self.classes([str(name) for name in listed(names, "class_names", "a list of the classes' names")])

    def ids(self, value: Any, name: str = "ids") -> bytes:
        return self.words([id_of(v, i, name) for i, v in enumerate(listed(value, name))], name)

    def groups(self, value: Any) -> bytes:
        """A word for each row; what is missing is one that C knows as missing."""
        return self.words(["" if is_missing(v) else id_of(v, i, "groups") for i, v in enumerate(listed(value, "groups"))],
                          "groups")

    def classes(self, names: Sequence[str]) -> None:
        kept = texts(names)
        self.kept.append(kept)
        self.files.class_name, self.files.classes = kept, len(names)

    # --- Small files.
    def folder(self) -> str:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="spotter-")
        return self._folder.name

    def file(self, name: str, text: str) -> str:
        path = os.path.join(self.folder(), name)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as f:
            f.write(text)
        return path

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def without_folder(self, source: bytes) -> bytes:
        """The names of the small files without their folder, which goes."""
        return source if self._folder is None else source.replace(os.fsencode(self._folder.name + os.sep), b"")

    def plain(self, sentence: str) -> str:
        """A sentence without the folder of the small files; the command's options are the keywords of discover."""
        words = sentence if self._folder is None else sentence.replace(self._folder.name + os.sep, "")
        return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: KEYWORDS.get(option[1], option[1].replace("-", "_")), words)

    def bound(self) -> Any:
        """The struct, with all arrays."""
        made = (c_side.Array * max(1, len(self.arrays)))(*self.arrays)
        self.kept.append(made)
        self.files.array, self.files.arrays = made, len(self.arrays)
        return self.files


def _digits(label: Any) -> str:
    return "" if label != label else str(int(label)) if float(label).is_integer() else str(label)


def id_of(value: Any, row: int, what: str) -> str:
    """The name of a row. A list's or a dict's text would be a name that nobody gave."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise InputError(f"{what}: row {row} is {value[:20]!r}, bytes that are no UTF-8 text") from None
    if is_missing(value):
        raise InputError(f"{what}: row {row} is {value}, which is missing; every row needs one, or give none at all")
    if isinstance(value, (list, tuple, set, dict, np.ndarray)):
        raise InputError(f"{what}: row {row} is a {type(value).__name__}; a name or a number is wanted")
    return str(value)


def column_names(value: Any) -> Optional[List[str]]:
    """Of a data frame, an Arrow table, or columns that read_rows joined; None: they bear no names but their places."""
    names = getattr(value, "column_names", None)
    if names is None:
        names = getattr(value, "columns", None)
    said = [] if names is None else [str(name) for name in names]
    twice = next((name for k, name in enumerate(said) if name in said[:k]), None)
    if twice is not None:
        raise InputError(f"probs has the column {twice!r} twice; leave one of them out")
    return None if len(said) < 2 or said == [str(k) for k in range(len(said))] else said


def of_frame(value: Any) -> Dict[str, List[Any]]:
    """Columns of a data frame (pandas, polars), an Arrow table or a dict of columns."""
    if hasattr(value, "to_pydict"):
        return dict(value.to_pydict())
    if hasattr(value, "to_dict") and hasattr(value, "columns"):
        try:
            return {str(k): list(v) for k, v in value.to_dict(orient="list").items()}
        except TypeError:                              # polars
            return {str(k): list(v) for k, v in value.to_dict(as_series=False).items()}
    if isinstance(value, dict):
        odd = next((k for k, v in value.items() if not hasattr(v, "__iter__") or isinstance(v, str)), None)
        if odd is not None:
            raise InputError(f"attributes[{odd!r}] is {shown(value[odd])}; it takes a list with a place for each row")
        return {str(k): list(v) for k, v in value.items()}
    raise InputError(f"attributes are a data frame, a dict of columns, or the path of a CSV; not a {type(value).__name__}")
