"""Where the files of a data set lie: Hugging Face's two caches, what save_to_disk writes, folders of Parquet and Arrow. Nothing
of a data set is run: a script in its folder is not looked at."""
from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

from ._library import InputError
from ._missing import needed

SHARD = re.compile(r"(?:.*[/_-])?([A-Za-z]\w*?)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.(?:parquet|arrow)$")
SPLITS = {"train", "training", "test", "testing", "validation", "valid", "val", "dev", "eval", "evaluation"}
HUB = "datasets--"                                     # folders of the cache that huggingface_hub downloads to
SHOWN = 8                                              # names in a message


def shown(names: Any) -> str:
    names = [str(n) for n in names]
    return ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


# --- Links and names.
def leads_out(name: str) -> bool:
    return ".." in Path(name).parts


def held(root: Path, path: Path, asked: str = "") -> Path:
    """The path, whose file lies in root also behind its links. asked: what allows others, for the sentence."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise InputError(f"{path} leads out of {root}" + (f"; {asked}" if asked else "; that is not followed"))
    return path


def named_file(folder: Path, name: Any, about: str) -> Path:
    """A file that a list in the folder names: the list may be a stranger's."""
    if not isinstance(name, str) or not name or os.path.isabs(name) or leads_out(name):
        raise InputError(f"{about} names {name!r}, which is no file of its folder")
    return held(folder, folder / name)


# --- The cache of the hub: datasets--NAME/{blobs,refs,snapshots/COMMIT}, whose pictures and tables are links to blobs.
def cache_of(here: Path) -> Optional[Path]:
    """The folder datasets--NAME that has this one, or None."""
    here = Path(os.path.abspath(here))
    return next((p for p in (here, *here.parents) if p.name.startswith(HUB) and (p / "snapshots").is_dir()), None)


def snapshot_of(here: Path) -> Path:
    """The snapshot that is meant where a whole data set of the cache is given: that of refs/main, or the only one."""
    cache = cache_of(here)
    if cache is None or Path(os.path.abspath(here)) not in (cache, cache / "snapshots"):
        return here
    there = sorted(p.name for p in (cache / "snapshots").iterdir() if p.is_dir())
    try:
        main = (cache / "refs" / "main").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        main = ""
    if main not in there and len(there) != 1:
        raise InputError(f"{cache} holds {len(there)} snapshots" + (f"; give one of them: {shown(there)}, in "
                         f"{cache / 'snapshots'}" if there else ", so nothing of the data set was downloaded"))
    return cache / "snapshots" / (main if main in there else there[0])


# --- Tables by their splits.
def _info_splits(folder: Path) -> Set[str]:
    """Splits that dataset_info.json tells, as in the cache of datasets."""
    try:
        return set(json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))["splits"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _split_of(name: Path, known: Set[str]) -> str:
    """By the name of the file, else by the nearest folder that is called as a split; "": it tells none."""
    shard = SHARD.match(name.as_posix())
    if shard:
        return shard.group(1)
    told = [k for k in known if name.stem == k or name.stem.endswith("-" + k)]
    for part in (name.stem, *reversed(name.parts[:-1])):
        told += [word for word in reversed(re.split(r"[-_.]", part)) if word.lower() in SPLITS]
    return told[0] if told else ""


def tables_by_split(here: Path) -> Dict[str, List[Path]]:
    """Files of each split, Parquet or else Arrow; {"": files} where no name tells a split; {} where there are none."""
    cache, here = cache_of(here), snapshot_of(here)
    files = sorted(here.rglob("*.parquet")) or [p for p in sorted(here.rglob("*.arrow")) if not p.name.startswith("cache-")]
    splits: Dict[str, List[Path]] = {}
    for path in files:
        split = _split_of(path.relative_to(here), _info_splits(path.parent))
        splits.setdefault(split, []).append(held(cache, path) if cache else path)
    if "" in splits and len(splits) > 1:
        raise InputError(f"{here} holds the splits {shown(s for s in splits if s)}, and {splits[''][0].relative_to(here)} of "
                         "no split; give one file, or the folder of one")
    for split, paths in splits.items():
        folders = sorted({str(p.parent.relative_to(here)) for p in paths})
        if split and len(folders) > 1:
            raise InputError(f"{here} holds files of the split {split} in {len(folders)} folders; give one of them: "
                             f"{shown(folders)}")
    return splits


def pick(about: Any, splits: Dict[str, Any], split: Optional[str]) -> Any:
    if split is not None and "" in splits:
        raise InputError(f"{about} has no splits; leave split={split!r} out")
    if split is not None and split not in splits:
        raise InputError(f"{about} has no split {split!r}; it has {', '.join(splits)}")
    if split is None and len(splits) > 1:
        raise InputError(f"{about} has the splits {', '.join(splits)}; name one, such as split={next(iter(splits))!r}")
    return splits[next(iter(splits)) if split is None else split]


# --- A table.
def class_names_of(schema: Any) -> Dict[str, List[str]]:
    """Names of the classes of each column that is a ClassLabel."""
    return {name: [str(n) for n in one["names"]] for name, one in features_of(schema).items()
            if one.get("_type") == "ClassLabel" and isinstance(one.get("names"), list)}


def features_of(schema: Any) -> Dict[str, Dict[str, Any]]:
    """What datasets tells of each column."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
        return {name: one for name, one in features.items() if isinstance(one, dict)}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


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

    def to_batches(self, columns: List[str], batch_size: int) -> Any:
        return self._table.select(columns).to_batches(max_chunksize=batch_size)


def _saved(here: Path) -> List[Path]:
    """The files of a folder of save_to_disk."""
    state = here / "state.json"
    return [named_file(here, one["filename"], str(state))
            for one in json.loads(state.read_text(encoding="utf-8"))["_data_files"]]


def _table_of(about: str, split: Optional[str]) -> Any:
    here = Path(about)
    dataset = needed("pyarrow.dataset", f"read {about}")
    if (here / "dataset_dict.json").is_file():
        names = json.loads((here / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
        here = pick(about, {name: named_file(here, name, "dataset_dict.json") for name in names}, split)
    elif split is not None and (here / "state.json").is_file():
        raise InputError(f"{about} is one split; leave split={split!r} out")
    if (here / "state.json").is_file():
        return _Arrow(_saved(here))
    if here.suffix in (".arrow", ".feather"):
        return _Arrow([here])
    splits = tables_by_split(here) if here.is_dir() else {}
    if splits:
        files = pick(about, splits, split)
        if files[0].suffix == ".arrow":
            return _Arrow(files)
        return dataset.dataset([str(f) for f in files], format="parquet")
    if split is not None:
        raise InputError(f"{about} has no splits; leave split={split!r} out")
    return dataset.dataset(about, format="parquet")


def open_table(about: str, split: Optional[str] = None) -> Any:
    """A file, or a folder of files, with `schema`, to_table(columns=...) and to_batches(columns=..., batch_size=...)."""
    try:
        return _table_of(about, split)
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as e:
        raise InputError(f"{about} is no Parquet file, no file of Arrow, and no folder of them: {e}") from None
