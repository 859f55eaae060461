"""python3 -m spotter.dataset SOURCE --out DIR: a data set on this disk, as folders of pictures that every command takes.

SOURCE is a Parquet or Arrow file; a folder of them, in either of Hugging Face's caches (datasets--NAME, or a snapshot in it) or
anywhere else; a folder of save_to_disk; or a folder with metadata.csv or metadata.jsonl, whose file_name tells the pictures.
A folder of folders of classes needs nothing: --images takes it. No code of a data set is run, and nothing is fetched.
"""
from __future__ import annotations

import argparse
import csv
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, List, NamedTuple, Optional, Sequence

from ._dataset_rows import NONE, Row, Rows, open_rows
from ._datasets import shown
from ._hugging import ENDINGS
from ._library import InputError, SpotterError
from ._missing import Missing

TABLE, PICTURES, ROWS = "rows.csv", "images", "rows.yaml"
EMPTY = {"none", "nan", "na", "<na>", "null"}          # labels that the engine takes for none
NUMBER = re.compile(r"[+-]?(?:[0-9.]+(?:[eE][+-]?[0-9]+)?|inf|nan)")
BAD = r"\x00-\x1f/\\\x7f\ud800-\udfff"              # no folder's name has these
PLAIN = re.compile(rf"[^{BAD} =+@.'\-]([^{BAD}]*[^{BAD} ])?")


class Exported(NamedTuple):
    folder: Path                                       # with images/, rows.csv and rows.yaml
    n: int
    classes: List[str]                                 # in the order of their numbers; []: no labels
    empty: List[str]                                   # classes of which there is no picture


# --- Classes.
def class_words(names: Sequence[str]) -> List[str]:
    """A word for each class, by which folders and labels have the order of the classes: its name, where the names are sorted
    and each can be a folder and a label; else with its number before it."""
    sound = all(PLAIN.fullmatch(n) and len(n.encode()) <= 200 and n.lower() not in EMPTY for n in names)
    if sound and all(a.encode() < b.encode() for a, b in zip(names, names[1:])):
        return list(names)
    width = len(str(max(len(names) - 1, 0)))
    clean = [re.sub(f"[{BAD}]", "_", n).strip() for n in names]
    return [f"{k:0{width}d} {n.encode()[:180].decode(errors='ignore')}".strip() for k, n in enumerate(clean)]


# --- Out.
def _cell(value: Any) -> str:
    """A text that a spreadsheet would run as a formula gets an apostrophe."""
    text = "" if value is None else str(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") and not NUMBER.fullmatch(text) else text


def _picture(row: Row, name: str, at: Path) -> str:
    """Writes the picture; its name below the folder."""
    ending = next((e for start, e in ENDINGS if row.picture.startswith(start)), None)
    if ending is None:
        raise InputError(f"{row.about}: its picture is none of PNG, JPEG, WebP, GIF, BMP and TIFF; convert it")
    (at / name).parent.mkdir(exist_ok=True)
    (at / (name + ending)).write_bytes(row.picture)
    return name + ending


def _write(rows: Rows, words: List[str], folder: Path) -> List[int]:
    """The number of pictures of each class; [] and their number alone where there are no labels."""
    counts = [0] * max(len(words), 1)
    (folder / PICTURES).mkdir()
    with open(folder / TABLE, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["file", *(["label"] if words else []), *rows.others])
        for i, row in enumerate(rows):
            word = words[row.cls] if words else ""
            name = _picture(row, f"{word}/{i:06d}" if words else f"{i:06d}", folder / PICTURES)
            out.writerow([name, *([word] if words else []), *map(_cell, row.others)])
            counts[row.cls if words else 0] += 1
    asks = [f"images: {PICTURES}", f"ids: {TABLE}:file", *([f"labels: {TABLE}:label"] if words else []),
            *([f"attributes: {TABLE}:file"] if rows.others else [])]
    (folder / ROWS).write_text("\n".join(asks) + "\n")
    return counts


def _taken(out: Path) -> bool:
    try:
        return any(out.iterdir())
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True


def export(source: Any, out: Any, split: Optional[str] = None, image: Optional[str] = None, label: Optional[str] = None,
           follow_links: bool = False) -> Exported:
    """Writes the pictures of a data set to out/images/CLASS/NUMBER.png (.jpg ...), and out/rows.csv: `file` below out/images,
    `label`, and the columns of numbers and words. image, label: names of columns, where several could be meant; label="none":
    no labels. follow_links: a list in the data set may name pictures that lie outside its folder. The folder out is new, or
    empty; it is there whole, or not at all."""
    out = Path(os.fspath(out))
    if _taken(out):
        raise InputError(f"{out} is there already; choose another folder")
    rows = open_rows(os.fspath(source), split, image, label, follow_links)
    words = class_words(rows.classes)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        counts = _write(rows, words, part)
        if not sum(counts):
            raise InputError(f"{source} has no rows")
        os.chmod(part, 0o777 & ~_umask())
        os.rename(part, out)                           # also over an empty folder, and over nothing else
    finally:
        shutil.rmtree(part, ignore_errors=True)        # gone where all is well
    return Exported(out, sum(counts), words, [w for w, n in zip(words, counts) if not n])


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


# --- The program.
def options(words: Optional[Sequence[str]]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python3 -m spotter.dataset", formatter_class=argparse.RawDescriptionHelpFormatter,
                                description=(__doc__ or "").split("\n\n", 1)[1])
    p.add_argument("source", metavar="SOURCE", help="file or folder of the data set")
    p.add_argument("--out", required=True, metavar="DIR", help="new folder for images/, rows.csv and rows.yaml")
    p.add_argument("--split", metavar="NAME", help="which, where there are several, such as test")
    p.add_argument("--image", metavar="COLUMN", help="column of the pictures (the one of the type Image, or `image`)")
    p.add_argument("--label", metavar="COLUMN", help=f"column of the classes (a ClassLabel, or `label`); {NONE}: no labels")
    p.add_argument("--follow-links", action="store_true", help="pictures that a list names may lie outside SOURCE")
    return p.parse_args(words)


def main(words: Optional[Sequence[str]] = None) -> int:
    o = options(words)
    try:
        made = export(o.source, o.out, o.split, o.image, o.label, o.follow_links)
    except (InputError, Missing) as e:
        print(f"spotter.dataset: {e}", file=sys.stderr)
        return 3
    except (OSError, SpotterError) as e:
        print(f"spotter.dataset: {o.out} cannot be made: {e}", file=sys.stderr)
        return 4
    if made.empty:
        print(f"spotter.dataset: no picture of {len(made.empty)} classes: {shown(made.empty)}; a model's outputs have "
              "to be those of the folders that are there", file=sys.stderr)
    print(f"{made.n} pictures" + (f" of {len(made.classes)} classes" if made.classes else "") + f" in {made.folder / PICTURES}")
    print(f"    spotter discover {made.folder / ROWS} --model net.onnx --out found" if made.classes else
          f"    spotter embed --model clip.safetensors --images {made.folder / PICTURES} --out e.safetensors")
    return 0


if __name__ == "__main__":
    sys.exit(main())
