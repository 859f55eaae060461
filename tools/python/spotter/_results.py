"""What a fitted method gives away: tables, files, pages."""
from __future__ import annotations

import ctypes as ct
import os
from typing import Any, Dict, List, Optional

import numpy as np

from . import _library as c_side
from ._arrays import Array
from ._files import tidy
from ._fiftyone import write as write_fiftyone
from ._fitted import Fitted, Subject
from ._given import choice, flag, real, text
from ._library import Context, lib
from ._slices import Slice, as_html, columns, frame, taken_for
from ._tables import row_table, write_parquet


MATTES = ("none", "white", "black")
PAGE_ADVICE = b"choose another name, or give replace=True"


def page_options(budget: float, full: bool, matte: str, title: Optional[str], model_name: Optional[str],
                 data_name: Optional[str], date: Optional[str]) -> c_side.ReportOptions:
    how = lib.spot_report_defaults()
    how.budget, how.full, how.matte = int(real(budget, "budget", 1, 4e9)), flag(full, "full"), choice(matte, "matte", MATTES)
    how.title, how.data, how.date = text(title, "title"), text(data_name, "data_name"), text(date, "date")
    if model_name is not None:
        how.model, how.models = (ct.c_char_p * 1)(text(model_name, "model_name")), 1
    return how


def write_report(c: Context, held: Fitted, path: Any, how: c_side.ReportOptions) -> None:
    one: List[Any] = [ct.pointer(thing) for thing in (held.subject.c, held.findings, held.options)]
    c("spot_report_findings", c_side.bytes_of(path), ct.c_int(1), *[(type(p) * 1)(p) for p in one], ct.byref(how))


def check_folder(c: Context, out: Any, subject: Subject) -> None:
    """InputError where a folder holds findings of other rows, or files of others."""
    c("spot_findings_check", c_side.bytes_of(out), ct.byref(subject.c))
    if subject.instance is not None:
        c("spot_tables_check", c_side.bytes_of(out))


