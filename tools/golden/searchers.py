"""Writes tests/golden/searchers.txt: points of a cross-entropy method, updates of a CMA-ES, evaluations of the package cma.

    searchers.py OUT      (cma 4.0.0 and NumPy 2.0.2 made the committed file)

1. Cross-entropy: the rules of host/examine/cem.c in NumPy, from the same random numbers (Philox4x32-10): points of
generations 1, 4 and 8 on a bowl. 2. CMA-ES: the formulas of arXiv 1604.00772, figure 6, in NumPy: m, sigma, p_c, p_sigma, C
after each of four generations of given points; the weights are compared with the package's here. 3. Evaluations until
f < 1e-9 of 201 runs of the package: the number of runs that got there, and their quantiles 0.1, 0.25, 0.5, 0.75, 0.9.
"""
import sys
import warnings

import numpy as np

warnings.simplefilter("ignore")
import cma  # noqa: E402
from cma.recombination_weights import RecombinationWeights  # noqa: E402

lines = []


def put(title, *numbers):
    lines.append("".join("%.17g\n" % v for v in np.ravel(np.concatenate([np.ravel(n) for n in numbers]))))
    print(title, sum(np.size(n) for n in numbers))


# ---- 1. cross-entropy ----

def philox(counter, seed):
    c, k = list(counter), [seed & 0xffffffff, seed >> 32]
    for r in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & 0xffffffff, (a >> 32) ^ c[3] ^ k[1], a & 0xffffffff]
        k = [(k[0] + 0x9E3779B9) & 0xffffffff, (k[1] + 0xBB67AE85) & 0xffffffff]
    return c


