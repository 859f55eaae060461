#!/usr/bin/python3
"""shift_pages.py votes RUN FILE | check RUN FIGURES.csv PRINTED | look RUN REPORT.html LINES: what people see of a run of
shifts, for tests/test_shift_pages.sh. votes: forms of four raters. check: the figures' numbers and the selection frequencies
against shifts.json, the key and the votes, by plain Python. look: the pages in a headless Chromium; LINES gets the lines that
the page of thresholds makes. hard, look_hard: the same of a run with logit axes, a model without an error, and hard names."""
import csv
import json
import math
import random
import re
import sys

from browser import Browser, check, opened, parts, pick, press, seen, text, texts

HEADER = "rater,grid,place,selected\n"


def near(a, b, *words):
    a, b = (math.nan if x in (None, "") else float(x) for x in (a, b))
    check(math.isnan(a) and math.isnan(b) or abs(a - b) <= 2e-6, *words, a, b)


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


# ---- votes ----

def votes(run, path):
    """ann answers all, bea all in other words, carl one grid by marking ones alone, dora nothing; kept ones are chosen more"""
    rng, key = random.Random(1), rows(f"{run}/grids/key.csv")
    with open(path, "w") as f:
        for rater in ("ann", "bea", "carl", "dora"):
            f.write(HEADER)
            for k in key:
                yes = rng.random() < {"kept": 0.8, "dropped": 0.3, "real": 0.1}[k["set"]]
                word = {"ann": "1" if yes else "0", "bea": "yes" if yes else "no", "dora": "",
                        "carl": "1" if yes and k["grid"].startswith("shift_000") else ""}[rater]
                f.write(f"{rater},{k['grid']},{k['place']},{word}\n")


def tally(run):
    """(grid, place) -> [votes, selected], with the rule that an empty cell of an answered grid is no"""
    words = {"1": 1, "0": 0, "": None}
    answers, count = {}, {}
    for r in rows(f"{run}/grids/votes.csv"):
        answers.setdefault((r["rater"], r["grid"]), []).append((r["place"], words[r["selected"]]))
    for (_, grid), cells in answers.items():
        if all(v is None for _, v in cells):
            continue
        for place, v in cells:
            n = count.setdefault((grid, place), [0, 0])
            n[0] += 1
            n[1] += v == 1
    return count


def mean(pictures, count):
    """value, low, high of weighted frequencies"""
    f = [(float(k["weight"]), count[k["grid"], k["place"]]) for k in pictures if (k["grid"], k["place"]) in count]
    if not f:
        return None
    f = [(w, s / n) for w, (n, s) in f]
    total, n = sum(w for w, _ in f), len(f)
    m = sum(w * v for w, v in f) / total
    if len({v for _, v in f}) < 2:
        return m, math.nan, math.nan
    half = 1.959963984540054 * math.sqrt(n / (n - 1) * sum((w * (v - m)) ** 2 for w, v in f)) / total
    return m, max(0, m - half), min(1, m + half)


def kappa(key, count, task):
    cells = [count[k["grid"], k["place"]] for k in key if k["task"] == task]
    cells = [(n, s) for n, s in cells if n > 1]
    agree = sum((s * (s - 1) + (n - s) * (n - s - 1)) / (n * (n - 1)) for n, s in cells) / len(cells)
    p = sum(s for _, s in cells) / sum(n for n, _ in cells)
    return (agree - p * p - (1 - p) ** 2) / (1 - p * p - (1 - p) ** 2)


