"""The rows of a data set, one after another: picture, class, and what else its columns tell."""
from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

from ._arrays import is_missing
from ._datasets import cache_of, class_names_of, features_of, held, leads_out, open_table, pick, shown, snapshot_of
from ._library import InputError

NONE = "none"                                          # --label none
WHOLE = re.compile(r"0|[1-9][0-9]*")
BATCH = 64                                             # rows that are read at once
LISTS = ("metadata.csv", "metadata.jsonl")
ASK = "--follow-links allows it"


class Row(NamedTuple):
    about: str                                         # for a sentence about it
    picture: bytes
    cls: int                                           # -1: the rows have no classes
    others: List[Any]


class Rows:
    """Iterated once. classes: names, in the order of their numbers; others: names of further columns."""

    def __init__(self, about: str, root: Path, links: bool) -> None:
        self.about, self.root, self.links = about, root, links
        self.image, self.label = "", ""
        self.classes: List[str] = []
        self.others: List[str] = []
        self._number: Dict[Any, int] = {}

    def _records(self, columns: List[str]) -> Iterator[Tuple[Any, ...]]:
        raise NotImplementedError

    def _number_classes(self, names: Optional[List[str]]) -> None:
        """names: those of a ClassLabel, whose column holds their numbers; else the column's own words or numbers, sorted."""
        if names is not None:
            self.classes, self._number = names, {k: k for k in range(len(names))}
            return
        there = []
        for (v,) in self._records([self.label]):
            if not isinstance(v, (str, int, float, type(None))):
                raise InputError(f"{self.about}: the labels in {self.label!r} are neither words nor numbers; name another "
                                 f"column, or no labels (--label {NONE})")
            there.append(v)
        known = {v for v in there if not is_missing(v)}
        if any(isinstance(v, float) for v in known) or len({type(v) for v in known}) > 1:
            raise InputError(f"{self.about}: the labels in {self.label!r} are neither all words nor all whole numbers; name "
                             f"another column, or no labels (--label {NONE})")
        numbers = all(WHOLE.fullmatch(str(v)) for v in known)
        order = sorted(known, key=lambda v: int(v) if numbers else v.encode() if isinstance(v, str) else v)
        width = max((len(str(v)) for v in order), default=1)
        self.classes = [str(v).zfill(width) if numbers else str(v) for v in order]
        self._number = {v: k for k, v in enumerate(order)}

    def _file(self, name: str, about: str) -> bytes:
        """A picture that a row names."""
        if leads_out(name):
            raise InputError(f"{about} names {name!r}, which leads out of its folder")
        path = self.root / name                        # an absolute name stays one
        if not self.links:
            held(cache_of(self.root) or self.root, path, ASK)
        try:
            return path.read_bytes()
        except OSError as e:
            raise InputError(f"{about}: cannot read {path}: {e.strerror}") from None

    def _picture(self, value: Any, about: str) -> bytes:
        if isinstance(value, dict):
            value = value.get("path") if value.get("bytes") is None else value["bytes"]
        if isinstance(value, bytes) and value:
            return value
        if isinstance(value, str) and value:
            return self._file(value, about)
        raise InputError(f"{about} has no picture in {self.image!r}")

    def __iter__(self) -> Iterator[Row]:
        columns = [self.image, *([self.label] if self.label else []), *self.others]
        for i, record in enumerate(self._records(columns)):
            about = f"{self.about}: row {i}"
            cls = -1
            if self.label:
                value = record[1]
                if not isinstance(value, (str, int)) or value not in self._number:
                    raise InputError(f"{about} has the label {value!r} in {self.label!r}, which is no class; take another "
                                     f"split, or no labels (--label {NONE})")
                cls = self._number[value]
            yield Row(about, self._picture(record[0], about), cls, list(record[2 if self.label else 1:]))


def _one(names: List[str], what: str, about: str) -> str:
    if len(names) > 1:
        raise InputError(f"{about} has {len(names)} columns that may be the {what}: {shown(names)}; name one with --{what}")
    return names[0] if names else ""


def _chosen(name: str, there: List[str], what: str, about: str) -> str:
    if name not in there:
        raise InputError(f"{about} has no column {name!r} for the {what}; it has {shown(there)}")
    return name


# --- Tables.
def _is_picture(kind: Any) -> bool:
    """A struct {bytes, path} of Arrow."""
    return hasattr(kind, "num_fields") and {kind.field(i).name for i in range(kind.num_fields)} == {"bytes", "path"}


def _is_plain(kind: Any) -> bool:
    """Numbers and words, which an attribute of a row may be."""
    return str(kind) in ("string", "large_string", "bool", "float", "double", "halffloat") or str(kind).lstrip("u")[:3] == "int"


