"""The discovery methods with scikit-learn's interface: fit, predict, score, get_params, set_params."""
from __future__ import annotations

import ctypes as ct
import inspect
import json
import sys
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, TypeVar, Union

import numpy as np

from . import _library as c_side
from . import _settings
from ._arrays import Array, columns_of, matrix
from ._claims import Gathers
from ._encoder import Encoder
from ._estimator import Estimator
from ._fitted import PROOF, Fitted, Search, Subject, config_of
from ._given import SEEDS, listed, refuse, shown, whole
from ._library import Context, InputError, lib, texts
from ._missing import not_fitted
from ._results import Results
from ._slices import Slice

Self = TypeVar("Self", bound="Method")


# Annotations as types, which typing's users and IDEs of a notebook read; Python 3.9 cannot.
_EVALUATED: Dict[str, Any] = {"eval_str": True} if sys.version_info >= (3, 10) else {}


class Method(Results, Gathers, Estimator):
    """A blindspot discovery method. Parameters that all have:

    n_slices: at most this many slices of each class. target_class: a class's number or name, "each", or "all" rows at once.
    seed: of whatever is random. device: "auto", "cpu" or "cuda". threads: 0 takes every core; results do not depend on it.
    proof: "cross": slices are found on each half of the rows and judged on the other half, and each has a `proof` and a
    `claim`; a number in (0, 1): found on the rest, judged on this share; None: not judged. chance: searches in errors without
    structure, 19 or more, which decide whether a claim is "suggested"; 0: none.
    classifier: a function from embeddings to probabilities, such as `predict_proba` of a fitted classifier, which is asked
    where fit, predict or score get neither probs nor losses; None. least: rows that a class must have to be examined.

    A method's own parameters are given by name; `help(spotter.PlaneSpot)` tells them with their ranges. Groups are dicts, as
    in mixture={"k_max": 20}. A class is made of the library's table of settings: `class Mine(Method): method = "mine"` is all
    that a method added to the library needs.

    After fit: slices_ (list of Slice by their numbers, the gravest first; with proof, the surest claim first), labels_ (n,)
    int: the place in slices_ of each row's first slice, -1 for none; map_ (n, 2): first two columns of the map, NaN where none
    was made; warnings_, left_out_ (classes that were not examined): list of str; failures_: {class: why}; n_features_in_: int.
    A fitted object can be pickled, copied and kept by joblib; it holds the rows that fit got."""

    method: Optional[str] = None
    _representation = "model"

    slices_: List[Slice]
    labels_: Array
    map_: Array
    warnings_: List[str]
    left_out_: List[str]
    failures_: Dict[str, str]
    n_features_in_: int

    def __init__(self, n_slices: int = 10, target_class: Union[int, str] = "each", seed: int = 0, device: str = "auto",
                 threads: int = 0, proof: Union[None, str, float] = None, chance: int = 0,
                 classifier: Optional[Callable[[Any], Any]] = None, least: int = 20) -> None:
        self.n_slices = n_slices
        self.target_class = target_class
        self.seed = seed
        self.device = device
        self.threads = threads
        self.proof = proof
        self.chance = chance
        self.classifier = classifier
        self.least = least

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        method = vars(cls).get("method")
        if method is None or "__init__" in vars(cls):
            return
        cls.__init__ = _settings.constructor(cls, _settings.signature(          # type: ignore[method-assign]
            method, inspect.signature(Method.__init__, **_EVALUATED)))
        if _settings.methods()[method]["representation"].default == "attributes":
            cls._representation = "attributes"
        cls.__doc__ = f"{cls.__doc__ or method}\n\n{_settings.document(method)}\n\n{Method.__doc__}"

    # --- The method as a config says it.
    def _text(self) -> bytes:
        settings = _settings.methods()[self.method] if self.method else {}
        entry: Dict[str, Any] = {"method": self.method, "representation": self._representation, "top": self.n_slices}
        for name, value in self.get_params().items():
            s = next((s for s in settings.values() if s.parameter == name), None)
            if s is not None and not _is_default(s, value):
                entry[s.name] = _plain(s, value)
        try:
            return json.dumps({"seed": self.seed, "bdms": [entry]}, default=_number).encode()   # JSON is YAML
        except TypeError as e:
            raise InputError(f"a setting is no number, text or dict: {e}") from None

    def _check(self) -> None:
        """A wrong parameter is told before long work begins."""
        whole(self.threads, "threads", 0, 1024), whole(self.least, "least", 1), whole(self.chance, "chance", 0, 100000)
        whole(self.seed, "seed", 0, SEEDS - 1)
        if self.classifier is not None and not callable(self.classifier):
            refuse(self.classifier, "classifier", "a function from embeddings to probabilities")
        config_of(self._text()), self._proof()

    def _proof(self) -> Optional[Dict[str, Any]]:
        if self.proof is None:
            if self.chance:
                raise InputError("chance decides between claims, which need a proof; give proof=\"cross\" or a share of the "
                                 "rows")
            return None
        o = lib.spot_proof_defaults()
        if isinstance(self.proof, str) and self.proof == "cross":
            o.parts = 2
        elif isinstance(self.proof, (int, float)) and 0 < self.proof < 1:
            o.parts, o.holdout = 1, self.proof
        else:
            raise InputError(f"proof is {shown(self.proof)}; it is None, \"cross\", or the share of the rows that judge, in "
                             "(0, 1)")
        o.chance, o.seed = self.chance, self.seed
        return {name: getattr(o, name) for name in PROOF}

    def fit(self: Self, embeddings: Any = None, targets: Any = None, probs: Any = None, losses: Any = None, ids: Any = None,
            images: Any = None, class_names: Optional[Sequence[str]] = None, groups: Any = None, embed: Any = None) -> Self:
        """embeddings (n, d): what the model, or any other, makes of each image. targets (n,): true classes, numbers from 0 or
        words; None: all of one. probs (n,): the probability of class 1 where there are two classes, else of the true one; or
        (n, classes), a column for each class by number, or by its word in alphabetical order; columns of a data frame that are
        called as the classes, or so behind a prefix, may come in any order. class_names: names of the classes in the order of
        their numbers and columns; None: the targets tell. losses (n,): cross-entropy in their place. ids, images (n,): names of
        the rows, paths of their pictures, for reports. groups (n,): words or numbers; rows with an equal one depend on each
        other, as frames of a video do, and stay together in a proof; a row with a missing one is alone. embed: path of an
        encoder, a CLIP, a ResNet or AlexNet in .safetensors, which makes the embeddings of `images`; given in their place.
        numpy arrays, lists, data frames, or tensors with DLPack. Returns self."""
        self._check()
        named = columns_of(embeddings)
        embeddings, name = self._encoded(embeddings, images, embed)
        subject = Subject(embeddings, targets, self._asked(embeddings, probs, losses), losses, ids, images, class_names,
                          groups=groups)
        subject.c.encoder = name
        self.fit_subject(subject)
        self._embed = embed
        if named is not None:
            self.feature_names_in_ = named
        return self

    def fit_subject(self: Self, subject: Subject) -> Self:
        """fit on rows that are together already, as those of spotter.detections are. Returns self."""
        self._check()
        search = Search(self._text(), [self.seed], class_number(self.target_class, subject.names, "target_class"), self.least,
                        proof=self._proof())
        self.close()
        held = Fitted(subject, search, self.threads, self.device)
        with held.context() as c:
            held.run(c)
        self.warnings_ = [*subject.heard, *c.warnings]
        for text in self.warnings_:
            warnings.warn(text, stacklevel=3)
        self._held, self._embed = held, None
        self.n_features_in_ = subject.c.d
        self.__dict__.pop("feature_names_in_", None)
        self._read(held)
        return self

    def _asked(self, embeddings: Any, probs: Any, losses: Any) -> Any:
        """probs, or what the classifier gives."""
        if probs is None and losses is None and self.classifier is not None:
            return self.classifier(embeddings)
        return probs

    def _encoded(self, embeddings: Any, images: Any, embed: Any, name: Optional[bytes] = None) -> tuple:
        """Rows, and the name of their encoder; name: what it has to be."""
        if (embeddings is None) == (embed is None):
            raise InputError("give embeddings, or an encoder (embed) and the paths of its pictures (images); one of the two")
        if embed is None:
            return embeddings, b""
        if images is None:
            raise InputError(f"{embed} makes embeddings of pictures; give their paths as images")
        with Context(self.device, self.threads) as c, Encoder(c, embed) as e:
            self._check_encoder(e, name)
            return e.pictures([str(path) for path in listed(images, "images", "a list of paths")]), e.name

    def _check_encoder(self, e: Encoder, name: Optional[bytes]) -> None:
        if name is not None and e.name != name:
            raise InputError(f"{self._embed} is another encoder now ({e.name.decode()}) than in fit ({name.decode()})")

    def describe(self: Self, words: Optional[Sequence[str]] = None, word_embeddings: Any = None, attributes: Any = None,
                 embeddings: Any = None, phrases: int = 5, rounds: int = 999) -> Self:
        """Gives each of slices_ its `words` and its `conjunction`, which write and report then show, too. words: list of str;
        word_embeddings (len(words), d): their features, of the encoder whose features of the rows are `embeddings` (n, d);
        None: those that fit got. After fit with a CLIP as embed, words alone are enough: it encodes them. attributes:
        path of a CSV with a record for each row, or "FILE.csv:COLUMN" with their ids. phrases: at most this many
        of a slice; rounds: random groups for the p-values. Returns self."""
        held = self._fitted()
        subject, findings = held.subject, held.findings
        options = lib.spot_describe_defaults()
        table = c_side.Attributes()
        keep: List[Any] = []
        words = None if words is None else listed(words, "words", "a list of phrases")
        if words is not None and word_embeddings is None and embeddings is None and self._embed is not None:
            with Context(self.device, self.threads) as c, Encoder(c, self._embed) as e:
                self._check_encoder(e, subject.c.encoder)
                word_embeddings = e.words(words)
        if (words is None) != (word_embeddings is None):
            raise InputError("give words together with word_embeddings")
        if words is None and attributes is None:
            raise InputError("nothing to describe with: give words and word_embeddings, or attributes")
        if words is not None:
            text = matrix(word_embeddings, "word_embeddings")
            feature = subject.feature if embeddings is None else matrix(embeddings, "embeddings")
            if len(text) != len(words) or len(feature) != subject.c.n or text.shape[1] != feature.shape[1]:
                raise InputError(f"{len(words)} words, their features of shape {text.shape} and those of the rows, "
                                 f"{feature.shape}, do not belong together; there are {subject.c.n} rows")
            keep = [text, feature, texts(words)]
            options.text, options.feature, options.phrase = text.ctypes.data, feature.ctypes.data, keep[2]
            options.phrases, options.d = len(words), text.shape[1]
        options.most, options.rounds = whole(phrases, "phrases", 1, 100), whole(rounds, "rounds", 1, 10 ** 7)
        with Context(self.device, self.threads) as c:
            if attributes is not None:
                c("spot_attributes_read", ct.byref(table), c_side.bytes_of(attributes), subject.c.id, subject.c.n)
                options.attributes = ct.pointer(table)
            try:
                c.patiently("spot_findings_describe", ct.byref(findings), ct.byref(subject.c), ct.byref(options))
            finally:
                lib.spot_attributes_close(ct.byref(table))
        self._describe_again(held)
        return self

    def _new_rows(self, embeddings: Any, targets: Any, probs: Any, losses: Any, images: Any) -> Subject:
        held = self._fitted()
        if images is not None:
            embeddings, _ = self._encoded(embeddings, images, self._embed, held.subject.c.encoder)
        if targets is not None:
            targets = held.subject.labels_of(targets)
        feature = matrix(embeddings, "embeddings")
        if feature.shape[1] != self.n_features_in_:
            raise InputError(f"X has {feature.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                             "features as input")
        names = None if targets is None or held.subject.names == ["all"] else held.subject.names
        return Subject(feature, targets, self._asked(embeddings, probs, losses), losses, names=names)

    def predict(self, embeddings: Any = None, targets: Any = None, probs: Any = None, losses: Any = None,
                images: Any = None) -> Array:
        """Rows that were not there before, into the slices: (n, len(slices_)) uint8, 1 where row i belongs to slice j. Arrays
        as fit takes them, of the same features; classes by the same numbers or words. images: paths of pictures in place of
        embeddings, after fit with embed. After fit with proof a row belongs where most of its five nearest rows of its class
        do."""
        held = self._fitted()
        return held.assign(self._new_rows(embeddings, targets, probs, losses, images), targets is not None)

    def score(self, embeddings: Any = None, targets: Any = None, probs: Any = None, losses: Any = None,
              images: Any = None) -> float:
        """How much of what is wrong in these rows lies where the slices expect it: the share of all wrong rows that the failing
        slices hold, those with a higher error rate than their class in fit, less the share expected of as many rows of the
        same classes. 0: no more than chance; below 1. A row belongs to a slice where most of its five nearest rows of its
        class do, so its own probabilities do not decide where it lies. NaN where no row is wrong."""
        held, new = self._fitted(), self._new_rows(embeddings, targets, probs, losses, images)
        wrong: Any = new.wrong()
        member = held.blind_member(new, targets is not None)
        failing = np.array([s.error_rate > s.class_rate for s in self.slices_], bool)
        inside: Any = member[:, failing].any(1)
        expected = sum(wrong[new.target == k].mean() * inside[new.target == k].sum() for k in np.unique(new.target))
        return float((wrong[inside].sum() - expected) / wrong.sum()) if wrong.any() else float("nan")

    def fit_predict(self, embeddings: Any = None, targets: Any = None, probs: Any = None, losses: Any = None, ids: Any = None,
                    images: Any = None, class_names: Optional[Sequence[str]] = None, groups: Any = None,
                    embed: Any = None) -> Array:
        """labels_ of fit: (n,) int, the slice of each row, -1 for none."""
        return self.fit(embeddings, targets, probs, losses, ids, images, class_names, groups, embed).labels_

    def _fitted(self) -> Fitted:
        if "_held" not in self.__dict__:
            raise not_fitted()(f"{type(self).__name__} was not fitted; call fit first")
        return self.__dict__["_held"]

    def close(self) -> None:
        """Frees the data of fit that predict, write and report use; also done when the object is deleted."""
        self.__dict__.pop("_held", None)


def class_number(wanted: Union[int, str], names: Sequence[str], called: str) -> int:
    """Of a class by name or number, of "each", of "all" rows at once, of "both"."""
    if not isinstance(wanted, (int, str, np.integer, np.str_)):
        refuse(wanted, called, "the name or number of a class, \"each\", \"all\" or \"both\"")
    if wanted in ("both", "each", "all"):
        return {"both": -3, "each": -2, "all": -1}[str(wanted)]
    if str(wanted) in names:
        return list(names).index(str(wanted))
    if isinstance(wanted, (int, np.integer)) and 0 <= wanted < len(names):
        return int(wanted)
    raise InputError(f"{called} {shown(wanted)} is none of the classes: {', '.join(names[:20])}")


def _is_default(s: _settings.Setting, value: Any) -> bool:
    return type(value) is type(s.preset) and bool(value == s.preset)


def _plain(s: _settings.Setting, value: Any) -> Any:
    """A value for a config; a list would be a grid of several methods there."""
    if isinstance(value, (list, tuple)) and s.kind not in ("range", "span"):
        raise InputError(f"{s.parameter} is {value!r}; it takes {'a dict' if s.settings is not None else s.takes}")
    if s.settings is not None and not isinstance(value, dict):
        raise InputError(f"{s.parameter} is {value!r}; it takes a dict with {', '.join(one.name for one in s.settings)}")
    if s.settings is None:
        return value
    inner = {one.name: one for one in s.settings}
    for name in value:
        if name not in inner:
            raise _settings.no_parameter(s.parameter, str(name), inner)
    return {name: _plain(inner[name], v) for name, v in value.items()}


def _number(value: Any) -> Any:
    """A numpy number in a setting."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r}")