def check_votes(run, drawn, printed):
    key, count = rows(f"{run}/grids/key.csv"), tally(run)
    for k, s in zip(key, rows(f"{run}/grids/selection.csv")):
        n, selected = count[k["grid"], k["place"]]
        check((s["path"], int(s["votes"]), int(s["selected"])) == (k["path"], n, selected), "selection.csv", k, s)
    titles = {"Is the shift there?": "shift", "Is the object there?": "label"}
    expected = {}
    for task in titles.values():
        for k in key:
            if k["task"] != task:
                continue
            name = (task, k["source"] or "real pictures", k["shift"] or "real pictures")
            own = [x for x in key if x["task"] == task and (x["source"], x["shift"]) == (k["source"], k["shift"])]
            both = [mean(own, count), mean([x for x in own if x["set"] == "kept"], count)]
            expected[name] = [v for v in (both if k["shift"] else both[:1]) if v]
    found = {}
    for r in drawn:
        found.setdefault((titles[r["panel"]], r["series"], r["label"]), []).append(r)
    check(set(found) == set(expected), "Figure 6 has", sorted(found), "and not", sorted(expected))
    for name, values in expected.items():
        check(len(values) == len(found[name]), name, values, found[name])
        for v, r in zip(values, found[name]):
            for a, b in zip(v, (r["x"], r["x_low"], r["x_high"])):
                near(a, b, "Figure 6", name)
    text = open(printed).read()
    for task, word in (("shift", "shift"), ("label", "object")):
        agreement = kappa(key, count, task)
        check(f"agreement on the {word}: Fleiss's kappa {agreement:.2f}" in text, task, agreement, text)
    check("3 raters" in text, "dora did not answer:", text)


# ---- figures ----

def check_grids(run):
    key = rows(f"{run}/grids/key.csv")
    form = rows(f"{run}/grids/answers.csv")
    check([(k["grid"], k["place"]) for k in key] == [(k["grid"], k["place"]) for k in form], "the form is not the key's")
    for grid in {k["grid"] for k in key}:
        own = [k for k in key if k["grid"] == grid]
        check([int(k["place"]) for k in own] == list(range(1, len(own) + 1)) and len(own) <= 48, grid)
        check(len({k["path"] for k in own}) == len(own), grid, "shows a picture twice")
        for k in own:
            path = k["path"].split("/")
            check(k["set"] == "real" or path[0] == k["source"], k)
            check(k["task"] != "label" or path[-2].replace("_", " ") == k["label"], k)
            check(k["task"] != "shift" or k["set"] == "real" or k["shift"] == k["label"], k)
        check(any(k["set"] == "real" for k in own), grid, "has no control")
        with open(f"{run}/grids/{grid}.png", "rb") as f:
            check(f.read(8) == b"\x89PNG\r\n\x1a\n", grid)


def check_figures(run, drawn):
    with open(f"{run}/shifts.json") as f:
        found = json.load(f)
    by = {}
    for r in drawn:
        by.setdefault((r["figure"], r["panel"], r["series"]), []).append(r)
    for source in found["sources"]:
        name = source["source"]
        for s in source["shifts"]:
            e = s["estimates"]["kept"]
            points = [r for r in by.get(("10", s["shift"], name), [])]
            line = points[:-len(e["base"])] if e["classes_used"] else points
            points = points[len(line):]
            check(len(points) == (len(e["base"]) if e["classes_used"] else 0), name, s["shift"], len(points))
            for r, x, y in zip(points, e["base"], e["shift"]):
                near(r["x"], x, "Figure 10 x", s["shift"]), near(r["y"], y, "Figure 10 y", s["shift"])
            for r in line:
                near(float(r["y"]), e["intercept"] + e["slope"]["value"] * float(r["x"]), "Figure 10, the fit of", s["shift"])
            own = [r for r in by.get(("11", name, s["category"]), []) if r["label"] == s["shift"]]
            check(len(own) == (e["slope"]["value"] is not None), "Figure 11 has", own, "for", name, s["shift"])
            for r in own:
                for a, b in zip("x x_low x_high y y_low y_high".split(), [e[k][v] for k in ("impact", "slope")
                                                                         for v in ("value", "low", "high")]):
                    near(r[a], b, "Figure 11", s["shift"], a)
            for part, word in enumerate(("class", "shift")):
                curve = by["17a", f"{s['shift']}: {word}", name]
                check(len(curve) == 101, len(curve))
                for r, x in zip(curve, s["similarities"][part]["percentiles"]):
                    near(r["x"], x, "Figure 17 a", s["shift"], word)
        for row, folder in [("base", source["base"])] + [(s["shift"], s) for s in source["shifts"]]:
            own = [r for r in by["17b", "", name] if r["label"] == row]
            near(own[0]["x"], folder["pass_rate"]["value"], "Figure 17 b", row)
            near(own[0]["x_low"], folder["pass_rate"]["low"], "Figure 17 b", row)


