"""Phrases that describe slices, and their features and those of the rows."""
from __future__ import annotations

import ctypes as ct
from typing import Any, List, Optional, Tuple

import numpy as np

from . import _library as c_side
from ._arrays import Array, matrix
from ._encoder import Encoder
from ._fitted import Fitted
from ._given import is_path, listed, refuse, words_of_file
from ._library import Context, InputError, lib, texts


class Words:
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
            words = words_of_file(words, "words")
        each = listed(words, "words", "a list of phrases, or a file")
        odd = next((w for w in each if not isinstance(w, str)), None)
        if odd is not None:
            refuse(odd, "a phrase of words", "a text")
        self.words = [str(w) for w in each if w]
        if encoder is not None:
            self.words = list(dict.fromkeys(self.words))

    def fill(self, c: Context, o: c_side.DescribeOptions, held: Fitted) -> List[Any]:
        """Fills the options; returns what they point to."""
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
