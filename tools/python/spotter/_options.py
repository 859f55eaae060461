"""The options of discover, checked and as C takes them."""
from __future__ import annotations

import difflib
import inspect
import json
import numbers
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import _library as c_side
from . import _settings
from ._fitted import PROOF
from ._given import MOST, choice, equal, flag, is_path, level, listed, real, refuse, shown, text, whole
from ._library import InputError, lib
from ._method import Method

DEFAULT = "joinspot,ward"
ACTIVATIONS = ("config", "quick_gelu", "gelu")
PRECISIONS = ("fp32", "bf16")
PAGE = ("budget", "full", "matte", "title", "model_name", "data_name", "date")
ENCODER = ("embed_config", "embed_heads", "embed_activation", "embed_end_token", "embed_precision")
ENTERING = ("embed_mean", "embed_std", "embed_scale", "embed_interpolation")
BELONG = ((("out",), ("replace", "shard", "max_seconds", "starts", "beside", *PAGE)),
          (("detections",), ("iou", "score", "rows", "context", "rows_only")),
          (("images",), ("skip_unreadable", "follow_links", "resize", "crop", "exif", "pillow")),
          (("words",), ("describe", "phrases", "describe_vocabulary", "describe_cut")),
          (("model",), ("mean", "std", "scale")), (("model", "embed"), ("size", "interpolation")), (("embed",), ENTERING),
          (("embed", "describe"), ENCODER))
OF_ROWS = ("coco", "detections", "iou", "score", "rows", "context", "rows_only", "images", "embed", "groups", "resize", "crop",
           "exif", "pillow", "skip_unreadable", "follow_links", "memory", "device", "threads", "verbose", "size", *ENCODER,
           *ENTERING)
WHOLE = {"resize": (0, 16384), "crop": (1, 16384), "least": (1, 10 ** 9), "chance": (0, 100000), "phrases": (1, 100),
         "top": (0, 10 ** 6), "starts": (0, 10 ** 6), "threads": (0, 1024)}
REAL = {"max_seconds": (0, 1e7), "budget": (0, 4000), "context": (0, 10)}
FLAGS = ("picture_attributes", "skip_unreadable", "skip_bad_rows", "logits", "follow_links", "proof", "replace", "report",
         "fit", "beside", "full", "rows_only", "describe_cut", "verbose")
TEXTS = ("title", "model_name", "data_name", "date")


def check_given(given: Dict[str, Any], function: Callable[..., Any]) -> None:
    """Arguments of a kind, or out of a range, that nothing can use, or that nothing looks at. given: by name; those at the
    function's defaults are as they should be."""
    preset = {name: p.default for name, p in inspect.signature(function).parameters.items()}
    kinds: Dict[str, Callable[[Any, str], Any]] = {
        **{name: lambda v, n: whole(v, n, *WHOLE[n]) for name in WHOLE},
        **{name: lambda v, n: real(v, n, *REAL[n], above=n == "budget") for name in REAL},
        **dict.fromkeys(FLAGS, flag), **dict.fromkeys(TEXTS, text)}
    own = [name for name, value in given.items() if value is not preset[name] and not equal(value, preset[name])]
    for name in own:
        if name in kinds:
            kinds[name](given[name], name)
    for needs, names in BELONG:
        idle = next((name for name in own if name in names), None)
        if idle is not None and all(given[name] is None for name in needs):
            raise InputError(f"{idle} does nothing without {' or '.join(needs)}; give that, or leave {idle} out")
    idle = next((name for name in own if name not in OF_ROWS), None)
    if given["rows_only"] and idle is not None:
        raise InputError(f"rows_only gives the rows without a search, which looks at {idle}; leave {idle} out")


