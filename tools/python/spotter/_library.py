"""The C library: its path, its structs in ctypes, and its failures as exceptions."""
from __future__ import annotations

import ctypes as ct
import os
import threading
from pathlib import Path
from typing import Any, Dict, List, NoReturn, Sequence, Tuple

import spotter_program

FIT_TENSORS, HYPOTHESES, NEIGHBOURS, ITEMS, RULE_ITEMS = 48, 64, 8, 3, 20


class SpotterError(Exception):
    """What went wrong, where, and what to do about it. `id` names the failure for programs; it may be empty."""

    id = ""


class InputError(SpotterError, ValueError):
    """An array, a file or a setting is not what it should be."""


class ParameterError(InputError, TypeError):
    """A constructor or set_params was given a name that is no parameter."""


class Stopped(SpotterError, KeyboardInterrupt):
    """Ctrl-C."""


ON_LOG = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_char_p)


class Ctx(ct.Structure):
    _fields_ = [("ops", ct.c_void_p), ("device", ct.c_void_p), ("threads", ct.c_int), ("status", ct.c_int),
                ("message", ct.c_char * 1024), ("label_length", ct.c_int), ("id", ct.c_char * 48), ("on_log", ON_LOG),
                ("on_progress", ct.c_void_p), ("label", ct.c_void_p), ("user", ct.c_void_p),
                ("who", ct.c_char_p), ("stop", ct.POINTER(ct.c_int)), ("rotated", ct.c_void_p)]


class Arena(ct.Structure):
    _fields_ = [("base", ct.c_void_p), ("size", ct.c_size_t), ("used", ct.c_size_t), ("peak", ct.c_size_t),
                ("counting", ct.c_bool), ("on", ct.c_void_p), ("pinned", ct.c_void_p)]


class View(ct.Structure):
    _fields_ = [("n", ct.c_int), ("d", ct.c_int), ("feature", ct.c_void_p), ("confidence", ct.c_void_p),
                ("image", ct.c_void_p), ("label", ct.c_void_p), ("head", ct.c_void_p), ("device_feature", ct.c_void_p)]


class Points(ct.Structure):
    _fields_ = [("n", ct.c_int), ("d", ct.c_int), ("at", ct.POINTER(ct.c_float)), ("objective", ct.c_double),
                ("device_at", ct.c_void_p)]


class FeatureBlock(ct.Structure):
    _fields_ = [("d", ct.c_int), ("scale", ct.c_float), ("encoder", ct.c_char * 32)]


class Subject(ct.Structure):
    _fields_ = [("n", ct.c_int), ("d", ct.c_int), ("classes", ct.c_int), ("feature", ct.c_void_p), ("target", ct.c_void_p),
                ("has", ct.c_void_p), ("prob", ct.c_void_p), ("confidence", ct.c_void_p), ("predicted", ct.c_void_p),
                ("head", ct.c_void_p), ("class_name", ct.POINTER(ct.c_char_p)), ("id", ct.POINTER(ct.c_char_p)),
                ("image", ct.POINTER(ct.c_char_p)), ("box", ct.c_void_p), ("instance", ct.c_void_p),
                ("source", ct.c_char * 512), ("skipped", ct.c_int), ("left_out", ct.c_int), ("group", ct.c_void_p),
                ("groups", ct.c_int), ("group_name", ct.POINTER(ct.c_char_p)), ("file_row", ct.c_void_p),
                ("exif", ct.c_int), ("pillow", ct.c_int),
                ("encoder", ct.c_char * 32), ("blocks", ct.c_int), ("block", FeatureBlock * 8), ("owned", ct.c_void_p)]


class Instance(ct.Structure):
    _fields_ = [("x", ct.c_float), ("y", ct.c_float), ("w", ct.c_float), ("h", ct.c_float), ("area", ct.c_float),
                ("score", ct.c_float), ("number", ct.c_int64), ("picture", ct.c_int), ("width", ct.c_int),
                ("height", ct.c_int), ("others", ct.c_int), ("detected", ct.c_uint8), ("counted", ct.c_uint8),
                ("wrong", ct.c_uint8), ("reason", ct.c_uint8), ("edge", ct.c_uint8), ("overlaps", ct.c_uint8)]


