#!/usr/bin/python3
"""examine_pages.py tables RUN CSV | figures RUN CSV | order RUN_A RUN_B CSV | look RUN REPORT.html | bare REPORT.html: what
people see of runs of `spotter examine`, for tests/test_examine_pages.sh. tables, figures, order: the numbers against the runs'
files, by plain Python. look: the page in a headless Chromium against examine.json and failures.json; bare: that of a run
without maps; strength: of one that looks for the highest p."""
import array
import json
import math
import sys

from shift_pages import check, near, quiet, rows

ORDER = ("sun_x", "sun_y", "sun_z", "lamp_energy", "sun_energy", "lamp_distance", "lamp_azimuth", "lamp_elevation",
         "camera_distance", "camera_azimuth", "camera_elevation", "camera_roll")
TURNS = ("sun_x", "sun_y", "sun_z", "lamp_azimuth", "camera_roll")


def read(run, name="examine.json"):
    with open(f"{run}/{name}") as f:
        return json.load(f)


def tensors(path):
    with open(path, "rb") as f:
        raw = f.read()
    size, out = int.from_bytes(raw[:8], "little"), {}
    for name, t in json.loads(raw[8:8 + size]).items():
        if name != "__metadata__":
            a, b = t["data_offsets"]
            v = array.array({"F64": "d", "F32": "f", "I32": "i", "U8": "B"}[t["dtype"]])
            v.frombytes(raw[8 + size + a:8 + size + b])
            out[name] = (t["shape"], v)
    return out


def history(run, unit):
    return tensors(f"{run}/searches/{unit // 1000:03d}/unit-{unit:06d}.safetensors")


def visible(text):
    return text.lstrip("'")


def mean(v):
    v = list(v)
    return sum(v) / len(v)


# ---- tables and figures ----

def tables(run, path):
    found, lines = read(run), rows(path)
    for s in found["summaries"]:
        own = [r for r in lines if (visible(r["model"]), r["examiner"]) == (s["model"], s["examiner"])]
        means = [r for r in own if r["table"] == "1"]
        check(len(means) == 1 + len(s["curve"]), s["model"], "has", len(means), "means")
        near(means[0]["value"], s["mean_of_random_renders"], "T = 0")
        for r, l in zip(means[1:], s["curve"]):
            check(int(r["renders"]) == l["renders"], r, l)
            for a, b in (("value", "value"), ("low", "low"), ("high", "high")):
                near(r[a], l["mean"][b], "mean", b)
        for name, key in (("lowest", "lowest_valid"), ("robust", "robust")):
            for r, l in zip([r for r in own if (r["table"], r["quantity"]) == ("3", name)], s["curve"]):
                near(r["value"], l[key]["value"], name), near(r["high"], l[key]["high"], name)
    families = [r for r in lines if r["table"] == "2"]
    check(not families, "models of a program make a table by m:", families)


def figures(run, path):
    found, drawn = read(run), rows(path)
    searches, window = found["searches"], found["settings"]["window"]
    # Figure 1: the last point of every curve is the mean over objects and seeds of the last renders
    for s in found["summaries"]:
        own = [r for r in drawn if r["figure"] == "1" and r["series"] == s["examiner"]
               and visible(r["panel"]) == f"{s['model']}: {s['objects']} objects"]
        check(len(own) == 100, "Figure 1 has", len(own), "points of", s["model"])
        units = [u for u in searches if (u["model"], u["examiner"]) == (s["model"], s["examiner"])]
        for k in (24, 99):
            value = []
            for u in units:
                p = history(run, u["unit"])["p"][1]
                end = len(p) * (k + 1) // 100
                value.append(mean(p[max(0, end - window):end]))
            near(own[k]["y"], mean(value), "Figure 1", s["model"], s["examiner"], k)
            near(own[k]["x"], len(p) * (k + 1) / 100, "x of Figure 1")
        near(own[99]["y"], s["curve"][-1]["mean"]["value"], "the end of Figure 1")
    # Figure 2: classes
    for s in found["summaries"]:
        units = [u for u in searches if (u["model"], u["examiner"]) == (s["model"], s["examiner"])]
        own = [r for r in drawn if r["figure"] == "2" and visible(r["panel"]) == f"{s['examiner']} on {s['model']}"]
        check(len(own) == 9, "Figure 2 has", len(own), "bars of", s["model"])
        for r in own:
            of = [u for u in units if u["class"] == visible(r["label"])]
            k = {"0 renders": None, "120 renders": 1, "240 renders": 2}[r["series"]]
            near(r["x"], mean(u["mean_of_random_renders"] if k is None else u["curve"][k]["mean"] for u in of), "Figure 2", r)
    # Figure 3: first and last renders, right or wrong
    panels = list(dict.fromkeys(r["panel"] for r in drawn if r["figure"] == "3"))
    check(len(panels) == len(found["summaries"]), "Figure 3 has", panels)
    for panel, s in zip(panels, found["summaries"]):
        own = [r for r in drawn if r["figure"] == "3" and r["panel"] == panel]
        check([r["series"] for r in own] == ["the first renders"] * 50 + ["the last renders"] * 50, "halves of", panel)
        first = next(e["examiner"] for e in found["summaries"] if e["model"] == s["model"])
        lowest = min((u for u in searches if (u["model"], u["examiner"], u["seed"]) == (s["model"], first, 0)),
                     key=lambda u: u["curve"][-1]["robust"])
        u = next(u for u in searches if (u["model"], u["examiner"], u["seed"], u["object"]) ==
                 (s["model"], s["examiner"], 0, lowest["object"]))
        answer = history(run, u["unit"])["answer"][1]
        truth = sorted({v["class"] for v in searches}).index(u["class"])
        got = [r["label"] == "right" for r in own]
        check(got == [a == truth for a in list(answer[:50]) + list(answer[-50:])], "right answers of", panel)
        for axis in "xy":
            check(min(float(r[axis]) for r in own) == 0 and max(float(r[axis]) for r in own) == 1, "the map of", panel)


