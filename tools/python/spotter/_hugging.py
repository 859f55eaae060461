"""What Hugging Face's datasets write, without datasets: pictures as {bytes, path}, folders of Parquet and Arrow."""
from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional

from ._arrays import is_missing
from ._library import InputError
from ._missing import needed

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


# --- Files of tables.
SHARD = re.compile(r"(?:.*[/_-])?([A-Za-z]\w*?)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.parquet$")


def class_names_of(schema: Any) -> Dict[str, List[str]]:
    """Names of the classes of each column that is a ClassLabel."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (KeyError, TypeError, ValueError):
        return {}
    return {name: [str(n) for n in one["names"]] for name, one in features.items()
            if isinstance(one, dict) and one.get("_type") == "ClassLabel" and isinstance(one.get("names"), list)}


class _Arrow:
    """Files of Arrow, streams as datasets writes them or of the other form, as a table that is mapped, not read."""

    def __init__(self, files: List[Path]) -> None:
        pa, ipc = needed("pyarrow", "read Arrow"), needed("pyarrow.ipc", "read Arrow", "pyarrow")
        parts = []
        for path in files:
            where = pa.memory_map(str(path))
            try:
                parts.append(ipc.open_stream(where).read_all())
            except pa.ArrowInvalid:
                where.seek(0)
                parts.append(ipc.open_file(where).read_all())
        self._table = pa.concat_tables(parts)
        self.schema = parts[0].schema

    def to_table(self, columns: List[str]) -> Any:
        return self._table.select(columns)


def _pick(about: str, splits: Dict[str, Any], split: Optional[str]) -> Any:
    if split is not None and split not in splits:
        raise InputError(f"{about} has no split {split!r}; it has {', '.join(splits)}")
    if split is None and len(splits) > 1:
        raise InputError(f"{about} has the splits {', '.join(splits)}; name one, such as split={next(iter(splits))!r}")
    return splits[split or next(iter(splits))]


def open_table(about: str, split: Optional[str] = None) -> Any:
    """A file, or a folder of files, with `schema` and to_table(columns=...)."""
    here = Path(about)
    dataset = needed("pyarrow.dataset", f"read {about}")
    try:
        if (here / "dataset_dict.json").is_file():
            here = _pick(about, {name: here / name for name in json.loads((here / "dataset_dict.json").read_text())["splits"]},
                         split)
        elif split is not None and (here / "state.json").is_file():
            raise InputError(f"{about} is one split; leave split={split!r} out")
        if (here / "state.json").is_file():
            return _Arrow([here / one["filename"] for one in json.loads((here / "state.json").read_text())["_data_files"]])
        if here.suffix in (".arrow", ".feather"):
            return _Arrow([here])
        if here.is_dir():
            splits: Dict[str, List[str]] = {}
            for path in sorted(here.rglob("*.parquet")):
                said = SHARD.match(path.relative_to(here).as_posix())
                splits.setdefault(said.group(1) if said else "", []).append(str(path))
            if splits and "" not in splits:
                return dataset.dataset(_pick(about, splits, split), format="parquet")
            arrows = sorted(here.glob("*.arrow"))
            if not splits and arrows:
                return _Arrow(arrows)
        if split is not None:
            raise InputError(f"{about} has no splits; leave split={split!r} out")
        return dataset.dataset(about, format="parquet")
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise InputError(f"{about} is no Parquet file, no file of Arrow, and no folder of them: {e}") from None