class FitTensor(ct.Structure):
    _fields_ = [("name", ct.c_char * 40), ("type", ct.c_int), ("rows", ct.c_int), ("columns", ct.c_int), ("data", ct.c_void_p),
                ("owned", ct.c_bool)]


class Fit(ct.Structure):
    _fields_ = [("count", ct.c_int), ("tensor", FitTensor * FIT_TENSORS)]


class Word(ct.Structure):
    _fields_ = [("phrase", ct.c_char_p), ("score", ct.c_double), ("auc", ct.c_double), ("p", ct.c_double)]


class Match(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("group", ct.c_int), ("covered", ct.c_int), ("inside", ct.c_int), ("wrong", ct.c_int),
                ("precision", ct.c_double), ("recall", ct.c_double), ("f1", ct.c_double), ("lift", ct.c_double),
                ("t", ct.c_double), ("p", ct.c_double)]


class Conjunction(ct.Structure):
    _fields_ = [("items", ct.c_int), ("item", ct.c_int * ITEMS), ("name", ct.c_char_p * ITEMS), ("held_out", Match),
                ("all", Match)]


class Attributes(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("items", ct.c_int), ("words", ct.c_size_t), ("name", ct.c_void_p), ("column", ct.c_void_p),
                ("range", ct.c_void_p), ("bit", ct.c_void_p)]


class DescribeOptions(ct.Structure):
    _fields_ = [("feature", ct.c_void_p), ("missing", ct.c_void_p), ("d", ct.c_int), ("text", ct.c_void_p),
                ("phrase", ct.POINTER(ct.c_char_p)), ("phrases", ct.c_int), ("most", ct.c_int), ("rounds", ct.c_int),
                ("attributes", ct.POINTER(Attributes)), ("seed", ct.c_uint64)]


class Interval(ct.Structure):
    _fields_ = [("value", ct.c_double), ("low", ct.c_double), ("high", ct.c_double)]


class ProofOptions(ct.Structure):
    _fields_ = [("parts", ct.c_int), ("holdout", ct.c_double), ("neighbours", ct.c_int), ("chance", ct.c_int),
                ("level", ct.c_double), ("same", ct.c_double), ("seed", ct.c_uint64)]


class Rule(ct.Structure):
    _fields_ = [("items", ct.c_int), ("item", ct.c_int * RULE_ITEMS)]


class Piece(ct.Structure):
    _fields_ = [("bdm", ct.c_int), ("part", ct.c_int), ("seed", ct.c_uint64), ("rank", ct.c_int), ("found", ct.c_int),
                ("found_wrong", ct.c_int), ("judged", ct.c_int), ("wrong", ct.c_int), ("base", ct.c_double),
                ("groups", ct.c_int), ("rule", Rule), ("p", ct.c_double), ("corrected", ct.c_double)]


class Proof(ct.Structure):
    _fields_ = [("claim", ct.c_int), ("p", ct.c_double), ("judged", ct.c_int), ("wrong", ct.c_int),
                ("groups", ct.c_int), ("least_p", ct.c_double), ("class_rate", ct.c_double), ("excess", Interval),
                ("shrunk", ct.c_double),
                ("cell", ct.c_double), ("predicted", ct.c_int), ("predicted_share", ct.c_double),
                ("rule_items", ct.c_int), ("rule", ct.POINTER(ct.c_char_p)), ("pieces", ct.c_int),
                ("piece", ct.POINTER(Piece)),
                ("tests", ct.c_int), ("origin", ct.POINTER(ct.c_uint8)), ("cause", ct.c_int)]


class Slice(ct.Structure):
    _fields_ = [("size", ct.c_int), ("wrong", ct.c_int), ("error_rate", ct.c_double), ("mean_confidence", ct.c_double),
                ("share", ct.c_double), ("score", ct.c_double), ("row", ct.POINTER(ct.c_int)), ("neighbours", ct.c_int),
                ("neighbour", ct.c_int * NEIGHBOURS), ("words", ct.c_int), ("word", ct.POINTER(Word)),
                ("conjunction", ct.POINTER(Conjunction)), ("proof", ct.POINTER(Proof)), ("labels_known", ct.c_bool),
                ("suspects", ct.c_int), ("rate_without", ct.c_double)]


