"""discover: the command `spotter discover` on arrays and files, in one call."""
from __future__ import annotations

import ctypes as ct
import difflib
import inspect
import json
import numbers
import os
import re
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library as c_side
from . import _settings
from ._arrays import Array, is_missing, matrix
from ._claims import Gathers
from ._encoder import Encoder
from ._fitted import PROOF, Fitted, Search, Subject
from ._detections import detection_options, json_file
from ._detections import detections as rows_of
from ._hugging import picture_paths
from ._inputs import Inputs, as_numbers, is_path, of_frame, plain_labels
from ._library import Context, InputError, lib, texts
from ._method import Method, class_number
from ._results import PAGE_ADVICE, Results, check_folder, page_options, write_report
from ._slices import as_html, columns, frame

DEFAULT = "joinspot,ward"
RULES = {"method": "itemsets", "representation": "attributes", "longest": 2, "top": 20}    # spot_discover_rules adds them
ACTIVATIONS = ("config", "quick_gelu", "gelu")
PRECISIONS = ("fp32", "bf16")
PAGE = ("budget", "full", "matte", "title", "model_name", "data_name", "date")
BELONG = ((("out",), ("replace", "shard", "max_seconds", "starts", "beside", *PAGE)),
          (("detections",), ("iou", "score", "rows", "context", "rows_only")),
          (("images",), ("skip_unreadable", "follow_links", "resize", "crop", "exif", "pillow")),
          (("words",), ("describe", "phrases", "describe_vocabulary", "describe_cut")),
          (("embed", "describe"), ("embed_config", "embed_heads", "embed_activation", "embed_end_token", "embed_precision")))
WHOLE = ("resize", "crop", "least", "chance", "phrases", "top", "starts", "threads")
NUMBERS = ("max_seconds", "budget", "iou", "score", "context", "holdout", "level")


