#!/usr/bin/env python3
"""OpenCV's time for bench/bench_blend.c's rows: composites by Laplacian pyramids of pyrDown and pyrUp, in numpy's float32.

    blend_cv2.py [threads]      seconds of each row; of the first also when every pair makes its pyramids anew

The pictures' pyramids are made once and serve all their pairs, as ours do; buffers are made once, too. The threads of the
process share the pairs: OpenCV leaves the interpreter's lock during its calls, and its own threads are switched off. Needs
python3-opencv, or PyPI's opencv-python-headless.
"""
import concurrent.futures
import sys
import time

import cv2
import numpy as np

SIDE, LEVELS = 224, 5


def gaussian(picture):
    levels = [picture]
    for _ in range(LEVELS - 1):
        levels.append(cv2.pyrDown(levels[-1]))
    return levels


def laplacian(picture):
    levels = gaussian(picture)
    for k in range(LEVELS - 1):
        up = cv2.pyrUp(levels[k + 1], dstsize=levels[k].shape[1::-1])
        levels[k] = cv2.subtract(levels[k], up, dst=up)
    return levels


def loaded(picture):
    return picture.astype(np.float32)


def alpha(mask):
    """The mask's pyramid with three channels, as OpenCV's arithmetic wants it."""
    return [cv2.merge([level] * 3) for level in gaussian(mask.astype(np.float32) / 255)]


class Worker:
    """A thread's buffers."""

    def __init__(self):
        shapes = [level.shape for level in gaussian(np.zeros((SIDE, SIDE, 3), np.float32))]
        self.level = [np.empty(s, np.float32) for s in shapes]
        self.up = [np.empty(s, np.float32) for s in shapes]

    def blend(self, out, mask, target, background):
        """The composite's pixels; bytes are rounded and limited, floats limited."""
        for k in reversed(range(LEVELS)):
            level = self.level[k]
            cv2.subtract(target[k], background[k], dst=level)
            cv2.multiply(level, mask[k], dst=level)
            cv2.add(level, background[k], dst=level)
            if k + 1 < LEVELS:
                cv2.pyrUp(self.level[k + 1], dst=self.up[k], dstsize=level.shape[1::-1])
                cv2.add(level, self.up[k], dst=level)
        if out.dtype == np.uint8:
            cv2.add(self.level[0], 0.0, dst=out, dtype=cv2.CV_8U)      # rounds and saturates
        else:
            np.clip(self.level[0], 0, 1, out=out)


def painted(count, channels, kind, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (count, SIDE, SIDE, channels)[:3 + (channels > 1)], dtype=np.uint8)
    return pixels if kind == np.uint8 else (pixels / np.float32(255)).astype(np.float32)


class Work:
    def __init__(self, targets, backgrounds, pairs, kind, threads):
        self.target, self.background = painted(targets, 3, kind, 1), painted(backgrounds, 3, kind, 2)
        self.mask = painted(targets, 1, np.uint8, 3)
        self.pairs = [(i // backgrounds % targets if pairs > backgrounds else i, i % backgrounds) for i in range(pairs)]
        self.out = np.empty((pairs, SIDE, SIDE, 3), kind)
        self.threads, self.pool = threads, concurrent.futures.ThreadPoolExecutor(threads)
        self.workers = [Worker() for _ in range(threads)]

    def part(self, w, count):
        return range(w * count // self.threads, (w + 1) * count // self.threads)

    def each(self, work, count):
        def share(w):
            return [work(i, self.workers[w]) for i in self.part(w, count)]
        parts = self.pool.map(share, range(self.threads)) if self.threads > 1 else map(share, range(1))
        return [result for part in parts for result in part]

    def shared(self):
        targets = self.each(lambda i, w: laplacian(loaded(self.target[i])), len(self.target))
        masks = self.each(lambda i, w: alpha(self.mask[i]), len(self.mask))
        backgrounds = self.each(lambda i, w: laplacian(loaded(self.background[i])), len(self.background))
        self.each(lambda i, w: w.blend(self.out[i], masks[self.pairs[i][0]], targets[self.pairs[i][0]],
                                       backgrounds[self.pairs[i][1]]), len(self.pairs))

    def anew(self):
        def one(i, w):
            t, b = self.pairs[i]
            w.blend(self.out[i], alpha(self.mask[t]), laplacian(loaded(self.target[t])), laplacian(loaded(self.background[b])))
        self.each(one, len(self.pairs))


def seconds(work):
    """The median of five runs by the clock, and of the processor's time."""
    times = []
    work()
    for _ in range(5):
        start, cpu = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - start, time.process_time() - cpu))
    return [sorted(t)[2] for t in zip(*times)]


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    cv2.setNumThreads(1)
    rows = [("224 px, 5 levels, bytes, 8 targets on 32 backgrounds", (8, 32, 256, np.uint8)),
            ("224 px, 5 levels, floats, 8 targets on 32 backgrounds", (8, 32, 256, np.float32)),
            ("224 px, 5 levels, bytes, one pair of each picture", (32, 32, 32, np.uint8))]
    for name, sizes in rows:
        work = Work(*sizes, threads)
        print("blend\t%s\t%.6f s\t%.6f s of processor time" % (name, *seconds(work.shared)), flush=True)
        if name == rows[0][0]:
            print("anew\t%s\t%.6f s\t%.6f s of processor time" % (name, *seconds(work.anew)), flush=True)


main()
