"""Tables in and out: Parquet files, Arrow tables and data frames."""
from __future__ import annotations

import fnmatch
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._arrays import Array, Named, as_array, stacked
from ._datasets import class_names_of, open_table
from ._given import listed, refuse
from ._hugging import picture_paths
from ._library import VERSION, InputError, SpotterError
from ._missing import needed

Columns = Union[str, Sequence[str]]
COLUMNS = "the name of a column, or a list of names"
SHOWN = 20                                             # names of columns in a message


class Rows(NamedTuple):
    """The arguments of discover and fit, in their order: spotter.discover(*rows), PlaneSpot().fit(*rows)."""
    embeddings: Array
    targets: Optional[Array]
    probs: Optional[Array]
    losses: Optional[Array]
    ids: Optional[List[str]]
    images: Optional[List[str]]
    class_names: Optional[List[str]] = None
    groups: Optional[List[Any]] = None


# --- One column as an array.
def _of_lists(column: Any, what: str) -> Array:
    """(n, width) of an Arrow array of lists."""
    if hasattr(column.type.value_type, "value_type"):
        raise InputError(f"{what} holds lists of lists; make one list of numbers of each row")
    n = len(column)
    widths = np.diff(np.asarray(column.offsets)) if hasattr(column, "offsets") else np.full(n, column.type.list_size)
    inner = column.flatten()
    if inner.null_count:
        at = int(np.flatnonzero(np.asarray(inner.is_null()))[0])
        ends = np.cumsum(widths)
        row = int(np.searchsorted(ends, at, side="right"))
        raise InputError(f"{what}: row {row} has an empty place in its list, at {at - int(ends[row]) + int(widths[row])}")
    odd = np.flatnonzero(widths != widths[:1])
    if len(odd):
        raise InputError(f"{what}: row {odd[0]} has {widths[odd[0]]} numbers, row 0 has {widths[0]}")
    return _of_arrow(inner, what).reshape(n, int(widths[0]) if n else 0)


def _whole(column: Any) -> Any:
    """An Arrow array of one piece, of a plain type; None: of no rows."""
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    if hasattr(column, "chunks"):                      # earlier versions of pyarrow keep one without chunks
        return None
    return column.storage if hasattr(column, "storage") else column        # of an extension, such as a tensor of a fixed shape


def _of_arrow(column: Any, what: str) -> Array:
    """An Arrow array, or a chunked one, without empty places."""
    column = _whole(column)
    if column is None:
        return np.zeros(0, np.float32)
    if column.null_count:
        at = int(np.flatnonzero(np.asarray(column.is_null()))[0])
        raise InputError(f"{what} has {column.null_count} empty places; the first is row {at}")
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    if hasattr(column, "flatten") and hasattr(column.type, "value_type"):
        return _of_lists(column, what)
    return column.to_numpy(zero_copy_only=False)


def _of_pandas(column: Any, what: str) -> Array:
    missing = np.asarray(column.isna())
    if missing.any():
        raise InputError(f"{what} has {missing.sum()} empty places; the first is row {int(missing.argmax())}")
    if type(column.dtype).__name__ == "ArrowDtype":
        return _of_arrow(column.array.__arrow_array__(), what)
    return stacked(as_array(column, what), what)


class _Source:
    """A file, an Arrow table or a data frame; columns by name."""

    def __init__(self, source: Any, split: Optional[str]) -> None:
        self.file: Any = None
        self.table = source
        self.about = type(source).__name__
        self.class_names: Dict[str, List[str]] = {}
        if isinstance(source, (str, os.PathLike)):
            self.about = os.fspath(source)
            needed("pyarrow.dataset", f"read {self.about}")
            self.file = open_table(self.about, split)
            self.names, self.class_names = list(self.file.schema.names), class_names_of(self.file.schema)
            return
        if hasattr(source, "to_arrow"):                # polars
            self.table = source.to_arrow()
        if not hasattr(self.table, "columns"):
            raise InputError(f"rows come from a Parquet file, an Arrow table or a data frame, not from a {self.about}")
        self.arrow = hasattr(self.table, "column_names")
        self.names = list(self.table.column_names if self.arrow else self.table.columns)
        if self.arrow:
            self.class_names = class_names_of(self.table.schema)

    def find(self, wanted: Optional[Columns], what: str) -> List[str]:
        """Names of columns: of a list, of one, or of a pattern with * ."""
        names: List[str] = []
        for one in [] if wanted is None else [wanted] if isinstance(wanted, str) else listed(wanted, what, COLUMNS):
            if not isinstance(one, (str, int)):
                refuse(wanted, what, COLUMNS)
            fit = [one] if one in self.names else []
            if not fit and "*" in str(one):
                fit = [n for n in self.names if fnmatch.fnmatchcase(str(n), one)]
            if not fit:
                raise InputError(f"{self.about} has no column {one!r} for {what}; it has "
                                 f"{', '.join(map(str, self.names[:SHOWN]))}{' ...' if len(self.names) > SHOWN else ''}")
            names += fit
        twice = [n for i, n in enumerate(names) if n in names[:i] or self.names.count(n) > 1]
        if twice:
            raise InputError(f"{self.about} has the column {twice[0]!r} twice, and {what} needs it once; leave one of them out")
        return names

    def load(self, names: Sequence[str]) -> None:
        """Reads these columns of a file, and no other."""
        if self.file is not None:
            try:
                self.table, self.arrow = self.file.to_table(columns=sorted(set(names))), True
            except (OSError, ValueError) as e:
                raise InputError(f"{self.about} cannot be read: {e}") from None

    def column(self, name: str) -> Array:
        what = f"column {name!r} of {self.about}"
        return _of_arrow(self.table.column(name), what) if self.arrow else _of_pandas(self.table[name], what)

    def places(self, name: str) -> List[Any]:
        """As they are, also where they are empty."""
        return self.table.column(name).to_pylist() if self.arrow else list(self.table[name])

    def pictures(self, name: str) -> List[str]:
        """Paths; pictures in Hugging Face's form, or as bytes, become files."""
        column = self.table.column(name) if self.arrow else self.table[name]
        what = f"column {name!r} of {self.about}"
        return picture_paths((v.as_py() if self.arrow else v for v in column), what)

    def matrix(self, names: List[str]) -> Optional[Array]:
        """(n, d): one column of lists, or columns of numbers; (n,) of one column of numbers."""
        if not names:
            return None
        columns = [self.column(name) for name in names]
        if len(columns) == 1:
            return columns[0]
        odd = [n for n, c in zip(names, columns) if c.ndim != 1 or c.dtype.kind not in "fiub"]
        if odd:
            raise InputError(f"column {odd[0]!r} of {self.about} is no column of numbers; of several columns each must be one")
        return np.column_stack(columns)


