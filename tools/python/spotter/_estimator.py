"""The manners of a scikit-learn estimator, without scikit-learn."""
from __future__ import annotations

import inspect
from typing import Any, Dict, TypeVar

from ._missing import not_fitted
from ._settings import no_parameter

Self = TypeVar("Self", bound="Estimator")


class Estimator:
    """Parameters are attributes, as __init__ got them. What fit learns ends in _ ."""

    @classmethod
    def _parameters(cls) -> Dict[str, Any]:
        """Parameters of __init__ and their defaults; a subclass with **settings has those of its parents, too."""
        found: Dict[str, Any] = {}
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        for parent in cls.__mro__:
            if "__init__" in vars(parent) and issubclass(parent, Estimator):
                known = inspect.signature(vars(parent)["__init__"]).parameters
                found = {**{p.name: p.default for p in known.values() if p.name != "self" and p.kind not in kinds}, **found}
                if not any(p.kind == inspect.Parameter.VAR_KEYWORD for p in known.values()):
                    break
        return found

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """All parameters by name."""
        return {name: vars(self).get(name, default) for name, default in self._parameters().items()}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters; fit reads them. Returns self."""
        names = self._parameters()
        for name in params:
            if name not in names:
                raise no_parameter(type(self).__name__, name, names)
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The parameters that are not at their defaults."""
        plain = self._parameters()
        changed = {k: v for k, v in self.get_params().items() if v is not plain[k] and repr(v) != repr(plain[k])}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def __getattr__(self, name: str) -> Any:           # only for what is not there
        if name.startswith("_") or name in type(self)._parameters():
            raise AttributeError(f"{type(self).__name__} has no {name}")
        if name.endswith("_"):
            raise not_fitted()(f"{type(self).__name__} has no {name}; call fit first")
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __sklearn_tags__(self) -> Any:                 # scikit-learn 1.6 and later ask for it
        from sklearn.utils import InputTags, Tags, TargetTags
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(), requires_fit=True)

    def _more_tags(self) -> Dict[str, Any]:            # earlier ones
        return {"requires_y": False, "requires_fit": True}

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)