class Found(Results, Gathers):
    """The slices that discover found. `print(found)` shows them as the command does; in a notebook it is a table.

    slices: a pandas DataFrame in the words of slices.json. slices_: list of Slice; slices_[number - 1] has this number.
    confirmed: those that the proof confirms. labels_ (n,) int: the place in slices_ of each row's first slice, -1 for none.
    json: the document of slices.json. left_out_: classes that were not examined; failures_: {class: why}; map_ (n, 2);
    kept_: the numbers of the rows in the arrays or files, where skip_bad_rows left some out; None where it left out none.
    warnings_: list of str. notes_: list of str, how the rows were read where another reading was possible. out: the folder
    of the findings, None without one. It can be pickled; it holds the rows."""

    warnings_: List[str]
    notes_: List[str]
    out: Optional[str]

    def __init__(self, held: Fitted, heard: Tuple[List[str], List[str]], out: Optional[str], embed: Any, top: int) -> None:
        self._held, self.out, self._embed, self._top = held, out, embed, top
        self.warnings_, self.notes_ = heard
        self.device, self.threads = held.device, held.threads
        self._read(held)

    def _fitted(self) -> Fitted:
        return self._held

    @property
    def kept_(self) -> Optional[Array]:
        return self._held.subject.kept

    @property
    def slices(self) -> Any:
        return frame(columns(self.slices_), "slices")

    @property
    def confirmed(self) -> List[Any]:
        return [s for s in self.slices_ if s.claim == "confirmed"]

    @property
    def json(self) -> Dict[str, Any]:
        return self._held.told()

    def save(self, out: Any, report: bool = True, replace: bool = False) -> None:
        """Writes a folder of findings, the same bytes as the command's; report: with report.html. Findings of other rows, and
        files of others, are an InputError, with replace they are written over."""
        page = os.path.join(os.fsdecode(c_side.bytes_of(out)), "report.html")
        if not replace:
            with Context(self.device, self.threads) as c:
                check_folder(c, out, self._held.subject)
                if report and os.path.isdir(os.path.dirname(page)):            # else it is made
                    c("spot_report_place", c_side.bytes_of(page), PAGE_ADVICE)
        self.write(out)
        if report:
            self.report(page, replace=replace)

    def assign(self, embeddings: Any, labels: Any = None, probs: Any = None, losses: Any = None, ids: Any = None) -> Any:
        """New rows into the slices, as `spotter assign` does: a pandas DataFrame with a line for each new row in each slice:
        row, id, class, rank, number. Arrays as discover takes them, of the same features (a list of as many sources as there);
        without labels all rows have the class of the findings, if there is one."""
        held, known = self._held, self._held.subject
        feature = _joined(embeddings, known.c)
        classes = {s.class_ for s in self.slices_}
        if labels is None and len(classes) > 1:
            raise InputError("the findings are of several classes; say with labels which one each row has")
        given = [known.names[max(0, *classes, 0)]] * len(feature) if labels is None else known.labels_of(labels)
        if probs is None and losses is None:
            losses = np.zeros(len(feature))            # a vote does not look at them
            if any(not f.merged for f in held.each()):
                raise InputError("the rules of these methods ask for the rows' answers: give probs or losses")
        new = Subject(feature, given, probs, losses, names=known.names, called="labels")
        row, place = np.nonzero(held.assign(new, True))
        ids = range(len(feature)) if ids is None else ids
        names = [str(i) for i in _listed(ids, "ids", "a list with a place for each row")]
        _check_length(names, len(feature), "ids")
        return frame({"row": row, "id": [names[i] for i in row], "class": [self.slices_[k].name for k in place],
                      "rank": [self.slices_[k].rank for k in place], "number": place + 1}, "assign")

    def _summary(self) -> str:
        n, note = len(self.slices_), ct.create_string_buffer(400)
        lib.spot_findings_note(note, ct.byref(self._held.findings), ct.byref(self._held.subject.c))
        if note.value:
            return note.value.decode(errors="replace")
        proof = self.json.get("proof")
        if proof is None:
            return f"{n} slices, not tested"
        if not n:
            return "no slice to test"
        more = "" if proof["confirmed"] else ": no blindspot is proved"
        return f"{proof['confirmed']} confirmed of {proof['tests']} tests at level {proof['level']:g}{more}"

    def __repr__(self) -> str:
        lines = [f"Found({self._summary()}; {self._held.subject.c.source.decode(errors='replace')})"]
        lines += [f"  {said}" for said in self.summary_]
        lines += [f"  {s!r}" for s in self.slices_[:self._top]]
        if len(self.slices_) > self._top:
            lines.append(f"  and {len(self.slices_) - self._top} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return as_html(self._summary(), self.slices_)


# --- The parts of a call.
def _entry(name: str) -> Dict[str, Any]:
    """A method with its reducer, such as planespot-tsne, as a config says it."""
    method, _, reducer = str(name).strip().partition("-")
    known = _settings.methods()
    if method not in known:
        near = difflib.get_close_matches(method, known, 1)
        takes = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
        raise InputError(f"method has {method!r}; {takes}")
    by = "attributes" if known[method]["representation"].default == "attributes" else "model"
    return {"method": method, "representation": by, **({"reduce": reducer} if reducer else {})}


def _methods(method: Any) -> bytes:
    """Names, one text with commas or a list; or Methods with settings of their own."""
    each = method.split(",") if isinstance(method, str) else [method] if isinstance(method, Method) else method
    entries: List[Dict[str, Any]] = []
    for one in _listed(each, "method", "names, or a list of names and Methods") or ():
        entries += json.loads(one._text())["bdms"] if isinstance(one, Method) else [_entry(one)]
    if not entries:
        raise InputError("method names no method")
    return json.dumps({"seed": 0, "bdms": entries}).encode()


def _proof(proof: bool, chance: int, holdout: Optional[float], level: Optional[float]) -> Optional[Dict[str, Any]]:
    if not proof:
        given = [name for name, value in (("chance", chance), ("holdout", holdout), ("level", level)) if value]
        if given:
            raise InputError(f"{given[0]} is a part of the proof, and proof=False leaves it out")
        return None
    if chance and chance < 19:
        raise InputError(f"chance is {chance}; it takes 19 searches and more, or 0")
    o = lib.spot_proof_defaults()
    if holdout:
        if not 0 < holdout <= 0.95:
            raise InputError(f"holdout is {holdout}; it takes a share above 0, up to 0.95")
        o.parts, o.holdout = 1, holdout
    if level is not None:
        if not 1e-6 <= level <= 0.5:
            raise InputError(f"level is {level}; it takes a number from 1e-6 to 0.5")
        o.level = level
    o.chance = chance
    return {name: getattr(o, name) for name in PROOF}


def _bytes(size: Union[None, int, str]) -> int:
    """4e9, or a text such as "4GB", "500MB" or "2GiB"."""
    units = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "K": 1e3, "M": 1e6, "G": 1e9, "KiB": 2.0 ** 10, "MiB": 2.0 ** 20,
             "GiB": 2.0 ** 30}
    said = re.fullmatch(r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e\+?[0-9]+)?) *([A-Za-z]*)", str(0 if size is None else size))
    if said is None or said.group(2) not in units:
        raise InputError(f"memory takes a size such as \"4GB\", \"500MB\" or a number of bytes, not {size!r}")
    return int(float(said.group(1)) * units[said.group(2)])