def points(run, found, unit):
    at = history(run, unit)["at"]
    dims, names = at[0][1], [f["factor"] for f in found["settings"]["factors"]]
    out = []
    for row in (at[1][i:i + dims] for i in range(0, len(at[1]), dims)):
        x = dict(zip(names, row))
        out.append([v for f in ORDER if f in x for v in
                    ((math.cos(2 * math.pi * x[f]) / 2, math.sin(2 * math.pi * x[f]) / 2) if f in TURNS else (x[f],))])
    return out[-50:]


def energy(a, b):
    def apart(x, y):
        return mean(math.dist(p, q) for p in x for q in y)
    return 2 * apart(a, b) - apart(a, a) - apart(b, b)


def order(run_a, run_b, path):
    a, b, drawn = read(run_a), read(run_b), [r for r in rows(path) if r["figure"] == "6"]
    s = a["summaries"][0]
    own = [r for r in drawn if r["panel"] == f"{s['examiner']} on {s['model']}"]
    check(len(own) == 2 * s["objects"], "Figure 6 has", own)
    obj = a["searches"][0]["object"]

    def tails(run, found):
        return [points(run, found, u["unit"]) for u in found["searches"]
                if (u["examiner"], u["object"]) == (s["examiner"], obj)]
    x, y = tails(run_a, a), tails(run_b, b)
    near(own[0]["x"], mean(energy(p, q) for p in x for q in y), "between orders")
    near(own[1]["x"], mean((energy(x[0], x[1]), energy(y[0], y[1]))), "between seeds")


# ---- the page ----

def opened(browser, path, name):
    for width, dark in ((400, True), (1200, False)):
        page = browser.open(path, width=width, height=900, dark=dark)
        page.wait("document.documentElement.dataset.ready === '1'")
        check(page.js("document.documentElement.scrollWidth") <= width, name, "is wider than", width)
        quiet(page, name)
    return page


def text3(v):
    return "<0.001" if v < 0.0005 else f"{v:.3f}"


def check_numbers(page, found, failures):
    check(json.loads(page.js("JSON.stringify(study)", 60)) == found, "the page's numbers are not those of examine.json")
    check(json.loads(page.js("JSON.stringify(failures)", 60)) == failures, "nor those of failures.json")
    # what the page computes: means over seeds, and the search whose pictures it shows
    models = list(dict.fromkeys(s["model"] for s in found["summaries"]))
    for k, s in enumerate(found["summaries"]):
        m, e = page.js(f"summaries[{k}].at")
        check(models[m] == s["model"], "order of models", models)
        for i in range(s["objects"]):
            u = page.js(f"(u => ({{...u, best: u.best.unit, id: u.best.object}}))(objectUnder({m}, {e}, {i}))")
            of = [v for v in found["searches"] if v["object"] == u["id"] and v["model"] == s["model"]
                  and v["examiner"] == s["examiner"]]
            check(len(of) == found["settings"]["seeds"], "searches of", u["id"])
            for key in ("mean", "lowest_valid", "robust", "valid"):
                near(u[key], mean(v["curve"][-1][key] for v in of), u["id"], key)
            check(u["best"] == min(of, key=lambda v: v["curve"][-1]["robust"])["unit"], "the search shown of", u["id"])
    last = sorted((s["curve"][-1]["robust"]["value"] for s in found["summaries"]))
    shown = page.js("Array.from(document.querySelectorAll('#table tbody tr'), r => r.children[2].firstChild.textContent)")
    check(shown == [text3(v) for v in last], "the table shows", shown, last)