def check_all(run, figures, printed):
    drawn = rows(figures)
    check({r["figure"] for r in drawn} == {"6", "10", "11", "17a", "17b"}, "the figures are", {r["figure"] for r in drawn})
    check_grids(run)
    check_figures(run, drawn)
    check_votes(run, [r for r in drawn if r["figure"] == "6"], printed)


def line_of(x, y):
    mx, my = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)
    return slope, my - slope * mx


def check_hard(run, figures, *drawings):
    """On logit axes the points lie where the fit takes them to be, also of a model without an error."""
    with open(f"{run}/shifts.json") as f:
        found = json.load(f)
    drawn, limited = [r for r in rows(figures) if r["figure"] == "10"], 0
    for source in found["sources"]:
        for s in source["shifts"]:
            e = s["estimates"]["kept"]
            if not e["classes_used"]:
                continue
            own = [r for r in drawn if r["series"] == source["source"] and r["panel"].lstrip("'") == s["shift"]]
            x, y = ([math.log(v / (1 - v)) for v in (float(r[k]) for r in own)] for k in "xy")
            n = len(e["base"])
            for a, b, what in zip(line_of(x[-n:], y[-n:]), (e["slope"]["value"], e["intercept"]), ("slope", "intercept")):
                check(abs(a - b) < 1e-3, what, "of the points of", s["shift"], "is", a, "not", b)
            for a, b in zip(x[:-n], y[:-n]):
                check(abs(b - e["intercept"] - e["slope"]["value"] * a) < 1e-3, "the line of", s["shift"], "at", a, "is", b)
            limited += e["accuracies_limited"]
    check(limited, "no accuracy was limited")
    for path in drawings:
        check_letters(path)


def check_letters(path):
    """No letter of a drawing lies outside the page or on another one."""
    with open(path) as f:
        text = f.read()
    width, height = (float(re.search(rf'<svg[^>]* {k}="([0-9.]+)', text)[1]) for k in ("width", "height"))
    fonts = {}
    for font, x, y in re.findall(r'<use xlink:href="#glyph-?(\d+)-\d+" x="([-0-9.]+)" y="([-0-9.]+)"', text):
        fonts.setdefault(font, []).append((float(y), float(x)))
    upright = [a for a in fonts.values() if 3 * len({x for _, x in a}) > len(a)]       # names of y axes stand in columns
    at = sorted(p for a in upright for p in a)
    check(len(at) > 100, path, "has", len(at), "letters")
    for i, (y, x) in enumerate(at):
        check(0 < x < width - 5 and 0 < y < height, path, "has a letter at", x, y)
        for v, u in at[i + 1:]:
            if v - y > 8:
                break
            check(abs(u - x) > 2.5, path, "has letters on each other at", x, y)


# ---- pages ----