def _shard(shard: Union[None, str, Tuple[int, int]]) -> Tuple[int, int]:
    try:
        i, n = (0, 1) if shard is None else (int(v) for v in (shard.split("/") if isinstance(shard, str) else shard))
    except (TypeError, ValueError):
        i, n = 0, 0
    if not 0 <= i < n:
        raise InputError(f"shard is {shard!r}; it takes \"I/N\", part I of N, counted from 0")
    return i, n


def _choice(name: str, value: str, names: Sequence[str]) -> int:
    if value not in names:
        raise InputError(f"{name} is {value!r}; it is one of {', '.join(names)}")
    return list(names).index(value)


def _path(value: Any) -> Optional[bytes]:
    return None if value is None else c_side.bytes_of(value)


def _encoder_options(config: Any, heads: Any, activation: str, end_token: Union[None, str, int], precision: str,
                     vocabulary: Any, cut: bool, resize: int, crop: int, reading: Tuple[int, int]) -> c_side.EncoderOptions:
    o: c_side.EncoderOptions = lib.spot_encoder_defaults()
    o.clip.config, o.vocabulary, o.cut, o.resize, o.crop = _path(config), _path(vocabulary), cut, resize, crop
    o.exif, o.pillow = reading
    if heads is not None:
        both = [heads] if isinstance(heads, int) else list(heads)
        o.clip.image_heads, o.clip.text_heads = both[0], both[-1]
    o.clip.activation = _choice("embed_activation", activation, ACTIVATIONS)
    o.clip.precision = 2 * _choice("embed_precision", precision, PRECISIONS)
    if end_token == "greatest":
        o.clip.end = 1
    elif end_token is not None:
        o.clip.end, o.clip.end_id = 2, int(end_token)
    return o