def read_rows(source: Any, embeddings: Columns, targets: Optional[str] = None, probs: Optional[Columns] = None,
              losses: Optional[str] = None, ids: Optional[str] = None, images: Optional[str] = None,
              split: Optional[str] = None, groups: Optional[str] = None) -> Rows:
    """Rows of a table, as discover and fit take them: spotter.discover(*spotter.read_rows("rows.parquet", "embedding", "label",
    "probs")).

    source: path of a Parquet or Arrow file; of a folder of Parquet files; of a folder of Hugging Face's datasets, as
    save_to_disk writes it or with shards such as data/train-00000-of-00001.parquet (with pyarrow; only the columns that are
    named are read); an Arrow table; or a data frame of pandas or polars. split: which, where a folder has several.
    embeddings, probs: the name of a column whose places are lists of one length, or of numbers; a list of names of columns of
    numbers; or a pattern, such as "e_*", whose columns are taken in their order; columns of probs that are called as the
    classes, also behind a prefix, are matched by name later. targets, losses, ids, images, groups: names of columns. Places of
    images are paths, bytes, or a {bytes, path} as in datasets: bytes become files that live as long as the process. class_names
    come from a ClassLabel of datasets. An empty place (null, NaN in pandas), also in a list, is an InputError with its row, but
    of groups a row that is alone."""
    table = _Source(source, split)
    parts = {"embeddings": embeddings, "targets": targets, "probs": probs, "losses": losses, "ids": ids, "images": images,
             "groups": groups}
    names = {what: table.find(wanted, what) for what, wanted in parts.items()}
    for what in ("targets", "losses", "ids", "images", "groups"):
        if len(names[what]) > 1:
            raise InputError(f"{what} is one column; {parts[what]!r} names {len(names[what])}")
    if not names["embeddings"]:
        raise InputError("name the column, or columns, of the embeddings")
    table.load(sum(names.values(), []))
    array: Dict[str, Any] = {what: table.matrix(n) for what, n in names.items() if what not in ("images", "groups")}
    if array["embeddings"].ndim == 1:
        array["embeddings"] = array["embeddings"].reshape(-1, 1)
    array["ids"] = None if array["ids"] is None else [str(word) for word in array["ids"]]
    array["groups"] = table.places(names["groups"][0]) if names["groups"] else None
    array["images"] = table.pictures(names["images"][0]) if names["images"] else None
    if len(names["probs"]) > 1:
        array["probs"] = Named(array["probs"], [str(n) for n in names["probs"]])
    return Rows(**array, class_names=table.class_names.get(names["targets"][0]) if names["targets"] else None)


# --- Out.
def members(n: int, slices: Sequence[Any]) -> List[List[int]]:
    """For each row the numbers of the slices that have it."""
    lists: List[List[int]] = [[] for _ in range(n)]
    for s in slices:
        for row in s.rows:
            lists[row].append(s.number)
    return lists


def write_parquet(table: Dict[str, Any], path: Any) -> None:
    """table: a list or array for each column; list of lists make a column of lists."""
    arrow, parquet = needed("pyarrow", "to_parquet"), needed("pyarrow.parquet", "to_parquet", "pyarrow")
    made = arrow.table(table).replace_schema_metadata({"spotter": VERSION})
    try:
        parquet.write_table(made, os.fspath(path))
    except (OSError, ValueError) as e:                 # ValueError: what no name of a file can hold
        raise SpotterError(f"cannot write {path}: {e}") from None


def row_table(subject: Any, labels: Array, slices: Sequence[Any]) -> Dict[str, Any]:
    """A list for each column; a place for each row of fit."""
    n, wrong, predicted = subject.c.n, subject.wrong(), subject.predictions()
    table: Dict[str, Any] = {"id": [str(i) for i in range(n)] if subject.ids is None else subject.ids}
    if subject.images is not None:
        table["image"] = subject.images
    if subject.target is not None:
        table["class"] = [subject.names[k] for k in subject.target]
    if predicted is not None:
        table["predicted"] = [subject.names[k] for k in predicted]
    if subject.target is not None:
        table["confidence"], table["wrong"] = subject.confidence, wrong
    table["slice"] = [None if k < 0 else slices[k].number for k in labels]
    table["slices"] = members(n, slices)
    return table