class TableRows(Rows):
    """Of Parquet or Arrow. A label is a ClassLabel's number; without one, a word or a number."""

    def __init__(self, source: str, split: Optional[str], image: Optional[str], label: Optional[str], links: bool) -> None:
        super().__init__(source, Path(source) if os.path.isdir(source) else Path(source).parent, links)
        self.table = open_table(source, split)
        schema, told = self.table.schema, features_of(self.table.schema)
        names = list(schema.names)
        kinds = {n: schema.field(n).type for n in names}
        if image is not None:
            self.image = _chosen(image, names, "image", source)
        else:
            typed = [n for n in names if told.get(n, {}).get("_type") == "Image"] or [n for n in names if _is_picture(kinds[n])]
            self.image = _one(typed or [n for n in names if n in ("image", "img", "file_name")], "image", source)
        if not self.image:
            raise InputError(f"{source} has no column of pictures; it has {shown(names)}; name one with --image")
        classes = {n: c for n, c in class_names_of(schema).items() if n in names}
        if label is not None and label != NONE:
            self.label = _chosen(label, names, "label", source)
        elif label is None:
            self.label = _one(list(classes) or [n for n in names if n in ("label", "labels")], "label", source)
        self.others = [n for n in names if n not in (self.image, self.label, "file", "label") and _is_plain(kinds[n])]
        if self.label:
            self._number_classes(classes.get(self.label))

    def _records(self, columns: List[str]) -> Iterator[Tuple[Any, ...]]:
        try:
            for batch in self.table.to_batches(columns=columns, batch_size=BATCH):
                yield from zip(*(batch.column(c).to_pylist() for c in columns))
        except InputError:
            raise
        except (OSError, ValueError) as e:
            raise InputError(f"{self.about} cannot be read: {e}") from None


# --- metadata.csv and metadata.jsonl.
class ListedRows(Rows):
    """Pictures in the folder of the list, which names them in file_name."""

    def __init__(self, path: Path, image: Optional[str], label: Optional[str], links: bool) -> None:
        super().__init__(str(path), path.parent, links)
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                self.read = list(csv.DictReader(file)) if path.suffix == ".csv" else [json.loads(x) for x in file if x.strip()]
        except OSError as e:
            raise InputError(f"cannot read {path}: {e.strerror}") from None
        except (ValueError, csv.Error, RecursionError) as e:
            raise InputError(f"{path} is no list of records: {e}") from None
        if not all(isinstance(one, dict) for one in self.read):
            raise InputError(f"{path} has a line that is no record")
        names = list(dict.fromkeys(n for one in self.read for n in one if isinstance(n, str)))
        self.image = _chosen(image or "file_name", names, "image", self.about)
        if label is not None and label != NONE:
            self.label = _chosen(label, names, "label", self.about)
        elif label is None:
            self.label = _one([n for n in names if n in ("label", "labels")], "label", self.about)
        self.others = [n for n in names if n not in (self.image, self.label, "file", "label")
                       and all(isinstance(one.get(n), (str, int, float, type(None))) for one in self.read)]
        if self.label:
            self._number_classes(None)

    def _records(self, columns: List[str]) -> Iterator[Tuple[Any, ...]]:
        for one in self.read:
            yield tuple(one.get(c) for c in columns)


def _lists_of(here: Path) -> Dict[str, Path]:
    """The lists of a folder, or of its folders train, test ..., by split."""
    own = next((here / name for name in LISTS if (here / name).is_file()), None)
    if own:
        return {"": own}
    for top in (here, here / "data"):
        found = {p.name: p / name for p in (sorted(top.iterdir()) if top.is_dir() else []) if p.is_dir()
                 for name in reversed(LISTS) if (p / name).is_file()}
        if found:
            return found
    return {}


def open_rows(source: str, split: Optional[str], image: Optional[str], label: Optional[str], links: bool) -> Rows:
    here = Path(source)
    if not here.exists():
        raise InputError(f"there is no {source}")
    if not here.is_dir():
        if here.name in LISTS or here.suffix in (".csv", ".jsonl"):
            return ListedRows(here, image, label, links)
        return TableRows(source, split, image, label, links)
    here, cache = snapshot_of(here), cache_of(here)
    lists = _lists_of(here)
    if lists:
        path = pick(source, lists, split)
        return ListedRows(held(cache, path) if cache else path, image, label, links)
    if not any((here / n).is_file() for n in ("state.json", "dataset_dict.json")) and \
            not any(True for end in ("parquet", "arrow") for _ in here.rglob(f"*.{end}")):
        raise InputError(f"{here} has no {' or '.join(LISTS)}, and no file of Parquet or Arrow. A folder of classes, "
                         "CLASS/picture.jpg, needs nothing: give it to --images")
    return TableRows(str(here), split, image, label, links)
