"""What a fitted method gives away: tables, files, pages."""
from __future__ import annotations

import ctypes as ct
from typing import Any, List

import numpy as np

from . import _library as c_side
from ._arrays import Array
from ._fiftyone import write as write_fiftyone
from ._fitted import Fitted
from ._library import Context
from ._slices import Slice, as_html, columns, frame
from ._tables import row_table, write_parquet


class Results:
    """Of a Method."""

    slices_: List[Slice]
    labels_: Array
    device: str
    threads: int

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The slices as a pandas DataFrame, a row each: slice (its place in slices_), class, rank, size, wrong, error_rate,
        class_rate, share, mean_confidence, score, predicted, predicted_share; with proof also claim, p, judged, shrunk, cell,
        excess, excess_low, excess_high; after describe words, conjunction."""
        self._fitted()
        return frame(columns(self.slices_), "to_frame")

    def rows_frame(self) -> Any:
        """The rows of the slices as a pandas DataFrame, a row for each row of each slice: id (the user's, else the row's
        number), slice (its place in slices_)."""
        ids = self._fitted().subject.ids
        rows = np.concatenate([s.rows for s in self.slices_]) if self.slices_ else np.zeros(0, np.int32)
        return frame({"id": rows if ids is None else [ids[i] for i in rows],
                      "slice": np.repeat(np.arange(len(self.slices_)), [s.size for s in self.slices_])}, "rows_frame")

    def to_parquet(self, path: Any, rows: bool = False) -> None:
        """Writes one Parquet file, by pyarrow: the slices as to_frame has them; or the rows of fit in their order: id, image
        (where images were given), class, predicted (where known), confidence of the class, wrong, slice (as labels_, null for
        none) and slices (a list of all that have the row)."""
        held = self._fitted()
        write_parquet(row_table(held.subject, self.labels_, self.slices_) if rows else columns(self.slices_), path)

    def to_fiftyone(self, folder: Any, name: str = "spotter") -> None:
        """Writes metadata.json and samples.json into the folder, which FiftyOne imports as a data set:
        fiftyone.Dataset.from_dir(folder, dataset_type=fiftyone.types.FiftyOneDataset). After fit with images: a sample for each
        row, whose file is its picture, with the fields ground_truth and prediction (Classification), name (its id), row,
        confidence, wrong, slice (as labels_), and the tags "slice K" for each slice that has it, the claims of these, and
        "wrong". Of a detector's rows: a sample for each picture, with the fields objects and detections (Detections), whose
        boxes have these and an outcome and a reason. The table of to_frame is info["slices"]. Pictures stay where they are.
        fiftyone is not needed to write."""
        held = self._fitted()
        write_fiftyone(folder, name, held.subject, self.labels_, self.slices_, columns(self.slices_))

    def cluster_ids(self) -> Array:
        """(n,) int: the slice of each row of fit, as labels_, -1 for none, as cleanlab's Datalab takes it: find_issues(
        pred_probs=probs, issue_types={"underperforming_group": {"cluster_ids": found.cluster_ids()}})."""
        self._fitted()
        return self.labels_.astype(np.int64)

    def _repr_html_(self) -> str:
        return as_html(repr(self), self.slices_ if "_held" in self.__dict__ else [])

    def write(self, folder: Any) -> None:
        """slices.csv, slices.json, map.npy, fit.safetensors and config.yaml, the same bytes as `spotter discover` writes;
        and subject.safetensors, by which `spotter report` makes a page of several models. Of a detector's rows also rows.csv
        and attributes.csv."""
        held = self._fitted()
        with Context(self.device, self.threads) as c:
            if held.subject.instance is not None:
                c("spot_instances_write", ct.byref(held.subject.c), c_side.bytes_of(folder))
            c("spot_findings_write", c_side.bytes_of(folder), ct.byref(held.findings), ct.byref(held.subject.c),
              ct.byref(held.options))

    def report(self, path: Any, budget: int = 10_000_000, full: bool = False) -> None:
        """Writes one HTML file of at most about `budget` bytes."""
        held = self._fitted()
        one: List[Any] = [ct.pointer(thing) for thing in (held.subject.c, held.findings, held.options)]
        lists = [(type(p) * 1)(p) for p in one]
        how = c_side.ReportOptions(budget, full, 64, 0)
        with Context(self.device, self.threads) as c:
            c("spot_report_findings", c_side.bytes_of(path), ct.c_int(1), *lists, ct.byref(how))
