"""SpotCheck's data sets: images with known blindspots, as numpy arrays or a PyTorch Dataset."""
from __future__ import annotations

import ctypes as ct
import json
import numbers
from typing import Any, Callable, Iterable, List, Optional, Tuple

import numpy as np

from ._arrays import Array
from ._given import SEEDS, choice, flag, listed, plain, refuse, shown, whole
from ._library import SIZES, Config, Context, InputError, lib

INDICES = "a list of the numbers of images"
SPLITS = ("train", "val", "test")
IMAGE = np.dtype({"names": ["label", "train_label", "blindspots"], "formats": ["u1", "u1", "u4"],
                  "offsets": [SIZES[f"spot_image.{name}"] for name in ("label", "train_label", "blindspots")],
                  "itemsize": SIZES["spot_image"]})


class Scene:
    """One experimental configuration (EC): the images of a split can be drawn one by one, in any order, with the same bytes.

    settings: those of `scene` in a config (`spotter help config`): size, rollable, blindspots, specificity, per_bucket, ...

        s = Scene(seed=1, ec=0, size=64, blindspots=[1, 2])
        s.blindspots                       ['square above, square, circle blue, no text', ...]
        images, labels, masks = s.arrays("test", range(100))
        train = s.dataset("train", transform=...)          # a PyTorch Dataset
    """

    seed: int
    ec: Any
    config: Any

    def __init__(self, seed: int = 0, ec: int = 0, **settings: Any) -> None:
        seed, ec = whole(seed, "seed", 0, SEEDS - 1), whole(ec, "ec", 0, 2 ** 32 - 1)
        self.ec, self.seed, self._context = ct.create_string_buffer(SIZES["spot_ec"]), seed, Context("cpu", 0)
        self._whole = Config("spot_config")
        try:
            text = json.dumps({"seed": seed, "scene": settings} if settings else {"seed": seed}, default=plain).encode()
        except (TypeError, ValueError) as e:
            raise InputError(f"a setting of the scene is no number, text or list: {e}") from None
        self._context("spot_config_parse", self._whole.c, text, ct.c_size_t(len(text)), b"")
        self.config = (ct.c_char * SIZES["spot_scene_config"]).from_buffer(self._whole.c, SIZES["spot_config.scene"])
        self._context("spot_scene_check", self.config)
        self._context("spot_ec_draw", self.ec, self.config, ct.c_uint64(seed), ct.c_uint32(ec))

    @property
    def size(self) -> int:
        """Pixels a side."""
        return ct.c_int.from_buffer(self.config, SIZES["spot_scene_config.size"]).value

    @property
    def blindspots(self) -> List[str]:
        """A description of each blindspot, as in the tables."""
        text, said = ct.create_string_buffer(512), []
        for m in range(ct.c_int.from_buffer(self.ec, SIZES["spot_ec.blindspot_count"]).value):
            at = SIZES["spot_ec.blindspot"] + m * SIZES["spot_blindspot"]
            lib.spot_blindspot_describe(text, ct.c_size_t(512), ct.byref(self.ec, at))
            said.append(text.value.decode())
        return said

    def length(self, split: str) -> int:
        """Images of a split."""
        return (ct.c_int * len(SPLITS)).from_buffer(self.ec, SIZES["spot_ec.images"])[_split(split)]

    def _wanted(self, split: str, indices: Any) -> Any:
        if indices is None:
            return range(self.length(split))
        return listed(indices, "indices", INDICES)

    def _draw(self, split: str, indices: Any) -> Array:
        """The description of each image: an array of spot_image; IMAGE names some of its members."""
        images = np.zeros(len(indices), IMAGE)
        for k, i in enumerate(indices):
            if not isinstance(i, numbers.Integral) or not 0 <= i < self.length(split):
                raise InputError(f"there is no image {shown(i)}; {split} has {self.length(split)}")
            lib.spot_image_draw(ct.c_void_p(images[k:].ctypes.data), self.ec, ct.c_int(_split(split)), ct.c_uint32(int(i)))
        return images

    def arrays(self, split: str = "test", indices: Optional[Iterable[int]] = None) -> Tuple[Array, Array, Array]:
        """images (n, size, size, 3) uint8, labels (n,) uint8 (the truth), masks (n,) uint32: bit m is set in blindspot m."""
        wanted = self._wanted(split, indices)
        drawn = self._draw(split, wanted)
        rgb = np.zeros((len(wanted), self.size, self.size, 3), np.uint8)
        if len(wanted):
            self._context("spot_image_render", ct.c_void_p(rgb.ctypes.data), ct.c_void_p(drawn.ctypes.data),
                          ct.c_int(len(wanted)), self.config)
        return (rgb, *self._labels(drawn))

    def labels(self, split: str = "test", indices: Optional[Iterable[int]] = None) -> Tuple[Array, Array]:
        """The labels and masks of arrays(), without drawing."""
        return self._labels(self._draw(split, self._wanted(split, indices)))

    @staticmethod
    def _labels(drawn: Array) -> Tuple[Array, Array]:
        return drawn["label"].copy(), drawn["blindspots"].copy()

    def train_labels(self, indices: Optional[Iterable[int]] = None) -> Array:
        """(n,) uint8: the labels for training, wrong in blindspots."""
        drawn = self._draw("train", self._wanted("train", indices))
        return drawn["train_label"].copy()

    def dataset(self, split: str = "train", transform: Optional[Callable[[Array], Any]] = None,
                truth: bool = False) -> Any:
        """A torch.utils.data.Dataset of (image, label, mask). transform: gets the (size, size, 3) uint8 array; without one a
        float tensor (3, size, size) in 0..1. Labels are those for training, unless truth."""
        choice(split, "split", SPLITS)
        if transform is not None and not callable(transform):
            refuse(transform, "transform", "a function of an image")
        return _dataset(self, split, transform, flag(truth, "truth"))


def _split(name: str) -> int:
    return choice(name, "split", SPLITS)


def _dataset(scene: Scene, split: str, transform: Optional[Callable[[Array], Any]], truth: bool) -> Any:
    import torch

    class SceneDataset(torch.utils.data.Dataset):
        def __len__(self) -> int:
            return scene.length(split)

        def __getitem__(self, i: int) -> Any:
            if not 0 <= i < len(self):
                raise IndexError(i)
            drawn = scene._draw(split, [i])
            rgb = scene.arrays(split, [i])[0][0]
            x = transform(rgb) if transform else torch.from_numpy(rgb).permute(2, 0, 1).float().div_(255)
            return x, int(drawn["label" if truth else "train_label"][0]), int(drawn["blindspots"][0])

    return SceneDataset()
