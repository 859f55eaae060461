"""The last linear layer of a PyTorch classifier, whose input is the embedding, and the logits among its outputs."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional


def last_linear(model: Any, torch: Any) -> Optional[str]:
    """The name of the last Linear among the modules; None: there is none."""
    names = [name for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    return names[-1] if names else None


def logits_of(said: Any) -> Any:
    """What transformers' models and dicts call logits; the first of a tuple; else the output itself."""
    if isinstance(said, Mapping) and "logits" in said:
        return said["logits"]
    if isinstance(said, (tuple, list)) and said:
        return said[0]
    return getattr(said, "logits", said)