def uniforms(n, seed, purpose, unit, index):
    words = [w for i in range(-(-n // 4)) for w in philox([i, index, unit, purpose], seed)]
    return (np.array(words[:n]) + 0.5) / 2**32


def cross_entropy(dims, turns, generation, elite, bins, smooth, floor, spread, seed, unit, purpose, generations):
    chance, kept = np.full((dims, bins), 1 / bins), []
    for g in range(generations):
        x = np.empty((generation, dims))
        for k in range(generation):
            u = uniforms(dims, seed, purpose, unit, 2**31 + g * generation + k)
            for d in range(dims):
                edges = np.concatenate([[0], np.cumsum((1 - floor) * chance[d] + floor / bins)])
                x[k, d] = np.interp(u[d], edges, np.arange(bins + 1) / bins)
        loss = -((x - (np.arange(dims) + 0.5) / dims)**2).sum(1)
        loss = np.floor(loss * 8) / 8 if g == 0 else loss         # ties
        least = np.sort(loss)[-elite]
        shared = (elite - (loss > least).sum()) / (loss == least).sum() * (least > loss.min())
        weight = (loss > least) + (loss == least) * shared
        for d in range(dims):
            fresh = (elite - weight.sum()) * chance[d]
            for k in range(generation):
                b = int(x[k, d] * bins)
                for at, share in ((b, 1 - spread), (b - 1, spread / 2), (b + 1, spread / 2)):
                    fresh[at % bins if turns[d] else min(max(at, 0), bins - 1)] += weight[k] * share
            chance[d] = smooth * chance[d] + (1 - smooth) * fresh / elite
        if g in (0, 3, 7):
            kept.append(x)
    return kept


TURNS = [False, False, False, True, False, False, False, False, True]      # of the paper's nine factors
PURPOSE = 43               # SPOT_RNG_EXAMINER
put("points", *cross_entropy(9, TURNS, 12, 3, 16, 0.5, 0.05, 0.5, 7, 11, PURPOSE, 8))


# ---- 2. updates of a CMA-ES ----

def rates(n, population):
    w = np.log((population + 1) / 2) - np.log(np.arange(1, population + 1))
    mu = population // 2
    eff, against = (np.sum(v)**2 / np.sum(v**2) for v in (w[:mu], w[mu:]))
    c1 = 2 / ((n + 1.3)**2 + eff)
    cmu = min(1 - c1, 2 * (1 / 4 + eff + 1 / eff - 2) / ((n + 2)**2 + 2 * eff / 2))
    low = min(1 + c1 / cmu, 1 + 2 * against / (eff + 2), (1 - c1 - cmu) / (n * cmu))
    w = np.where(w >= 0, w / w[w > 0].sum(), low * w / -w[w < 0].sum())
    peer = RecombinationWeights(population)
    peer.finalize_negative_weights(n, c1, cmu)
    assert np.allclose(peer, w, rtol=1e-12, atol=0) and abs(peer.mueff / eff - 1) < 1e-12
    cs = (eff + 2) / (n + eff + 5)
    return dict(w=w, mu=mu, eff=eff, c1=c1, cmu=cmu, cc=(4 + eff / n) / (n + 4 + 2 * eff / n), cs=cs,
                ds=1 + 2 * max(0, np.sqrt((eff - 1) / (n + 1)) - 1) + cs,
                chi=np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n)))


def updates(n, population, size):
    p, skipped = rates(n, population), 0
    m, sigma, pc, ps, C = np.full(n, 0.5), 0.3, np.zeros(n), np.zeros(n), np.eye(n)
    for g in range(4):
        i = np.arange(population * n) + 100 * g
        y = size[g] * np.sin(0.7 * i + 0.11 * i * i).reshape(population, n)
        i = np.arange(population) + 77 * g
        order = np.argsort(-np.sin(1.3 * i + 0.05 * i * i), kind="stable")
        value, axis = np.linalg.eigh(C)
        root = axis @ np.diag(value**-0.5) @ axis.T
        step = p["w"][:p["mu"]] @ y[order[:p["mu"]]]
        m = m + sigma * step
        ps = (1 - p["cs"]) * ps + np.sqrt(p["cs"] * (2 - p["cs"]) * p["eff"]) * root @ step
        norm = np.linalg.norm(ps)
        h = norm / np.sqrt(1 - (1 - p["cs"])**(2 * (g + 1))) < (1.4 + 2 / (n + 1)) * p["chi"]
        skipped += not h
        pc = (1 - p["cc"]) * pc + h * np.sqrt(p["cc"] * (2 - p["cc"]) * p["eff"]) * step
        sigma *= np.exp(p["cs"] / p["ds"] * (norm / p["chi"] - 1))
        square = np.sum((y[order] @ root)**2, 1)
        scaled = np.where(p["w"] >= 0, p["w"], p["w"] * n / np.maximum(square, 1e-300)) * (square > 0)
        C = ((1 + p["c1"] * (1 - h) * p["cc"] * (2 - p["cc"]) - p["c1"] - p["cmu"] * p["w"].sum()) * C
             + p["c1"] * np.outer(pc, pc) + p["cmu"] * (y[order].T * scaled) @ y[order])
        put("generation of %d, %d" % (n, population), m, [sigma], pc, ps, C)
    return skipped


assert updates(5, 8, (1, 4, 4, 1)) > 0          # a generation in which p_c stands still
assert updates(3, 13, (1, 1, 1, 1)) == 0
updates(1, 4, (1, 1, 1, 1))


# ---- 3. evaluations of the package ----

def sphere(x):
    return np.sum((np.asarray(x) - 0.2)**2)


def rosenbrock(x):
    x = np.asarray(x)
    return np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2)


for f, n, population in ((sphere, 9, 10), (rosenbrock, 5, 8)):
    spent = []
    for run in range(201):
        options = dict(popsize=population, ftarget=1e-9, maxfevals=20000, seed=run + 1, verbose=-9, tolx=0, tolfun=0,
                       tolfunhist=0, tolstagnation=10**9, tolflatfitness=10**9)
        result = cma.fmin2(f, np.zeros(n), 0.3, options)[1].result
        if result.fbest < 1e-9:
            spent.append(result.evaluations)
    put(f.__name__, [len(spent)], np.quantile(spent, (0.1, 0.25, 0.5, 0.75, 0.9)))
    print(lines[-1])

with open(sys.argv[1], "w") as out:
    out.write("".join(lines))