def look_report(browser, path, found):
    page = opened(browser, path, "the report")
    shifts = [(v["source"], s) for v in found["sources"] for s in v["shifts"]]
    impacts = [s["estimates"]["kept"]["impact"]["value"] for _, s in shifts]
    by_impact = sorted(shifts, key=lambda a: -(a[1]["estimates"]["kept"]["impact"]["value"] or -9))
    order, some = [f"{v}, {s['shift']}" for v, s in by_impact], sum(i is not None for i in impacts)
    names = texts(page, "#table tbody tr th")
    check(names[:some] == order[:some], "the table is not by impact:", names, order)
    press(page, "#table .sort")
    names = [t.split(", ")[1] for t in texts(page, "#table tbody tr th")]
    check(names == sorted(s["shift"] for _, s in shifts), "by name", names)
    told = text(page, "#summary")
    assert texts(page, "#notes .hint") == [" ".join(found["notes"])], texts(page, "#notes .hint")
    check("fox" in told and "harder than its real pictures" in told, "no word of the confounded class:", told)
    check(seen(page, ".bad-row") == 1, "no row of the confounded class")
    pick(page, "#fit-bar select", 0)
    check(seen(page, "#fit .dot") == 6, "six models have other than six points")
    check(seen(page, "#figures img") == 2 + 1 + 1 + 4, "figures are missing")
    check(page.js("Promise.all([...document.querySelectorAll('#figures img')].map(e => (e.loading = 'eager', e.decode())))."
                  "then(() => true)"), "a drawing is broken")
    margins = {}
    for name, captions in page.js("[...document.querySelectorAll('#pictures .pair > div')].map(e => [e.querySelector('b')."
                                  "textContent, [...e.querySelectorAll('figcaption')].map(c => c.firstChild.textContent)])"):
        margins.setdefault(name, []).extend(captions)
    below, above = margins["just dropped"], margins["just kept"]
    check(below and above and {c[0] for c in below} == {"−"} and {c[0] for c in above} == {"+"},
          "a kept picture lies below its threshold:", below, above)
    check(seen(page, "#pictures canvas") == len(below) + len(above), "pictures are missing")


def look_pick(browser, path, found, lines):
    page = opened(browser, path, "the page of thresholds")
    for s in range(seen(page, "#sheets > section")):
        levels = [[float(c) for (c,) in l] for l in parts(page, f"#shift-{s} .level", "figcaption")]
        check(len(levels) == 12 and all(l == sorted(l) for l in levels), "not in order:", levels)
    at = float(texts(page, "#shift-0 .level small")[4].split()[1])
    press(page, "#shift-0 .level:nth-of-type(5) input")
    told = text(page, "#result")
    similar = [math.floor(v["shifts"][0]["similarities"][1]["percentiles"][20] * 1e4) / 1e4 for v in found["sources"]]
    check(min(similar) - 1e-6 <= at <= max(similar) + 1e-6, "percentile 20 of both sources is", at, "and of each", similar)
    check('chosen_for: "random clip"' in told and f"threshold: {at:.4f}" in told, told)
    check(seen(page, "#shift-0 .level.below") == 4, "the lower lines are not pale")
    check("threshold: 0.9999" in told, "a threshold of the config is lost:", told)
    keep_lines(told, lines)


def keep_lines(told, path):
    with open(path, "w") as f:
        f.write(told[told.index("shifts:"):] + "\n")


def look_fits(page, shifts):
    """Ticks of a probit or logit axis do not touch; points lie on the axes' places of the fit."""
    boxes = ("Array.from(document.querySelectorAll('#fit svg text'), e => { const b = e.getBoundingClientRect();"
             "return [b.left, b.top, b.right, b.bottom, e.textContent]; })")
    for i in range(shifts):
        pick(page, "#fit-bar select", i)
        ticks = page.js(boxes)
        for k, a in enumerate(ticks):
            check(a[3] - a[1] > 9, "a text of the fit is too small to read:", a)
            for b in ticks[k + 1:]:
                check(not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), "ticks lie on each other:", a, b)


def look_hard(run, report, lines):
    with open(f"{run}/shifts.json") as f:
        shifts = sum(len(v["shifts"]) for v in json.load(f)["sources"])
    with Browser() as b:
        for width in (1280, 400):
            look_fits(opened(b, report, "the report of hard names", width), shifts)
        page = opened(b, f"{run}/pick.html", "thresholds of hard names")
        check(page.js("document.title") == "Spotter: thresholds", "a text of the config runs as a script")
        keep_lines(text(page, "#result"), lines)


def look(run, report, lines):
    with open(f"{run}/shifts.json") as f:
        found = json.load(f)
    with Browser() as b:
        look_report(b, report, found)
        look_pick(b, f"{run}/pick.html", found, lines)


if __name__ == "__main__":
    {"votes": votes, "check": check_all, "hard": check_hard, "look": look, "look_hard": look_hard}[sys.argv[1]](*sys.argv[2:])
