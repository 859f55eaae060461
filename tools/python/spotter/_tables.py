"""Tables in and out: Parquet files, Arrow tables and data frames."""
from __future__ import annotations

import fnmatch
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from ._arrays import Array, as_array, stacked
from ._library import VERSION, InputError
from ._missing import needed

Columns = Union[str, Sequence[str]]
SHOWN = 20                                             # names of columns in a message


class Rows(NamedTuple):
    """The arguments of fit, in its order: PlaneSpot().fit(*rows)."""
    embeddings: Array
    targets: Optional[Array]
    probs: Optional[Array]
    losses: Optional[Array]
    ids: Optional[List[str]]
    images: Optional[List[str]]


# --- One column as an array.
def _of_lists(column: Any, what: str) -> Array:
    """(n, width) of an Arrow array of lists."""
    widths = np.diff(np.asarray(column.offsets)) if hasattr(column, "offsets") else np.full(len(column), column.type.list_size)
    odd = np.flatnonzero(widths != widths[:1])
    if len(odd):
        raise InputError(f"{what}: row {odd[0]} has {widths[odd[0]]} numbers, row 0 has {widths[0]}")
    return _of_arrow(column.flatten(), what).reshape(len(column), int(widths[0]) if len(widths) else 0)


def _of_arrow(column: Any, what: str) -> Array:
    """An Arrow array, or a chunked one, without empty places."""
    if hasattr(column, "chunks"):
        column = column.combine_chunks()
    if hasattr(column, "chunks"):                      # earlier versions of pyarrow keep one without chunks
        return np.zeros(0, np.float32)
    if hasattr(column, "storage"):                     # an extension type, such as a tensor of a fixed shape
        column = column.storage
    if column.null_count:
        at = int(np.flatnonzero(np.asarray(column.is_null()))[0])
        raise InputError(f"{what} has {column.null_count} empty places; the first is place {at}")
    if hasattr(column, "dictionary_decode"):
        column = column.dictionary_decode()
    if hasattr(column, "flatten") and hasattr(column.type, "value_type"):
        return _of_lists(column, what)
    return column.to_numpy(zero_copy_only=False)


def _of_pandas(column: Any, what: str) -> Array:
    missing = np.asarray(column.isna())
    if missing.any():
        raise InputError(f"{what} has {missing.sum()} empty places; the first is place {int(missing.argmax())}")
    if type(column.dtype).__name__ == "ArrowDtype":
        return _of_arrow(column.array.__arrow_array__(), what)
    return stacked(as_array(column, what), what)


class _Source:
    """A file, an Arrow table or a data frame; columns by name."""

    def __init__(self, source: Any) -> None:
        self.file, self.table = None, source
        self.about = type(source).__name__
        if isinstance(source, (str, os.PathLike)):
            self.about = os.fspath(source)
            dataset = needed("pyarrow.dataset", f"read {self.about}")
            try:
                self.file = dataset.dataset(self.about, format="parquet")
                self.names = list(self.file.schema.names)
            except (OSError, ValueError) as e:
                raise InputError(f"{self.about} is no Parquet file or folder of them: {e}") from None
            return
        if hasattr(source, "to_arrow"):                # polars
            self.table = source.to_arrow()
        if not hasattr(self.table, "columns"):
            raise InputError(f"rows come from a Parquet file, an Arrow table or a data frame, not from a {self.about}")
        self.arrow = hasattr(self.table, "column_names")
        self.names = list(self.table.column_names if self.arrow else self.table.columns)

    def find(self, wanted: Optional[Columns], what: str) -> List[str]:
        """Names of columns: of a list, of one, or of a pattern with * ."""
        names: List[str] = []
        for one in [] if wanted is None else [wanted] if isinstance(wanted, str) else list(wanted):
            fit = [one] if one in self.names else []
            if not fit and "*" in str(one):
                fit = [n for n in self.names if fnmatch.fnmatchcase(str(n), one)]
            if not fit:
                raise InputError(f"{self.about} has no column {one!r} for {what}; it has "
                                 f"{', '.join(map(str, self.names[:SHOWN]))}{' ...' if len(self.names) > SHOWN else ''}")
            names += fit
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
              losses: Optional[str] = None, ids: Optional[str] = None, images: Optional[str] = None) -> Rows:
    """Rows of a table, as fit takes them: PlaneSpot().fit(*spotter.read_rows("rows.parquet", "embedding", "label", "probs")).

    source: path of a Parquet file or of a folder of them (with pyarrow; only the columns that are named are read), an Arrow
    table, or a data frame of pandas or polars. embeddings, probs: the name of a column whose places are lists of one length, or
    of numbers; a list of names of columns of numbers; or a pattern, such as "e_*", whose columns are taken in their order.
    targets, losses, ids, images: names of columns. An empty place (null, NaN in pandas) is an InputError with its row."""
    table = _Source(source)
    parts = {"embeddings": embeddings, "targets": targets, "probs": probs, "losses": losses, "ids": ids, "images": images}
    names = {what: table.find(wanted, what) for what, wanted in parts.items()}
    for what in ("targets", "losses", "ids", "images"):
        if len(names[what]) > 1:
            raise InputError(f"{what} is one column; {parts[what]!r} names {len(names[what])}")
    if not names["embeddings"]:
        raise InputError("name the column, or columns, of the embeddings")
    table.load(sum(names.values(), []))
    array: Dict[str, Any] = {what: table.matrix(n) for what, n in names.items()}
    if array["embeddings"].ndim == 1:
        array["embeddings"] = array["embeddings"].reshape(-1, 1)
    for what in ("ids", "images"):
        array[what] = None if array[what] is None else [str(word) for word in array[what]]
    return Rows(**array)


# --- Out.
def members(n: int, slices: Sequence[Any]) -> List[List[int]]:
    """For each row the slices that have it."""
    lists: List[List[int]] = [[] for _ in range(n)]
    for k, s in enumerate(slices):
        for row in s.rows:
            lists[row].append(k)
    return lists


def write_parquet(table: Dict[str, Any], path: Any) -> None:
    """table: a list or array for each column; list of lists make a column of lists."""
    arrow, parquet = needed("pyarrow", "to_parquet"), needed("pyarrow.parquet", "to_parquet", "pyarrow")
    made = arrow.table(table).replace_schema_metadata({"spotter": VERSION})
    parquet.write_table(made, os.fspath(path))


def row_table(subject: Any, labels: Array, slices: Sequence[Any]) -> Dict[str, Any]:
    """A list for each column; a place for each row of fit."""
    n, wrong, predicted = subject.c.n, subject.wrong(), subject.predictions()
    table: Dict[str, Any] = {"id": [str(i) for i in range(n)] if subject.ids is None else subject.ids}
    if subject.images is not None:
        table["image"] = subject.images
    table["class"] = [subject.names[k] for k in subject.target]
    if predicted is not None:
        table["predicted"] = [subject.names[k] for k in predicted]
    table["confidence"], table["wrong"] = subject.confidence, wrong
    table["slice"] = [None if k < 0 else int(k) for k in labels]
    table["slices"] = members(n, slices)
    return table
