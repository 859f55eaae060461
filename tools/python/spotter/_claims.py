"""A slice's description as a claim about new pictures or rows, and the test of it (include/spotter/claim.h)."""
from __future__ import annotations

import ctypes as ct
import html
import math
import numbers
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _library as c_side
from ._arrays import Array, as_array, floats, is_missing, matrix
from ._classifier import PREDICT, Classifier
from ._encoder import Encoder
from ._fitted import Fitted, Subject
from ._given import SEEDS, flag, listed, refuse, shown, text as as_text, whole
from ._given import level as as_level
from ._library import Context, InputError, lib, texts
from ._slices import Interval, Slice, frame

GROUPS = ("gathered", "control")
FUNCTION = 2                                           # SPOT_PREDICTOR_FUNCTION


class NewPicture(NamedTuple):
    """picture: its path below the folder, or its id. group: "gathered" or "control". similarity to the text: a cosine. wrong:
    bool, None where it is not known. predicted: the class that the classifier gives it, None where it is not known."""
    picture: str
    group: str
    similarity: float
    wrong: Optional[bool] = None
    predicted: Optional[str] = None


@dataclass(frozen=True)
class Count:
    """Of the pictures of a group whose answer is known: their number, the wrong ones, and the error rate, an Interval."""
    pictures: int
    wrong: int
    rate: Interval