class Finding(ct.Structure):
    _fields_ = [("bdm", ct.c_int), ("cls", ct.c_int), ("seed", ct.c_uint64), ("n", ct.c_int), ("wrong", ct.c_int),
                ("row", ct.POINTER(ct.c_int)), ("merged", ct.c_bool), ("points", Points), ("slices", ct.c_int),
                ("slice", Slice * HYPOTHESES), ("fit", Fit), ("status", ct.c_int), ("message", ct.c_char * 1024)]


class Decided(ct.Structure):
    _fields_ = [("rows", ct.c_int), ("neighbours", ct.c_int), ("same", ct.c_double), ("expected", ct.c_double),
                ("wrong", ct.c_double), ("decide", ct.c_bool)]


class Suspects(ct.Structure):
    _fields_ = [("known", ct.c_bool), ("count", ct.c_int), ("row", ct.POINTER(ct.c_int)), ("cls", ct.POINTER(ct.c_int))]


class Findings(ct.Structure):
    _fields_ = [("count", ct.c_int), ("finding", ct.POINTER(Finding)), ("left_out", ct.c_int),
                ("left_class", ct.POINTER(ct.c_int)), ("map", ct.POINTER(ct.c_float)), ("decided", Decided),
                ("suspects", Suspects), ("arena", Arena), ("described", Arena), ("suspected", Arena)]


class DiscoverOptions(ct.Structure):
    _fields_ = [("bdm", ct.c_void_p), ("bdms", ct.c_int), ("seed", ct.POINTER(ct.c_uint64)), ("seeds", ct.c_int),
                ("cls", ct.c_int), ("least", ct.c_int), ("neighbours", ct.c_int), ("fit", ct.c_bool), ("memory", ct.c_size_t),
                ("cache", ct.c_char_p), ("attributes", ct.POINTER(Attributes)), ("proof", ct.POINTER(ProofOptions))]


class Merge(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("part", ct.c_int), ("left", ct.c_int), ("right", ct.c_int), ("height", ct.c_double),
                ("rows", ct.c_int), ("wrong", ct.c_int), ("judged", ct.c_int), ("judged_wrong", ct.c_int), ("p", ct.c_double)]


class Merges(ct.Structure):
    _fields_ = [("count", ct.c_int), ("merge", ct.POINTER(Merge))]


class ReportOptions(ct.Structure):
    _fields_ = [("budget", ct.c_size_t), ("full", ct.c_bool), ("thumb", ct.c_int), ("memory", ct.c_size_t),
                ("other_pictures", ct.c_bool), ("matte", ct.c_int), ("title", ct.c_char_p), ("data", ct.c_char_p),
                ("date", ct.c_char_p), ("note", ct.c_char_p), ("model", ct.POINTER(ct.c_char_p)), ("models", ct.c_int)]


class EncoderInfo(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("name", ct.c_char * 32), ("has_images", ct.c_bool), ("has_texts", ct.c_bool),
                ("dim", ct.c_int), ("side", ct.c_int), ("outputs", ct.c_int), ("context", ct.c_int), ("scale", ct.c_float),
                ("bytes", ct.c_size_t), ("picture_block", ct.c_int), ("text_block", ct.c_int)]


class EncoderPictures(ct.Structure):
    _fields_ = [("path", ct.POINTER(ct.c_char_p)), ("n", ct.c_int), ("feature", ct.c_void_p), ("logit", ct.c_void_p),
                ("unreadable", ct.c_void_p), ("stage", ct.c_char_p), ("before", ct.c_int), ("total", ct.c_int),
                ("memory", ct.c_size_t), ("box", ct.c_void_p), ("skipped", ct.POINTER(ct.c_int)),
                ("option", ct.c_char_p)]


class Prediction(ct.Structure):
    _fields_ = [("rgb", ct.c_void_p), ("n", ct.c_int), ("side", ct.c_int), ("logit", ct.c_void_p), ("embedding", ct.c_void_p),
                ("channel", ct.c_void_p)]