def check_failures(page, failures, found):
    check(failures["findings"], "findings are missing")
    shown = page.js("Array.from(document.querySelectorAll('#findings > .finding .words'), e => e.textContent)")
    check(shown == [b["words"] for b in failures["findings"] if b["confirmed"]][:6], "shown findings", shown)
    check(page.js("document.querySelectorAll('#maps .map').length") == 2, "maps of camera and lamp")
    for key in ("camera", "lamp"):
        check(sum(failures["maps"][0][key]["renders"]) == failures["maps"][0]["renders"] > 0, "cells of the map", key)
    before = page.js("document.querySelector('#maps').innerHTML")
    page.js("(e => { e.value = 'class 1'; e.dispatchEvent(new Event('change')); })"
            "(document.querySelectorAll('#map-bar select')[1])")
    page.wait("document.querySelector('#maps').dataset.shown === '0 class 1 failing'")
    check(page.js("document.querySelector('#maps').innerHTML") != before, "another class has the same map")
    check(page.js("document.querySelectorAll('.object').length") == len({s["object"] for s in found["searches"]}), "objects")
    page.js("document.querySelector('.object details').open = true")
    page.wait("document.querySelector('.object details').dataset.ready === '1'")
    check(page.js("document.querySelectorAll('.object details')[0].querySelectorAll('.axis').length ==="
                  "settings.factors.length"),
          "an axis is missing")


def look(run, report):
    from browser import Browser
    found, failures = read(run), read(run, "failures.json")
    with Browser() as b:
        page = opened(b, report, "the page")
        check_numbers(page, found, failures)
        check_failures(page, failures, found)
        text = page.js("document.querySelector('#summary .answer').textContent")
        check(text.startswith("The weakest model, net-m1, fails on 9 of 9 objects"), "the page begins with", text)
        # the curves follow the switch and the model
        for key in ("robust", "lowest", "mean"):
            page.js(f"Array.from(document.querySelectorAll('#curve-bar button')).find(b => b.textContent === '{key}').click()")
            label = page.js("document.querySelector('#curves .knot:last-of-type').getAttribute('aria-label')")
            end = [s for s in found["summaries"] if s["model"] == "net-m1"][-1]["curve"][-1]
            value = end[{"lowest": "lowest_valid"}.get(key, key)]["value"]
            check(text3(value) in label, key, "shows", label, value)
        check(page.js("document.querySelectorAll('#curves .band').length") == 2, "bands are missing")
        page.js("document.querySelector('#curve-bar input').click()")
        check("NaN" not in page.js("document.querySelector('#curves').innerHTML"), "logarithmic curves have NaN")
        page.js("(e => { e.value = 1; e.dispatchEvent(new Event('change')); })(document.querySelector('#curve-bar select'))")
        check(page.js("document.querySelector('#curves svg').getAttribute('aria-label').startsWith(models[1].name)"), "model")
        # pictures: six of each object, by another model and examiner, too
        check(page.js("document.querySelectorAll('#objects canvas').length") >= 4 * 9, "pictures are missing")
        check(page.js("what.pictures.unreadable") == 0, "pictures cannot be read")
        for k in (0, 1):
            page.js("(e => { e.value = 1; e.dispatchEvent(new Event('change')); })"
                    f"(document.querySelectorAll('#object-bar select')[{k}])")
        check(page.js("document.querySelectorAll('#objects canvas').length") >= 2 * 9, "the other model has no pictures")
        credits = page.js("document.querySelectorAll('#credits tbody tr').length")
        check(credits == len({s["object"] for s in found["searches"]}), "attribution of", credits, "objects")
        check(not page.js("document.querySelector('main script, main img[onerror], main b[onclick]')"), "a name became markup")
        check("NaN" not in page.js("document.querySelector('main').innerText"), "NaN on the page")
        quiet(page, "the page after all")


def bare(report):
    from browser import Browser
    with Browser() as b:
        page = opened(b, report, "the page without maps")
        check(page.js("['#map-part', '#finding-part'].every(e => document.querySelector(e).hidden)"), "empty parts")
        check("no pictures of failing renders" in page.js("document.querySelector('#object-hint').textContent"), "no hint")


def strength(report):
    from browser import Browser
    with Browser() as b:
        page = opened(b, report, "the page of the best conditions")
        text = page.js("document.querySelector('main').innerText")
        check("highest" in text and "lowest" not in text, "a search for the highest p speaks of the lowest")
        check("is the classifier best?" in page.js("document.querySelector('h1').textContent"), "title")


if __name__ == "__main__":
    {"tables": tables, "figures": figures, "order": order, "look": look, "bare": bare,
     "strength": strength}[sys.argv[1]](*sys.argv[2:])
