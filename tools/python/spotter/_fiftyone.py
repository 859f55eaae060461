"""Rows and their slices as a folder that FiftyOne imports: the layout of fiftyone.types.FiftyOneDataset, without fiftyone.

    FOLDER/metadata.json    the data set: its fields, classes, and the table of slices in `info`
    FOLDER/samples.json     {"samples": [...]}: documents of MongoDB in its extended JSON, one for each picture
"""
from __future__ import annotations

import ctypes
import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

import numpy as np

from ._arrays import Array
from ._files import write_whole
from ._library import VERSION, InputError, lib
from ._tables import members

FORMAT = "1.0.0"                                       # of FiftyOne; later ones migrate it when they read
FIELD, LABEL = "fiftyone.core.fields.", "fiftyone.core.labels."


def _oid(*what: Any) -> Dict[str, str]:
    """An ObjectId that depends on nothing but what it names."""
    return {"$oid": hashlib.sha1("\0".join(map(str, what)).encode()).hexdigest()[:24]}


def _field(name: str, kind: str, document: Optional[str] = None, inner: Optional[str] = None,
           fields: Sequence[Dict[str, Any]] = (), db: Optional[str] = None) -> Dict[str, Any]:
    return {"name": name, "ftype": FIELD + kind, "embedded_doc_type": document, "subfield": inner and FIELD + inner,
            "fields": list(fields), "db_field": db or name, "description": None, "info": None, "read_only": False,
            "created_at": None}


_OWN = [_field("id", "ObjectIdField", db="_id"), _field("tags", "ListField", inner="StringField"),
        _field("label", "StringField")]
_BASE = [_field("id", "ObjectIdField", db="_id"), _field("filepath", "StringField"),
         _field("tags", "ListField", inner="StringField"),
         _field("metadata", "EmbeddedDocumentField", "fiftyone.core.metadata.ImageMetadata",
                fields=[_field("size_bytes", "IntField"), _field("mime_type", "StringField"), _field("width", "IntField"),
                        _field("height", "IntField"), _field("num_channels", "IntField")]),
         _field("created_at", "DateTimeField"), _field("last_modified_at", "DateTimeField"), _field("_rand", "FloatField"),
         _field("_media_type", "StringField"), _field("_dataset_id", "ObjectIdField")]
_CLASSIFICATION = [*_OWN, _field("confidence", "FloatField"), _field("logits", "VectorField")]
_ROW = [_field("name", "StringField"), _field("row", "IntField"), _field("confidence", "FloatField"),
        _field("wrong", "BooleanField"), _field("slice", "IntField")]


_BOX = [*_OWN[:2], _field("attributes", "DictField", LABEL + "Attribute", "EmbeddedDocumentField"), _OWN[2],
        _field("bounding_box", "ListField", inner="FloatField"), _field("mask", "ArrayField"),
        _field("mask_path", "StringField"), _field("confidence", "FloatField"), _field("index", "IntField"),
        *[f for f in _ROW if f["name"] != "confidence"], _field("outcome", "StringField"), _field("reason", "StringField")]


def _classification(name: str) -> Dict[str, Any]:
    return _field(name, "EmbeddedDocumentField", LABEL + "Classification", fields=_CLASSIFICATION)


def _label(label: str, about: Any, confidence: Optional[float] = None) -> Dict[str, Any]:
    return {"_id": _oid("label", *about), "_cls": "Classification", "tags": [], "label": label, "confidence": confidence,
            "logits": None}


def tags_of(row: int, member: List[List[int]], slices: Sequence[Any], wrong: bool) -> List[str]:
    """"slice K" for each slice that has the row, their claims, and "wrong"."""
    claims = sorted({slices[k - 1].claim for k in member[row]} - {None})
    return [f"slice {k}" for k in member[row]] + claims + (["wrong"] if wrong else [])


def _sample(path: str, tags: List[str], at: int, fields: Dict[str, Any]) -> Dict[str, Any]:
    return {"_id": _oid("sample", at, path), "filepath": path, "tags": tags, "metadata": None, "_media_type": "image",
            "_rand": int(hashlib.sha1(f"{at} {path}".encode()).hexdigest()[:12], 16) / 16 ** 12, **fields}


def _picture_samples(subject: Any, labels: Array, slices: Sequence[Any], member: List[List[int]]) -> List[Dict[str, Any]]:
    """A sample for each row: its picture, its class and what it is taken for."""
    wrong, predicted, samples = subject.wrong(), subject.predictions(), []
    for i, path in enumerate(subject.images):
        confidence = float(subject.confidence[i])
        fields: Dict[str, Any] = {}
        fields["ground_truth"] = _label(subject.names[subject.target[i]], ("true", i))
        if predicted is not None:
            k = int(predicted[i])
            sure = subject.prob[i, k] if subject.prob is not None else 1 - confidence if wrong[i] else confidence
            fields["prediction"] = _label(subject.names[k], ("predicted", i), float(sure))
        fields.update(name=subject.ids[i] if subject.ids else str(i), row=i, confidence=confidence, wrong=bool(wrong[i]),
                      slice=int(labels[i]) + 1 if labels[i] >= 0 else None)
        samples.append(_sample(os.path.abspath(path), tags_of(i, member, slices, wrong[i]), i, fields))
    return samples


