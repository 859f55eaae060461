#!/usr/bin/python3
"""background_numbers.py predict DIR | check RUN WORLD DIR: a run of backgrounds computed again in NumPy and PIL, for
tests/test_background_numbers.sh. predict: a model by the protocol of include/spotter/predictor.h, which keeps the pictures that
it sees in DIR. check: the chosen backgrounds, every picture but noise, distances, answers and all numbers of the run."""
import glob
import io
import json
import math
import os
import struct
import sys

import numpy as np
from PIL import Image

from backgrounds_world import CLASSES, answer
from tensor_files import read as tensors
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from philox import Philox  # noqa: E402

SETS = ["original", "only-fg", "no-fg", "mixed-same", "mixed-rand", "mixed-next", "plain", "noise", "blurred",
        "only-bg-b", "only-bg-t", "noise-fg", "noise-bg"]
REST = ["original", "no-fg", "only-bg-b", "only-bg-t", "noise-fg", "noise-bg"]     # no blends


OWN = 1000                 # places of blends with backgrounds of the own class


def check(good, *words):
    if not good:
        print(*words)
        sys.exit(1)


# ---- a model ----

def logits_of(rgb):
    """Looks at the object and the corners; the sum of all bytes disturbs it, so that its numbers are not 0 or 1."""
    total = rgb.reshape(len(rgb), -1).sum(1, dtype=np.int64)[:, None] % 100000
    return (answer(rgb, 0.45)[0] + 1.6 * np.sin(total * [1, 2, 3])).astype("<f4")


def predict(folder):
    pipe, calls = sys.stdin.buffer, 0
    os.makedirs(folder)
    while len(head := pipe.read(10)) == 10:
        shape = eval(pipe.read(struct.unpack("<H", head[8:])[0]).decode(), {"__builtins__": {}}, {})["shape"]
        rgb = np.frombuffer(pipe.read(math.prod(shape)), np.uint8).reshape(shape)
        np.save(f"{folder}/{calls:05d}.npy", rgb)
        calls += 1
        for v in (logits_of(rgb), np.zeros((len(rgb), 0), "<f4"), np.zeros((len(rgb), 0), "<f4")):
            out = io.BytesIO()
            np.save(out, v)
            sys.stdout.buffer.write(out.getvalue())
        sys.stdout.buffer.flush()


# ---- pictures ----

def square(path, size):
    """(rgb, alpha) as PIL squashes them."""
    whole = Image.open(path)
    alpha = whole.getchannel("A") if whole.mode == "RGBA" else None
    return [v and np.asarray(v.resize((size, size), Image.BILINEAR)).astype(int) for v in (whole.convert("RGB"), alpha)]


def blend(target, mask, back):
    """By the mask alone, rounded half up."""
    m = mask[:, :, None]
    return (2 * (m * target + (255 - m) * back) + 255) // 510


def tiled(rgb, mask):
    """The object's box filled with the largest strip beside it."""
    ys, xs = np.nonzero(mask >= 128)
    top, end, left, right = ys.min(), ys.max() + 1, xs.min(), xs.max() + 1
    strips, out = [rgb[:, :left], rgb[:, right:], rgb[:top], rgb[end:]], rgb.copy()
    tile = max(strips, key=lambda v: v.shape[0] * v.shape[1])
    y, x = np.mgrid[:end - top, :right - left]
    out[top:end, left:right] = tile[y % len(tile), x % tile.shape[1]]
    return out


def boxed(rgb, mask):
    ys, xs = np.nonzero(mask >= 128)
    out = rgb.copy()
    out[ys.min():ys.max() + 1, xs.min():xs.max() + 1] = 0
    return out


def blurred(rgb, mask, size):
    """A Gaussian of 1/16 of the side over what is no object."""
    sigma = size / 16
    tap = np.exp(-np.arange(-int(3 * sigma), int(3 * sigma) + 1)**2 / (2 * sigma**2))
    free = (mask < 128).astype(float)

    def smooth(v):
        for axis in 0, 1:
            v = np.apply_along_axis(lambda line: np.convolve(line, tap, "same"), axis, v)
        return v
    near = smooth(free)
    mean = np.stack([smooth(free * rgb[:, :, k]) / np.where(near > 0, near, 1) for k in range(3)], 2)
    return np.where(near[:, :, None] > 0, np.floor(mean + 0.5), 128).astype(int)


def unit(v):
    return v / math.sqrt((v * v).sum()) if (v * v).sum() > 1e-12 else 0 * v


