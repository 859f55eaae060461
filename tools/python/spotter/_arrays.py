"""Inputs of the user as C-ordered numpy arrays, without a copy where possible."""
from __future__ import annotations

from typing import Any, List, Optional

import numpy as np
from numpy.typing import NDArray

from ._library import InputError

Array = NDArray[Any]                                   # of any type; the texts say which


def as_array(value: Any, what: str) -> Array:
    """numpy, a list, or anything with __dlpack__ or __array__: a PyTorch, JAX or CuPy tensor. No copy of data in the host's
    memory; a tensor on a GPU is copied once."""
    if isinstance(value, np.ndarray):
        return _known_type(value)
    if hasattr(value, "toarray"):
        raise InputError(f"{what} is sparse; give {what}.toarray()")
    if hasattr(value, "detach"):                       # PyTorch: out of autograd first
        value = value.detach()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    if hasattr(value, "__dlpack__"):
        kind = value.__dlpack_device__()[0]
        if kind in (1, 3):                             # the CPU's memory, or pinned
            try:
                return np.from_dlpack(value)
            except (TypeError, RuntimeError, BufferError):
                pass                                   # a type that DLPack or this numpy does not know, such as bool
        for bring in ("cpu", "get"):                   # PyTorch's name for it, and CuPy's
            if hasattr(value, bring):
                value = getattr(value, bring)()
                break
    try:
        return stacked(_known_type(np.asarray(value)), what)
    except InputError:
        raise
    except Exception as e:
        raise InputError(f"{what} is no array: {e}") from None


def _known_type(a: Array) -> Array:
    """ml_dtypes' small floats, such as bfloat16, as float32."""
    return a.astype(np.float32) if a.dtype.kind == "V" and a.dtype.name.startswith(("bfloat", "float")) else a


def stacked(a: Array, what: str) -> Array:
    """(n, width) of a column of a data frame that holds a list or an array in each place; others as they are."""
    if a.dtype.kind != "O" or a.ndim != 1 or not len(a) or not all(isinstance(v, (list, tuple, np.ndarray)) for v in a):
        return a
    odd = [i for i, v in enumerate(a) if len(v) != len(a[0])]
    if odd:
        raise InputError(f"{what}: row {odd[0]} has {len(a[odd[0]])} numbers, row 0 has {len(a[0])}")
    out = np.array([np.asarray(v) for v in a])
    if out.dtype.kind == "O" and out.ndim == 2:
        row = next((i for i, v in enumerate(out) if any(map(is_missing, v))), None)
        if row is not None:
            raise InputError(f"{what}: row {row} has an empty place in its list")
    return out


class Named(np.ndarray):
    """Probabilities whose columns bear names."""

    column_names: List[str]

    def __new__(cls, a: Any, names: List[str]) -> "Named":
        one = np.asarray(a).view(cls)
        one.column_names = names
        return one

    def __array_finalize__(self, other: Any) -> None:
        self.column_names = []                         # of a part of it they are not known


def matrix(value: Any, what: str, finite: bool = True) -> Array:
    """(n, d) float32. finite: other numbers are an InputError."""
    a = as_array(value, what)
    if a.ndim != 2:
        raise InputError(f"{what} has shape {a.shape}; it must be (rows, features). Reshape your data: .reshape(1, -1) makes "
                         "one row of it")
    if not a.shape[1]:
        raise InputError(f"{what} has 0 feature(s) (shape={a.shape}) while a minimum of 1 is required.")
    return floats(filled(a, what), what, finite)


def is_missing(value: Any) -> bool:
    """None, NaN, pandas' NA and NaT."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (
        isinstance(value, (float, np.floating)) and value != value)


def filled(a: Array, what: str) -> Array:
    """Objects as numbers; NaN where a place is missing or masked."""
    if isinstance(a, np.ma.MaskedArray):
        a = (a if a.dtype.kind in "fcO" else a.astype(np.float64)).filled(np.nan)
    if a.dtype.kind != "O":
        return a
    missing = np.fromiter(map(is_missing, a.flat), bool, a.size).reshape(a.shape)
    try:
        return np.where(missing, np.nan, a).astype(np.float64)
    except (TypeError, ValueError) as e:
        raise InputError(f"{what} holds what is no number: {e}") from None


def columns_of(value: Any) -> Optional[Array]:
    """Names of the columns of a data frame, where all are text."""
    names = getattr(value, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(names, object)


def floats(a: Array, what: str, finite: bool = True) -> Array:
    if a.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} is of type {a.dtype}")
    if a.dtype.kind not in "fiub":
        raise InputError(f"{what} is of type {a.dtype}, which are no numbers")
    with np.errstate(over="ignore"):
        a = np.ascontiguousarray(a, dtype=np.float32)
    if finite and not np.isfinite(a.sum(dtype=np.float64)):
        at = np.argwhere(~np.isfinite(a))[0]
        raise InputError(f"{what}: row {at[0]}{f', column {at[1]}' if len(at) > 1 else ''} is {a[tuple(at)]}, which is not "
                         "finite (NaN and infinity cannot be examined)")
    return a
