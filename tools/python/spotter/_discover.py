"""discover: the command `spotter discover` on arrays and files, in one call."""
from __future__ import annotations

import ctypes as ct
import os
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library as c_side
from ._arrays import Array, is_missing, matrix
from ._claims import Gathers
from ._encoder import Encoder
from ._fitted import Fitted, Search, Subject
from ._detections import detection_options, json_file, rows_of
from ._given import equal, file_bytes, flag, is_path, listed, listed_or_file, seeds
from ._hugging import picture_paths
from ._inputs import Inputs, as_numbers, of_frame, plain_labels
from ._library import Context, InputError, lib
from ._method import class_number
from ._options import (DEFAULT, bytes_of_size, check_given, check_inputs, encoder_options, input_of, methods_text, names_of,
                       path_of, proof_options, reading_of, shard_of, square_of)
from ._results import PAGE_ADVICE, Results, check_folder, page_options, write_report
from ._slices import Merge, as_html, columns, frame
from ._words import Words

RULES = {"method": "itemsets", "representation": "attributes", "longest": 2, "top": 20}    # spot_discover_rules adds them


class Found(Results, Gathers):
    """The slices that discover found. `print(found)` shows them as the command does; in a notebook it is a table.

    slices: a pandas DataFrame in the words of slices.json. slices_: list of Slice; slices_[number - 1] has this number.
    confirmed: those that the proof confirms. labels_ (n,) int: the place in slices_ of each row's first slice, -1 for none.
    json: the document of slices.json. left_out_: classes that were not examined; failures_: {class: why}; map_ (n, 2);
    kept_: the numbers of the rows in the arrays or files, where some were left out (skip_bad_rows, skip_unreadable); else None.
    warnings_: list of str. notes_: list of str, how the rows were read where another reading was possible. out: the folder
    of the findings, None without one. It can be pickled; it holds the rows."""

    warnings_: List[str]
    notes_: List[str]
    out: Optional[str]
    _merges: Optional[List[Merge]] = None

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
    def merges(self) -> List[Merge]:
        """Every merge of Ward's tree of each class, a Merge, as the file of `--merges` has them; computed when first asked."""
        if self._merges is None:
            self._merges = self._held.merges()
        return self._merges

    @property
    def json(self) -> Dict[str, Any]:
        return self._held.told()

    def save(self, out: Any, report: bool = True, replace: bool = False) -> None:
        """Writes a folder of findings, the same bytes as the command's; report: with report.html. Findings of other rows, and
        files of others, are an InputError, with replace they are written over."""
        page = os.path.join(os.fsdecode(c_side.bytes_of(out)), "report.html")
        report = flag(report, "report")
        if not flag(replace, "replace"):
            with Context(self.device, self.threads) as c:
                check_folder(c, out, self._held.subject)
                if report and os.path.isdir(os.path.dirname(page)):            # else it is made
                    c("spot_report_place", c_side.bytes_of(page), PAGE_ADVICE)
        self.write(out, replace=True)
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
        names = [str(i) for i in listed(ids, "ids")]
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
    return None if images is None or is_path(images) else picture_paths(listed(images, "images"))


def _sources(embeddings: Any) -> List[Any]:
    """The arrays of features: none, one, or those of a list of paths and of (n, d) arrays."""
    if embeddings is None:
        return []
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