def pixels(rgb):
    """The row of the encoder "pixels"."""
    n = len(rgb)
    cut = [slice(k * n // 8, (k + 1) * n // 8) for k in range(8)]
    colour = np.array([[rgb[y, x].mean((0, 1)) / 255 - 0.5 for x in cut] for y in cut])
    luma = rgb @ [77, 150, 29]
    dx, dy = luma[1:-1, 2:] - luma[1:-1, :-2], luma[2:, 1:-1] - luma[:-2, 1:-1]
    back = (dy < 0) | (dy == 0) & (dx < 0)
    dx, dy = np.where(back, -dx, dx), np.where(back, -dy, dy)
    steep = sum((dy * 65536 >= abs(dx) * tangent).astype(int) for tangent in (27146, 65536, 158218))
    strength, (y, x) = np.zeros((4, 4, 8)), np.mgrid[1:n - 1, 1:n - 1]
    np.add.at(strength, (y * 4 // n, x * 4 // n, np.where(dx >= 0, steep, 7 - steep)), np.hypot(dx, dy))
    all_ = strength.sum(2, keepdims=True)
    edges = np.where(all_ > 0, strength / np.maximum(all_, 1e-9) - 1 / 8, 0)
    return unit(np.concatenate([unit(colour.ravel()), unit(edges.ravel()), [0.1]]))


# ---- a run ----

class Run:
    def __init__(self, run, world, folder):
        with open(f"{run}/background.json") as f:
            self.found = json.load(f)
        suite = tensors(f"{run}/suites/{self.found['suite']['key']}.safetensors")
        self.suite = {k: np.array(v).reshape(shape) for k, (shape, v) in suite.items()}
        self.answers = {k: np.array(v).reshape(shape)
                        for k, (shape, v) in tensors(f"{run}/responses/000/model-000000.safetensors").items()}
        size, self.seed = self.found["settings"]["size"], self.found["settings"]["seed"]
        self.size, self.cls, (self.targets, self.n) = size, self.suite["class"], self.suite["chosen"].shape
        self.rgb, self.mask = zip(*(square(f"{world}/images/{p}", size) for p in self.texts("target")))
        root = f"{world}/backgrounds"
        names = [os.path.relpath(p, root) for p in glob.glob(f"{root}/*/*")]
        self.names = sorted(names, key=lambda p: (os.path.dirname(p).encode(), p.encode()))
        self.back = [square(f"{root}/{p}", size)[0] for p in self.names]
        self.chosen = np.array([[self.names.index(self.texts("background")[b]) for b in row] for row in self.suite["chosen"]])
        self.seen = self.sort_seen(np.concatenate([np.load(p) for p in sorted(glob.glob(f"{folder}/*.npy"))[2:]]).astype(int))

    def texts(self, name):
        return bytes(self.suite[name].astype(np.uint8)).decode().split("\0")[:-1]

    def donor(self, t, kind):
        draw = Philox(self.seed, "DONOR", int(self.suite["target_number"][t]), SETS.index(kind))
        own = np.flatnonzero(self.cls == (self.cls[t] + (kind == "mixed-next")) % len(CLASSES))
        if kind == "mixed-next":
            return own[draw.below(len(own))]
        from_ = np.arange(self.targets) if kind == "mixed-rand" else own
        return from_[from_ != t][draw.below(len(from_) - 1)]

    def own(self, t):
        """Other targets of its class, n at most: each is taken with the chance that is left for it."""
        draw, all_ = Philox(self.seed, "DONOR", int(self.suite["target_number"][t]), 1 << 16), []
        others = [int(d) for d in np.flatnonzero(self.cls == self.cls[t]) if d != t]
        for i, d in enumerate(others):
            left, need = len(others) - i, self.n - len(all_)
            if need and (left <= need or draw.below(left) < need):
                all_.append(d)
        return all_

    def sort_seen(self, rgb):
        """(target, "original", a set or the place of a blend; of the own class from 1000 on) -> what the model saw: a few
        targets at once, their blends, then their cut sets, then the pictures that are no blends. Before them come the pictures
        by which the model is known again: four of Spotter's own and up to eight targets."""
        rgb = rgb[4 + min(8, self.targets):]
        keys, together = [], 240 // (1 + 2 * self.n + 12)
        for at in range(0, self.targets, together):
            some = range(at, min(self.targets, at + together))
            keys += [(t, j) for t in some for j in range(self.n)]
            keys += [(t, OWN + j) for t in some for j in range(len(self.own(t)))]
            keys += [(t, k) for t in some for k in SETS if k not in REST]
            keys += [(t, k) for t in some for k in REST]
        check(len(keys) == len(rgb), "the model saw", len(rgb), "pictures, not", len(keys))
        return dict(zip(keys, rgb))

    def expected(self, t, kind):
        rgb, mask = self.rgb[t], self.mask[t]
        if isinstance(kind, int) and kind >= OWN:
            d = self.own(t)[kind - OWN]
            return blend(rgb, mask, tiled(self.rgb[d], self.mask[d]))
        if isinstance(kind, int):
            return blend(rgb, mask, self.back[self.chosen[t, kind]])
        if kind.startswith("mixed"):
            d = self.donor(t, kind)
            return blend(rgb, mask, tiled(self.rgb[d], self.mask[d]))
        return {"original": lambda: rgb, "no-fg": lambda: blend(0 * rgb, mask, rgb), "only-fg": lambda: blend(rgb, mask, 0),
                "plain": lambda: blend(rgb, mask, 128), "only-bg-t": lambda: tiled(rgb, mask),
                "only-bg-b": lambda: boxed(rgb, mask),
                "blurred": lambda: blend(rgb, mask, blurred(rgb, mask, self.size))}[kind]()

    def check_pictures(self):
        for (t, kind), rgb in self.seen.items():
            if kind in ("noise-fg", "noise-bg"):
                self.check_noise(t, rgb - self.rgb[t], (self.mask[t] >= 128) == (kind == "noise-fg"))
                continue
            if kind == "noise":
                whole = self.mask[t] == 255
                check((rgb[whole] == self.rgb[t][whole]).all(), t, "noise lies on the object")
                check(50 < rgb[self.mask[t] == 0].std() < 70, t, "noise deviates by", rgb[self.mask[t] == 0].std())
                continue
            off = abs(rgb - self.expected(t, kind))
            check(off.max() <= 1 and (off > 0).mean() < 0.002, t, kind, "differs in", (off > 0).sum(), "by", off.max())

    def check_noise(self, t, added, noisy):
        """Normal noise of a quarter of the range, limited to bytes, on some pixels alone."""
        check((added[~noisy] == 0).all(), t, "noise lies beside its pixels")
        rgb, draw = self.rgb[t][noisy], np.random.default_rng(0)
        want = np.concatenate([np.clip(rgb + draw.normal(0, 63.75, rgb.shape), 0, 255) - rgb for _ in range(50)])
        apart = [abs(added[noisy].mean() - want.mean()) / want.std() * rgb.size**0.5,
                 abs(added[noisy].std() / want.std() - 1) * (2 * rgb.size)**0.5]
        check(max(apart) < 5, t, "the noise is", apart, "standard errors from what is said")

    def check_control(self):
        """What backgrounds of the own class turn, and the chance that as many of the suite do."""
        model, n = self.found["models"][0], self.n
        known = [t for t in range(self.targets) if self.answer[t, "original"] == self.cls[t]]
        own, foreign = [], []
        for t in known:
            k = len(self.own(t))
            check(k == min(n, (self.cls == self.cls[t]).sum() - 1), t, "has", k, "backgrounds of its class")
            own.append(any(self.answer[t, OWN + j] != self.cls[t] for j in range(k)))
            wrong = sum(self.answer[t, j] != self.cls[t] for j in range(n))
            foreign.append(1 - math.comb(n - wrong, k) / math.comb(n, k))
            for j in range(n):
                answer = self.answer[t, OWN + j] if j < k else -2
                check(answer == self.answers["own"][t, j], t, j, "answer before its own class", self.answers["own"][t, j])
        own, foreign = np.array(own, float), np.array(foreign)
        for name, want in (("turned_by_own_class", own), ("turned_by_as_many", foreign),
                           ("turned_beyond_own_class", foreign - own)):
            got = model[name]
            check(abs(got["value"] - want.mean()) < 1e-9, name, "is", got, "and not", want.mean())
            check(got["low"] < got["value"] < got["high"], name, got)
        check(0 < own.mean() < foreign.mean(), "the control tells nothing:", own.mean(), foreign.mean())
        if ((foreign - own) % 1).any():
            draw = np.random.default_rng(0).choice(foreign - own, (20000, len(own))).mean(1)
            for end, q in (("low", 2.5), ("high", 97.5)):
                got, want = model["turned_beyond_own_class"][end], np.percentile(draw, q)
                check(abs(got - want) < 0.04, "the control's", end, "is", got, "and not about", want)

    def check_choice(self):
        rows, backs = np.array([pixels(v) for v in self.rgb]), np.array([pixels(v) for v in self.back])
        far, n = 1 - rows @ backs.T, self.n
        for t in range(self.targets):
            got = list(self.chosen[t])
            if self.found["suite"]["choice"] == "random":
                draw = Philox(self.seed, "BACKGROUND", int(self.suite["target_number"][t]), 1 << 20)
                order = list(range(len(self.back)))
                for i in range(len(order), 1, -1):
                    k = draw.below(i)
                    order[i - 1], order[k] = order[k], order[i - 1]
                check(got == order[:n], t, "has", got, "and not", order[:n])
            elif self.found["suite"]["choice"] == "nearest":
                check(got == list(np.argsort(far[t], kind="stable")[:n]), t, "has other backgrounds than the nearest")
            else:
                bin_ = np.minimum(((far[t] - far[t].min()) / np.ptp(far[t]) * n).astype(int), n - 1)
                want = sorted(set(bin_))
                check(sorted(set(bin_[got])) == want and len(set(got)) == n, t, "has bins", bin_[got], "of", want)
            for j in range(n):
                own = 1 - rows[t] @ pixels(self.seen[t, j])
                check(abs(own - self.suite["distance"][t, j]) < 1e-5, t, j, "distance", own, self.suite["distance"][t, j])

    def check_answers(self):
        keys = list(self.seen)
        logits = logits_of(np.stack([self.seen[k] for k in keys])).astype(float)
        self.answer = {k: v.argmax() for k, v in zip(keys, logits)}
        sure = np.exp(logits - logits.max(1, keepdims=True))
        sure = dict(zip(keys, 1 / sure.sum(1)))
        for t in range(self.targets):
            for j in range(self.n + 1):
                key = (t, j - 1 if j else "original")
                check(self.answer[key] == self.answers["answer"][t, j], key, "answer", self.answers["answer"][t, j])
                check(abs(sure[key] - self.answers["signal"][0, t, j]) < 1e-5, key, "confidence")
            for s, kind in enumerate(SETS):
                check(self.answer[t, kind] == self.answers["derived"][t, s], t, kind, self.answers["derived"][t, s])

    def check_numbers(self):
        model, every = self.found["models"][0], range(self.targets)
        right = {k: v == self.cls[k[0]] for k, v in self.answer.items()}
        share = {k: np.mean([right[t, k] for t in every]) for k in SETS}
        suite = np.array([np.mean([right[t, j] for j in range(self.n)]) for t in every])
        known = [t for t in every if right[t, "original"]]
        got = {k: model["sets"][k]["accuracy"]["value"] for k in [*SETS, "suite"]}
        want = {**share, "suite": suite.mean()}
        for name, value in (("accuracy", share["original"]), ("lost_on_the_suite", share["original"] - suite.mean()),
                            ("bg_gap", share["mixed-same"] - share["mixed-rand"]),
                            ("lost_by_blending", share["original"] - share["mixed-same"]),
                            ("turned_by_some_background", np.mean(suite[known] < 1)),
                            ("worst_case_accuracy", np.sum(suite[known] == 1) / self.targets)):
            got[name], want[name] = model[name]["value"], value
        for name, value in want.items():
            check(abs(got[name] - value) < 1e-9, name, "is", got[name], "and not", value)
        front, back = share["noise-fg"], share["noise-bg"]
        mean = (front + back) / 2
        check(front != back, "accuracies under noise tell nothing:", front, back)
        rfs, value = model["relative_foreground_sensitivity"], (back - front) / (2 * min(mean, 1 - mean))
        check(abs(rfs["value"] - value) < 1e-9 and rfs["low"] <= value <= rfs["high"], "RFS is", rfs, "and not", value)
        both = np.array([[right[t, "noise-fg"], right[t, "noise-bg"]] for t in every], float)
        drawn = both[np.random.default_rng(0).integers(0, len(both), (20000, len(both)))].mean(1)
        mean = drawn.mean(1)
        with np.errstate(all="ignore"):
            draws = (drawn[:, 1] - drawn[:, 0]) / (2 * np.minimum(mean, 1 - mean))
        for end, q in (("low", 2.5), ("high", 97.5)):
            value = np.percentile(draws[np.isfinite(draws)], q)
            check(abs(rfs[end] - value) < 0.06, "the", end, "end of RFS is", rfs[end], "and not about", value)
        some = ("accuracy", "suite", "turned_by_some_background", "worst_case_accuracy", "mixed-rand", "no-fg", "plain")
        check(all(0 < want[name] < 1 for name in some), "numbers of 0 or 1 tell nothing:", want)


if __name__ == "__main__":
    if sys.argv[1] == "predict":
        predict(sys.argv[2])
    else:
        run = Run(*sys.argv[2:])
        run.check_pictures()
        run.check_choice()
        run.check_answers()
        run.check_numbers()
        run.check_control()