def check_inputs(embeddings: Any, labels: Any, probs: Any, losses: Any, images: Any, model: Any, embed: Any, coco: Any,
                 detections: Any) -> None:
    """The checks of the command between its options, in Python's words."""
    if detections is not None:
        if coco is None:
            raise InputError("detections need the ground truth: coco")
        return
    if embeddings is None and images is None:
        raise InputError("no input; give embeddings, labels and probs, or images and model")
    if embeddings is not None and labels is None and coco is None:
        raise InputError("embeddings need the true classes of their rows: labels")
    if embeddings is not None and probs is None and losses is None:
        raise InputError("embeddings need the classifier's answers: probs or losses")
    if probs is not None and losses is not None:
        raise InputError("probs and losses mean the same; give one of them")
    if embed is not None and images is None:
        raise InputError("embed looks at pictures; give them as images")
    if embeddings is None and embed is None and model is None:
        raise InputError("images without embeddings need a classifier: model; or an encoder (embed) with labels and probs")
    if embeddings is not None and model is not None:
        raise InputError("model makes embeddings from pictures, but embeddings are given; give one of them")
    if coco is not None and not is_path(images):
        raise InputError("coco annotates pictures; give their folder as images")
    if model is not None and not is_path(images):
        raise InputError("model looks at a folder of pictures; give it as images")


def _entry(name: str) -> Dict[str, Any]:
    """A method with its reducer, such as planespot-tsne, as a config says it."""
    method, _, reducer = (name.strip() if isinstance(name, str) else shown(name)).partition("-")
    known = _settings.methods()
    if method not in known:
        near = difflib.get_close_matches(method, known, 1)
        takes = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
        raise InputError(f"method has {method!r}; {takes}")
    by = "attributes" if known[method]["representation"].default == "attributes" else "model"
    return {"method": method, "representation": by, **({"reduce": reducer} if reducer else {})}


def methods_text(method: Any) -> bytes:
    """Names, one text with commas or a list; or Methods with settings of their own."""
    each = method.split(",") if isinstance(method, str) else [method] if isinstance(method, Method) else method
    entries: List[Dict[str, Any]] = []
    for one in listed([] if each is None else each, "method", "names, or a list of names and Methods"):
        entries += json.loads(one._text())["bdms"] if isinstance(one, Method) else [_entry(one)]
    if not entries:
        raise InputError("method names no method")
    return json.dumps({"seed": 0, "bdms": entries}).encode()


def proof_options(proof: bool, chance: int, holdout: Optional[float], wanted: Optional[float]) -> Optional[Dict[str, Any]]:
    """wanted: the level, None for the default."""
    chance = whole(chance, "chance", *WHOLE["chance"])
    if holdout is not None:
        real(holdout, "holdout", 0, 0.95)
    if wanted is not None:
        level(wanted)
    if not proof:
        given = [name for name, value in (("chance", chance), ("holdout", holdout), ("level", wanted)) if value]
        if given:
            raise InputError(f"{given[0]} is a part of the proof, and proof=False leaves it out")
        return None
    if chance and chance < 19:
        raise InputError(f"chance is {chance}; it takes 19 searches and more, or 0")
    o = lib.spot_proof_defaults()
    if holdout:
        o.parts, o.holdout = 1, holdout
    if wanted is not None:
        o.level = wanted
    o.chance = chance
    return {name: getattr(o, name) for name in PROOF}


def bytes_of_size(size: Any) -> int:
    """4e9, or a text such as "4GB", "500MB" or "2GiB"; None: 0, which is no limit."""
    units = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "K": 1e3, "M": 1e6, "G": 1e9, "KiB": 2.0 ** 10, "MiB": 2.0 ** 20,
             "GiB": 2.0 ** 30}
    said = re.fullmatch(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e\+?[0-9]+)?) *([A-Za-z]*)", str(0 if size is None else size))
    many = -1.0 if said is None or said.group(2) not in units else float(said.group(1)) * units[said.group(2)]
    if not 0 <= many < 2.0 ** 63:
        raise InputError(f"memory takes a size such as \"4GB\", \"500MB\" or a number of bytes, not {shown(size)}")
    return int(many)


