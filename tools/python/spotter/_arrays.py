"""Inputs of the user as C-ordered numpy arrays, without a copy where possible."""
import numpy as np

from ._library import InputError


def as_array(value, what):
    """numpy, a list, or anything with __dlpack__ or __array__: a PyTorch, JAX or CuPy tensor. No copy of data in the host's
    memory; a tensor on a GPU is copied once."""
    if isinstance(value, np.ndarray):
        return value
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
        return np.asarray(value)
    except Exception as e:
        raise InputError(f"{what} is no array: {e}") from None


def matrix(value, what):
    """(n, d) float32."""
    a = as_array(value, what)
    if a.ndim != 2:
        raise InputError(f"{what} has shape {a.shape}; it must be (rows, features)")
    return floats(a, what)


def floats(a, what):
    if a.dtype.kind not in "fiub":
        raise InputError(f"{what} is of type {a.dtype}, which are no numbers")
    return np.ascontiguousarray(a, dtype=np.float32)


def classes(value, n):
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
