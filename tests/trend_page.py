#!/usr/bin/python3
"""The trend page in a real browser; test_check.sh gives it what `spotter report --trend` made.

    trend_page.py write FILE.jsonl N      a history of N nights: two methods, a worse night, one in quarantine, a new baseline,
                                          a hostile name
    trend_page.py look FILE.html N [SHOT] looks at the page, in light and dark; SHOT-light.png, SHOT-dark.png are what it saw
"""
import json
import math
import random
import sys

from browser import Browser, check, quiet, seen, text, texts

HOSTILE = "</script><b onclick=alert(1)>&\u202e"


def night(i, n, rng):
    lines = [{"layer": "bits", "method": "", "metric": "segments", "verdict": "broken" if i == n // 4 else "same",
              "before": None, "now": None, "low": None, "high": None, "margin": None, "p": None,
              "why": "EC 12 differs" if i == n // 4 else ""}]
    for k, (method, dr) in enumerate([("spotlight", 0.79), (HOSTILE, 0.64), ("", 0.95)]):
        for metric, base, sign in ([("dr", dr, -1), ("fdr", 0.08, 1)] if method else [("learned", dr, -1)]):
            base += 0.04 * (2 * i > n) * (metric == "dr" and k == 0)              # a new baseline in the middle
            worse = i == n - 2 and k == 0 and metric == "dr"
            hidden = i == n - 1 and k == 1 and metric == "fdr"
            d = sign * 0.08 if worse or hidden else 0.008 * math.sin(i) + 0.004 * rng.gauss(0, 1)
            verdict = "worse" if worse or hidden else "inconclusive" if abs(d) > 0.008 else "same"
            lines.append({"layer": "pairs", "method": method, "metric": metric, "verdict": verdict, "before": base,
                          "now": base + d, "low": d - 0.02, "high": d + 0.02, "margin": 0.02, "p": 0.3, "why": ""})
            lines[-1]["quarantined"] = hidden
    for line in lines:
        line.setdefault("quarantined", False)
        line.update(paired=True, n=28, left_out=1)
    failed = any(x["verdict"] in ("worse", "broken") and not x["quarantined"] for x in lines)
    day = "2026-%02d-%02dT02:00:00Z" % (1 + i // 28 % 12, 1 + i % 28)
    return {"schema": 1, "at": day, "commit": "%07x" % (i * 7919), "failed": failed, "build": "0.1.0 abc", "device": "cpu",
            "numbers": 4, "config": "0" * 32, "baseline": "accepted 2026-01-01", "run": "28 ECs", "lines": lines}


def write(path, n):
    rng = random.Random(1)
    with open(path, "w") as f:
        for i in range(n):
            f.write(json.dumps(night(i, n, rng)) + "\n")
            if i == 0:
                f.write('{"schema":1,"at":"2026-01-01T02:00:\n')               # a night that was torn


def look(path, n, shot):
    with Browser() as b:
        for dark in (False, True):
            page = b.open(path, width=1300, height=900, dark=dark)
            page.frames(2)
            check(seen(page, "figure.chart") == 5, "not five numbers")
            check(seen(page, "#strip i") == n, "not", n, "nights in the strip")
            check(seen(page, "#strip i.failed") == 2, "not two nights failed")
            check(seen(page, "#table tbody tr") == n, "not", n, "nights in the table")
            check(seen(page, "#course .mark.bad") == 1, "not one mark of a worse night")
            check(seen(page, "#course .mark.q") == 1, "not one night in quarantine")
            check(seen(page, "#course .mark") == 5 * n, "not a mark a number and night")
            check("EC 12 differs" in text(page, "#strip"), "broken bits are not told")
            check("1 line of the history is damaged" in text(page, "#notes"), "no damage")
            check(seen(page, "main b") == 0, "a name became markup")
            check("</script>" in texts(page, "figure bdi")[2], "the name is not whole")
            check(page.js("[...document.querySelectorAll('.chart svg')].every(e => e.getAttribute('aria-label').length > 40)"),
                  "a chart without words")
            check(page.js("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the window")
            check(page.js("[...document.querySelectorAll('#course .now')].every(e => !/NaN/.test(e.getAttribute('d')))"),
                  "a line goes nowhere")
            ground = page.js("getComputedStyle(document.documentElement).backgroundColor")
            check(ground == ("rgb(21, 23, 27)" if dark else "rgb(246, 246, 244)"), "the ground is", ground)
            quiet(page)
            if shot:
                page.shot("%s-%s.png" % (shot, "dark" if dark else "light"), whole=True)


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], int(sys.argv[3]))
    else:
        look(sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else None)
        print("the trend page of", sys.argv[3], "nights holds")
