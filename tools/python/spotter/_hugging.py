"""Pictures as Hugging Face's datasets hold them, {bytes, path}, without datasets."""
from __future__ import annotations

import atexit
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, List, Optional

from ._arrays import is_missing
from ._library import InputError

ENDINGS = ((b"\x89PNG", ".png"), (b"\xff\xd8", ".jpg"), (b"RIFF", ".webp"), (b"GIF8", ".gif"), (b"BM", ".bmp"),
           (b"II*", ".tif"), (b"MM\0*", ".tif"))
_made: List[Any] = []


def _folder() -> Path:
    """One for the process, which goes with it."""
    if not _made:
        _made.append(tempfile.TemporaryDirectory(prefix="spotter-pictures-"))
        atexit.register(_made[0].cleanup)
    return Path(_made[0].name)


def _kept(data: bytes) -> str:
    ending = next((e for start, e in ENDINGS if data.startswith(start)), "")
    path = _folder() / (hashlib.sha256(data).hexdigest()[:32] + ending)
    if not path.exists():
        path.write_bytes(data)
    return str(path)


def picture_path(value: Any, row: int, what: str = "images") -> str:
    """A path; of bytes, alone or in a struct {bytes, path}, that of a file that lives as long as the process."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    data: Optional[Any] = value
    if isinstance(value, dict) and set(value) <= {"bytes", "path"}:
        data = value.get("bytes")
        if data is None and value.get("path"):
            return str(value["path"])
    if isinstance(data, (bytes, bytearray, memoryview)) and len(data):
        return _kept(bytes(data))
    if is_missing(value) or data is None:
        raise InputError(f"{what}: row {row} has no picture")
    raise InputError(f"{what}: row {row} is a {type(value).__name__}; it must be a path, bytes, or a {{bytes, path}}")


def picture_paths(values: Iterable[Any], what: str = "images") -> List[str]:
    return [picture_path(value, row, what) for row, value in enumerate(values)]
