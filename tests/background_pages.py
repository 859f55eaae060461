#!/usr/bin/python3
"""background_pages.py figures RUN [RUN...] CSV | look RUN REPORT.html | alone RUN REPORT.html | none REPORT.html: what people
see of runs of backgrounds, for tests/test_background_pages.sh. figures: the numbers of Figures 9 to 12 against the runs' files,
by plain Python. look: the page of several models in a headless Chromium, against background.json and the files of the run;
alone: that of one model without embeddings; none: that of a run whose pictures are gone."""
import json
import re
import sys

from browser import Browser, check, fixed, labels, opened, parts, pick, press, seen, shows, text, texts
from shift_pages import near, rows
from tensor_files import read as tensors

NAMES = ("confidence", "top", "greatest", "mean")


def read(run):
    """background.json, the suite, responses of each model"""
    with open(f"{run}/background.json") as f:
        found = json.load(f)
    suite = tensors(f"{run}/suites/{found['suite']['key']}.safetensors")
    return found, suite, [tensors(f"{run}/responses/000/model-{u:06d}.safetensors") for u in range(len(found["models"]))]


def check_distances(run, suite, drawn, most):
    distance, bins = suite["distance"][1], [0] * 50
    for d in distance:
        bins[min(49, int(50 * d / most))] += 1
    check(len(drawn) == 100, run, "has", len(drawn), "dots in Figure 11")
    for i, n in enumerate(bins):
        for r, edge in zip(drawn[2 * i:2 * i + 2], (i, i + 1)):
            near(r["x"], most * edge / 50, "Figure 11 x"), near(r["y"], n / len(distance), "Figure 11", run, i)


def check_levels(suite, drawn):
    n = suite["chosen"][0][1]
    word, level = suite["keyword"][1], suite["level"][1]
    targets = [[(word[i], level[i]) for i in range(at, at + n)] for at in range(0, len(word), n)]
    for l in range(max(level) + 1):
        counts = [len({w for w, of in t if w >= 0 and of <= l}) for t in targets]
        for series, v in (("most", max(counts)), ("mean", sum(counts) / len(counts)), ("fewest", min(counts))):
            own = [r for r in drawn if r["series"] == series and float(r["x"]) == l]
            check(len(own) == 2, "Figure 9 has", own)
            near(own[0]["y"], v, "Figure 9", series, l), near(own[1]["y"], v, "Figure 9", series, l)


