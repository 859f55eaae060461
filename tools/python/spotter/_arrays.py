"""Inputs of the user as C-ordered numpy arrays, without a copy where possible."""
from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

from ._library import InputError

Array = NDArray[Any]                                   # of any type; the texts say which


def as_array(value: Any, what: str) -> Array:
    """numpy, a list, or anything with __dlpack__ or __array__: a PyTorch, JAX or CuPy tensor. No copy of data in the host's
    memory; a tensor on a GPU is copied once."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "toarray"):
        raise InputError(f"{what} is sparse; give {what}.toarray()")
    if hasattr(value, "detach"):                       # PyTorch: out of autograd first
        value = value.detach()
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
        return stacked(np.asarray(value), what)
    except InputError:
        raise
    except Exception as e:
        raise InputError(f"{what} is no array: {e}") from None


def stacked(a: Array, what: str) -> Array:
    """(n, width) of a column of a data frame that holds a list or an array in each place; others as they are."""
    if a.dtype.kind != "O" or a.ndim != 1 or not len(a) or not all(isinstance(v, (list, tuple, np.ndarray)) for v in a):
        return a
    odd = [i for i, v in enumerate(a) if len(v) != len(a[0])]
    if odd:
        raise InputError(f"{what}: row {odd[0]} has {len(a[odd[0]])} numbers, row 0 has {len(a[0])}")
    return np.array([np.asarray(v) for v in a])


def matrix(value: Any, what: str) -> Array:
    """(n, d) float32."""
    a = as_array(value, what)
    if a.ndim != 2:
        raise InputError(f"{what} has shape {a.shape}; it must be (rows, features). Reshape your data: .reshape(1, -1) makes "
                         "one row of it")
    if not a.shape[1]:
        raise InputError(f"{what} has 0 feature(s) (shape={a.shape}) while a minimum of 1 is required.")
    if a.dtype.kind == "O":                            # of a data frame with columns of several types
        try:
            a = a.astype(np.float64)
        except (TypeError, ValueError) as e:
            raise InputError(f"{what} holds what is no number: {e}") from None
    return floats(a, what)


def columns_of(value: Any) -> Optional[Array]:
    """Names of the columns of a data frame, where all are text."""
    names = getattr(value, "columns", None)
    if names is None or not all(isinstance(name, str) for name in names):
        return None
    return np.asarray(names, object)


def floats(a: Array, what: str) -> Array:
    if a.dtype.kind == "c":
        raise InputError(f"Complex data not supported: {what} is of type {a.dtype}")
    if a.dtype.kind not in "fiub":
        raise InputError(f"{what} is of type {a.dtype}, which are no numbers")
    with np.errstate(over="ignore"):
        a = np.ascontiguousarray(a, dtype=np.float32)
    if not np.isfinite(a.sum(dtype=np.float64)):
        at = np.argwhere(~np.isfinite(a))[0]
        raise InputError(f"{what}: row {at[0]}{f', column {at[1]}' if len(at) > 1 else ''} is {a[tuple(at)]}, which is not "
                         "finite (NaN and infinity cannot be examined)")
    return a


def classes(value: Any, n: int) -> Tuple[Array, List[str]]:
    """Class numbers (n) as int32, and the classes' names: numbers as they are, words sorted."""
    a = as_array(value, "targets")
    if a.shape != (n,):
        raise InputError(f"targets has shape {a.shape}; embeddings have {n} rows, so it must be ({n},)")
    if a.dtype.kind in "OUS":
        names, numbers = np.unique(a.astype(str), return_inverse=True)
        return numbers.astype(np.int32), [str(name) for name in names]
    if a.dtype.kind not in "iubf":
        raise InputError(f"targets is of type {a.dtype}; it must be class numbers or words")
    with np.errstate(invalid="ignore"):
        numbers = a.astype(np.int32)
    wrong = np.flatnonzero((numbers != a) | (numbers < 0))
    if wrong.size:
        raise InputError(f"targets[{wrong[0]}] is {a[wrong[0]]}; classes are whole numbers from 0")
    return numbers, [str(k) for k in range(int(numbers.max(initial=0)) + 1)]