# --- A detector's rows.
def _boxes(name: str) -> Dict[str, Any]:
    inner = _field("detections", "ListField", LABEL + "Detection", "EmbeddedDocumentField", _BOX)
    return _field(name, "EmbeddedDocumentField", LABEL + "Detections", fields=[inner])


def _box(subject: Any, i: int, labels: Array, tags: List[str], wrong: bool) -> Dict[str, Any]:
    """Row i as a Detection; its box is in shares of the picture."""
    v, detected = subject.instance[i], bool(subject.instance[i]["detected"])
    if not v["width"] or not v["height"]:
        raise InputError(f"the ground truth gives no width and height of {subject.images[i]}, of which FiftyOne's boxes are "
                         "shares")
    place = [float(v[side]) / float(v["width" if side in "xw" else "height"]) for side in "xywh"]
    outcome = ("false" if wrong else "right") if detected else "missed" if wrong else "found"
    return {"_id": _oid("box", i), "_cls": "Detection", "attributes": {}, "tags": tags,
            "label": subject.names[subject.target[i]].rpartition(": ")[0], "bounding_box": place,
            "confidence": _finite(v["score"]) if detected else None, "name": subject.ids[i], "row": i, "wrong": wrong,
            "slice": int(labels[i]) + 1 if labels[i] >= 0 else None, "outcome": outcome, "reason": reason_of(v)}


def reason_of(v: Any) -> str:
    lib.spot_reason_name.restype = ctypes.c_char_p
    return lib.spot_reason_name(int(v["reason"]), int(v["detected"])).decode()


def _box_samples(subject: Any, labels: Array, slices: Sequence[Any], member: List[List[int]]) -> List[Dict[str, Any]]:
    """A sample for each picture that has a row: its objects and detections with their slices; its tags are all of theirs."""
    wrong = subject.wrong()
    inside: Dict[str, List[int]] = {}
    for i, path in enumerate(subject.images):
        if path:
            inside.setdefault(path, []).append(i)
    samples = []
    for k, (path, rows) in enumerate(inside.items()):
        tags = {i: tags_of(i, member, slices, wrong[i]) for i in rows}
        fields: Dict[str, Any] = {}
        for name, detected in (("objects", 0), ("detections", 1)):
            fields[name] = {"_cls": "Detections", "detections": [_box(subject, i, labels, tags[i], bool(wrong[i])) for i in rows
                                                                 if subject.instance[i]["detected"] == detected]}
        samples.append(_sample(os.path.abspath(path), sorted(set(sum(tags.values(), []))), k, fields))
    return samples


def _finite(value: Any) -> Any:
    """JSON has no NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def write(folder: Any, name: str, subject: Any, labels: Array, slices: Sequence[Any], table: Dict[str, List[Any]]) -> None:
    """table: of the slices, a list for each column."""
    if subject.images is None:
        raise InputError("FiftyOne shows pictures; give their paths as images to fit")
    member = members(subject.c.n, slices)
    if subject.instance is not None:
        fields, samples = [_boxes("objects"), _boxes("detections")], _box_samples(subject, labels, slices, member)
    else:
        told = [_classification("prediction")] if subject.predictions() is not None else []
        fields, samples = [_classification("ground_truth"), *told, *_ROW], _picture_samples(subject, labels, slices, member)
    classes = list(dict.fromkeys(n.rpartition(": ")[0] if subject.instance is not None else n for n in subject.names))
    lines = [{key: _finite(column[k]) for key, column in table.items()} for k in range(len(slices))]
    about = {"_id": _oid("dataset", name), "name": name, "version": FORMAT, "media_type": "image", "tags": [],
             "description": None, "info": {"spotter": VERSION, "slices": lines}, "app_config": {}, "classes": {},
             "default_classes": classes,
             "mask_targets": {}, "default_mask_targets": {}, "skeletons": {}, "sample_fields": [*_BASE, *fields],
             "frame_fields": [], "saved_views": [], "workspaces": [], "annotation_runs": {}, "brain_methods": {},
             "evaluations": {}, "runs": {}, "group_media_types": {}}
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for file, document in (("samples.json", {"samples": samples}), ("metadata.json", about)):
        write_whole(place / file, json.dumps(document, allow_nan=False).encode())
