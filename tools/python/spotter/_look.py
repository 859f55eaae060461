"""look: embeddings, probabilities, labels and ids of any PyTorch classifier on a DataLoader."""
from __future__ import annotations

import ctypes as ct
import warnings
from collections.abc import Mapping
from typing import Any, List, NamedTuple, Optional

import numpy as np

from ._arrays import Array
from ._given import is_path, refuse, shown, whole
from ._layers import last_linear, logits_of
from ._library import InputError, lib
from ._missing import needed

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
SURE = 0.01                                            # accuracy by guessing is refuted below this p


class Look(NamedTuple):
    """discover(*look) and PlaneSpot(...).fit(*look) take it: embeddings (n, d), targets (n,), probs (n, classes); losses: None;
    ids (n,); images (n,): paths of the pictures, None where they are not known; class_names: of a data set that has them, in
    the order of the model's outputs, else None."""
    embeddings: Array
    targets: Array
    probs: Array
    losses: None
    ids: List[str]
    images: Optional[List[str]] = None
    class_names: Optional[List[str]] = None


def _pictures(folder: Any, transforms: Any, batch: int, torch: Any) -> Any:
    """A DataLoader of a folder of pictures per class: the weights' own transforms, else ImageNet's."""
    if transforms is not None and not callable(transforms):
        refuse(transforms, "transforms", "a function from a PIL image to a tensor")
    whole(batch, "batch_size", 1)
    vision = needed("torchvision", "look at a folder")
    from torchvision import datasets
    if transforms is None:
        t = vision.transforms
        transforms = t.Compose([t.Resize(256), t.CenterCrop(224), t.ToTensor(), t.Normalize(MEAN, DEVIATION)])
        warnings.warn("look applies ImageNet's Resize(256), CenterCrop(224) and Normalize; give transforms (those of the "
                      "weights) where the model was trained with others", stacklevel=3)
    try:
        pictures = datasets.ImageFolder(str(folder), transforms)
    except (OSError, ValueError) as e:                 # no folder, or none of a class
        raise InputError(f"loader: {shown(folder)} is no folder with a folder of pictures per class: {e}") from None
    return torch.utils.data.DataLoader(pictures, batch_size=batch)


def _layer(model: Any, name: Optional[str], torch: Any) -> Any:
    """The module whose input is the embedding: the named one, or the last Linear."""
    modules = dict(model.named_modules())
    if name is not None:
        if not isinstance(name, str) or name not in modules:
            raise InputError(f"the model has no layer {shown(name)}; its last are {', '.join(list(modules)[-5:])}")
        return modules[name]
    last = last_linear(model, torch)
    if last is None:
        raise InputError("the model has no Linear layer; name the layer whose input is the embedding")
    return modules[last]


def _pair(batch: Any) -> Any:
    """Inputs and targets of a batch: a tuple, or a dict as transformers has it."""
    if isinstance(batch, Mapping):
        names = [next((n for n in choice if n in batch), None) for choice in (("pixel_values", "image", "x"),
                                                                              ("labels", "label", "y"))]
        if None not in names:
            return batch[names[0]], batch[names[1]]
    elif isinstance(batch, (tuple, list)) and len(batch) > 1:
        return batch[0], batch[1]
    raise InputError("the loader must give batches of (inputs, targets), or dicts with pixel_values and labels")


def _probabilities(said: Any, torch: Any) -> Any:
    """(n, classes): outputs that are probabilities already as they are, else their softmax; of one logit, both classes'."""
    out = logits_of(said)
    if not isinstance(out, torch.Tensor) or out.dim() not in (1, 2) or out.dim() == 2 and not out.shape[1]:
        raise InputError(f"the model's output is {type(said).__name__}"
                         f"{f' of shape {tuple(out.shape)}' if isinstance(out, torch.Tensor) else ''}; it must be "
                         "logits (n, classes)")
    out = out.float().cpu()
    if out.dim() == 1 or out.shape[1] == 1:
        p = out.reshape(-1).sigmoid()
        return torch.stack([1 - p, p], 1)
    whole = bool((out >= 0).all()) and bool(((out.sum(1) - 1).abs() < 1e-3).all())
    return out if whole else out.softmax(1)


def _numbers(y: Any, n: int, torch: Any) -> Any:
    y = torch.as_tensor(y).cpu()
    if y.dim() == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (n,) or y.is_floating_point() and bool((y != y.round()).any()):
        raise InputError(f"the loader's targets have shape {tuple(y.shape)}, type {y.dtype}; they must be class numbers ({n},)")
    return y


