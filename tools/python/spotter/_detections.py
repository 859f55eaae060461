"""A detector's objects and detections as rows: each with a box, an outcome and a reason (include/spotter/subject.h)."""
from __future__ import annotations

import ctypes as ct
import json
import os
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _library as c_side
from ._arrays import Array, matrix
from ._fitted import Subject, read_subject
from ._given import choice, flag, is_path, real, shown, whole
from ._inputs import Inputs
from ._library import Context, InputError, lib
from ._slices import frame

ROWS = ("both", "misses", "alarms")                     # as spot_detection_options numbers them


def _copy(pointer: Any, kind: Any, n: int) -> Array:
    return np.frombuffer(ct.string_at(pointer, n * ct.sizeof(kind)), np.dtype(kind)).copy()


class Detections:
    """Rows of a detector, objects first. All (n,), in the order of rows.csv:

    ids: names of the rows, list of str. images: names of their pictures in the ground truth; paths: where these are, None where
    a picture is left out; None where no folder was given. classes: "NAME: objects" or "NAME: detections". boxes (n, 4): x, y of
    the upper left corner, width, height in pixels. outcomes: found, missed, right or false. reasons: why a row is wrong, ""
    where it is not. wrong: bool. scores: of the detection, or of the object's match; NaN where there is none. confidence: below
    1/2 where the row is wrong. embeddings (n, d): of an encoder (embed), else None. warnings: list of str."""

    ids: List[str]
    images: List[str]
    paths: Optional[List[Optional[str]]]
    classes: Array
    boxes: Array
    outcomes: Array
    reasons: Array
    wrong: Array
    scores: Array
    confidence: Array
    embeddings: Optional[Array]
    warnings: List[str]

    def __init__(self, s: Any, warnings: List[str]) -> None:
        n = s.n
        self._names = [s.class_name[k].decode(errors="replace") for k in range(s.classes)]
        self._target, self.confidence = _copy(s.target, ct.c_int32, n), _copy(s.confidence, ct.c_float, n)
        self._instance, self._source, self._encoder = _copy(s.instance, c_side.Instance, n), s.source, s.encoder
        self.ids = [s.id[i].decode(errors="replace") for i in range(n)]
        self.images = [name.rpartition("#")[0] for name in self.ids]
        given = [s.image[i] for i in range(n)] if s.image else []
        self.paths = [os.fsdecode(path) if path else None for path in given] if any(given) else None
        self._group = _copy(s.group, ct.c_int32, n) if s.group else None
        self._group_names = [s.group_name[k].decode(errors="replace") for k in range(s.groups)] if s.group_name else None
        self.embeddings = _copy(s.feature, ct.c_float, n * s.d).reshape(n, s.d) if s.encoder else None
        self.classes = np.array(self._names)[self._target]
        self._shown = _copy(s.box, ct.c_float, 4 * n).reshape(n, 4)      # with the context around
        v = self._instance
        self.boxes = np.stack([v[name] for name in "xywh"], 1)
        self.wrong, self.scores = v["wrong"] != 0, v["score"].copy()
        self.outcomes = np.where(v["detected"] != 0, np.where(self.wrong, "false", "right"),
                                 np.where(self.wrong, "missed", "found"))
        self.reasons = np.array([lib.spot_reason_name(int(r), int(d)).decode() for r, d in zip(v["reason"], v["detected"])])
        self.warnings = warnings

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"Detections({self._source.decode(errors='replace')})"

    def to_frame(self) -> Any:
        """A pandas DataFrame with the columns of rows.csv: id, image, class, x, y, width, height, outcome, reason, score; and
        wrong, confidence."""
        x, y, width, height = self.boxes.T
        return frame({"id": self.ids, "image": self.images, "class": self.classes, "x": x, "y": y, "width": width,
                      "height": height, "outcome": self.outcomes, "reason": self.reasons, "score": self.scores,
                      "wrong": self.wrong, "confidence": self.confidence}, "to_frame")

    def subject(self, embeddings: Any = None) -> Subject:
        """What fit looks at."""
        if embeddings is None and self.embeddings is None:
            raise InputError("the rows have no embeddings; give them, or an encoder (embed) and the pictures' folder (images)")
        feature = matrix(self.embeddings if embeddings is None else embeddings, "embeddings")
        if len(feature) != len(self):
            raise InputError(f"embeddings have {len(feature)} rows; there are {len(self)} objects and detections")
        return Subject.of_rows(feature, self._target, self.confidence, self._names, self.ids, self.paths, self._shown,
                               self._instance, self._source, self._encoder if embeddings is None else b"",
                               self._group, self._group_names)

    def fit(self, method: Any, embeddings: Any = None) -> Any:
        """method.fit on these rows: returns the method, such as PlaneSpot(proof="cross"), with slices_ of missed objects and of
        false detections, class by class. embeddings (n, d), in the order of ids; None: those of embed."""
        return method.fit_subject(self.subject(embeddings))


