"""Generated pictures on the disk: prompts, seeds, and which pictures are there already. Needs neither torch nor diffusers."""
import hashlib
import json
import os
import re
from pathlib import Path

from ._files import write_whole
from ._library import InputError, SpotterError

BASE, BASE_PROMPT, MANIFEST, FORMAT = "base", "a photo of a {}", "spotter.json", 1
HOLE = re.compile(r"\{\}|<class>|<token>", re.IGNORECASE)


def address(*parts):
    """A seed from 0 to 2^63 - 1 for these numbers and words. It is the same on every machine and in every order of work."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8], "big") >> 1


def check_count(value, what, least=1):
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{what} is {value!r}; it must be a whole number from {least}")


def check_real(value, what, above=None, most=float("inf")):
    """A finite number, above a limit or from 0, to most."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
    if not good or value > most or (value <= above if above is not None else value < 0):
        raise InputError(f"{what} is {value!r}; it must be a number {'above' if above is not None else 'from'} {above or 0}"
                         + (f" to {most}" if most < float("inf") else ""))


def check_name(name, what):
    """Classes, shifts and sources become names of folders."""
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"the {what} {name!r} is no name")
    if re.search(r"[/\\\x00-\x1f\x7f\ud800-\udfff]", name) or name[0] == "." or len(name.encode()) > 240:
        raise InputError(f"the {what} {name!r} is no name of a folder: no slash, no control character, no point at the start, "
                         "at most 240 bytes")
    return name


def split_prompt(prompt, what):
    """(before, after): the words around the place for the class."""
    if not isinstance(prompt, str) or len(HOLE.findall(prompt)) != 1:
        raise InputError(f"{what} is {prompt!r}; it must be words with one {{}} for the class, such as 'a photo of a {{}} in "
                         "the snow'")
    before, after = HOLE.split(prompt)
    return before, after


def folder_of(name):
    """The folder of a class or shift, as `spotter shifts` looks for it."""
    return name.replace(" ", "_")


def read_shifts(shifts, source=None):
    """[(name, folder, (before, after))], the base first. shifts: {shift: prompt}, or the path of a `spotter shifts` config."""
    base = BASE
    if isinstance(shifts, (str, os.PathLike)):
        rows, base = _read_config(shifts, source)
    elif hasattr(shifts, "items"):
        rows = [(name, None, prompt) for name, prompt in shifts.items()]
    else:
        raise InputError(f"shifts is a {type(shifts).__name__}; give {{shift: prompt}} or the path of a config")
    if all(name != BASE for name, _, _ in rows):
        rows.insert(0, (BASE, base, BASE_PROMPT))
    rows.sort(key=lambda row: row[0] != BASE)
    told, place = [], {}
    for name, folder, prompt in rows:
        folder = check_name(folder or folder_of(check_name(name, "shift")), "shift")
        if folder in place:
            raise InputError(f"the shifts {place[folder]!r} and {name!r} have one folder, {folder}")
        place[folder] = name
        told.append((name, folder, split_prompt(prompt, f"the prompt of {name}")))
    return told


def _read_config(path, source):
    """([(name, folder or None, prompt)], folder of the base) of the settings of host/shifts/shifts_table.c."""
    try:
        import yaml
    except ImportError:
        raise InputError("a config is read with PyYAML, which is not installed: pip install pyyaml, or give {shift: prompt}") \
            from None
    try:
        with open(path, encoding="utf-8") as file:
            config = yaml.safe_load(file)
    except OSError as e:
        raise InputError(f"cannot read {path}: {e.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        raise InputError(f"{path} is no YAML: {' '.join(str(e).split())[:300]}") from None
    rows = config.get("shifts") if isinstance(config, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path} has no list of shifts")
    told, names = [], set()
    for k, row in enumerate(rows):
        name = row.get("name") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name or name in names:
            raise InputError(f"{path}: shifts[{k}] needs a name of its own")
        if not row.get("prompt"):
            raise InputError(f"{path}: the shift {name!r} has no prompt to generate from")
        names.add(name)
        told.append((name, row.get("folder"), row["prompt"]))
    data, sources = config.get("data"), config.get("sources")
    sources = [s.get("name") if isinstance(s, dict) else s for s in sources] if isinstance(sources, list) else []
    if sources and source not in sources:
        raise InputError(f"{path} compares the sources {', '.join(map(str, sources))}; give one of them as "
                         f"source, not {source!r}")
    return told, data.get("base", BASE) if isinstance(data, dict) else BASE


def plain(settings):
    """As JSON gives them back, for a comparison with those of a file."""
    return json.loads(json.dumps(settings, default=str))


class Folder:
    """One class under one shift. spotter.json has the settings of its pictures, and the size of each in bytes: null for a
    picture that the pipeline's safety checker withheld. A picture is named there before it is written, so a picture without
    an entry was not made here. settings: plain."""

    def __init__(self, path, settings, made_with):
        self.path, self.settings, self.made_with = Path(path), settings, made_with
        self.sizes = self._read()

    @staticmethod
    def name(index):
        return f"{index:05d}.png"

    def _read(self):
        file = self.path / MANIFEST
        try:
            text = file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as e:
            raise InputError(f"cannot read {file}: {e.strerror}") from None
        try:
            told = json.loads(text)
            pictures, settings = told["pictures"], told["settings"]
            good = told["spotter.shifts"] == FORMAT and isinstance(settings, dict) and \
                all(size is None or type(size) is int for size in pictures.values())
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            good = False
        if not good:
            raise InputError(f"{file} is no list of pictures that spotter.shifts wrote; move it away, or generate to another "
                             "folder")
        for key in sorted(set(settings) | set(self.settings)):
            if settings.get(key) != self.settings.get(key):
                raise InputError(f"the pictures in {self.path} were made with other settings: {key} was "
                                 f"{_short(settings.get(key))}, now it is {_short(self.settings.get(key))}; remove them, or "
                                 "generate to another folder or source")
        return pictures

    def missing(self, images):
        """Indices below images that are to be made. InputError: the place of one is taken by a file that was not made here."""
        try:
            with os.scandir(self.path) as entries:
                there = {entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries}
        except FileNotFoundError:
            there = {}
        except OSError as e:
            raise InputError(f"cannot list {self.path}: {e.strerror}") from None
        absent = []
        for index in range(images):
            name = self.name(index)
            size = self.sizes.get(name, -1)
            if name in there and there[name] != size:
                raise InputError(f"{self.path / name} was not made here, or has changed since; move it away, or generate to "
                                 "another folder")
            if name not in there and size is not None:
                absent.append(index)
        return absent

    def keep(self, pictures):
        """pictures: {index: bytes of a PNG, or None for one that was withheld}."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self.sizes = {**self._read(), **{self.name(i): None if data is None else len(data) for i, data in pictures.items()}}
            write_whole(self.path / MANIFEST, json.dumps(
                {"spotter.shifts": FORMAT, "settings": self.settings, "made_with": self.made_with,
                 "pictures": dict(sorted(self.sizes.items()))}, indent=1).encode())
            for index, data in pictures.items():
                if data is not None:
                    write_whole(self.path / self.name(index), data, replace=False)
        except FileExistsError as e:
            raise InputError(f"{e} came to be while its picture was made; it is left as it is") from None
        except OSError as e:
            raise SpotterError(f"cannot write to {self.path}: {e.strerror}; what is there stays, and the same call goes on "
                               "from it") from None


def _short(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:97] + "..."
