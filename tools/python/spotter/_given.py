"""Checks of arguments: a value that cannot be used is refused by a sentence that names it and says what it takes."""
from __future__ import annotations

import math
import numbers
import os
from typing import Any, List, NoReturn, Optional, Sequence

import numpy as np

from ._library import InputError

MOST = 2 ** 31 - 1                                     # of C's int
SEEDS = 2 ** 64


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def shown(value: Any) -> str:
    """A value in a sentence: one line, however large it is."""
    try:
        text = " ".join(repr(value).split())
    except Exception:                                  # of the caller's own class
        text = f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def refuse(value: Any, name: str, takes: str) -> NoReturn:
    raise InputError(f"{name} is {shown(value)}; it takes {takes}")


def equal(a: Any, b: Any) -> bool:
    """False, too, where two values cannot be compared, as arrays with a text."""
    try:
        return a is b or bool(a == b)
    except Exception:
        return False


def whole(value: Any, name: str, least: int = 0, most: int = MOST) -> int:
    takes = f"a whole number from {least}" + ("" if most in (MOST, SEEDS - 1) else f" to {most}")
    if not isinstance(value, numbers.Integral):
        refuse(value, name, takes)
    if not least <= value <= most:
        refuse(value, name, takes if most != SEEDS - 1 else f"{takes} below 2**64")
    return int(value)


def real(value: Any, name: str, least: float, most: float, above: bool = False, below: bool = False) -> float:
    """A number from least to most. above, below: without the end itself."""
    good = isinstance(value, numbers.Real) and math.isfinite(value) and least <= value <= most
    if not good or above and value == least or below and value == most:
        refuse(value, name, f"a number {'above' if above else 'from'} {least:g} to {'below ' if below else ''}{most:g}")
    return float(value)


def level(value: Any, name: str = "level") -> float:
    """The level of a test, in the range of the command's --level."""
    return real(value, name, 1e-6, 0.5)


def flag(value: Any, name: str) -> bool:
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, numbers.Integral) and value in (0, 1)):
        refuse(value, name, "True or False")
    return bool(value)


def choice(value: Any, name: str, names: Sequence[str]) -> int:
    """The place of a word among names."""
    if not isinstance(value, str) or value not in names:
        raise InputError(f"{name} is {shown(value)}; it is one of {', '.join(names)}")
    return list(names).index(value)


def text(value: Any, name: str) -> Optional[bytes]:
    """UTF-8 of words that are shown; None for None."""
    if value is None:
        return None
    if not isinstance(value, (str, numbers.Number, os.PathLike)):
        refuse(value, name, "a text")
    try:
        made = str(value).encode()
    except UnicodeEncodeError:
        refuse(value, name, "a text that can be written as UTF-8")
    if b"\0" in made:
        refuse(value, name, "a text without a zero byte")
    return made


ROWS = "a list with a place for each row"


def listed(value: Any, name: str, takes: str = ROWS) -> List[Any]:
    if is_path(value):
        refuse(value, name, takes)
    try:
        return list(value)
    except TypeError:
        refuse(value, name, takes)


def listed_or_file(value: Any, name: str, takes: str = ROWS + ", or a file") -> Any:
    """A list; a path, and None, as it is."""
    return value if value is None or is_path(value) else listed(value, name, takes)


def seeds(value: Any, name: str = "seed") -> Optional[List[int]]:
    """One, or several; None for None."""
    if value is None:
        return None
    several = [value] if isinstance(value, (str, bytes)) or not np.iterable(value) else list(value)
    if not several or not all(isinstance(s, numbers.Integral) and 0 <= s < SEEDS for s in several):
        refuse(value, name, "a whole number from 0 below 2**64, or a list of such")
    return [int(s) for s in several]


def words_of_file(path: Any, name: str) -> List[str]:
    """Lines of a UTF-8 file, without the spaces around them."""
    return [line.strip(" \t\r\n") for line in file_text(path, name).split("\n")]


def file_text(path: Any, name: str) -> str:
    data = file_bytes(path, name)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise InputError(f"{name}: {shown(path)} is no UTF-8 text (byte {e.start}); write it as UTF-8") from None


def file_bytes(path: Any, name: str) -> bytes:
    if not is_path(path):
        refuse(path, name, "the path of a file")
    try:
        with open(path, "rb") as f:
            return f.read()
    except (OSError, ValueError) as e:                 # ValueError: a zero byte, or what no name of a file can hold
        why = getattr(e, "strerror", None) or str(e)
        raise InputError(f"{name}: cannot read {shown(path)}: {why}") from None


def plain(value: Any) -> Any:
    """A numpy number or array, or a path, for JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    raise TypeError(shown(value))
