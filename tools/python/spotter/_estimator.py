"""The manners of a scikit-learn estimator, without scikit-learn."""
from __future__ import annotations

import inspect
from typing import Any, Dict

from ._library import InputError
from ._missing import not_fitted


class Estimator:
    """Parameters are attributes, as __init__ got them; settings that __init__ does not name, too. What fit learns ends in _ ."""

    @classmethod
    def _named(cls) -> list:
        """Parameters that __init__ names; a subclass with **settings has those of its parents, too."""
        names: list = []
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        for parent in cls.__mro__:
            if "__init__" in vars(parent) and issubclass(parent, Estimator):
                known = inspect.signature(vars(parent)["__init__"]).parameters.values()
                names += [p.name for p in known if p.name not in ("self", *names) and p.kind not in kinds]
        return names

    def _settings(self) -> Dict[str, Any]:
        """Parameters that __init__ does not name."""
        named = self._named()
        return {name: value for name, value in vars(self).items()
                if name not in named and not name.startswith("_") and not name.endswith("_")}

    def _set(self, name: str, value: Any) -> None:
        if name.startswith("_") or name.endswith("_") or hasattr(type(self), name):
            raise InputError(f"{type(self).__name__} has no setting {name!r}")
        setattr(self, name, value)

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """All parameters by name."""
        return {**{name: getattr(self, name) for name in self._named()}, **self._settings()}

    def set_params(self, **params: Any):
        """Changes parameters; fit reads them. Returns self."""
        for name, value in params.items():
            self._set(name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.get_params().items())})"

    def __getattr__(self, name: str) -> Any:           # only for what is not there
        if name.endswith("_") and not name.startswith("_"):
            raise not_fitted()(f"{type(self).__name__} has no {name}; call fit first")
        raise AttributeError(f"{type(self).__name__} has no {name}")

    def __sklearn_tags__(self) -> Any:                 # scikit-learn 1.6 and later ask for it
        from sklearn.utils import InputTags, Tags, TargetTags
        return Tags(estimator_type=None, target_tags=TargetTags(required=False), input_tags=InputTags(), requires_fit=True)

    def _more_tags(self) -> Dict[str, Any]:            # earlier ones
        return {"requires_y": False, "requires_fit": True}

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)