class _Words:
    """Phrases, and their features and those of the rows for spot_findings_describe."""

    def __init__(self, words: Any, word_embeddings: Any, encoder: Any, options: c_side.EncoderOptions, phrases: int) -> None:
        self.features, self.encoder, self.encoder_options, self.phrases = word_embeddings, encoder, options, phrases
        self.words: Optional[List[str]] = None
        if words is None:
            if word_embeddings is not None:
                raise InputError("word_embeddings need the phrases: words")
            return
        if (word_embeddings is None) == (encoder is None):
            raise InputError("words need an encoder (describe, or embed), or their features (word_embeddings), one of the two")
        if is_path(words):
            with open(words, encoding="utf-8-sig") as f:
                words = [line.strip(" \t\r\n") for line in f]
        self.words = [str(w) for w in _listed(words, "words", "a list of phrases, or a file") if str(w)]
        if encoder is not None:
            self.words = list(dict.fromkeys(self.words))

    def fill(self, c: Context, o: c_side.DescribeOptions, held: Fitted) -> List[Any]:
        """What the options point to."""
        subject = held.subject
        if self.words is None:
            return []
        feature, missing = subject.feature, None
        if self.encoder is None:
            text = matrix(read_array(c, self.features) if is_path(self.features) else self.features, "word_embeddings")
        else:
            with Encoder(c, self.encoder, self.encoder_options) as e:
                text = e.words(self.words)
                if e.name != subject.c.encoder:
                    feature, missing = self._look(e, held)
        if text.shape != (len(self.words), feature.shape[1]):
            raise InputError(f"word_embeddings have shape {text.shape}; {len(self.words)} phrases and the rows' "
                             f"{feature.shape[1]} numbers are wanted, both by the same encoder")
        kept = [text, feature, missing, texts(self.words)]
        o.text, o.feature, o.phrase = text.ctypes.data, feature.ctypes.data, kept[3]
        o.phrases, o.d = len(self.words), text.shape[1]
        o.missing = None if missing is None else missing.ctypes.data
        o.most = self.phrases
        return kept

    def _look(self, e: Encoder, held: Fitted) -> Tuple[Array, Array]:
        """Features of the rows of classes with slices, and which rows have none."""
        subject = held.subject
        if subject.images is None:
            raise InputError(f"{self.encoder} did not make the features of the rows, and there are no pictures for it to "
                             "encode; give images")
        wanted = np.zeros(subject.c.n, bool)
        for f in held.each():
            if f.slices:
                wanted[np.ctypeslib.as_array(f.row, (f.n,))] = True
        wanted &= np.array([path is not None for path in subject.images])
        rows = np.flatnonzero(wanted)
        feature, missing = np.zeros((subject.c.n, e.info.dim), np.float32), np.ones(subject.c.n, np.uint8)
        feature[rows] = e.pictures([str(subject.images[i]) for i in rows], None if subject.box is None else subject.box[rows])
        missing[rows] = 0
        return feature, missing


def read_array(c: Context, where: Any) -> Array:
    """Numbers of "FILE" or "FILE:NAME" as float32, by the library."""
    a, out = c_side.Array(), ct.POINTER(ct.c_float)()
    c("spot_array_read", ct.byref(a), c_side.bytes_of(where), ct.c_size_t(0))
    shape = tuple(a.dim[:a.rank])
    try:
        c("spot_array_floats", ct.byref(out), ct.byref(a))
        return np.ctypeslib.as_array(out, shape).copy()
    finally:
        c_side.free(out)
        lib.spot_array_close(ct.byref(a))


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, np.generic):
        value = value.item()
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') or text != text.strip() else text


def _table(inputs: Inputs, attributes: Any, subject: Subject) -> str:
    """A CSV of a data frame that has a record for each row of the user."""
    n = subject.c.n + subject.c.left_out
    table = of_frame(attributes)
    odd = next((name for name, column in table.items() if len(column) != n), None)
    if odd is not None:
        raise InputError(f"attributes has {len(table[odd])} rows, and there are {n}; give a record for each row, in "
                         "their order")
    names = list(getattr(attributes, "columns", table)) if not hasattr(attributes, "column_names") else attributes.column_names
    twice = next((str(c) for i, c in enumerate(names) if c in list(names)[:i]), None)
    if twice is not None:
        raise InputError(f"attributes has the column {twice!r} twice; leave one of them out")
    lines = [",".join(map(_cell, row)) or '""' for row in zip(*table.values())]        # an empty last line is no record
    return inputs.file("attributes.csv", "\n".join([",".join(map(_cell, table)), *lines]) + "\n")


def _per_row(images: Any) -> Optional[List[Any]]:
    """Pictures by row, where images is no folder."""
    return None if images is None or is_path(images) else picture_paths(_listed(images, "images"))


def _sources(embeddings: Any) -> List[Any]:
    """The arrays of features: one, or those of a list of paths and of (n, d) arrays."""
    several = isinstance(embeddings, (list, tuple)) and len(embeddings) > 0 and all(
        is_path(e) or len(getattr(e, "shape", ())) == 2 for e in embeddings)
    return list(embeddings) if several else [embeddings]