def json_file(inputs: Inputs, given: Any, name: str) -> bytes:
    """The path; of a dict or list, that of a file made of it."""
    if is_path(given):
        return c_side.bytes_of(given)
    try:
        text = json.dumps(given, default=lambda v: v.item() if isinstance(v, np.generic) else v.tolist())
    except (TypeError, ValueError, AttributeError) as e:
        raise InputError(f"{name} is neither a path nor what JSON can hold: {e}") from None
    return c_side.bytes_of(inputs.file(name, text))


def detection_options(inputs: Inputs, detections: Any, iou: float, score: float, rows: str,
                      context: float) -> c_side.DetectionOptions:
    kind = choice(rows, "rows", ROWS)
    real(iou, "iou", 0, 1, above=True), real(score, "score", 0, 1, below=True), real(context, "context", 0, 10)
    return c_side.DetectionOptions(json_file(inputs, detections, "detections"), iou, score, kind, context)


def rows_of(ground_truth: Any, detections: Any, images: Any, embed: Any, iou: float, score: float, rows: str, context: float,
            groups: Any, machine: Tuple[str, int, bool], more: Dict[str, Any]) -> Detections:
    """The rows, as `detections` gives them. groups: "rows", a path, or a word for each row. more: other fields of
    spot_subject_files."""
    inputs = Inputs()
    try:
        options = detection_options(inputs, detections, iou, score, rows, context)
        if embed is not None and images is None:
            raise InputError(f"{shown(embed)} looks at pictures; give their folder as images")
        given = {"coco": json_file(inputs, ground_truth, "ground_truth"), "detections": ct.pointer(options),
                 "images": None if images is None else c_side.bytes_of(images),
                 "embed": None if embed is None else c_side.bytes_of(embed), **more}
        if groups is not None:
            given["groups"] = c_side.bytes_of(groups) if is_path(groups) else inputs.groups(groups)
        for name, value in given.items():
            setattr(inputs.files, name, value)
        with Context(*machine) as c:
            owner = read_subject(c, inputs)            # which holds what Detections copies
            return Detections(owner.c, c.warnings)
    finally:
        inputs.close()


def detections(ground_truth: Any, detections: Any, images: Any = None, embed: Any = None, iou: float = 0.5, score: float = 0.5,
               rows: str = "both", context: float = 0.1, skip_unreadable: bool = False, device: str = "auto",
               threads: int = 0, groups: Any = None) -> Detections:
    """A detector's answers as rows: every object of the ground truth and every detection is one.

        rows = spotter.detections("truth.json", "found.json", images="photos", embed="clip.safetensors")
        found = rows.fit(spotter.PlaneSpot(proof="cross"))

    ground_truth: path of annotations in COCO's format, or a dict of them; detections: path of COCO's results, or a list of
    dicts with image_id, category_id, bbox and score. images: folder of the pictures. embed: path of an encoder in .safetensors,
    which makes an embedding of each box with `context` (a share of its longer side) around it. iou: least IoU of a match;
    score: detections below it do not exist. rows: "both", "misses" (objects alone) or "alarms" (detections alone).
    skip_unreadable: without it a picture that cannot be read is an InputError. The rows of a picture are a group, which stays
    together in a proof; groups="rows": each row is alone; else a path, or a word for each row. Matches are those of
    pycocotools."""
    return rows_of(ground_truth, detections, images, embed, iou, score, rows, context, groups,
                   (device, whole(threads, "threads", 0, 1024), False), {"skip": flag(skip_unreadable, "skip_unreadable")})
