#!/usr/bin/python3
"""examine_pages.py tables RUN CSV | figures RUN CSV | order RUN_A RUN_B CSV | look RUN REPORT.html | bare REPORT.html: what
people see of runs of `spotter examine`, for tests/test_examine_pages.sh. tables, figures, order: the numbers against the runs'
files, by plain Python. look: the page in a headless Chromium against examine.json and failures.json; bare: that of a run
without maps; strength: of one that looks for the highest p."""
import json
import math
import re
import sys

from browser import Browser, check, fixed, labels, opened, parts, pick, press, quiet, seen, text, texts
from shift_pages import near, rows
from tensor_files import read as tensors

ORDER = ("sun_x", "sun_y", "sun_z", "lamp_energy", "sun_energy", "lamp_distance", "lamp_azimuth", "lamp_elevation",
         "camera_distance", "camera_azimuth", "camera_elevation", "camera_roll")
TURNS = ("sun_x", "sun_y", "sun_z", "lamp_azimuth", "camera_roll")


def read(run, name="examine.json"):
    with open(f"{run}/{name}") as f:
        return json.load(f)


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

KINDS = ("robust", "lowest_valid", "mean")


def p3(v):
    return "–" if v is None else "<0.001" if v < 0.0005 else fixed(v, 3)


def whole(v):
    return "–" if v is None else fixed(100 * v, 0) + "\u00a0%"


def percent(v):
    v *= 100
    return fixed(v, int(0 < v < 9.95 and abs(v - round(v)) > 0.049)) + " %"


def between(v):
    return f"{fixed(v['low'], 3)} to {fixed(v['high'], 3)}"


def check_numbers(page, found):
    """The words and the table are those of examine.json, the lowest robust p first."""
    told = texts(page, "#summary .answer, #summary li")
    check(told == found["summary"], "the page begins with", told)
    want = []
    for s in sorted(found["summaries"], key=lambda s: s["curve"][-1]["robust"]["value"]):
        end = s["curve"][-1]
        want.append([[s["model"]], [s["examiner"]], *([fixed(end[k]["value"], 3), between(end[k])] for k in KINDS),
                     [str(end["renders"])], [fixed(100 * end["valid"], 1)], [p3(s["mean_of_random_renders"])]])
    shown = [[[t for t in cell if t] for cell in r] for r in parts(page, "#table tbody tr", "th, td")]
    check(shown == want, "the table shows", shown, "not", want)


def check_curves(page, found):
    """The curves follow the switch: a knot says each of their numbers."""
    for key in KINDS:
        press(page, "#curve-bar button", key.split("_")[0])
        want = [f"{s['examiner']}, {c['renders']} renders: {p3(c[key]['value'])} ({between(c[key])})"
                for s in found["summaries"] if s["model"] == found["summaries"][0]["model"] for c in s["curve"]]
        check(labels(page, "#curves .knot") == want, key, "has the knots", labels(page, "#curves .knot"), "not", want)
    check(seen(page, "#curves .band") == 2, "bands are missing")
    press(page, "#curve-bar input")
    check("NaN" not in page.js("document.querySelector('#curves').innerHTML"), "logarithmic curves have NaN")
    pick(page, "#curve-bar select", 1)
    check(labels(page, "#curves svg")[0].startswith(found["summaries"][-1]["model"]), "model")


def check_objects(page, found):
    """A card has an object's means over seeds, and the conditions of the search with the lowest robust p."""
    factors = found["settings"]["factors"]
    unit = {f["factor"]: {"degrees": "°", "diagonals": " diagonals"}.get(f["unit"], "") for f in factors}
    models, examiners = (list(dict.fromkeys(s[k] for s in found["summaries"])) for k in ("model", "examiner"))
    press(page, ".object summary")
    page.wait("document.querySelector('.object .axis') !== null")
    check(seen(page, ".object:first-child .axis") == len(factors), "an axis is missing")
    for s in found["summaries"]:
        pick(page, "#object-bar select", models.index(s["model"]))
        pick(page, "#object-bar select", examiners.index(s["examiner"]), 1)
        shown = dict(zip(texts(page, ".object h3 > bdi"), page.js("[...document.querySelectorAll('.object')].map(o => "
                         "[[...o.querySelectorAll('.numbers b')].map(b => b.textContent), "
                         "o.querySelector('.conditions').textContent])")))
        own = [v for v in found["searches"] if (v["model"], v["examiner"]) == (s["model"], s["examiner"])]
        check(set(shown) == {v["title"] for v in own} and len(shown) == s["objects"], "objects", set(shown))
        for title, (numbers, words) in shown.items():
            of = [v for v in own if v["title"] == title]
            check(len(of) == found["settings"]["seeds"], "searches of", title)
            best = min(of, key=lambda v: v["curve"][-1]["robust"])
            own_mean = {k: mean(v["curve"][-1][k] for v in of) for k in (*KINDS, "valid")}
            o = next(o for o in found["objects"] if (o["model"], o["object"]) == (s["model"], best["object"]))
            verdict = f"{'fails' if o['fails'] else 'no lasting failure'}, p\u00a0{p3(o['p'])}"
            want = [verdict, p3(best["mean_of_random_renders"]), *(p3(own_mean[k]) for k in KINDS), whole(own_mean["valid"])]
            check(numbers == want, title, "shows", numbers, "not", want)
            at = [f.replace("_", " ") + " " + fixed(best["lowest_at"][f], 0 if u == "°" else 2) + u for f, u in unit.items()]
            check(words == "lowest p at: " + ", ".join(at), title, "has", words, "not", at)
        # pictures: six of each object, by another model and examiner, too
        check(seen(page, "#objects canvas") >= (4 if s is found["summaries"][0] else 2) * s["objects"], "pictures are missing")