def _joined(embeddings: Any, known: c_side.Subject) -> Array:
    """New rows, of as many sources and with the scales of the known ones."""
    parts = [matrix(e, "embeddings") for e in _sources(embeddings)]
    widths = [known.block[b].d for b in range(known.blocks)] or [known.d]
    if [p.shape[1] for p in parts] != widths:
        raise InputError(f"embeddings have {' + '.join(str(p.shape[1]) for p in parts)} numbers a row, and the findings have "
                         f"{' + '.join(map(str, widths))}; give the same sources in the same order")
    if len({len(p) for p in parts}) > 1:
        raise InputError(f"embeddings of several sources have {', '.join(str(len(p)) for p in parts)} rows")
    return np.concatenate([p * np.float32(known.block[b].scale) for b, p in enumerate(parts)], 1) if known.blocks else parts[0]


def _lay_rows(inputs: Inputs, embeddings: Any, labels: Any, probs: Any, losses: Any, ids: Any, groups: Any, images: Any,
              class_names: Optional[Sequence[str]], called: Dict[str, Any]) -> None:
    """Arrays by their names, files by their paths."""
    f = inputs.files
    if embeddings is not None:
        f.embeddings = b"\n".join(bytes(_path(e) or b"") if is_path(e) else inputs.features(e, False, i)
                                  for i, e in enumerate(_sources(embeddings)))
    if is_path(labels) or labels is None:
        f.labels = _path(labels)
        if probs is not None:
            f.probs = _path(probs) if is_path(probs) else inputs.probs(probs)
        if losses is not None:
            f.losses = _path(losses) if is_path(losses) else inputs.numbers(as_numbers(losses, "losses"), "losses")
        if class_names is not None:
            inputs.classes([str(name) for name in class_names])
    else:
        inputs.answers(plain_labels(labels, "labels", called["skip_bad"]), None if is_path(probs) else probs,
                       None if is_path(losses) else losses, class_names)
        f.probs = _path(probs) if is_path(probs) else f.probs
        f.losses = _path(losses) if is_path(losses) else f.losses
    if ids is not None:
        f.ids = _path(ids) if is_path(ids) else inputs.ids(ids)
    if groups is not None:
        f.groups = _path(groups) if is_path(groups) else inputs.groups(groups)
    f.images = _path(images) if is_path(images) else None
    for name, value in called.items():
        setattr(f, name, value)


def _check_given(given: Dict[str, Any]) -> None:
    """Parameters that are no numbers where numbers are wanted, or that nothing looks at."""
    preset = {name: p.default for name, p in inspect.signature(discover).parameters.items()}
    for names, kind, takes in ((WHOLE, numbers.Integral, "a whole number"), (NUMBERS, numbers.Real, "a number")):
        odd = next((name for name in names if given[name] is not preset[name] and not isinstance(given[name], kind)), None)
        if odd is not None:
            raise InputError(f"{odd} is {given[odd]!r}; it takes {takes}")
    for needs, names in BELONG:
        idle = next((name for name in names if given[name] is not preset[name] and given[name] != preset[name]), None)
        if idle is not None and all(given[name] is None for name in needs):
            raise InputError(f"{idle} does nothing without {' or '.join(needs)}; give that, or leave {idle} out")


def _seeds(seed: Any) -> Optional[List[int]]:
    try:
        seeds = None if seed is None else [seed] if isinstance(seed, numbers.Integral) else list(seed)
    except TypeError:
        seeds = [seed]
    if seeds is not None and not (seeds and all(isinstance(s, numbers.Integral) and 0 <= s < 1 << 64 for s in seeds)):
        raise InputError(f"seed is {seed!r}; it takes a whole number from 0 below 2**64, or a list of such")
    return None if seeds is None else [int(s) for s in seeds]


def _check_inputs(embeddings: Any, labels: Any, probs: Any, losses: Any, images: Any, model: Any, embed: Any, coco: Any,
                  detections: Any) -> None:
    """What the command says of its options, in Python's words."""
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