def _lay_rows(inputs: Inputs, sources: Sequence[Tuple[Any, Optional[bytes]]], labels: Any, probs: Any, losses: Any,
              ids: Any, groups: Any, images: Any, class_names: Optional[Sequence[str]], called: Dict[str, Any]) -> None:
    """Arrays by their names, files by their paths. sources: features, and the name of their encoder where it is known."""
    f = inputs.files
    if sources:
        f.embeddings = b"\n".join(c_side.bytes_of(e) if is_path(e) else inputs.features(e, False, i, maker)
                                  for i, (e, maker) in enumerate(sources))
    if is_path(labels) or labels is None:
        f.labels = path_of(labels)
        if probs is not None:
            f.probs = path_of(probs) if is_path(probs) else inputs.probs(probs)
        if losses is not None:
            f.losses = path_of(losses) if is_path(losses) else inputs.numbers(as_numbers(losses, "losses"), "losses")
        if class_names is not None:
            inputs.classes([str(name) for name in class_names])
    else:
        inputs.answers(plain_labels(labels, "labels", called["skip_bad"]), None if is_path(probs) else probs,
                       None if is_path(losses) else losses, class_names)
        f.probs = path_of(probs) if is_path(probs) else f.probs
        f.losses = path_of(losses) if is_path(losses) else f.losses
    if ids is not None:
        f.ids = path_of(ids) if is_path(ids) else inputs.ids(ids)
    if groups is not None:
        f.groups = path_of(groups) if is_path(groups) else inputs.groups(groups)
    f.images = path_of(images) if is_path(images) else None
    for name, value in called.items():
        setattr(f, name, value)


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
             picture_attributes: bool = True, model: Any = None, embed: Any = None, coco: Any = None, resize: int = 256,
             crop: int = 224, size: Optional[int] = None, mean: Any = None, std: Any = None, scale: Optional[float] = None,
             interpolation: str = "own", exif: str = "ignore", pillow: int = 13, skip_unreadable: bool = False,
             skip_bad_rows: bool = False, logits: bool = False, follow_links: bool = False,
             memory: Union[None, int, str] = None, class_: Union[int, str] = "both", method: Any = DEFAULT,
             config: Any = None, seed: Union[None, int, Sequence[int]] = None, least: int = 20, proof: bool = True,
             chance: int = 0, holdout: Optional[float] = None, level: Optional[float] = None, words: Any = None,
             describe: Any = None, word_embeddings: Any = None, phrases: int = 5, out: Any = None, top: int = 20,
             replace: bool = False, report: bool = True, fit: bool = True, shard: Union[None, str, Tuple[int, int]] = None,
             max_seconds: float = 0, starts: int = 5, beside: bool = False, budget: float = 10, full: bool = False,
             matte: str = "none", title: Optional[str] = None, model_name: Optional[str] = None,
             data_name: Optional[str] = None, date: Optional[str] = None, detections: Any = None, iou: float = 0.5,
             score: float = 0.5, rows: str = "both", context: float = 0.1, rows_only: bool = False, embed_config: Any = None,
             embed_heads: Any = None, embed_activation: str = "config", embed_end_token: Union[None, str, int] = None,
             embed_precision: str = "fp32", embed_mean: Any = None, embed_std: Any = None,
             embed_scale: Optional[float] = None, embed_interpolation: str = "own",
             describe_vocabulary: Any = None, describe_cut: bool = False,
             device: str = "auto", threads: int = 0, verbose: bool = False) -> Any:
    """Finds groups of rows on which a classifier fails, tests each on rows that the search has not seen, and returns Found:

        found = spotter.discover(embeddings, labels, probs)

    It is the command `spotter discover` with all of its options, by their names, and gives the same numbers to the bit: its two
    methods, joinspot and ward, on each class, with the p-values of all slices corrected as one family. discover(*look(model,
    loader)) and discover(*read_rows("rows.parquet", "embedding", "label", "p_*")) work, too.

    Rows. embeddings (n, d): features of each row; a list of such arrays or files: joined, each scaled to total variance 1.
    embed: an encoder of the pictures in images, a file or "neutral", whose features are those of the rows or, behind
    embeddings, are joined to them. labels (n,): class numbers from 0, or words; or (n, classes) of 0 and 1 where a row may have
    several. probs: (n, classes), or (n,) of the true class, or of class 1 of two; a data frame whose
    columns are called as the classes, also behind a prefix as in p_cat, is matched by name; logits: they are such. losses
    (n,): in their place. class_names: names of the classes in the order of their numbers and of the columns. ids (n,): names
    of the rows. groups (n,): words or numbers; rows with an equal one depend on each other, as frames of a video or images of
    a patient do, and stay in one half; a row with a missing one is alone; "rows": each row is alone, also those of one picture
    of a detector. images: a path for each row, or a {bytes, path} as in Hugging Face's datasets; or the folder in which ids
    name the pictures. Arrays are numpy's, lists, series, data frames, tensors; a path, as "run.npz:e", is a file as the
    command reads it. attributes: a data frame, a dict of columns or a CSV, a record for each row, that describes the slices.
    picture_attributes=False: without attributes of the pictures themselves (brightness, sharpness, ...), for which they are
    decoded. skip_bad_rows: rows that no method can use are left out, and found.kept_ has the numbers of the others if any are.
    Pictures alone: images (a folder) with model, coco, embed, resize, crop, exif, pillow, skip_unreadable, follow_links. How
    they enter model: size squeezes whole pictures, in place of resize and crop; interpolation "bilinear" or "bicubic"; pixels
    are divided by scale (255), less mean, divided by std, a number or three. embed_mean, ...: the same of embed. A
    detector: coco, detections, iou, score, rows, context, rows_only.

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
    rows_only a Detections, with embed's features and with groups; with a shard whose others are not done None."""
    check_given(dict(locals()), discover)
    check_inputs(embeddings, labels, probs, losses, images, model, embed, coco, detections)
    own = not equal(method, DEFAULT)
    if config is not None and own:
        raise InputError("method and config both choose the methods; give one of them")
    text = methods_text(method) if config is None else file_bytes(config, "config")
    judged, limit, (part, parts) = proof_options(proof, chance, holdout, level), bytes_of_size(memory), shard_of(shard)
    several, class_names, reading = seeds(seed), names_of(class_names), reading_of(exif, pillow)
    resize, crop, square = square_of(resize, crop, size)
    entering = input_of(mean, std, scale, interpolation, "")
    of_embed = input_of(embed_mean, embed_std, embed_scale, embed_interpolation, "embed_")
    if model is None:
        of_embed.resizes, of_embed.crops = square
    encoder = encoder_options(embed_config, embed_heads, embed_activation, embed_end_token, embed_precision,
                               describe_vocabulary, describe_cut, resize, crop, reading)
    encoder.input = of_embed
    page = page_options(int(budget * 1e6), full, matte, title, model_name, data_name, date)
    said = Words(words, word_embeddings, describe if describe is not None or word_embeddings is not None else embed, encoder,
                  phrases)
    if rows_only:
        return rows_of(coco, detections, images, embed, iou, score, rows, context, groups, (device, threads, verbose), {
            "resize": resize, "crop": crop, "exif": reading[0], "pillow": reading[1], "skip": skip_unreadable,
            "links": follow_links, "memory": limit, "encoder": ct.pointer(encoder)})
    inputs, pictures, ids = Inputs(), _per_row(images), listed_or_file(ids, "ids")
    where = c_side.RunPlace(path_of(out), part, parts, max_seconds, starts, beside)
    place = None if out is None else c_side.DiscoverPlace(where, replace)
    try:
        with Context(device, threads, verbose) as c:
            if out is not None and not replace:
                c("spot_findings_check", path_of(out), None)
            sources: List[Tuple[Any, Optional[bytes]]] = [(e, None) for e in _sources(embeddings)]
            if embed is not None and pictures is not None:
                with Encoder(c, embed, encoder) as e:
                    sources.append((e.pictures([str(p) for p in pictures]), e.name))
            detector = None if detections is None else ct.pointer(
                detection_options(inputs, detections, iou, score, rows, context))
            _lay_rows(inputs, sources, labels, probs, losses, ids, groups, images, class_names, {
                "coco": None if coco is None else json_file(inputs, coco, "coco"), "model": path_of(model),
                "embed": path_of(embed if pictures is None else None),
                "resize": resize, "crop": crop, "exif": reading[0], "pillow": reading[1], "skip": skip_unreadable,
                "skip_bad": skip_bad_rows, "logits": logits, "links": follow_links, "memory": limit,
                "encoder": ct.pointer(encoder), "detections": detector, "input": entering})
            if skip_bad_rows and inputs.feature is not None:
                _check_length(ids, len(inputs.feature), "ids")
            subject = Subject.read(c, inputs, ids is not None or is_path(images) or coco is not None)
            notes = [inputs.plain(text) for text in c.notes]
            if pictures is not None:
                _check_length(pictures, subject.c.n + subject.c.left_out, "images")
                subject._show(pictures if subject.kept is None else [pictures[i] for i in subject.kept])
            search = Search(text, several, class_number(class_, subject.names, "class_"), least, fit, limit, judged)
            held = Fitted(subject, search, threads, device)
            table = _begin(c, subject, inputs, out, replace)
            _attributes(c, held, inputs, attributes, table, picture_attributes)
            if config is None and not own and held.attributes.items and judged is not None:
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
    return Found(held, (heard, notes), None if out is None else os.fsdecode(out), embed, top)