def figures(*args):
    runs, drawn = [(r, *read(r)) for r in args[:-1]], rows(args[-1])
    most = max(max(suite["distance"][1]) for _, _, suite, _ in runs)
    series = list(dict.fromkeys(r["series"] for r in drawn if r["figure"] == "11"))
    check(len(series) == len(runs), "Figure 11 has", series)
    for (run, _, suite, _), s in zip(runs, series):
        check_distances(run, suite, [r for r in drawn if (r["figure"], r["series"]) == ("11", s)], most)
    check_levels(runs[0][2], [r for r in drawn if r["figure"] == "9"])
    cells = [r for r in drawn if r["figure"] in ("10", "12")]
    abouts = list(dict.fromkeys(r["series"] for r in cells))
    check(not cells and len(runs) == 1 or len(abouts) == len(runs), "matrices of", abouts)
    common = set.intersection(*({visible(m["model"]) for m in found["models"]} for _, found, _, _ in runs))
    check(not cells or {visible(r["panel"]) for r in cells} == common, "other models than", common)
    for (run, found, suite, responses), about in zip(runs, abouts):
        for model, v in zip(found["models"], responses):
            own = [r for r in cells if r["series"] == about and visible(r["panel"]) == visible(model["model"])]
            if visible(model["model"]) not in common:
                continue
            grid = v["matrix"][0][1]
            check(len(own) == grid * grid, run, model["model"], "has", len(own), "cells")
            for i, r in enumerate(own):
                near(r["label"], v["matrix"][1][i], "cell", i)
                near(r["x"], (i % grid + 0.5) / grid * found["suite"]["range"], "x of cell", i)
                near(r["y"], (i // grid + 0.5) / grid * found["suite"]["range"], "y of cell", i)


def visible(text):
    return text.lstrip("'").replace("\n", "").replace("\\x0a", "")


# ---- the page ----

SETS = ("original", "only-fg", "no-fg", "mixed-same", "mixed-rand", "mixed-next", "plain", "noise", "blurred", "only-bg-b",
        "only-bg-t", "noise-fg", "noise-bg", "suite")
COLUMNS = {"original": "accuracy", "turned": "turned_by_some_background", "worst case": "worst_case_accuracy",
           "own class": "turned_by_own_class", "beyond own": "turned_beyond_own_class", "BG-gap": "bg_gap",
           "blending": "lost_by_blending"}
KINDS = ("confidence", "mean of the ", "greatest neuron", "mean of all neurons")
# The page's words about each cell of the first model's matrices, from below and from the left, when the pointer is there.
READINGS = """[...document.querySelectorAll('#matrices > div:first-child canvas.variance')].map(c => { const told = [],
  n = %d, r = c.getBoundingClientRect();
  for (let y = 0; y < n; y++) for (let x = 0; x < n; x++) {
    c.dispatchEvent(new PointerEvent('pointermove', { clientX: r.left + (x + 0.5) / n * r.width,
      clientY: r.bottom - (y + 0.5) / n * r.height }));
    told.push(document.getElementById('reading').textContent);
  }
  return [c.getAttribute('aria-label'), told]; })"""


def share(v):
    """A cell: per cent, and its interval."""
    told = [fixed(100 * v["value"], 1)]
    return told + [f"{fixed(100 * v['low'], 1)} to {fixed(100 * v['high'], 1)}"] if v["low"] is not None else told


def check_numbers(page, found):
    """Facts, words and the models' table are those of background.json; the most turned model comes first."""
    s, models = found["suite"], found["models"]
    facts = {a: b for (a,), (b,) in parts(page, "#facts > div", "dt, dd > b")}
    check(facts == {"models": f"{len(models)}", "objects": f"{s['targets']}", "choice": s["choice"],
                    "backgrounds of each": f"{s['backgrounds_of_a_target']}"}, "the facts are", facts)
    told = [t.replace("(−", "(-") for t in texts(page, "#summary .answer, #summary li")]
    check(told == found["summary"], "the page begins with", told)
    check(texts(page, "#suite > ul li") == found["notes"], "of the suite", texts(page, "#suite > ul li"))
    check(texts(page, "#suite .notes li") == found["not_the_papers"], "settings", texts(page, "#suite .notes li"))
    (head, *body) = parts(page, "#table tr", "th, td")
    head = [h for (h,) in head]
    check({"model", "suite", "mixed-same", "mixed-rand", "only-fg", "no-fg", *COLUMNS} <= set(head), "columns", head)
    by = sorted(models, key=lambda m: -m["turned_by_some_background"]["value"])
    check([r[0][0] for r in body] == [m["model"] for m in by], "the table's models are", [r[0][0] for r in body])
    for m, r in zip(by, body):
        for title, cell in zip(head[1:], r[1:]):
            check(cell == ([fixed(m["planted_reliance"], 2)] if title == "planted" else share(
                m[COLUMNS[title]] if title in COLUMNS else m["sets"][title]["accuracy"])), m["model"], title, cell)


def check_shown(page, models):
    """The lines of the sets and the classes' table, of the models that stand side by side."""
    lines = [f"{m['model']}, {k}: {' % ('.join(share(m['sets'][k]['accuracy']))})" for m in models for k in SETS]
    check(sorted(labels(page, "#sets .side")) == sorted(lines), "sets are shown as", labels(page, "#sets .side"))
    names = texts(page, "#sets .set-name")
    check([t.split("(")[-1].strip(")") for t in names] == [*SETS], "sets are called", names)
    _, *body = parts(page, "#classes tr", "th, td")
    classes = zip(*(m["classes"] for m in models))
    want = sorted([of[0]["class"].replace("_", " "), str(of[0]["targets"]), *(
        share(c[key])[0] for c in of for key in ("original", "suite", "turned", "worst_case"))] for of in classes)
    check(sorted([t for (t,) in r] for r in body) == want, "classes are", body, "not", want)


def check_matrices(page, model, grid, v):
    """Cells of the first model are the run's, in 254 steps of the matrix's greatest value."""
    cell, weight, signal = v["matrix"][1], v["weight"][1], v["signal"][1]
    shown = {next(k for k, t in enumerate(KINDS) if label.startswith("variance matrix of " + t)): told
             for label, told in page.js(READINGS % grid)}
    per = len(signal) // 4
    check(set(shown) == {k for k in range(4) if signal[k * per] == signal[k * per]}, model, "shows", set(shown))
    for k, told in shown.items():
        all_ = cell[k * grid * grid:(k + 1) * grid * grid]
        for i, words in enumerate(told):
            value = re.search(r": difference (\S+)", words)
            check(words.startswith(model + ", ") and value and shows(value[1], all_[i], max(all_) / 254 * 0.6 + 1e-6), "cell",
                  k, i, "is", words, "not", all_[i])
            check(("no points here" not in words) == (weight[i] > 0), "points of cell", i, words)


def pairs_of(suite, v):
    """The ten most certain wrong answers, one an object that is right in the original: after, truth, answer, before."""
    truth, n, answer, signal, turned = suite["class"][1], suite["chosen"][0][1], v["answer"][1], v["signal"][1], []
    for t, cls in enumerate(truth):
        row = range(t * (n + 1) + 1, (t + 1) * (n + 1))
        wrong = [k for k in row if answer[k] != cls]
        if answer[t * (n + 1)] == cls and wrong:
            k = max(wrong, key=lambda k: signal[k])
            turned.append((signal[k], cls, answer[k], signal[t * (n + 1)]))
    return sorted(turned, key=lambda p: -p[0])[:10]


def check_pairs(page, model, suite, v):
    """The first model's pairs, with their answers; counts of backgrounds and keywords are possible ones."""
    truth, n, answer, first = suite["class"][1], suite["chosen"][0][1], v["answer"][1], "#pairs > div:first-child "
    names = [c["class"].replace("_", " ") for c in model["classes"]] + ["none of the classes"]
    pairs, shown = pairs_of(suite, v), parts(page, first + ".turn", "figcaption")
    check(len(shown) == len(pairs), model["model"], "has", len(shown), "pairs, not", len(pairs))
    for ((right, before), (back, *_), (wrong, after)), p in zip(shown, pairs):
        check((right, back, wrong) == (names[p[1]], "background", names[p[2]]), "a pair is of", right, back, wrong, "not", p)
        for told, value in (after, p[0]), (before, p[3]):
            check(shows(told.split()[-1], value, 2e-6), "a pair says", told, "not", value)
    for turned, used in (re.match(r"turns (\d+)of (\d+)$", t).groups() for t in texts(page, first + ".thumbs figcaption")):
        check(0 < int(turned) <= int(used), turned, used)
    words = [re.findall(r"\((\S+) % of ([\d,]+) blends\)", t) for t in texts(page, first + "> p.hint")]
    words = [(float(a), int(b.replace(",", ""))) for found in words for a, b in found]
    used = sum(n for t, cls in enumerate(truth) if answer[t * (n + 1)] == cls)
    check(sum(b for _, b in words) <= used and all(0 <= a <= 100 for a, _ in words), words, used)
    check(words or not model["turned_by_some_background"]["value"], "no keywords of", model["model"])


def lost(suite, v):
    """Accuracy on the originals less that on the suite, over targets."""
    answer, truth, n = v["answer"][1], suite["class"][1], suite["chosen"][0][1]
    right = [[answer[t * (n + 1) + j] == cls for j in range(n + 1)] for t, cls in enumerate(truth)]
    return sum(r[0] - sum(r[1:]) / n for r in right) / len(right)


def gap(suite, v):
    """Accuracy on mixed-same less mixed-rand, over the targets that have both."""
    (_, sets), answer = v["derived"]
    pairs = [[answer[t * sets + SETS.index(k)] for k in ("mixed-same", "mixed-rand")] for t in range(len(suite["class"][1]))]
    both = [(a == cls) - (b == cls) for (a, b), cls in zip(pairs, suite["class"][1]) if -2 not in (a, b)]
    return sum(both) / len(both)


def check_answer(page, found, suite, responses):
    """The first sentence has the BG-gap: of one model, or the largest and the least of several."""
    head, gaps = text(page, "#summary .answer"), []
    for m, v in zip(found["models"], responses):
        near(m["lost_on_the_suite"]["value"], lost(suite, v), "lost of", m["model"])
        near(m["bg_gap"]["value"], gap(suite, v), "gap of", m["model"])
        if m["dependence_on_the_background"]["verdict"] != "unknown":
            gaps.append(100 * m["bg_gap"]["value"])
    if not gaps:
        words = ["No answer"]
    elif len(responses) > 1:
        words = [f"points, is {max(gaps):.1f} of", f"the least {min(gaps):.1f} of"]
    else:
        words = [f"{gaps[0]:.1f} percentage points ("]
    for w in words:
        check(w in head, "the page begins with", head, "and not with", w)


def look(run, report):
    found, suite, responses = read(run)
    models, grid = found["models"], found["settings"]["grid"]
    with Browser() as b:
        page = opened(b, report, "the page")
        check_numbers(page, found)
        check_answer(page, found, suite, responses)
        # each model becomes the first: sets, classes, pairs and matrices follow
        last = min(models, key=lambda m: m["turned_by_some_background"]["value"])
        for i, (m, v) in reversed([*enumerate(zip(models, responses))]):
            pick(page, "#choose select", i)
            page.wait("document.querySelector('#matrices h3').textContent === " + json.dumps(m["model"]))
            check(text(page, "#pairs h3") == m["model"], "the pairs stay")
            check_shown(page, [m, last])
            check_pairs(page, m, suite, v)
            check_matrices(page, m["model"], grid, v)
        names = texts(page, "#table tbody th")
        press(page, "#table .sort")
        check(texts(page, "#table tbody th") != names or len(names) < 2, "a press does not sort")
        pick(page, "#choose select", 1)
        page.wait("document.querySelector('#matrices h3').textContent === " + json.dumps(models[1]["model"]))
        check(seen(page, "#pairs canvas") > 3, "no pictures")
        pick(page, "#choose select", 0)
        page.wait("document.querySelector('#matrices h3').textContent === " + json.dumps(models[0]["model"]))
        before = page.js("document.querySelectorAll('#matrices canvas')[0].toDataURL()")
        press(page, "#matrix-bar button")
        page.wait("document.querySelectorAll('#matrices canvas')[0].toDataURL() !== " + json.dumps(before))
        most = texts(page, "#matrices .ramp-key span")[1]
        check(shows(most, max(responses[0]["matrix"][1][:grid * grid]), 1e-6), "the scale ends at", most)
        check("missing" not in text(page, "#pair-hint"), text(page, "#pair-hint"))
        check(page.js("Promise.all([...document.querySelectorAll('#figures img')].map(e => e.decode())).then(() => true)"),
              "a drawing is broken")
        check(seen(page, "#figures img") == 2, "figures are missing")
        told = text(page, "#verdicts")
        check(told.count("those without apart") == 1, "models of two kinds are judged together:", told)
        check(not seen(page, "main script, main img[onerror], main b[onclick]"), "a name became markup")


def alone(run, report):
    found, suite, responses = read(run)
    with Browser() as b:
        page = opened(b, report, "the page of one model")
        check_numbers(page, found)
        check_answer(page, found, suite, responses)
        check_shown(page, found["models"])
        check_matrices(page, found["models"][0]["model"], found["settings"]["grid"], responses[0])
        check(seen(page, "#matrices canvas") == 1, "other than one matrix")
        told = text(page, "body")
        for words in ("gives no embedding", "neuron coverage is not known", "it recognises in the original picture"):
            check(words in told, "the page does not say:", words)
        check(not seen(page, "#choose select"), "one model is compared")


def none(report):
    with Browser() as b:
        page = opened(b, report, "the page without pictures")
        check("could not be made" in text(page, "#pair-hint"), text(page, "#pair-hint"))
        check(seen(page, "#pairs .nopic") > 3, "no names in place of pictures")


if __name__ == "__main__":
    {"figures": figures, "look": look, "alone": alone, "none": none}[sys.argv[1]](*sys.argv[2:])