def shard_of(shard: Any) -> Tuple[int, int]:
    try:
        i, n = (0, 1) if shard is None else (int(v) for v in (shard.split("/") if isinstance(shard, str) else shard))
    except (TypeError, ValueError, OverflowError):
        i, n = 0, 0
    if not 0 <= i < n <= MOST:
        raise InputError(f"shard is {shown(shard)}; it takes \"I/N\", part I of N, counted from 0")
    return i, n


def names_of(names: Any) -> Any:
    return None if names is None else listed(names, "class_names", "a list of the classes' names")


def path_of(value: Any) -> Optional[bytes]:
    return None if value is None else c_side.bytes_of(value)


def reading_of(exif: Any, pillow: Any) -> Tuple[int, int]:
    """How pictures are read."""
    version = str(pillow) if isinstance(pillow, numbers.Integral) else pillow
    return choice(exif, "exif", ("ignore", "apply")), choice(version, "pillow", ("13", "12"))


def square_of(resize: int, crop: int, size: Optional[int]) -> Tuple[int, int, Tuple[bool, bool]]:
    """resize and crop as C takes them, and whether the caller chose them."""
    if size is None:
        return resize, crop, (resize != 256, crop != 224)
    if (resize, crop) != (256, 224):
        raise InputError("size squeezes whole pictures, resize and crop cut squares from them; give one of both")
    return -1, whole(size, "size", 1, 4096), (True, True)


def _channels(value: Any, name: str) -> Optional[bytes]:
    if value is None or isinstance(value, str):
        return None if value is None else value.encode()
    three = [value] if isinstance(value, numbers.Real) else list(value) if hasattr(value, "__iter__") else []
    if len(three) not in (1, 3) or not all(isinstance(v, numbers.Real) for v in three):
        refuse(value, name, "a number, or three of red, green and blue")
    return ",".join(repr(float(v)) for v in three).encode()


def input_of(mean: Any, std: Any, scale: Optional[float], interpolation: Any, prefix: str) -> c_side.PictureInput:
    """How pictures enter a network."""
    by = choice(interpolation, f"{prefix}interpolation", ("own", "bilinear", "bicubic"))
    divided = 0.0 if scale is None else real(scale, f"{prefix}scale", 1e-6, 1e6)
    return c_side.PictureInput(_channels(mean, f"{prefix}mean"), _channels(std, f"{prefix}std"), divided, by)


def _heads(heads: Any) -> Tuple[int, int]:
    """Heads of images and of texts; 0: the file tells."""
    if heads is None:
        return 0, 0
    both = list(heads) if isinstance(heads, (list, tuple)) else [heads]
    if len(both) not in (1, 2) or not all(isinstance(h, numbers.Integral) and 1 <= h <= 4096 for h in both):
        refuse(heads, "embed_heads", "a number of attention heads from 1 to 4096, or those of images and of texts as a pair")
    return int(both[0]), int(both[-1])


def encoder_options(config: Any, heads: Any, activation: Any, end_token: Any, precision: Any, vocabulary: Any, cut: bool,
                    resize: int, crop: int, reading: Tuple[int, int]) -> c_side.EncoderOptions:
    o: c_side.EncoderOptions = lib.spot_encoder_defaults()
    o.clip.config, o.vocabulary, o.cut, o.resize, o.crop = path_of(config), path_of(vocabulary), cut, resize, crop
    o.exif, o.pillow = reading
    o.clip.image_heads, o.clip.text_heads = _heads(heads)
    o.clip.activation = choice(activation, "embed_activation", ACTIVATIONS)
    o.clip.precision = 2 * choice(precision, "embed_precision", PRECISIONS)
    if isinstance(end_token, str) and end_token == "greatest":
        o.clip.end = 1
    elif isinstance(end_token, numbers.Integral) and 0 <= end_token <= MOST:
        o.clip.end, o.clip.end_id = 2, int(end_token)
    elif end_token is not None:
        refuse(end_token, "embed_end_token", "the number of a token, from 0, or \"greatest\"")
    return o
