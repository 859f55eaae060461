#!/usr/bin/env python3
"""make_stub.py [FILE]: writes spotter/methods.pyi, by which type checkers and editors know the parameters of the discovery
methods, from the library's table of settings. Run it after a setting changes:

    SPOTTER_LIBRARY=build/libspotter.so python3 tools/python/make_stub.py"""
import inspect
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from spotter import _settings, methods                 # noqa: E402

PLAIN = {int: "int", float: "float", bool: "bool", str: "str"}
HEAD = '''"""Written by tools/python/make_stub.py from the library's table of settings. Do not edit."""
from typing import Any, Callable, Dict, Literal, Optional, Tuple, TypedDict, Union

from ._method import Method as Method

__all__ = [{names}]
'''


def kind(s, groups):
    if s.settings is not None:
        groups[f"_{s.name.capitalize()}"] = s.settings
        return f"Optional[_{s.name.capitalize()}]"
    if s.values:
        plain = "Literal[" + ", ".join(f'"{v}"' for v in s.values) + "]"
    else:
        plain = PLAIN.get(_settings.TYPES[s.kind]) or str(_settings.TYPES[s.kind]).replace("typing.", "")
    return f"Optional[{plain}]" if s.presets else plain


def value(v):
    return '"' + v.replace('"', '\\"') + '"' if isinstance(v, str) else repr(v)


def wrapped(text, indent, more):
    return textwrap.wrap(text, 128, initial_indent=" " * indent, subsequent_indent=" " * more, break_long_words=False,
                         break_on_hyphens=False)


def group(name, rows, groups):
    """A TypedDict, behind those that it holds."""
    inner = {}
    lines = [f"\n\nclass {name}(TypedDict, total=False):"]
    for s in rows:
        said = kind(s, inner)
        lines.append(f"    {s.name}: {said if s.settings is None else said[len('Optional['):-1]}")
    for key, more in inner.items():
        if key not in groups:
            groups[key] = True
            yield from group(key, more, groups)
    yield from lines


def constructor(cls, groups):
    common = list(inspect.signature(methods.Method.__init__).parameters.values())[1:]
    own = inspect.signature(cls.__init__).parameters
    parts = ["self"] + [f"{p.name}: {str(p.annotation)} = {value(own[p.name].default)}" for p in common] + ["*"]
    parts += [f"{s.parameter}: {kind(s, groups)} = {value(s.preset)}" for s in _settings.own(cls.method)]
    lines, line = [], "    def __init__("
    for i, part in enumerate(parts):
        part += "," if i < len(parts) - 1 else ") -> None: ..."
        if len(line) + len(part) + 1 > 128:
            lines.append(line)
            line = " " * 17 + part
        else:
            line += part if line.endswith("(") else " " + part
    return lines + [line]


def main():
    classes = [c for c in vars(methods).values() if isinstance(c, type) and issubclass(c, methods.Method) and c.method]
    groups, body = {}, []
    for cls in classes:
        about = cls.__doc__.split("\n\n")[0]
        body += [f"\n\nclass {cls.__name__}(Method):"]
        body += wrapped(f'"""{about}', 4, 4) + [""]
        for s in _settings.own(cls.method):
            body += wrapped(f"{s.parameter}: {s.told()}", 4, 8)
        body[-1] += ' """' if body[-1].endswith('"') else '"""'
        body += constructor(cls, groups)
    seen, heads = dict(groups), []
    for name, rows in groups.items():
        heads += group(name, rows, seen)
    names = ", ".join(f'"{n}"' for n in methods.__all__)
    head = HEAD.replace("{names}", ("\n" + " " * 11).join(textwrap.wrap(names, 116)))
    text = head + "\n".join(heads + body) + "\n"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "spotter" / "methods.pyi"
    target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