def check_map(page, failures, factors, m):
    """Cells and words of a map are those of failures.json."""
    told = text(page, "#maps .hint")
    want = f"{percent(m['failing_share']['value'])} of {m['renders']:,} random renders fail"
    check(told.startswith(want), "the map says", told, "not", want)
    for k, key in enumerate(("camera", "lamp"), 1):
        check(sum(m[key]["renders"]) == m["renders"] > 0, "cells of the map", key)
        turn = next(f for f in factors if f["factor"] == key + "_azimuth")
        want = [(n and bad, n) for (_, _, a, b), n, bad in zip(failures["cells"], m[key]["renders"], m[key]["failing"])
                if a < turn["most"] and b > turn["least"]]
        shown = [re.search(r": (\d+) of (\d+) renders? fail", t) for t in texts(page, f"#maps .map:nth-child({k}) title")]
        check([(int(t[1]), int(t[2])) if t else (0, 0) for t in shown] == want, "cells of", key)


def check_failures(page, failures, found):
    check(failures["findings"], "findings are missing")
    confirmed = [f for f in failures["findings"] if f["confirmed"]][:6]
    for f, words, numbers in zip(confirmed, texts(page, "#findings > .finding .words"),
                                 texts(page, "#findings > .finding p:nth-child(2)"), strict=True):
        inside, outside = (percent(f[k]["value"]) for k in ("failing_inside", "failing_outside"))
        check(words == f["words"] and f": {inside} of {f['renders_inside']} random renders inside fail" in numbers
              and f" {outside} outside" in numbers, "a finding is", words, numbers, "not", f)
    check(seen(page, "#maps .map") == 2, "maps of camera and lamp")
    for cls in (-1, 1):
        pick(page, "#map-bar select", f"class {cls}" if cls >= 0 else "all", 1)
        check_map(page, failures, found["settings"]["factors"], next(
            m for m in failures["maps"] if (m["model"], m["class"], m["object"]) == (0, cls, -1)))


def check_shares(page, failures):
    """The table has each factor's share of the variance of p, the greatest first."""
    want = sorted(failures["shares"], key=lambda s: -s["share"]["value"])
    shown = texts(page, "#shares tbody th")
    check(shown and sorted(shown) == sorted(s["factor"].replace("_", " ") for s in want), "factors", shown)
    check(shown[0] == want[0]["factor"].replace("_", " "), "the first factor is", shown[0])
    check(len(shown) == 2 * 10, "shares of two models:", len(shown))


def look(run, report):
    found, failures = read(run), read(run, "failures.json")
    with Browser() as b:
        page = opened(b, report, "the page")
        check_numbers(page, found)
        check_failures(page, failures, found)
        check_shares(page, failures)
        told = text(page, "#summary .answer")
        check(told.startswith("The weakest model, net-m1, fails on 9 of 9 objects"), "the page begins with", told)
        check(sum(o["fails"] for o in found["objects"] if o["model"] == "net-m1") == 9, "objects that fail")
        check_curves(page, found)
        check_objects(page, found)
        check("left out" not in text(page, "#object-hint"), "pictures:", text(page, "#object-hint"))
        credits = seen(page, "#credits tbody tr")
        check(credits == len({s["object"] for s in found["searches"]}), "attribution of", credits, "objects")
        check(not seen(page, "main script, main img[onerror], main b[onclick]"), "a name became markup")
        check("NaN" not in page.js("document.querySelector('main').innerText"), "NaN on the page")
        quiet(page, "the page after all")


def bare(report):
    with Browser() as b:
        page = opened(b, report, "the page without maps")
        check(seen(page, "#map-part[hidden], #finding-part[hidden]") == 2, "empty parts")
        check("no pictures of failing renders" in text(page, "#object-hint"), "no hint")


def strength(report):
    with Browser() as b:
        page = opened(b, report, "the page of the best conditions")
        told = page.js("document.querySelector('main').innerText")
        check("highest" in told and "lowest" not in told, "a search for the highest p speaks of the lowest")
        check("is the classifier best?" in text(page, "h1"), "title")


if __name__ == "__main__":
    {"tables": tables, "figures": figures, "order": order, "look": look, "bare": bare,
     "strength": strength}[sys.argv[1]](*sys.argv[2:])