def look(model: Any, loader: Any, layer: Optional[str] = None, transforms: Any = None, batch_size: int = 64) -> Look:
    """What a PyTorch classifier makes of pictures: `spotter.discover(*spotter.look(model, loader))`.

    model: a module whose output is logits (n, classes), or has them as `logits`; probabilities stay as they are, and one logit
    is that of class 1 of two. loader: a DataLoader of (inputs, targets), or of dicts with pixel_values and labels; or a folder
    with a folder of pictures per class, which is read with `transforms`, else with ImageNet's, and a warning says so. uint8
    inputs (n, 3, h, w) become floats in 0..1 with ImageNet's Normalize, which a warning says, too; floats stay as they are.
    layer: name of the module whose input is the embedding; None: the last Linear. ids and images are the paths of an
    ImageFolder that is not shuffled, else row numbers and None; class_names are the data set's `classes`, as of an ImageFolder
    or CIFAR10, or what the model's config.id2label says, where there is one for each output. Warns where the accuracy is at the
    level of chance (binomial test against 1 / classes), as after a forgotten Normalize."""
    torch = needed("torch", "look")
    if not isinstance(model, torch.nn.Module):
        raise InputError(f"the model is {type(model).__name__}; it must be a torch.nn.Module")
    if is_path(loader):
        loader = _pictures(loader, transforms, batch_size, torch)
    elif not np.iterable(loader):
        refuse(loader, "loader", "a DataLoader, or the path of a folder with a folder of pictures per class")
    seen: List[Any] = []
    place = next((p.device for p in model.parameters()), torch.device("cpu"))
    hook = _layer(model, layer, torch).register_forward_pre_hook(
        lambda _, given: seen.append(given[0].flatten(1).float().cpu()))
    was_training, probs, targets, raw = model.training, [], [], False
    model.eval()
    try:
        with torch.no_grad():
            for batch in loader:
                x, y = _pair(batch)
                if x.dtype == torch.uint8:
                    raw, shape = True, (1, 3, 1, 1)
                    x = (x.float() / 255 - torch.tensor(MEAN).reshape(shape)) / torch.tensor(DEVIATION).reshape(shape)
                before = len(seen)
                probs.append(_probabilities(model(x.to(place)), torch))
                targets.append(_numbers(y, len(probs[-1]), torch))
                if len(seen) != before + 1:
                    raise InputError(f"the layer ran {len(seen) - before} times for a batch; name one that runs once (layer)")
    finally:
        hook.remove()
        model.train(was_training)
    if not probs:
        raise InputError("the loader gave nothing")
    if raw:
        warnings.warn("look applied ImageNet's Normalize to uint8 pictures", stacklevel=2)
    return _checked(torch.cat(seen).numpy(), torch.cat(targets).numpy().astype(np.int64), torch.cat(probs).numpy(), loader,
                    model, torch)


def _checked(embeddings: Array, targets: Array, probs: Array, loader: Any, model: Any, torch: Any) -> Look:
    n, classes = probs.shape
    if n and not 0 <= targets.min() <= targets.max() < classes:
        odd = targets.max() if targets.min() >= 0 else targets.min()
        raise InputError(f"the loader has class {odd}; the model has {classes} outputs, which are numbered from 0")
    right = int((probs.argmax(1) == targets).sum())
    p = float(lib.spot_binomial_tail(right, n, ct.c_double(1 / classes))) if classes > 1 else 0.0
    if p > SURE:
        warnings.warn(f"{right} of {n} rows are right, which guessing among {classes} classes explains (p = {p:.2g}); are "
                      "the inputs normalised as in training, and is the model trained?", stacklevel=3)
    samples: Any = getattr(getattr(loader, "dataset", None), "samples", None)
    ordered = isinstance(getattr(loader, "sampler", None), torch.utils.data.SequentialSampler)
    known = ordered and isinstance(samples, list) and len(samples) == n
    paths = [str(s[0]) for s in samples] if known else None
    ids = paths or [str(i) for i in range(n)]
    return Look(embeddings, targets, probs, None, ids, paths, _class_names(loader, model, classes))


def _class_names(loader: Any, model: Any, classes: int) -> Optional[List[str]]:
    """Of the data set, also below Subsets, or of a model of transformers."""
    data, told = getattr(loader, "dataset", None), getattr(getattr(model, "config", None), "id2label", None)
    while data is not None and not hasattr(data, "classes") and hasattr(data, "dataset"):
        data = data.dataset
    names = getattr(data, "classes", None)
    if names is None and isinstance(told, Mapping) and all(k in told for k in range(classes)):
        names = [told[k] for k in range(classes)]
    names = [str(name) for name in names] if isinstance(names, (list, tuple)) else None
    return names if names is not None and len(names) == classes == len(set(names)) else None