@dataclass(frozen=True)
class Claim:
    """The claim that the classifier fails more often on pictures of `text`, and what new ones say of it.

    verdict: "confirmed on new data", "not confirmed on new data" or "too few pictures", which it is, too, where it is not known
    which pictures are wrong; confirmed: bool. p: Fisher's exact test, one-sided, of one claim: who tests several corrects for
    their number. gathered, control: Count. class_: name of the class, None for several. rate, class_rate: error rates of the
    slice and its class in fit. pictures: list of NewPicture, the gathered ones first; paths: their files, where they have such.
    model: name of the classifier; level: of the test. groups: list of the pictures' groups (judge), whose signs give p then;
    None: pictures are alone. slice: its number; None: the text is the user's own."""
    text: str
    class_: Optional[str]
    slice: Optional[int]
    slice_claim: Optional[str]
    rate: float
    class_rate: float
    folder: Optional[str]
    pictures: List[NewPicture]
    names: List[str]
    model: Optional[str] = None
    level: float = 0.05
    groups: Optional[List[Any]] = None

    def _rows(self) -> Any:
        return (c_side.NewPicture * len(self.pictures))(*[
            c_side.NewPicture(c_side.bytes_of(p.picture), GROUPS.index(p.group), p.similarity,
                              -1 if p.wrong is None else p.wrong, _bytes(p.predicted)) for p in self.pictures])

    def _test(self) -> c_side.ClaimTest:
        t = c_side.ClaimTest()
        for p in self.pictures:
            if p.wrong is not None:
                t.n[GROUPS.index(p.group)] += 1
                t.wrong[GROUPS.index(p.group)] += p.wrong
        lib.spot_claim_judge(ct.byref(t), ct.c_double(self.level))
        if self.groups is not None:
            first: Dict[str, int] = {}
            number = [i if is_missing(g) else first.setdefault(str(g), i) for i, g in enumerate(self.groups)]
            with Context("cpu", 0) as c:
                c("spot_claim_by_groups", ct.byref(t), self._rows(), ct.c_int(len(number)), (ct.c_int * len(number))(*number),
                  ct.c_double(self.level))
        return t

    @property
    def verdict(self) -> str:
        return lib.spot_claim_verdict_name(self._test().verdict).decode()

    @property
    def confirmed(self) -> bool:
        return self._test().verdict == 2

    @property
    def p(self) -> float:
        return self._test().p

    def _count(self, group: int) -> Count:
        t = self._test()
        return Count(t.n[group], t.wrong[group], Interval(t.rate[group].value, t.rate[group].low, t.rate[group].high))

    @property
    def gathered(self) -> Count:
        return self._count(0)

    @property
    def control(self) -> Count:
        return self._count(1)

    @property
    def paths(self) -> List[str]:
        return [p.picture if self.folder is None else str(Path(self.folder, p.picture)) for p in self.pictures]

    def judge(self, wrong: Any = None, probs: Any = None, model: Optional[str] = None, groups: Any = None) -> Claim:
        """The same claim with the answers of a classifier that has seen `paths`: wrong (n,): bool, None or NaN where it is not
        known; or probs (n, classes), in the order of fit's classes. model: its name, for the report. groups (n,): the video,
        patient or other group of each picture, since pictures of a group depend on each other."""
        n = len(self.pictures)
        if groups is not None:
            groups = listed(groups, "groups")
            if len(groups) != n:
                raise InputError(f"groups has {len(groups)} entries; there are {n} pictures")
            return replace(self.judge(wrong, probs, model), groups=groups)
        if (wrong is None) == (probs is None):
            raise InputError("give wrong or probs, one of them")
        if probs is not None:
            return replace(self, pictures=self._predicted(floats(as_array(probs, "probs"), "probs")), model=model)
        answers = as_array(wrong, "wrong").reshape(-1).tolist()
        if len(answers) != n:
            raise InputError(f"wrong has {len(answers)} entries; there are {n} pictures")
        odd = [v for v in answers if not (v is None or v != v or v in (0, 1))]
        if odd:
            raise InputError(f"wrong has {shown(odd[0])}; it takes 0, 1, and None where it is not known")
        known = [None if v is None or v != v else bool(v) for v in answers]
        return replace(self, pictures=[p._replace(wrong=v, predicted=None) for p, v in zip(self.pictures, known)], model=model)

    def _predicted(self, probs: Array) -> List[NewPicture]:
        if self.class_ is None:
            raise InputError("the claim is of no one class; give wrong, or gather with a label")
        n, label = len(self.pictures), _label(self)
        classes = len(self.names) or (max(label + 1, probs.shape[1]) if probs.ndim == 2 else label + 1)
        if probs.shape != (n, classes):
            raise InputError(f"probs has shape {probs.shape}; here are {n} pictures and {classes} classes")
        return [p._replace(wrong=bool(k != label), predicted=self.names[k] if self.names else str(k))
                for p, k in zip(self.pictures, probs.argmax(1))]

    def to_frame(self) -> Any:
        """The pictures as a pandas DataFrame: picture, group, similarity, wrong, predicted; `groups` where they have such."""
        columns = {name: [getattr(p, name) for p in self.pictures] for name in NewPicture._fields}
        return frame(columns if self.groups is None else {**columns, "groups": self.groups}, "to_frame")

    def report(self, path: Any) -> None:
        """Writes one HTML file with the gathered pictures and the controls side by side, as `spotter gather` does."""
        rows, test, how = self._rows(), self._test(), lib.spot_report_defaults()
        how.thumb = 96
        what = c_side.ClaimResult(c_side.bytes_of(self.text), _bytes(self.class_), None, _bytes(self.model), 0, self.rate,
                                  self.class_rate, c_side.bytes_of(self.folder or "."), rows, len(self.pictures), self.level,
                                  ct.pointer(test))
        with Context("cpu", 0) as c:
            c("spot_report_claim", c_side.bytes_of(path), ct.byref(what), ct.byref(how))

    def __repr__(self) -> str:
        a, b = self.gathered, self.control
        return (f"Claim({self.text!r}, class={self.class_!r}, gathered={a.wrong} of {a.pictures} wrong, control={b.wrong} of "
                f"{b.pictures} wrong, p={self.p:.3g}, verdict={self.verdict!r})")

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{k.pictures}</td><td>{k.wrong}</td><td>{k.rate.value:.0%} [{k.rate.low:.0%}, "
                       f"{k.rate.high:.0%}]</td></tr>" for name, k in zip(GROUPS, (self.gathered, self.control)))
        of = f", class {html.escape(self.class_)}" if self.class_ else ""
        return (f"<div><p>fails more often on <b>{html.escape(self.text)}</b>{of}: <b>{self.verdict}</b>, p = {self.p:.3g}</p>"
                "<table><thead><tr><th></th><th>pictures</th><th>wrong</th><th>rate [95 %]</th></tr></thead>"
                f"<tbody>{rows}</tbody></table></div>")