def _attributes(c: Context, held: Fitted, inputs: Inputs, attributes: Any, instances: Optional[str], pictures: bool) -> None:
    """Of the rows, into held: their other classes, the user's table, the facts about a detector's boxes, their pictures."""
    s = held.subject
    if s.has is not None:
        c("spot_attributes_of_classes", ct.byref(held.attributes), ct.c_void_p(s.has.ctypes.data), s.c.class_name,
          ct.c_int(s.c.n), ct.c_int(s.c.classes))
    for table in (attributes, instances):
        if table is None:
            continue
        more, where = c_side.Attributes(), table if is_path(table) else _table(inputs, table, s)
        c("spot_attributes_of_subject", ct.byref(more), c_side.bytes_of(where), ct.byref(s.c))
        c("spot_attributes_join", ct.byref(held.attributes), ct.byref(more))
    if pictures and s.c.image:
        more = c_side.Attributes()
        c.patiently("spot_attributes_of_pictures", ct.byref(more), ct.byref(s.c), ct.c_size_t(0))
        c("spot_attributes_join", ct.byref(held.attributes), ct.byref(more))


def discover(embeddings: Any = None, labels: Any = None, probs: Any = None, losses: Any = None, ids: Any = None,
             images: Any = None, class_names: Optional[Sequence[str]] = None, groups: Any = None, *, attributes: Any = None,
             picture_attributes: bool = True, model: Any = None, embed: Any = None, coco: Any = None, resize: int = 256, crop: int = 224, exif: str = "ignore",
             pillow: int = 13, skip_unreadable: bool = False, skip_bad_rows: bool = False, logits: bool = False,
             follow_links: bool = False, memory: Union[None, int, str] = None, class_: Union[int, str] = "both",
             method: Any = DEFAULT, config: Any = None, seed: Union[None, int, Sequence[int]] = None, least: int = 20,
             proof: bool = True, chance: int = 0, holdout: Optional[float] = None, level: Optional[float] = None,
             words: Any = None, describe: Any = None, word_embeddings: Any = None, phrases: int = 5, out: Any = None,
             top: int = 20, replace: bool = False, report: bool = True, fit: bool = True,
             shard: Union[None, str, Tuple[int, int]] = None, max_seconds: float = 0, starts: int = 5, beside: bool = False,
             budget: float = 10, full: bool = False, matte: str = "none", title: Optional[str] = None,
             model_name: Optional[str] = None, data_name: Optional[str] = None, date: Optional[str] = None,
             detections: Any = None, iou: float = 0.5, score: float = 0.5, rows: str = "both", context: float = 0.1,
             rows_only: bool = False, embed_config: Any = None, embed_heads: Any = None, embed_activation: str = "config",
             embed_end_token: Union[None, str, int] = None, embed_precision: str = "fp32", describe_vocabulary: Any = None,
             describe_cut: bool = False, device: str = "auto", threads: int = 0, verbose: bool = False) -> Any:
    """Finds groups of rows on which a classifier fails, tests each on rows that the search has not seen, and returns Found:

        found = spotter.discover(embeddings, labels, probs)

    It is the command `spotter discover` with all of its options, by their names, and gives the same numbers to the bit: its two
    methods, joinspot and ward, on each class, with the p-values of all slices corrected as one family. discover(*look(model,
    loader)) and discover(*read_rows("rows.parquet", "embedding", "label", "p_*")) work, too.

    Rows. embeddings (n, d): features of each row; a list of such arrays or files: joined, each scaled to total variance 1. embed:
    an encoder of the pictures in images, a file or "neutral", whose features are those of the rows or, behind embeddings, are
    joined to them. labels (n,): class numbers from 0, or words; or (n, classes) of 0 and 1
    where a row may have several. probs: (n, classes), or (n,) of the true class, or of class 1 of two; a data frame whose
    columns are called as the classes, also behind a prefix as in p_cat, is matched by name; logits: they are such. losses
    (n,): in their place. class_names: names of the classes in the order of their numbers and of the columns. ids (n,): names
    of the rows. groups (n,): words or numbers; rows with an equal one depend on each other, as frames of a video or images of
    a patient do, and stay in one half; a row with a missing one is alone; "rows": each row is alone, also those of one picture
    of a detector. images: a path for each row, or a {bytes, path} as in Hugging Face's datasets; or the folder in which ids
    name the pictures. Arrays are numpy's, lists, series, data frames, tensors; a path, as "run.npz:e", is a file as the
    command reads it. attributes: a data frame, a dict of columns or a CSV, a record for each row, that describes the slices.
    picture_attributes=False: without attributes of the pictures themselves (brightness, sharpness, ...), for which they are
    decoded.
    skip_bad_rows: rows that no method can use are left out, and found.kept_ has the numbers of the others if any are. Pictures alone:
    images (a folder) with model, coco, embed, resize, crop, exif, pillow, skip_unreadable, follow_links. A detector: coco,
    detections, iou, score, rows, context, rows_only.

    Search. class_: a class's name or number, "each", "all" rows at once, or "both". method: names, as "planespot-tsne,ward", or
    a list of names and of Methods with settings of their own; or config: a file. seed: one, or several. least: rows that a
    class must have. memory: a limit such as "4GB".

    Proof. proof=False: no test. holdout: share of the rows that only judge; None: two halves, each judges the other's slices.
    chance: searches in shuffled errors, 19 or more. level: the chance that any slice is confirmed where errors are random.

    Words. words: phrases, a list or a file, of which the nearest describe each slice; describe: the CLIP that compares them
    with the pictures, None: that of embed; or word_embeddings (phrases, d). phrases: of each slice. embed_...: facts about a
    CLIP that its config does not tell; describe_vocabulary: its tokenizer; describe_cut: long texts are cut.

    Results. out: a folder for the findings, as of the command; the same call continues it, and shard="I/N", max_seconds, starts
    and beside do a part. replace, report, fit: as --replace, --no-report, --no-fit. budget (MB), full, matte, title,
    model_name, data_name, date: of its page. top: slices that print shows. verbose: what the command says on stderr. With
    rows_only a Detections; with a shard whose others are not done None."""
    given = dict(locals())
    _check_given(given)
    _check_inputs(embeddings, labels, probs, losses, images, model, embed, coco, detections)
    if config is not None and method != DEFAULT:
        raise InputError("method and config both choose the methods; give one of them")
    text = _methods(method) if config is None else open(config, "rb").read()
    judged, limit, (part, parts) = _proof(proof, chance, holdout, level), _bytes(memory), _shard(shard)
    seeds, class_names = _seeds(seed), _names(class_names)
    reading = _choice("exif", exif, ("ignore", "apply")), _choice("pillow", str(pillow), ("13", "12"))
    encoder = _encoder_options(embed_config, embed_heads, embed_activation, embed_end_token, embed_precision,
                               describe_vocabulary, describe_cut, resize, crop, reading)
    page = page_options(int(budget * 1e6), full, matte, title, model_name, data_name, date)
    said = _Words(words, word_embeddings, describe if describe is not None or word_embeddings is not None else embed, encoder,
                  phrases)
    if rows_only:
        return rows_of(coco, detections, images, None, iou, score, rows, context, skip_unreadable, device, threads)
    inputs, pictures, ids = Inputs(), _per_row(images), _listed(ids, "ids")
    where = c_side.RunPlace(_path(out), part, parts, max_seconds, starts, beside)
    place = None if out is None else c_side.DiscoverPlace(where, replace)
    try:
        with Context(device, threads, verbose) as c:
            if out is not None and not replace:
                c("spot_findings_check", _path(out), None)
            name, by_c = b"", embed                    # the encoder that C is to use
            if embed is not None and pictures is not None:
                with Encoder(c, embed, encoder) as e:
                    more = e.pictures([str(p) for p in pictures])
                    embeddings, by_c = more if embeddings is None else [*_sources(embeddings), more], None
                    name = e.name if embeddings is more else b""
            detector = None if detections is None else ct.pointer(
                detection_options(inputs, detections, iou, score, rows, context))
            _lay_rows(inputs, embeddings, labels, probs, losses, ids, groups, images, class_names, {
                "coco": None if coco is None else json_file(inputs, coco, "coco"), "model": _path(model), "embed": _path(by_c),
                "resize": resize, "crop": crop, "exif": reading[0], "pillow": reading[1], "skip": skip_unreadable,
                "skip_bad": skip_bad_rows, "logits": logits, "links": follow_links, "memory": limit,
                "encoder": ct.pointer(encoder), "detections": detector})
            if skip_bad_rows and inputs.feature is not None:
                _check_length(ids, len(inputs.feature), "ids")
            subject = Subject.read(c, inputs, ids is not None or is_path(images) or coco is not None)
            notes = [inputs.plain(text) for text in c.notes]
            subject.c.encoder = name or subject.c.encoder
            if pictures is not None:
                _check_length(pictures, subject.c.n + subject.c.left_out, "images")
                subject._show(pictures if subject.kept is None else [pictures[i] for i in subject.kept])
            search = Search(text, seeds, class_number(class_, subject.names, "class_"), least, fit, limit, judged)
            held = Fitted(subject, search, threads, device)
            table = _begin(c, subject, inputs, out, replace)
            _attributes(c, held, inputs, attributes, table, picture_attributes)
            if config is None and method == DEFAULT and held.attributes.items and judged is not None:
                held.search_also(RULES)
            held.run(c, place)
            if place is not None and not held.findings.count:
                warnings.warn(f"{out} has this part; slices come when those of all {parts} shards are there", stacklevel=2)
                return None
            _describe(c, held, said)
            if out is not None:
                _write(c, held, out, page if report else None, replace)
            heard = [inputs.plain(text) for text in c.warnings]
    except InputError as e:
        e.args = (inputs.plain(str(e)),)
        raise
    finally:
        inputs.close()
    for warning in heard:
        warnings.warn(warning, stacklevel=2)
    return Found(held, (heard, notes), None if out is None else os.fspath(out), embed, top)


