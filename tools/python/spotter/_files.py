"""Files that are written whole or not at all, and what a killed process has left of them."""
import os
import re
import stat
import time
from pathlib import Path

# write_whole names its files by the first form, libspotter by the second, NAME.HOST-PID-COUNT.tmp. Nobody else gives files
# such names.
_OURS = re.compile(r"\..+\.[0-9a-f]{16}\.part|.+\..+-\d+-\d+\.tmp")
_AN_HOUR = 3600


def tidy(folder):
    """Removes files of killed processes from a folder, if they are an hour old: one on another host may still write the
    younger ones."""
    try:
        found = [entry for entry in os.scandir(folder) if _OURS.fullmatch(entry.name)]
    except OSError:                                        # it is not there yet, or is the caller's to complain about
        return
    for entry in found:
        try:
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and about.st_mtime < time.time() - _AN_HOUR:
                os.unlink(entry.path)
        except OSError:
            continue


_tidied = set()


def write_whole(path, data, replace=True):
    """The file is there in full, or as it was. Without replace, a file that is there stays: FileExistsError. The first write of
    a process into a folder tidies it."""
    path = Path(path)
    if str(path.parent) not in _tidied:
        _tidied.add(str(path.parent))
        tidy(path.parent)
    part = path.with_name(f".{path.name}.{os.urandom(8).hex()}.part")     # process ids repeat between containers
    try:
        part.write_bytes(data)
        if replace:
            os.replace(part, path)
        else:
            try:
                os.link(part, path)                    # fails where a file is, unlike a rename
            except FileExistsError:
                raise FileExistsError(str(path)) from None
            except OSError:                            # a file system without hard links
                if path.exists():
                    raise FileExistsError(str(path)) from None
                os.rename(part, path)
    finally:
        part.unlink(missing_ok=True)
