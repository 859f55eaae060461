"""examine_laws.py DIR - whether laws of paper 002 hold in the runs that test_examine_laws.sh made."""
import json
import sys

import numpy as np

import tensor_files

LAST = 50


def summaries(run):
    with open("%s/%s/examine.json" % (sys.argv[1], run)) as f:
        return json.load(f)


def mean_of(run, model, examiner):
    """mean p of random renders, and of the last renders of the searches"""
    s, = [s for s in summaries(run)["summaries"] if (s["model"], s["examiner"]) == (model, examiner)]
    return s["mean_of_random_renders"], s["curve"][-1]["mean"]["value"]


def tails(run):
    """{(object, seed): the last renders as rows of features, columns by the factors' names}"""
    d = summaries(run)
    names = [f["factor"] for f in d["settings"]["factors"]]
    turns = [f["unit"] == "degrees" and f["most"] - f["least"] == 360 for f in d["settings"]["factors"]]
    out = {}
    for u in d["searches"]:
        file = "%s/%s/searches/%03d/unit-%06d.safetensors" % (sys.argv[1], run, u["unit"] // 1000, u["unit"])
        shape, at = tensor_files.read(file)["at"]
        at = np.reshape(at, shape)[-LAST:]
        columns = []
        for k in sorted(range(len(names)), key=lambda k: names[k]):
            x = at[:, k]
            columns += [np.cos(2 * np.pi * x) / 2, np.sin(2 * np.pi * x) / 2] if turns[k] else [x]
        out[u["object"], u["seed"]] = np.stack(columns, 1)
    return names, out


def far(x, y):
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(2)).mean()


def energy(x, y):
    return 2 * far(x, y) - far(x, x) - far(y, y)


def order_distances(runs):
    """energy distances between the orders, and between two seeds of one order, means over objects"""
    (_, a), (_, b) = (tails(r) for r in runs)
    objects, seeds = sorted({o for o, _ in a}), sorted({s for _, s in a})
    between = np.mean([energy(a[o, s], b[o, t]) for o in objects for s in seeds for t in seeds])
    within = [np.mean([energy(x[o, s], x[o, t]) for o in objects for s in seeds for t in seeds if s < t]) for x in (a, b)]
    return between, within


failed = 0


def law(holds, words):
    global failed
    print("%s: %s" % ("holds" if holds else "FAILED", words))
    failed += not holds


for examiner in "cem", "random":
    p = [mean_of("weakness", m, examiner)[1] for m in ("net-m1", "net-m8", "net-m64")]
    law(p[0] < p[1] < p[2], "p falls as m falls, %s: m = 1, 8, 64: %.3f, %.3f, %.3f" % (examiner, *p))
for model in "net-m1", "net-m8":
    start, low = mean_of("weakness", model, "cem")
    same, high = mean_of("strength", model, "cem")
    law(same == start and low < start - .1 and high > start,
        "%s: p from %.3f to %.3f, in strength mode to %.3f" % (model, start, low, high))
    law(mean_of("strength", model, "random")[1] == mean_of("weakness", model, "random")[1], "random renders have no mode")
orders = "default", "other"
law(tails("default")[0][5:] + tails("default")[0][:5] == tails("other")[0], "the other order has the camera first")
for run in orders:
    start, end = mean_of(run, "net-m1", "rl")
    law(end < 0.6 * start, "%s: rl settles, p from %.3f to %.3f" % (run, start, end))
between, within = order_distances(orders)
law(between < 1.25 * max(within), "the last %d renders of two orders are %.3f apart, of two seeds %.3f and %.3f"
    % (LAST, between, *within))
sys.exit(failed > 0)
