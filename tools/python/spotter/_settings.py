"""The settings of the discovery methods as the library tells them, and the constructors made of them. Names, defaults, ranges
and help are those of `spotter help config`; they are written nowhere in Python."""
from __future__ import annotations

import ctypes as ct
import difflib
import functools
import inspect
import json
import keyword
import textwrap
from typing import Any, Dict, Iterable, List, Literal, NamedTuple, Optional, Tuple

from ._library import Context, ParameterError, taken

COMMON = ("least",)                                    # parameters of every method that are settings of some, too
ELSEWHERE = ("method", "top", "representation", "embeddings")          # said by the class, by n_slices and by fit
TYPES = {"int": int, "seed": int, "real": float, "switch": bool, "text": str, "range": Tuple[int, int],
         "span": Tuple[float, float]}


class Setting(NamedTuple):
    """name, kind, help, takes, default, values: as spot_config_methods has them (include/spotter/config.h). presets: the
    defaults of other profiles. settings: of a group, else None."""
    name: str
    kind: str
    help: str
    takes: str = ""
    default: Any = None
    values: Tuple[str, ...] = ()
    presets: Dict[str, Any] = {}
    settings: Optional[List[Any]] = None
    method: str = ""

    @property
    def parameter(self) -> str:
        """Its name in Python: lambda_ for lambda, joinspot_least for its least, which every method has of its classes."""
        if self.method and self.name in COMMON:
            return f"{self.method}_{self.name}"
        return self.name + "_" if keyword.iskeyword(self.name) else self.name

    @property
    def preset(self) -> Any:
        """Its default in Python: None where the library chooses, as for groups and for what a profile sets."""
        return None if self.settings is not None or self.presets else self.default

    def annotation(self) -> Any:
        if self.settings is not None:
            return Optional[Dict[str, Any]]
        kind = Literal[self.values] if self.values else TYPES[self.kind]
        return Optional[kind] if self.presets else kind

    def told(self) -> str:
        """Its help, default and range in a sentence."""
        if self.settings is not None:
            return f"{self.help}: a dict with {', '.join(s.name for s in self.settings)}"
        profiles = "".join(f", with profile {p} {v!r}" for p, v in self.presets.items())
        default = f" (None: {self.default!r}{profiles})" if self.presets else ""
        return f"{self.help}; {self.takes}{default}"


def _setting(row: Dict[str, Any]) -> Setting:
    inner = row.get("settings")
    number = float if row["kind"] == "real" else int if row["kind"] == "seed" else lambda v: v
    given = {**row, "values": tuple(row.get("values", ())),
             "settings": None if inner is None else [_setting(r) for r in inner]}
    if inner is None:
        given["default"] = number(row["default"])
        given["presets"] = {profile: number(v) for profile, v in row.get("presets", {}).items()}
    return Setting(**given)


@functools.lru_cache(maxsize=None)
def methods() -> Dict[str, Dict[str, Setting]]:
    """The settings of each method by their names."""
    text = ct.c_void_p()
    with Context("cpu", 1) as c:
        c("spot_config_methods", ct.byref(text))
    rows = json.loads(taken(text))
    return {m["method"]: {row["name"]: _setting(row)._replace(method=m["method"]) for row in m["settings"]} for m in rows}


def own(method: str) -> List[Setting]:
    """The settings that are parameters of the method's class."""
    return [s for name, s in methods()[method].items() if name not in ELSEWHERE]


def signature(method: str, common: inspect.Signature) -> inspect.Signature:
    """The method's constructor: the common parameters, with its own default of n_slices, then its settings by name."""
    top = methods()[method]["top"].default
    first = [p.replace(default=top) if p.name == "n_slices" else p for p in common.parameters.values()]
    return common.replace(parameters=first + [
        inspect.Parameter(s.parameter, inspect.Parameter.KEYWORD_ONLY, default=s.preset, annotation=s.annotation())
        for s in own(method)])


def document(method: str) -> str:
    """The help of the method's parameters, for a docstring."""
    lines = [textwrap.fill(f"{s.parameter}: {s.told()}", 124, initial_indent="    ", subsequent_indent="        ",
                           break_on_hyphens=False) for s in own(method)]
    return "Parameters of this method, by name only:\n\n" + "\n".join(lines)


def constructor(cls: type, about: inspect.Signature) -> Any:
    """An __init__ that sets an attribute for each parameter."""
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        unknown = [name for name in named if name not in about.parameters]
        if unknown:
            raise no_parameter(cls.__name__, unknown[0], list(about.parameters)[1:])
        bound = about.bind(self, *given, **named)
        bound.apply_defaults()
        for name in list(about.parameters)[1:]:
            setattr(self, name, bound.arguments[name])
    __init__.__signature__ = about                      # type: ignore[attr-defined]
    __init__.__annotations__ = {p.name: p.annotation for p in about.parameters.values() if p.annotation is not p.empty}
    __init__.__qualname__, __init__.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return __init__


def no_parameter(cls: str, name: str, names: Iterable[str]) -> ParameterError:
    """The error for a parameter that the class has not: what it may be, or who has it."""
    names = list(names)
    near = ["n_slices"] if name == "top" else difflib.get_close_matches(name, names, 3, 0.6)
    owners = [method for method, settings in methods().items() if name in settings and name not in ELSEWHERE]
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    elif owners:
        hint = f"it is one of {', '.join(owners)}; here are {', '.join(names)}"
    else:
        hint = f"it has {', '.join(names)}"
    return ParameterError(f"{cls} has no parameter {name!r}; {hint}")