class NewPicture(ct.Structure):
    _fields_ = [("picture", ct.c_char_p), ("group", ct.c_int), ("similarity", ct.c_double), ("wrong", ct.c_int),
                ("predicted", ct.c_char_p)]


class NewPictures(ct.Structure):
    _fields_ = [("n", ct.c_int), ("row", ct.POINTER(NewPicture))]


class Gathered(ct.Structure):
    _fields_ = [("picture", ct.c_int), ("group", ct.c_int), ("similarity", ct.c_double)]


class GatherOptions(ct.Structure):
    _fields_ = [("images", ct.c_char_p), ("cls", ct.c_char_p), ("phrase", ct.c_char_p), ("weights", ct.c_char_p),
                ("encoder", ct.c_void_p), ("most", ct.c_int), ("seed", ct.c_uint64), ("known", ct.POINTER(Subject))]


class PictureInput(ct.Structure):
    _fields_ = [("mean", ct.c_char_p), ("std", ct.c_char_p), ("scale", ct.c_double), ("interpolation", ct.c_int),
                ("resizes", ct.c_bool), ("crops", ct.c_bool)]


class PredictorOptions(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("weights", ct.c_char_p), ("command", ct.c_char_p), ("patience", ct.c_double),
                ("function", ct.c_void_p), ("user", ct.c_void_p), ("outputs", ct.c_int), ("dim", ct.c_int),
                ("channels", ct.c_int), ("identity", ct.c_char_p), ("side", ct.c_int), ("precision", ct.c_int),
                ("batch", ct.c_int), ("input", PictureInput)]


class MeasureOptions(ct.Structure):
    _fields_ = [("model", ct.POINTER(PredictorOptions)), ("resize", ct.c_int), ("name", ct.c_char_p), ("folder", ct.c_char_p),
                ("class_name", ct.POINTER(ct.c_char_p)), ("classes", ct.c_int), ("label", ct.c_int), ("exif", ct.c_int),
                ("pillow", ct.c_int)]


class ClaimTest(ct.Structure):
    _fields_ = [("n", ct.c_int * 2), ("wrong", ct.c_int * 2), ("rate", Interval * 2), ("p", ct.c_double), ("verdict", ct.c_int),
                ("groups", ct.c_int)]


class ClaimResult(ct.Structure):
    _fields_ = [("claim", ct.c_char_p), ("cls", ct.c_char_p), ("found", ct.c_char_p), ("model", ct.c_char_p),
                ("slice", ct.c_int), ("rate", ct.c_double), ("class_rate", ct.c_double), ("folder", ct.c_char_p),
                ("row", ct.POINTER(NewPicture)), ("n", ct.c_int), ("level", ct.c_double), ("test", ct.POINTER(ClaimTest)),
                ("exif", ct.c_int), ("pillow", ct.c_int)]


class RowClaim(ct.Structure):
    _fields_ = [("cls", ct.c_int), ("conditions", ct.c_int), ("items", ct.c_int), ("item", ct.c_int * 2), ("listed", ct.c_bool),
                ("member", ct.POINTER(ct.c_uint8)), ("rows", ct.c_int), ("wrong", ct.c_int), ("groups", ct.c_int),
                ("class_rate", ct.c_double), ("excess", Interval), ("p", ct.c_double), ("corrected", ct.c_double),
                ("rules", ct.c_double), ("draws", ct.c_int), ("verdict", ct.c_int), ("mixed", ct.c_bool), ("thirds", ct.c_int)]


class RowClaimOptions(ct.Structure):
    _fields_ = [("level", ct.c_double), ("seed", ct.c_uint64), ("fresh", ct.c_bool)]


class RunPlace(ct.Structure):
    _fields_ = [("out", ct.c_char_p), ("shard", ct.c_int), ("shards", ct.c_int), ("seconds", ct.c_double), ("starts", ct.c_int),
                ("beside", ct.c_bool), ("shared", ct.c_bool)]