class Results:
    """Of a Method. classes_: the errors of each class, entries_: causes, each a list of dict in the words of slices.json;
    summary_: at most five sentences."""

    slices_: List[Slice]
    labels_: Array
    classes_: List[Dict[str, Any]]
    entries_: List[Dict[str, Any]]
    summary_: List[str]
    _order: List[Any]                              # (finding, place in it) of each of slices_
    map_: Array
    left_out_: List[str]
    failures_: Dict[str, str]
    device: str
    threads: int

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The slices as a pandas DataFrame, a row each, in the words of slices.json: number, entry, class, rank, size, wrong,
        error_rate, class_rate, share_of_errors, mean_confidence, score, predicted, predicted_share, suspect,
        error_rate_without, method; with proof also claim, corrected_p, judged, judged_wrong, excess, excess_low, excess_high,
        to_expect, expected_rate; after
        describe words, conjunction."""
        self._fitted()
        return frame(columns(self.slices_), "to_frame")

    @property
    def suspect_labels_(self) -> Dict[int, str]:
        """Rows of fit whose label may be wrong, in their order, and the class that each seems to have: confident learning and
        most of the row's nearest neighbours say it (include/spotter/discover.h). Empty where probs do not tell."""
        held = self._fitted()
        x = held.findings.suspects
        return {x.row[i]: held.subject.names[x.cls[i]] for i in range(x.count)}

    def rows_frame(self) -> Any:
        """The rows of the slices as a pandas DataFrame, a row for each row of each slice: id (the user's, else the row's
        number), number (the slice's, from 1)."""
        ids = self._fitted().subject.ids
        rows = np.concatenate([s.rows for s in self.slices_]) if self.slices_ else np.zeros(0, np.int32)
        return frame({"id": rows if ids is None else [ids[i] for i in rows],
                      "number": np.repeat([s.number for s in self.slices_], [s.size for s in self.slices_])}, "rows_frame")

    def to_parquet(self, path: Any, rows: bool = False) -> None:
        """Writes one Parquet file, by pyarrow: the slices as to_frame has them; or the rows of fit in their order: id, image
        (where images were given), class, predicted (where known), confidence of the class, wrong, slice (the number of the
        first that has the row, null for none) and slices (the numbers of all that have it)."""
        held = self._fitted()
        path = os.fsdecode(c_side.bytes_of(path))
        whole = flag(rows, "rows")
        write_parquet(row_table(held.subject, self.labels_, self.slices_) if whole else columns(self.slices_), path)

    def to_fiftyone(self, folder: Any, name: str = "spotter") -> None:
        """Writes metadata.json and samples.json into the folder, which FiftyOne imports as a data set:
        fiftyone.Dataset.from_dir(folder, dataset_type=fiftyone.types.FiftyOneDataset). After fit with images: a sample for each
        row, whose file is its picture, with the fields ground_truth and prediction (Classification), name (its id), row,
        confidence, wrong, slice (as labels_), and the tags "slice K" for each slice that has it, the claims of these, and
        "wrong". Of a detector's rows: a sample for each picture, with the fields objects and detections (Detections), whose
        boxes have these and an outcome and a reason. The table of to_frame is info["slices"]. Pictures stay where they are.
        fiftyone is not needed to write."""
        held = self._fitted()
        text(name, "name")
        write_fiftyone(os.fsdecode(c_side.bytes_of(folder)), str(name), held.subject, self.labels_, self.slices_,
                       columns(self.slices_))

    def _read(self, held: Fitted) -> None:
        """slices_ by their numbers, and what comes with them."""
        told = held.told()
        n, subject, order = held.subject.c.n, held.subject, held.order()
        self.slices_, self._order = [], order
        c_findings, findings = list(held.each()), told["findings"]
        wrong, predicted = subject.wrong(), subject.predictions()
        for i, k in order:
            s = c_findings[i].slice[k]
            rows = np.ctypeslib.as_array(s.row, (s.size,)).copy() if s.size else np.zeros(0, np.int32)
            self.slices_.append(Slice(findings[i]["slices"][k], findings[i], rows,
                                      taken_for(subject.names, wrong, predicted, rows)))
        self.failures_ = {"all" if f["class"] is None else f["class"]: f["message"] for f in findings if "message" in f}
        made = held.findings.map
        self.map_ = np.ctypeslib.as_array(made, (n, 2)).copy() if made else np.full((n, 2), np.nan, np.float32)
        self.left_out_ = [one["class"] for one in told["left_out"]]
        self._number(told, n)

    def _number(self, told: Dict[str, Any], n: int) -> None:
        self.labels_ = np.full(n, -1, np.int32)
        for k, one in enumerate(self.slices_):
            self.labels_[one.rows[self.labels_[one.rows] < 0]] = k
        self.classes_, self.entries_, self.summary_ = told["classes"], told["entries"], told["summary"]

    def _describe_again(self, held: Fitted) -> None:
        """Words may make one entry of several slices, which numbers them anew."""
        told, known, self._order = held.told(), dict(zip(self._order, self.slices_)), held.order()
        for (i, k), one in known.items():
            now = told["findings"][i]["slices"][k]
            one.number, one.entry = now["number"], now["entry"]
            one.read_description(now)
        self.slices_ = [known[at] for at in self._order]
        self._number(told, held.subject.c.n)

    def cluster_ids(self) -> Array:
        """(n,) int: the slice of each row of fit, as labels_, -1 for none, as cleanlab's Datalab takes it: find_issues(
        pred_probs=probs, issue_types={"underperforming_group": {"cluster_ids": found.cluster_ids()}})."""
        self._fitted()
        return self.labels_.astype(np.int64)

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.slices_ if "_held" in self.__dict__ else [])

    def write(self, folder: Any, replace: bool = False) -> None:
        """slices.csv, slices.json, map.npy, fit.safetensors and config.yaml, the same bytes as `spotter discover` writes;
        and subject.safetensors, by which `spotter report` makes a page of several models. Of a detector's rows also rows.csv
        and attributes.csv. A folder with findings of other rows, or with files of others that have these names, is an
        InputError; replace: they are written over."""
        held = self._fitted()
        with Context(self.device, self.threads) as c:
            if not flag(replace, "replace"):
                check_folder(c, folder, held.subject)
            tidy(folder)
            if held.subject.instance is not None:
                c("spot_instances_write", ct.byref(held.subject.c), c_side.bytes_of(folder))
            c("spot_findings_write", c_side.bytes_of(folder), ct.byref(held.findings), ct.byref(held.subject.c),
              ct.byref(held.options))

    def report(self, path: Any, budget: int = 10_000_000, full: bool = False, matte: str = "none", title: Optional[str] = None,
               model_name: Optional[str] = None, data_name: Optional[str] = None, date: Optional[str] = None,
               replace: bool = False) -> None:
        """Writes one HTML file of at most about `budget` bytes; full: all pictures, whatever its size. matte: colour behind
        transparent pixels, "none", "white" or "black". title, model_name, data_name, date: what the page says of itself. A
        file that is no page of spotter is an InputError; replace: it is written over."""
        with Context(self.device, self.threads) as c:
            if not flag(replace, "replace"):
                c("spot_report_place", c_side.bytes_of(path), PAGE_ADVICE)
            write_report(c, self._fitted(), path, page_options(budget, full, matte, title, model_name, data_name, date))