def _bytes(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else c_side.bytes_of(text)


def claim_of(slices: Sequence[Slice], which: Union[None, int, Slice], names: List[str], text: Optional[str], word: int,
             label: Optional[str], level: float) -> Claim:
    """The claim of a slice, or of a text, without pictures."""
    level = as_level(level)
    s, place = _slice_of(slices, which)
    if s is None:
        if text is None:
            raise InputError("nothing to claim: give a slice, or a text")
        return Claim(text, label, None, None, math.nan, math.nan, None, [], names, level=level)
    if text is None:
        if not s.words:
            raise InputError(f"slice {place} has no words; call describe(words) first, or give a text")
        if not isinstance(word, numbers.Integral) or not 1 <= word <= len(s.words):
            raise InputError(f"slice {place} has {len(s.words)} phrases; word={shown(word)} is not among them")
        text = s.words[word - 1]["phrase"]
    own = None if s.class_ < 0 or not names else s.name
    if own is not None and label is not None and label != own:
        raise InputError(f"slice {place} is of class {own!r}, but label is {label!r}")
    rate = s.proof.wrong / s.proof.judged if s.proof and s.proof.judged else s.error_rate
    return Claim(str(text), own if label is None else str(label), place, s.claim, rate,
                 s.proof.class_rate if s.proof else s.class_rate, None, [], names, level=level)


def _slice_of(slices: Sequence[Slice], which: Union[None, int, Slice]) -> Any:
    if which is None:
        return None, None
    if isinstance(which, Slice):
        return which, which.number
    if not isinstance(which, numbers.Integral) or not 1 <= which <= len(slices):
        raise InputError(f"there is no slice {shown(which)}; there are {len(slices)}, numbered from 1 as on the page")
    return slices[which - 1], int(which)


def _check_pick(most: int, seed: int) -> None:
    whole(most, "most", 1, 10 ** 6), whole(seed, "seed", 0, SEEDS - 1)


def _label(claim: Claim) -> int:
    """The output of the claim's class: its place in the classes of fit, or its number where fit had none."""
    if claim.class_ in claim.names:
        return claim.names.index(claim.class_)
    if claim.class_ is not None and not claim.names and claim.class_.isdigit():
        return int(claim.class_)
    raise InputError(f"there was no class {claim.class_!r} when this was fitted" if claim.names else
                     f"which output of the classifier is class {claim.class_!r}? fit knew no classes; give label as a number")


def check_class(claim: Claim, images: Any, label: Any) -> None:
    """Whether a classifier can be right or wrong on the pictures."""
    if claim.class_ is None:
        raise InputError(f"the claim is of no one class; give the class that the pictures of {images} show, as label")
    _label(claim)
    if label is None and not lib.spot_gather_has_class(c_side.bytes_of(images), c_side.bytes_of(claim.class_)):
        raise InputError(f"the slice is of class {claim.class_!r}, and {images} has no folder of that name; if all its "
                         "pictures show this class, give it as label")


def from_folder(claim: Claim, held: Fitted, gather: c_side.GatherOptions, predict: Optional[Callable[[Array], Any]],
                resize: int, crop: int) -> Claim:
    """Gathers, and measures where predict is given."""
    model = None if predict is None else Classifier(predict, None, crop)
    found = c_side.NewPictures()
    with held.context() as c:
        try:
            c.patiently("spot_gather", ct.byref(found), ct.byref(gather))
            if model is not None:
                _measure(c, found, claim, model, os.fsdecode(gather.images), resize, crop)
            pictures = [NewPicture(os.fsdecode(r.picture), GROUPS[r.group], r.similarity,
                                   None if r.wrong < 0 else bool(r.wrong),
                                   None if r.predicted is None else r.predicted.decode(errors="replace"))
                        for r in found.row[:found.n]]
        except Exception:
            if model is not None and model.failure is not None:
                raise model.failure from None
            raise
        finally:
            lib.spot_new_pictures_close(ct.byref(found))
        for warning in c.warnings:
            warnings.warn(warning, stacklevel=3)
    return replace(claim, folder=os.fsdecode(gather.images), pictures=pictures, model=_name_of(predict))


def _name_of(predict: Any) -> Optional[str]:
    return None if predict is None else getattr(predict, "__name__", type(predict).__name__)


def _measure(c: Context, found: c_side.NewPictures, claim: Claim, model: Classifier, folder: str, resize: int,
             crop: int) -> None:
    call, names = PREDICT(model._call), texts(claim.names)
    o = c_side.PredictorOptions(kind=FUNCTION, function=ct.cast(call, ct.c_void_p), outputs=model.widths[0], side=crop)
    how = c_side.MeasureOptions(ct.pointer(o), resize, b"predict", c_side.bytes_of(folder), names, len(claim.names),
                                _label(claim))
    c.patiently("spot_measure", ct.byref(found), ct.byref(how))


def from_rows(claim: Claim, held: Fitted, rows: Subject, text_embedding: Any, embed: Any, ids: Any, most: int,
              seed: int) -> Claim:
    """Rows in place of pictures: those of the claim's class where it has one."""
    if text_embedding is None:
        if embed is None:
            raise InputError(f"what is {claim.text!r} among these embeddings? give text_embedding, or a CLIP as embed")
        with held.context() as c, Encoder(c, embed) as e:
            text_embedding = e.words([claim.text])
    text: Any = matrix(np.reshape(as_array(text_embedding, "text_embedding"), (1, -1)), "text_embedding")[0].astype(np.float64)
    feature: Any = rows.feature.astype(np.float64)
    if len(text) != feature.shape[1]:
        raise InputError(f"text_embedding has {len(text)} numbers, and the rows have {feature.shape[1]}")
    whole = claim.class_ is None or not claim.names
    here = np.arange(len(feature)) if whole else np.flatnonzero(rows.target == _label(claim))
    norm = np.linalg.norm(feature[here], axis=1) * np.linalg.norm(text)
    similarity = np.ascontiguousarray(feature[here] @ text / np.where(norm > 0, norm, 1))
    pick, n = (c_side.Gathered * (2 * max(1, min(most, len(here)))))(), ct.c_int()
    with held.context() as c:
        c("spot_gather_pick", pick, ct.byref(n), similarity.ctypes.data_as(ct.c_void_p), ct.c_int(len(here)),
          ct.c_int(min(most, len(here))), ct.c_uint64(seed))
    wrong, predicted = rows.wrong(), rows.predictions()
    pictures = []
    for g in pick[:n.value]:
        i = int(here[g.picture])
        pictures.append(NewPicture(str(i) if ids is None else str(ids[i]), GROUPS[g.group], g.similarity, bool(wrong[i]),
                                   None if predicted is None else rows.names[predicted[i]]))
    return replace(claim, pictures=pictures)


@dataclass(frozen=True)
class RowClaim:
    """The claim that the classifier fails more often on the rows of a rule than on those of their class, judged on the rows of
    fit (include/spotter/claim.h).

    verdict: "confirmed", "suggested" or "chance"; confirmed: bool. rows (size,) int: those of the rule, wrong of them; rate:
    their share; class_rate: error rate of their classes; excess: rate less class_rate, an Interval, which is that of groups
    where rows have `groups`. p: of this claim alone; corrected_p: for all `rules` of at most two items of the table at once,
    NaN for a claim that is none of these."""
    rule: str
    class_: Optional[str]
    verdict: str
    rows: Array
    wrong: int
    class_rate: float
    excess: Interval
    groups: Optional[int]
    p: float
    corrected_p: float
    rules: int

    @property
    def confirmed(self) -> bool:
        return self.verdict == "confirmed"

    @property
    def rate(self) -> float:
        return self.wrong / len(self.rows)


class Gathers:
    """Of a Method: claims."""

    slices_: List[Slice]
    device: str
    threads: int
    _embed: Any

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    def _claim(self, which: Union[None, int, Slice], text: Optional[str], word: int, label: Any, level: float) -> Claim:
        names = self._fitted().subject.names
        s = _slice_of(self.slices_, which)[0] if text is None else None
        if s is not None and self._are_terms(s.words):
            raise InputError(f"the words of the slice, such as {s.words[0]['phrase']!r}, are terms of a column of text, which "
                             "need not be seen in a picture; say with text what is seen")
        return claim_of(self.slices_, which, [] if names == ["all"] else names, text, word,
                        None if label is None else str(label), level)

    def _are_terms(self, words: List[Dict[str, Any]]) -> bool:
        given = (c_side.Word * max(1, len(words)))(*[c_side.Word(phrase=c_side.bytes_of(w["phrase"])) for w in words])
        return bool(lib.spot_words_are_terms(ct.byref(self._fitted().attributes), given, ct.c_int(len(words))))

    def claim(self, rule: str, attributes: Any = None, level: float = 0.05, new: bool = False, seed: int = 0) -> RowClaim:
        """A claim of your own on the rows of fit, as `spotter claim` judges it: "apps & colour=grey", "class=apps & px=low",
        "brightness<0.2". attributes: path of a CSV with a record for each row, or "FILE.csv:COLUMN" with their ids; None: those
        that the methods of fit looked at. A rule of one or two items is corrected for all such rules of the table at once; any
        other is at most "suggested". new: the rows were collected after the claim was made: one test without correction."""
        held, said = self._fitted(), as_text(rule if isinstance(rule, str) else "", "rule")
        if not isinstance(rule, str):
            refuse(rule, "rule", "a text such as \"apps & colour=grey\"")
        options = c_side.RowClaimOptions(as_level(level), whole(seed, "seed", 0, SEEDS - 1), flag(new, "new"))
        s, k, table = held.subject.c, c_side.RowClaim(), c_side.Attributes()
        own = ct.byref(held.attributes if attributes is None else table)
        with Context(self.device, self.threads) as c:
            try:
                if attributes is not None:
                    c("spot_attributes_of_subject", own, c_side.bytes_of(attributes), ct.byref(s))
                c("spot_row_claim_read", ct.byref(k), ct.byref(s), own,
                  None if attributes is None else c_side.bytes_of(attributes), said)
                c.patiently("spot_row_claim_judge", ct.byref(k), ct.byref(s), own, ct.byref(options))
                rows = np.flatnonzero(np.ctypeslib.as_array(k.member, (s.n,)))
            finally:
                lib.spot_row_claim_close(ct.byref(k))
                lib.spot_attributes_close(ct.byref(table))
        return RowClaim(rule, None if k.cls < 0 else held.subject.names[k.cls], lib.spot_claim_name(k.verdict).decode(), rows,
                        k.wrong, k.class_rate, Interval(k.excess.value, k.excess.low, k.excess.high), k.groups or None, k.p,
                        k.corrected, int(k.rules))

    def gather(self, slice: Union[None, int, Slice] = 1, images: Any = None,
               predict: Optional[Callable[[Array], Any]] = None, text: Optional[str] = None, word: int = 1,
               label: Any = None, most: int = 40, seed: int = 0, level: float = 0.05, embed: Any = None, resize: int = 256,
               crop: int = 224) -> Claim:
        """Tests a slice's description on new pictures, as `spotter gather` does: those of the folder `images` that are nearest
        to the text, and as many random others as controls, by a CLIP (embed; None: that of fit). Pictures that fit had are left
        out. Where images has a folder with the name of the slice's class, only its pictures count; else label says which class
        all of them show.

        slice: its number, or a Slice; None: text alone. text: None takes the slice's phrase number `word`, from 1,
        which describe gave it. predict: a function from uint8 pictures (n, crop, crop, 3), RGB, to logits or probabilities
        (n, classes), in the order of fit's classes; pictures are resized to `resize` on the shorter side (0: not) and cut in
        the middle. None: which pictures are wrong stays unknown: let your classifier see claim.paths, then
        claim.judge(probs=...). most: gathered pictures, and as many controls, drawn by seed. level: of the test."""
        held, embed = self._fitted(), self._embed if embed is None else embed
        claim = self._claim(slice, text, word, label, level)
        _check_pick(most, seed), whole(resize, "resize", 0, 16384), whole(crop, "crop", 1, 4096)
        if predict is not None and not callable(predict):
            refuse(predict, "predict", "a function from pictures to probabilities")
        if images is None or embed is None:
            raise InputError("give the folder of new pictures (images) and a CLIP (embed), unless fit got one; for rows that "
                             "have features call gather_rows")
        if predict is not None:
            check_class(claim, images, label)
        o = c_side.GatherOptions(c_side.bytes_of(images), _bytes(claim.class_), c_side.bytes_of(claim.text),
                                 c_side.bytes_of(embed), None, most, seed, ct.pointer(held.subject.c))
        return from_folder(claim, held, o, predict, resize, crop)

    def gather_rows(self, slice: Union[None, int, Slice] = 1, embeddings: Any = None, targets: Any = None, probs: Any = None,
                    losses: Any = None, ids: Any = None, text: Optional[str] = None, text_embedding: Any = None, word: int = 1,
                    label: Any = None, most: int = 40, seed: int = 0, level: float = 0.05, embed: Any = None) -> Claim:
        """gather for new rows whose features and probabilities are there. embeddings (n, d): of the encoder of text_embedding
        (d,); None: the CLIP of embed, or of fit, encodes the text. targets, probs, losses, ids: as fit takes them; rows of the
        slice's class alone count. targets None: all rows are of the class label, or of the slice's. Rows must be new: those
        of fit are not left out. Other parameters as in gather."""
        held = self._fitted()
        claim = self._claim(slice, text, word, label, level)
        _check_pick(most, seed)
        feature = matrix(embeddings, "embeddings")
        if targets is None and claim.class_ is not None and claim.names:
            target: Any = [claim.names[_label(claim)]] * len(feature)
        else:
            target = None if targets is None else held.subject.labels_of(targets)
        rows = Subject(feature, target, probs, losses, ids, names=held.subject.names if target is not None else None)
        return from_rows(claim, held, rows, text_embedding, self._embed if embed is None else embed, ids, most, seed)
