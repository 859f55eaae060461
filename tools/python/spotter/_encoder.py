"""Rows of an encoder in .safetensors: pictures by a CLIP, a ResNet or AlexNet, words by a CLIP."""
from __future__ import annotations

import ctypes as ct
from typing import Any, Sequence

import numpy as np

from . import _library as c_side
from ._arrays import Array
from ._library import Context, lib


class Encoder:
    """An open encoder: `with Encoder(c, path) as e`, c an open Context."""

    def __init__(self, c: Context, path: Any, options: Any = None) -> None:
        self.context, self.at = c, ct.c_void_p()
        options = lib.spot_encoder_defaults() if options is None else options
        c.patiently("spot_encoder_open", ct.byref(self.at), c_side.bytes_of(path), ct.byref(options))
        self.info = lib.spot_encoder_about(self.at).contents

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *_: Any) -> None:
        lib.spot_encoder_close(ct.byref(self.context.c), self.at)

    @property
    def name(self) -> bytes:
        return bytes(self.info.name)

    def pictures(self, paths: Sequence[str], box: Any = None) -> Array:
        """(n, dim) float32; paths: list of str; box (n, 4) float32: the part of each picture in pixels."""
        out = np.zeros((len(paths), self.info.dim), np.float32)
        names, box = c_side.texts(paths), None if box is None else np.ascontiguousarray(box, np.float32)
        what = c_side.EncoderPictures(path=names, n=len(paths), feature=out.ctypes.data,
                                      box=None if box is None else box.ctypes.data)
        self.context.patiently("spot_encode_pictures", self.at, ct.byref(what))
        return out

    def words(self, words: Sequence[str]) -> Array:
        """(n, dim) float32; words: list of str."""
        out = np.zeros((len(words), self.info.dim), np.float32)
        self.context.patiently("spot_encode_texts", self.at, ct.c_void_p(out.ctypes.data), c_side.texts(words),
                               ct.c_int(len(words)))
        return out