class BackgroundOptions(ct.Structure):
    _fields_ = [("place", RunPlace), ("function", ct.c_void_p), ("user", ct.c_void_p), ("outputs", ct.c_int), ("dim", ct.c_int),
                ("channels", ct.c_int), ("identity", ct.c_char_p), ("results", ct.c_void_p)]


class ExamineOptions(ct.Structure):
    _fields_ = [("place", RunPlace), ("function", ct.c_void_p), ("user", ct.c_void_p), ("outputs", ct.c_int),
                ("identity", ct.c_char_p), ("results", ct.c_void_p), ("failures", ct.c_void_p)]


class Array(ct.Structure):
    _fields_ = [("type", ct.c_int), ("rank", ct.c_int), ("dim", ct.c_int64 * 8), ("count", ct.c_size_t), ("data", ct.c_void_p),
                ("name", ct.c_char * 256), ("column", ct.POINTER(ct.c_char_p)), ("comma", ct.c_bool),
                ("padded", ct.c_bool), ("encoder", ct.c_char_p)]


class ClipOptions(ct.Structure):
    _fields_ = [("config", ct.c_char_p), ("image_heads", ct.c_int), ("text_heads", ct.c_int), ("activation", ct.c_int),
                ("end", ct.c_int), ("end_id", ct.c_int), ("use", ct.c_int), ("precision", ct.c_int), ("rows", ct.c_int),
                ("input", PictureInput)]


class EncoderOptions(ct.Structure):
    _fields_ = [("clip", ClipOptions), ("vocabulary", ct.c_char_p), ("cut", ct.c_bool), ("resize", ct.c_int),
                ("crop", ct.c_int), ("memory", ct.c_size_t), ("exif", ct.c_int), ("pillow", ct.c_int),
                ("input", PictureInput)]


class DetectionOptions(ct.Structure):
    _fields_ = [("file", ct.c_char_p), ("iou", ct.c_double), ("score", ct.c_double), ("rows", ct.c_int),
                ("context", ct.c_double)]


class SubjectFiles(ct.Structure):
    _fields_ = [("embeddings", ct.c_char_p), ("labels", ct.c_char_p), ("probs", ct.c_char_p), ("losses", ct.c_char_p),
                ("ids", ct.c_char_p), ("groups", ct.c_char_p), ("images", ct.c_char_p), ("coco", ct.c_char_p),
                ("model", ct.c_char_p),
                ("resize", ct.c_int), ("crop", ct.c_int), ("exif", ct.c_int), ("pillow", ct.c_int), ("skip", ct.c_bool),
                ("skip_bad", ct.c_bool), ("logits", ct.c_bool), ("memory", ct.c_size_t), ("links", ct.c_bool),
                ("embed", ct.c_char_p), ("encoder", ct.POINTER(EncoderOptions)), ("programs", ct.c_void_p),
                ("array", ct.POINTER(Array)), ("arrays", ct.c_int), ("class_name", ct.POINTER(ct.c_char_p)),
                ("classes", ct.c_int), ("detections", ct.POINTER(DetectionOptions)), ("input", PictureInput)]


class DiscoverPlace(ct.Structure):
    _fields_ = [("place", RunPlace), ("replace", ct.c_bool)]


class RunReport(ct.Structure):
    _fields_ = [("planned", ct.c_int), ("already", ct.c_int), ("done", ct.c_int), ("seconds", ct.c_double)]


class BindingRow(ct.Structure):
    _fields_ = [("name", ct.c_char_p), ("bytes", ct.c_size_t)]


