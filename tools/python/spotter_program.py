"""The builds in this package, one for each kind of CPU, and the command `spotter`, which is the program of one of them.

A module of its own: the command starts without numpy and without the library."""
import ctypes
import os
import sys
from pathlib import Path

package = Path(__file__).with_name("spotter")


class NoBuild(Exception):
    """Where the package carries builds, and this CPU runs none of them."""


def offer_fonts():
    """Figures take their letters from this package where the system has none."""
    ours = package / "fonts" / "fonts.conf"
    if ours.exists() and not Path("/etc/fonts/fonts.conf").exists():
        os.environ.setdefault("FONTCONFIG_FILE", str(ours))


def lacks(build):
    """The instructions that this CPU lacks for a build, such as "avx2"; "" where it lacks none."""
    cpu = build / "libspotter_cpu.so"
    if not cpu.exists():
        return ""
    call = ctypes.CDLL(str(cpu)).spot_cpu_lacks
    call.restype = ctypes.c_char_p
    return (call() or b"").decode()


def folder():
    """The folder of the build with the widest instructions that this CPU has, or None where the package carries no build."""
    missing = ""
    for build in sorted(package.glob("lib*"), reverse=True):         # lib-x86-64-v4, then lib
        missing = lacks(build)
        if not missing:
            offer_fonts()
            return build
    if missing:
        raise NoBuild(f"this CPU has no {missing}, which this package was compiled for; compile Spotter on this machine with "
                      "tools/build, and install ./tools/python")
    return None


def main():
    """The command `spotter`."""
    try:
        build = folder()
    except NoBuild as e:
        print(f"spotter: {e}", file=sys.stderr)
        return 5
    if not build or not (build / "spotter").exists():
        print("spotter: this package carries no program; install it anew from a build that has one: tools/build, then "
              "pip install ./tools/python", file=sys.stderr)
        return 4
    os.execv(build / "spotter", ["spotter", *sys.argv[1:]])
