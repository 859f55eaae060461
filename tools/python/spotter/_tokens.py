"""Tokens: words that a text encoder does not have, and their files."""
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import Array
from ._classifier import Place
from ._diffusion import needed
from ._files import write_whole
from ._library import InputError, SpotterError
from ._pictures import check_name


class Token:
    """A word that a text encoder does not have. vector (width,) float32: its embedding; class_name; settings: a dict that says
    how it was trained, empty for one of another program."""

    class_name: str
    vector: Array
    settings: Dict[str, Any]

    def __init__(self, class_name: str, vector: Any, settings: Optional[Dict[str, Any]] = None) -> None:
        self.class_name = check_name(class_name, "class")
        try:
            self.vector = np.ascontiguousarray(vector, np.float32)
        except (TypeError, ValueError):
            raise InputError(f"the vector of {class_name} is no array of numbers") from None
        if self.vector.ndim != 1 or not self.vector.size or not np.isfinite(self.vector).all():
            raise InputError(f"the vector of {class_name} has shape {self.vector.shape}; it must be (width,), of finite "
                             "numbers")
        self.settings = dict(settings or {})

    @property
    def name(self) -> str:
        """The token's word in a file, and in prompts of diffusers after load_textual_inversion."""
        return f"<{'-'.join(self.class_name.split())}>"

    def __repr__(self) -> str:
        return f"Token({self.class_name!r}, {self.vector.size} numbers, {self.settings.get('steps', '?')} steps)"


def read_tensors(path: Place) -> Tuple[Dict[str, Any], Dict[str, str]]:
    """({name: tensor}, metadata) of a safetensors file."""
    torch, safe = needed("torch", "safetensors")
    try:
        with safe.safe_open(str(path), framework="pt") as file:
            return {key: file.get_tensor(key) for key in file.keys()}, file.metadata() or {}
    except Exception as e:                             # the package raises its own kinds, and those of the operating system
        raise InputError(f"cannot read {path}: {e}") from None


def save_tokens(path: Place, tokens: Union[Token, Sequence[Token]]) -> None:
    """Writes a safetensors file, a tensor for each token. With one token it is also diffusers' format:
    pipeline.load_textual_inversion(path) gives the pipeline the word token.name."""
    tokens = [tokens] if isinstance(tokens, Token) else list(tokens)
    if Path(path).suffix != ".safetensors":
        raise InputError(f"{path}: tokens are kept in a file that ends in .safetensors")
    if not tokens or not all(isinstance(t, Token) for t in tokens):
        raise InputError("tokens is no list of Tokens")
    needed("safetensors")
    from safetensors.numpy import save
    named = {t.name: t for t in tokens}
    if len(named) != len(tokens):
        raise InputError("two tokens have one name; give each class once")
    about = {t.name: {"class_name": t.class_name, "settings": t.settings} for t in tokens}
    try:
        write_whole(Path(path), save({name: t.vector for name, t in named.items()}, {"spotter.tokens": json.dumps(about)}))
    except OSError as e:
        raise SpotterError(f"cannot write {path}: {e.strerror}") from None


def load_tokens(path: Place) -> List[Token]:
    """[Token] from a file of save_tokens, or of any program that writes one vector under its word (diffusers). A pickle (.bin,
    .pt) is refused: it can run any code."""
    if Path(path).suffix.lower() in (".bin", ".pt", ".pth", ".ckpt", ".pkl"):
        raise InputError(f"{path} is a pickle, which can run any code when it is read; convert it to safetensors where you "
                         "trust it")
    state, more = read_tensors(path)
    try:
        said = json.loads(more.get("spotter.tokens", "{}"))
        about = {name: (entry["class_name"], dict(entry["settings"])) for name, entry in said.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: what it says about its tokens is damaged") from None
    tokens = []
    for name, value in state.items():
        if value.dim() == 2 and value.shape[0] == 1:
            value = value[0]
        if value.dim() != 1 or not value.is_floating_point():
            raise InputError(f"{path}: {name!r} has shape {tuple(value.shape)}, type {value.dtype}; a token is one vector")
        class_name, settings = about.get(name, (re.sub(r"^<(.+)>$", r"\1", name), {}))
        tokens.append(Token(class_name, value.float().numpy(), settings))
    if not tokens:
        raise InputError(f"{path} has no token")
    return sorted(tokens, key=lambda t: t.class_name)