MIRRORED = {"spot_ctx": Ctx, "spot_arena": Arena, "spot_view": View, "spot_points": Points, "spot_subject": Subject,
            "spot_slice": Slice, "spot_fit_tensor": FitTensor, "spot_fit": Fit, "spot_finding": Finding,
            "spot_findings": Findings, "spot_discover_options": DiscoverOptions, "spot_word": Word,
            "spot_conjunction": Conjunction, "spot_attributes": Attributes, "spot_describe_options": DescribeOptions,
            "spot_encoder_info": EncoderInfo, "spot_encoder_pictures": EncoderPictures, "spot_prediction": Prediction,
            "spot_run_place": RunPlace, "spot_background_options": BackgroundOptions, "spot_examine_options": ExamineOptions,
            "spot_interval": Interval, "spot_proof_options": ProofOptions, "spot_piece": Piece, "spot_proof": Proof,
            "spot_report_options": ReportOptions, "spot_new_picture": NewPicture, "spot_new_pictures": NewPictures,
            "spot_gathered": Gathered, "spot_gather_options": GatherOptions, "spot_predictor_options": PredictorOptions,
            "spot_measure_options": MeasureOptions, "spot_claim_test": ClaimTest, "spot_claim_result": ClaimResult,
            "spot_tree_merge": Merge, "spot_tree_merges": Merges, "spot_row_claim": RowClaim,
            "spot_row_claim_options": RowClaimOptions,
            "spot_array": Array, "spot_encoder_options": EncoderOptions, "spot_detection_options": DetectionOptions,
            "spot_subject_files": SubjectFiles, "spot_discover_place": DiscoverPlace, "spot_run_report": RunReport,
            "spot_instance": Instance}


def _find() -> str:
    """$SPOTTER_LIBRARY, the copy installed with this package, or the loader's."""
    said = os.environ.get("SPOTTER_LIBRARY")
    if said:
        return said
    try:
        ours = spotter_program.folder()
    except spotter_program.NoBuild as e:
        raise ImportError(str(e)) from None
    return str(ours / "libspotter.so") if ours else "libspotter.so"


def _load() -> Tuple[Any, Dict[str, int]]:
    where = _find()
    try:
        library = ct.CDLL(where)
    except OSError as e:
        raise ImportError(f"the Spotter library does not load ({e}); build it with tools/build and reinstall the package, or "
                          "set SPOTTER_LIBRARY to libspotter.so") from None
    rows = ct.c_int()
    library.spot_binding.restype = ct.POINTER(BindingRow)
    table = library.spot_binding(ct.byref(rows))
    sizes = {table[i].name.decode(): table[i].bytes for i in range(rows.value)}
    for name, struct in MIRRORED.items():
        if sizes.get(name) != ct.sizeof(struct):
            raise ImportError(f"{where} is of another version than this package: its {name} takes {sizes.get(name)} bytes, "
                              f"here it is {ct.sizeof(struct)}; install both from one build")
    library.spot_version.restype = ct.c_char_p
    library.spot_message.restype = library.spot_failure_id.restype = ct.c_char_p
    library.spot_status_name.restype = ct.c_char_p
    library.spot_status_name.argtypes = [ct.c_int]
    library.spot_bdm_name.restype = ct.c_char_p
    library.spot_discover_defaults.restype = DiscoverOptions
    library.spot_describe_defaults.restype = DescribeOptions
    if hasattr(library, "spot_proof_defaults"):
        library.spot_proof_defaults.restype = ProofOptions
    library.spot_claim_verdict_name.restype = library.spot_claim_name.restype = ct.c_char_p
    library.spot_gather_has_class.restype = library.spot_words_are_terms.restype = ct.c_bool
    library.spot_new_pictures_close.restype = library.spot_claim_judge.restype = None
    library.spot_binomial_tail.restype = ct.c_double
    library.spot_report_defaults.restype = ReportOptions
    library.spot_encoder_defaults.restype = EncoderOptions
    library.spot_detection_defaults.restype = DetectionOptions
    library.spot_reason_name.restype = ct.c_char_p
    for function in ("spot_subject_close", "spot_subject_outcomes", "spot_array_close", "spot_attributes_close",
                     "spot_row_claim_close", "spot_tree_merges_close"):
        getattr(library, function).restype = None
    library.spot_encoder_about.restype = ct.POINTER(EncoderInfo)
    library.spot_encoder_close.restype = None
    library.spot_layer_name.restype = library.spot_attribute_name.restype = ct.c_char_p
    library.spot_image_draw.restype = None
    library.spot_blindspot_describe.restype = None
    return library, sizes


lib, SIZES = _load()
VERSION = lib.spot_version().decode()


