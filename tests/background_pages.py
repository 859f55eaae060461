#!/usr/bin/python3
"""background_pages.py figures RUN [RUN...] CSV | look RUN REPORT.html | alone RUN REPORT.html | none REPORT.html: what people
see of runs of backgrounds, for tests/test_background_pages.sh. figures: the numbers of Figures 9 to 12 against the runs' files,
by plain Python. look: the page of several models in a headless Chromium, against background.json and the files of the run;
alone: that of one model without embeddings; none: that of a run whose pictures are gone."""
import array
import json
import sys

from shift_pages import check, near, quiet, rows

NAMES = ("confidence", "top", "greatest", "mean")


def tensors(path):
    """name -> (shape, numbers) of a safetensors file"""
    with open(path, "rb") as f:
        raw = f.read()
    size = int.from_bytes(raw[:8], "little")
    head, out = json.loads(raw[8:8 + size]), {}
    for name, t in head.items():
        if name == "__metadata__":
            continue
        a, b = t["data_offsets"]
        v = array.array({"F32": "f", "I32": "i", "U8": "B"}[t["dtype"]])
        v.frombytes(raw[8 + size + a:8 + size + b])
        out[name] = (t["shape"], v)
    return out


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

def opened(browser, path, name):
    for width in (400, 1280):
        page = browser.open(path, width=width, height=900)
        page.wait("document.documentElement.dataset.ready === '1'")
        check(page.js("document.documentElement.scrollWidth") <= width, name, "is wider than", width)
        quiet(page, name)
    return page


def check_numbers(page, found):
    check(json.loads(page.js("JSON.stringify(study)")) == found, "the page's numbers are not those of background.json")


