"""failures_check.py DIR - failures.json of a run against the files that it is made of, counted anew with NumPy."""
import json
import math
import os
import sys

import numpy as np

import tensor_files


def tensors(path):
    return {name: np.reshape(numbers, shape) for name, (shape, numbers) in tensor_files.read(path).items()}


def close(a, b):
    assert a is None and math.isnan(b) or abs(a - b) < 1e-9, (a, b)


def holds(finding, value, name):
    inside = np.ones(len(value), bool)
    for k in finding["limits"]:
        v = value[:, name.index(k["factor"])]
        v = abs(v) if k["absolute"] else v
        inside &= (v >= k["least"]) & (v <= k["most"]) if k["least"] <= k["most"] else (v >= k["least"]) | (v <= k["most"])
    return inside


def main(folder):
    d = json.load(open(folder + "/failures.json"))
    e = json.load(open(folder + "/examine.json"))
    factors = e["settings"]["factors"]
    name = [f["factor"] for f in factors]
    least, most = (np.array([f[k] for f in factors]) for k in ("least", "most"))
    objects = len(d["models"][0]["objects"])
    renders = [tensors("%s/maps/000/unit-%06d.safetensors" % (folder, i)) for i in range(objects)]
    value = [least + r["at"] * (most - least) for r in renders]
    p = [r["p"].astype(float) for r in renders]

    # Maps: every cell by the cells' own borders.
    cells = np.array(d["cells"])
    assert len(cells) == 188 and d["renders_spent_on_maps"] == sum(map(len, p))
    for m in d["maps"]:
        rows = [i for i in range(objects) if m["object"] == i or m["object"] < 0 and m["class"] in (-1, i)]
        q, v = np.concatenate([p[i] for i in rows]), np.concatenate([value[i] for i in rows])
        assert m["renders"] == len(q) and m["failing"] == (q < d["fails"]).sum()
        close(m["mean"], q.mean())
        for sphere in "camera", "lamp":
            azimuth, elevation = (v[:, name.index("%s_%s" % (sphere, k))] for k in ("azimuth", "elevation"))
            for k, (south, north, start, end) in enumerate(cells):
                sure = (elevation > south + .01) & (elevation < north - .01) & (azimuth > start + .01) & (azimuth < end - .01)
                maybe = (elevation > south - .01) & (elevation < north + .01) & (azimuth > start - .01) & (azimuth < end + .01)
                assert sure.sum() <= m[sphere]["renders"][k] <= maybe.sum()
                if sure.sum() == maybe.sum():
                    close(m[sphere]["mean"][k], q[sure].mean() if sure.any() else math.nan)

    # Pictures: the worst ones, valid and apart.
    assert len(d["strips"]) == len(e["searches"])
    for s in d["strips"]:
        assert open(os.path.join(folder, s["path"]), "rb").read(4) == b"\x89PNG"
        h = tensors("%s/searches/000/unit-%06d.safetensors" % (folder, s["search"]))
        worst = [x["p"] for x in s["pictures"][1:]]
        assert worst == sorted(worst)
        if h["valid"].any():
            assert worst[0] == h["p"][h["valid"] > 0].min()
        for x in s["pictures"][1:]:
            assert h["valid"][x["render"]] and abs(h["p"][x["render"]] - x["p"]) < 1e-9

    # Along the factors: p at the failure point lies between its neighbours'.
    assert len(d["scans"]) == objects and d["renders_spent_on_scans"] == objects * 33 * len(factors)
    for s in d["scans"]:
        assert [a["factor"] for a in s["axes"]] == name
        for a in s["axes"]:
            for x in a["below"], a["above"]:
                if x is not None:
                    k = min(max(np.searchsorted(a["at"], x), 1), 32)
                    assert max(a["p"][k - 1:k + 1]) >= d["fails"], (a, x)

    # Findings: counted anew on the odd renders.
    for f in d["findings"]:
        rows = range(objects) if f["class"] < 0 else [f["class"]]
        n = fails = 0
        for i in rows:
            inside = holds(f, value[i], name)
            for g in d["findings"]:
                if (g["model"], g["class"]) == (f["model"], f["class"]) and g["rank"] < f["rank"]:
                    inside &= ~holds(g, value[i], name)
            inside &= (np.arange(len(p[i])) % 2 > 0) & (renders[i]["valid"] > 0)
            n += inside.sum()
            fails += (inside & (p[i] < d["fails"])).sum()
        assert f["renders_inside"] == n and (not n or abs(f["failing_inside"]["value"] - fails / n) < 1e-12), f["words"]
        assert f["confirmed"] == (f["adjusted"] < .05) and f["adjusted"] >= f["p"] and f["words"]


main(sys.argv[1])
