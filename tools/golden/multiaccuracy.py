"""Writes tests/golden/multiaccuracy.bin: auditors by scikit-learn's Ridge, and the rounds of Multiaccuracy around them.

    multiaccuracy.py VIEW OUT      (scikit-learn 1.2.1 made the committed file; VIEW: cache/*/*.view of a run of mini_synthetic)

Little endian. int32 regressions; per regression int32 n, d, float64 ridge, float32 x (n, d), uint8 part (n) as in
host/bdm/auditors.h, float64 target (n), float64 h (3, n) of Ridge on the rows of part 0, of part 1, of both.
int32 cases; per case int32 n, d, compat, top, found, float64 held_out, eta, ridge, float32 x (n, d), float32 confidence (n),
uint8 label (n); per auditor found float64 correlation, uint8 member (n). With compat the rounds of Domino's
MultiaccuracySlicer; without, those that host/bdm/multiaccuracy.c describes, split by Philox at {draw, 0, 7, 25}, seed 1.
"""
import struct
import sys

import numpy as np
from sklearn.linear_model import Ridge

NO_PART = 255


def view(path):
    b = open(path, "rb").read()
    at = len(b) - struct.unpack_from("<Q", b, 8)[0]
    n, d = struct.unpack_from("<ii", b, at)
    return (np.frombuffer(b, "<f4", n * d, at + 8).reshape(n, d), np.frombuffer(b, "<f4", n, at + 8 + 4 * n * d))


def philox(counter, key):
    """Salmon et al. 2011, figure 3 (4x32, 10 rounds)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [q >> 32 ^ c[1] ^ k[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k[1], p & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def shuffled(n, seed=1, purpose=25, ec=7):
    def words():
        draw = 0
        while True:
            yield from philox((draw, 0, ec, purpose), (seed & 0xFFFFFFFF, seed >> 32))
            draw += 1

    word, order = words(), []
    for i in range(n):
        while True:                                     # Lemire 2019
            m = next(word) * (i + 1)
            if m & 0xFFFFFFFF >= 2 ** 32 % (i + 1):
                break
        j = m >> 32
        order.append(i)
        order[i] = order[j]
        order[j] = i
    return np.array(order)


def slope(p, y):
    return np.where(y == 1, np.where(p >= 0.1, 1 / (p + 1e-20), 20 - 100 * p),
                    np.where(p < 0.9, 1 / (1 - p + 1e-20), 100 * p - 80))


def rounds(x, confidence, y, compat, top, held, eta, ridge, least=10, gain=1e-4, threshold=0.5):
    n = len(x)
    p = confidence.astype(float)
    z = np.log(p / (1 - p))
    order = np.arange(n) if compat else shuffled(n)
    learn, others = order[:int((1 - held) * n)], order[int((1 - held) * n):]
    called = (p > 0.5).astype(int)
    found = []
    while len(found) < top:
        p = 1 / (1 + np.exp(-z))
        if compat:
            called = (p > 0.5).astype(int)
            parts, target, residual = [1 - called, called, np.ones(n, int)], slope(p, y), np.abs(p - y)
        else:
            parts, target, residual = [called, 1 - called, np.ones(n, int)], slope(p, y) * (1 - 2 * y), p - y
        kept = []
        for q, part in enumerate(parts):
            a, b = learn[part[learn] == 1], others[part[others] == 1]
            if len(a) < least or len(b) < least:
                continue
            h = Ridge(alpha=ridge).fit(x[a], target[a]).predict(x)
            kept.append((np.mean(h[b] * residual[b]), q, h))
        if not kept:
            break
        best = int(np.argmax([k[0] for k in kept]))
        score, q, h = kept[best]
        if compat:
            z = z + (eta if best == 0 else -eta) * h * parts[best]
            found.append((score, h / h.max() > threshold))
        else:
            if score <= gain:
                break
            z = z - eta * h * parts[q]
            size = np.abs(h) * parts[q]
            found.append((score, (size >= threshold * size.max()) & (parts[q] == 1)))
    return found


feature, confidence = view(sys.argv[1])
keep = np.sort(np.argsort(-feature.var(0))[:32])
real, sure = feature[:220][:, keep], np.clip(confidence[:220], 1e-5, 1 - 1e-5).astype("f4")
r = np.random.RandomState(3)
mixed, wide = r.randn(150, 8).astype("f4"), r.randn(60, 90).astype("f4")
label = (mixed[:, 0] + 0.5 * r.randn(150) > 0).astype(int)
guess = (1 / (1 + np.exp(-mixed[:, 0] - mixed[:, 1]))).astype("f4")
few = np.where(np.arange(150) % 15 == 0, 0.3, 0.55 + 0.4 * r.rand(150)).astype("f4")
ones, wide_guess = np.ones(220, int), (0.02 + 0.96 * r.rand(60)).astype("f4")
CASES = [  # x, confidence, label, compat, top, held_out, eta, ridge
    (real, sure, ones, 1, 5, 0.3, 0.1, 1), (mixed, guess, label, 1, 5, 0.3, 0.1, 1), (mixed, few, label, 1, 5, 0.3, 0.1, 1),
    (wide, wide_guess, ones[:60], 1, 3, 0.4, 0.1, 1), (real, sure, ones, 0, 10, 0.3, 0.1, 1),
    (mixed, guess, label, 0, 10, 0.3, 0.1, 5), (mixed, few, label, 0, 4, 0.4, 0.2, 1), (mixed, few, label, 1, 5, 0.02, 0.1, 1)]

with open(sys.argv[2], "wb") as out:
    def put(a, kind):
        out.write(np.asarray(a, kind).tobytes())

    put(2, "<i4")
    for x, ridge in ((real, 1), (wide * 3 + 100, 0.5)):
        n = len(x)
        part = np.where(np.arange(n) % 4 == 0, NO_PART, r.randint(0, 2, n))
        target = 3 + r.rand(n)
        put([*x.shape], "<i4")
        put(ridge, "<f8")
        put(x, "<f4")
        put(part, "u1")
        put(target, "<f8")
        for rows in (part == 0, part == 1, part != NO_PART):
            put(Ridge(alpha=ridge, solver="svd").fit(x[rows].astype(float), target[rows]).predict(x.astype(float)), "<f8")
    put(len(CASES), "<i4")
    for x, p, y, compat, top, held, eta, ridge in CASES:
        found = rounds(x.astype(float), p, y, compat, top, held, eta, ridge)
        print(x.shape, "compat" if compat else "", [(round(s, 4), int(m.sum())) for s, m in found])
        put([*x.shape, compat, top, len(found)], "<i4")
        put([held, eta, ridge], "<f8")
        put(x, "<f4")
        put(p, "<f4")
        put(y, "u1")
        for score, member in found:
            put(score, "<f8")
            put(member, "u1")