def bytes_of(path: Any) -> bytes:
    try:
        made = os.fsencode(path)
    except TypeError:
        raise InputError(f"{' '.join(repr(path).split())[:80]} is no path") from None
    except UnicodeEncodeError:
        raise InputError(f"{path!r} cannot be written as UTF-8; give a text that can") from None
    if b"\0" in made:
        raise InputError(f"{path!r} has a zero byte, where a text ends in C; give one without")
    return made


def texts(items: Sequence[Any]) -> Any:
    """char *[], which holds the bytes; NULL for None."""
    return (ct.c_char_p * len(items))(*[None if item is None else bytes_of(str(item)) for item in items])


free = ct.CDLL(None).free
free.argtypes, free.restype = [ct.c_void_p], None


def taken(text: Any) -> bytes:
    """A text that C made, which is freed."""
    try:
        return ct.string_at(text.value or 0)
    finally:
        free(text)


class Config:
    """A config of C, which a call fills from text; its memory goes with it."""

    def __init__(self, kind: str) -> None:
        self.c = ct.create_string_buffer(SIZES[kind])

    @property
    def methods(self) -> int:
        """The address of a spot_config's methods."""
        return int(ct.c_void_p.from_buffer(self.c, SIZES["spot_config.bdm"]).value or 0)

    @property
    def count(self) -> int:
        """Of its methods."""
        return ct.c_int.from_buffer(self.c, SIZES["spot_config.bdms"]).value

    @property
    def seed(self) -> int:
        return ct.c_uint64.from_buffer(self.c, SIZES["spot_config.seed"]).value

    def method(self, number: int) -> int:
        """The address of a method."""
        return self.methods + number * SIZES["spot_bdm_config"]

    def __del__(self, close: Any = lib.spot_memory_close) -> None:      # which is there until the interpreter ends
        close(self.c)                                     # the pointer to the memory comes first


class Context:
    """An open spot_ctx: `with Context(...) as c`; c("spot_something", ...) raises the failure of the call."""

    def __init__(self, device: str = "auto", threads: int = 0, verbose: bool = False) -> None:
        self.c = Ctx()
        self.warnings: List[str] = []
        self.notes: List[str] = []
        self._on_log = ON_LOG(lambda _, level, text: self._hear(level, text.decode(errors="replace"), verbose))
        self.c.on_log = self._on_log
        self("spot_ctx_open", bytes_of(str(device)), ct.c_int(threads))

    def _hear(self, level: int, text: str, verbose: bool) -> None:
        if level >= 1:
            (self.warnings if level == 2 else self.notes).append(text)
        if verbose:
            print(text)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: Any) -> None:
        lib.spot_ctx_close(ct.byref(self.c))

    def __call__(self, function: str, *args: Any) -> None:
        status = getattr(lib, function)(ct.byref(self.c), *args)
        if status:
            sentence = lib.spot_message(ct.byref(self.c), status).decode(errors="replace")
            failure = lib.spot_failure_id(ct.byref(self.c)).decode()
            lib.spot_forget(ct.byref(self.c))
            self.fail(status, sentence, failure)

    def patiently(self, function: str, *args: Any) -> None:
        """Makes a long call, which Ctrl-C stops at its next safe point."""
        failure: List[BaseException] = []
        stop, done = ct.c_int(0), threading.Event()

        def call() -> None:
            try:
                self(function, *args)
            except BaseException as e:
                failure.append(e)
            finally:
                done.set()

        self.c.stop = ct.pointer(stop)
        threading.Thread(target=call).start()
        while not done.is_set():
            try:                                       # an interrupted Thread.join takes the thread for ended (Python 3.11)
                done.wait(0.2)
            except KeyboardInterrupt:
                stop.value = 2
        self.c.stop = None
        if failure:
            raise failure[0]
        if stop.value:
            raise Stopped("stopped by Ctrl-C, after the last safe point")

    @staticmethod
    def fail(status: int, sentence: str, failure: str = "") -> NoReturn:
        name = lib.spot_status_name(status).decode()
        kind = {"INPUT": InputError, "USAGE": InputError, "INVALID": InputError, "STOPPED": Stopped}.get(name, SpotterError)
        if name == "NOMEM":
            raise MemoryError(sentence)
        error = kind(sentence)
        error.id = failure
        raise error