def check_matrices(page, responses):
    """Cells of the page are the run's, in 254 steps of the matrix's greatest value."""
    for i, v in enumerate(responses):
        grid, cell, weight = v["matrix"][0][1], v["matrix"][1], v["weight"][1]
        got = page.js(f"Block.u8(models[{i}].page.matrices).then(d => {{ const m = models[{i}], p = m.page, out = [];"
                      "m.matrices.forEach((t, q) => { for (let y = 0; y < p.side; y++) for (let x = 0; x < p.side; x++) {"
                      "const c = cellOf(m, d, q, y, x);"
                      "out.push([kind(t), y, x, c.value === null ? null : c.value * p.most[kind(t)], c.points]); } });"
                      "return out; })")
        kinds = {g[0] for g in got}
        check(kinds == {k for k in range(4) if v["signal"][1][k * len(v["signal"][1]) // 4] == v["signal"][1][
            k * len(v["signal"][1]) // 4]}, "model", i, "shows", kinds)
        for k, y, x, value, points in got:
            all_ = cell[k * grid * grid:(k + 1) * grid * grid]
            check(abs(value - all_[y * grid + x]) <= max(all_) / 254 * 0.6 + 1e-6, "cell", i, k, y, x, value,
                  all_[y * grid + x])
            check(points == (weight[y * grid + x] > 0), "points of cell", y, x)


def check_pairs(page, found, suite, responses):
    truth, n = suite["class"][1], suite["chosen"][0][1]
    for i, v in enumerate(responses):
        answer, signal = v["answer"][1], v["signal"][1]
        turned = {}
        for t, cls in enumerate(truth):
            row = range(t * (n + 1) + 1, (t + 1) * (n + 1))
            wrong = [k for k in row if answer[k] != cls]
            if answer[t * (n + 1)] == cls and wrong:
                k = max(wrong, key=lambda k: signal[k])
                turned[t] = (signal[k], cls, answer[k], signal[t * (n + 1)])
        expected = sorted(turned.values(), key=lambda p: -p[0])[:10]
        pairs = page.js(f"what.models[{i}].pairs")
        check(len(pairs) == len(expected), "model", i, "has", len(pairs), "pairs, not", len(expected))
        for p, e in zip(pairs, expected):
            for a, b in zip((p["after"], p["truth"], p["answer"], p["before"]), e):
                near(a, b, "pair of model", i)
        for b in page.js(f"what.models[{i}].backs"):
            check(0 < b["turned"] <= b["used"], b)
        used = sum(n for t, cls in enumerate(truth) if answer[t * (n + 1)] == cls)
        words = page.js(f"what.models[{i}].words || []")
        check(sum(w["used"] for w in words) <= used and all(w["turned"] <= w["used"] for w in words), words, used)
        if found["models"][i]["turned_by_some_background"]["value"]:
            check(words, "no keywords of model", i)


def lost(suite, v):
    """Accuracy on the originals less that on the suite, over targets."""
    answer, truth, n = v["answer"][1], suite["class"][1], suite["chosen"][0][1]
    right = [[answer[t * (n + 1) + j] == cls for j in range(n + 1)] for t, cls in enumerate(truth)]
    return sum(r[0] - sum(r[1:]) / n for r in right) / len(right)


def check_answer(page, found, suite, responses):
    """The first sentence has what other backgrounds cost: of one model, or of the two models that they cost most and least."""
    head, all_ = page.js("document.querySelector('#summary .answer').textContent"), [lost(suite, v) for v in responses]
    for m, v in zip(found["models"], all_):
        near(m["lost_on_the_suite"]["value"], v, "lost of", m["model"])
    for words in [f"({100 * v:.1f})" for v in (max(all_), min(all_))] if len(all_) > 1 else [
            f"cost the model {100 * all_[0]:.1f} percentage points"]:
        check(words in head, "the page begins with", head, "and not with", words)


def look(run, report):
    from browser import Browser
    found, suite, responses = read(run)
    with Browser() as b:
        page = opened(b, report, "the page")
        check_numbers(page, found)
        check_matrices(page, responses)
        check_answer(page, found, suite, responses)
        check_pairs(page, found, suite, responses)
        names = "Array.from(document.querySelectorAll('#table tbody th'), e => e.textContent)"
        by_turned = sorted(found["models"], key=lambda m: -m["turned_by_some_background"]["value"])
        got = page.js(names)
        check([visible(t) for t in got][:1] == [visible(by_turned[0]["model"])], "the table begins with", got)
        page.js("document.querySelectorAll('#table .sort')[0].click()")
        check(page.js(names) != got or len(got) < 2, "a press does not sort")
        # the second model becomes the first: classes, pairs and matrices follow
        page.js("(e => { e.value = 1; e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#choose select')[0])")
        page.wait(f"document.querySelector('#matrices h3').textContent === models[1].model")
        check(page.js("document.querySelector('#pairs h3').textContent === models[1].model"), "the pairs stay")
        check(page.js("document.querySelectorAll('#pairs > div')[0].querySelectorAll('.turn').length === " +
          "what.models[1].pairs.length"),
              "other pairs")
        check(page.js("document.querySelectorAll('#pairs canvas').length") > 3, "no pictures")
        check(page.js("document.querySelectorAll('#classes tbody tr').length === classes.length"), "classes are missing")
        page.js("(e => { e.value = 0; e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#choose select')[0])")
        page.wait(f"document.querySelector('#matrices h3').textContent === models[0].model")
        before = page.js("document.querySelectorAll('#matrices canvas')[0].toDataURL()")
        page.js("document.querySelector('#matrix-bar button').click()")
        page.wait("document.querySelectorAll('#matrices .ramp-key span')[1].textContent === " +
          "models[0].page.most[0].toPrecision(3)")
        check(before != page.js("document.querySelectorAll('#matrices canvas')[0].toDataURL()"), "the scale stays")
        check(page.js("what.pictures.given === what.pictures.there && what.pictures.unreadable === 0"), "pictures are missing")
        check(page.js("Promise.all(Array.from(document.querySelectorAll('#figures img'), e => { const i = new Image();"
                      "i.src = e.src; return i.decode(); })).then(() => true)"), "a drawing is broken")
        check(page.js("document.querySelectorAll('#figures img').length") == 2, "figures are missing")
        text = page.js("document.getElementById('verdicts').textContent")
        check(text.count("those without apart") == 1, "models of two kinds are judged together:", text)
        check(not page.js("document.querySelector('main script, main img[onerror], main b[onclick]')"), "a name became markup")


def alone(run, report):
    from browser import Browser
    found, suite, responses = read(run)
    with Browser() as b:
        page = opened(b, report, "the page of one model")
        check_numbers(page, found)
        check_answer(page, found, suite, responses)
        check_matrices(page, responses)
        check(page.js("document.querySelectorAll('#matrices canvas').length") == 1, "other than one matrix")
        text = page.js("document.body.textContent")
        for words in ("gives no embedding", "neuron coverage is not known", "it recognises in the original picture"):
            check(words in text, "the page does not say:", words)
        check(not page.js("document.querySelector('#choose select')"), "one model is compared")


def none(report):
    from browser import Browser
    with Browser() as b:
        page = opened(b, report, "the page without pictures")
        text = page.js("document.getElementById('pair-hint').textContent")
        check("could not be made" in text, text)
        check(page.js("document.querySelectorAll('#pairs .nopic').length") > 3, "no names in place of pictures")


if __name__ == "__main__":
    {"figures": figures, "look": look, "alone": alone, "none": none}[sys.argv[1]](*sys.argv[2:])