def _listed(words: Any, what: str, takes: str = "a list with a place for each row, or a file") -> Any:
    """A list; a path as it is."""
    try:
        return words if words is None or is_path(words) else list(words)
    except TypeError:
        raise InputError(f"{what} is {words!r}; it takes {takes}") from None


def _names(names: Any) -> Any:
    takes = "a list of the classes' names"
    if is_path(names):
        raise InputError(f"class_names is {names!r}; it takes {takes}")
    return _listed(names, "class_names", takes)


def _check_length(words: Any, n: int, what: str) -> None:
    if isinstance(words, list) and len(words) != n:
        raise InputError(f"{what} has {len(words)} entries, and there are {n} rows; give one for each row, in their order")


def _begin(c: Context, subject: Subject, inputs: Inputs, out: Any, replace: bool) -> Optional[str]:
    """Checks the folder; the table of a detector's rows, which describes the slices."""
    if out is not None and not replace:
        check_folder(c, out, subject)
    if subject.instance is None:
        return None
    folder = inputs.folder() if out is None else os.fspath(out)
    c("spot_instances_write", ct.byref(subject.c), c_side.bytes_of(folder))
    return os.path.join(folder, "attributes.csv")


def _describe(c: Context, held: Fitted, said: _Words) -> None:
    o = lib.spot_describe_defaults()
    kept = said.fill(c, o, held)
    if held.attributes.items:
        o.attributes = ct.pointer(held.attributes)
    if kept or held.attributes.items:
        c.patiently("spot_findings_describe", ct.byref(held.findings), ct.byref(held.subject.c), ct.byref(o))


def _write(c: Context, held: Fitted, out: Any, page: Optional[c_side.ReportOptions], replace: bool) -> None:
    c("spot_findings_write", _path(out), ct.byref(held.findings), ct.byref(held.subject.c), ct.byref(held.options))
    if page is not None:
        write_report(c, held, os.path.join(os.fspath(out), "report.html"), page)
    if replace and held.subject.instance is None:
        c("spot_tables_drop", _path(out))