def _check_length(words: Any, n: int, what: str) -> None:
    if isinstance(words, list) and len(words) != n:
        raise InputError(f"{what} has {len(words)} entries, and there are {n} rows; give one for each row, in their order")


def _begin(c: Context, subject: Subject, inputs: Inputs, out: Any, replace: bool) -> Optional[str]:
    """Checks the folder; the table of a detector's rows, which describes the slices."""
    if out is not None and not replace:
        check_folder(c, out, subject)
    if subject.instance is None:
        return None
    folder = inputs.folder() if out is None else os.fsdecode(out)
    c("spot_instances_write", ct.byref(subject.c), c_side.bytes_of(folder))
    return os.path.join(folder, "attributes.csv")


def _describe(c: Context, held: Fitted, said: Words) -> None:
    o = lib.spot_describe_defaults()
    kept = said.fill(c, o, held)
    if held.attributes.items:
        o.attributes = ct.pointer(held.attributes)
    if kept or held.attributes.items:
        c.patiently("spot_findings_describe", ct.byref(held.findings), ct.byref(held.subject.c), ct.byref(o))


def _write(c: Context, held: Fitted, out: Any, page: Optional[c_side.ReportOptions], replace: bool) -> None:
    c("spot_findings_write", path_of(out), ct.byref(held.findings), ct.byref(held.subject.c), ct.byref(held.options))
    if page is not None:
        write_report(c, held, os.path.join(os.fsdecode(out), "report.html"), page)
    if replace and held.subject.instance is None:
        c("spot_tables_drop", path_of(out))
