#!/usr/bin/python3
"""Pages of test_versions_page.sh in a real browser.

    versions_page.py cause FILE.html      of a model with one cause in five classes
    versions_page.py versions FILE.html   of two versions: five blindspots mended, one new
    versions_page.py equal FILE.html      of a version and itself
"""
import json
import re
import sys

from browser import Browser, check, labels, opened, press, quiet, seen, texts
from report_page import PRESSED


def text(page, what):
    return page.js("document.querySelector(%r).innerText" % what)


def cause(browser, path):
    page = browser.open(path, width=1200, height=1000)
    page.wait("document.querySelectorAll('.cause').length")
    page.frames(4)
    check(seen(page, ".cause") == 1, "there is not one cause")
    with open("numbers.json") as f:            # of slices.json
        numbers = {int(n): what for n, what in json.load(f).items()}
    shown = {}
    for card in labels(page, "#list button.card"):
        name, n, size = re.match(r"(?s)(.*) #(\d+), .*?: ([\d,]+) rows?, ", card).groups()
        shown[int(n)] = [name, int(size.replace(",", ""))]
    whole = shown.pop(1)                       # the head of the cause, with the rows of all its slices
    check(whole[1] > numbers[1][1], "the cause has", whole, "rows, and its first slice", numbers[1])
    check(shown == {n: what for n, what in numbers.items() if n != 1}, "the page numbers the slices", shown)
    head = text(page, ".cause h3")
    check("5 classes taken for signs" in head and "taken for signs: " in head and "<b>fun</b>" in head, "its head says", head)
    check(re.match(r"1\s+5 classes taken for signs", texts(page, ".lead")[1]), "on top stands", texts(page, ".lead"))
    check("They seem to be 1 cause" in text(page, "#claims"), "the first sentence says", text(page, "#claims"))
    check(not page.js("document.querySelector('.cause details').open"), "the slices of the cause are not folded")
    inside = seen(page, ".cause details button.card")
    check(inside >= 4 and "%d other slices of this cause" % inside in text(page, ".cause summary"), inside, "under the head")
    check(page.js("[...document.querySelectorAll('.cause .worst canvas')].length") > 5, "the head has no pictures")
    check(not page.js("document.getElementById('map').open"), "a map of principal components is not folded")
    press(page, "#detail button", "Zoom to it")
    page.wait("document.getElementById('map').open && document.getElementById('points').width > 300")
    # A link to a slice of the cause unfolds it; the arrow keys pass over it while it is folded.
    page.js("location.hash = '#slice-' + document.querySelector('.cause details button.card .rank').textContent")
    page.wait("document.querySelector('.cause details').open")
    page.wait("!!%s?.closest('.cause details')" % PRESSED)
    check("Which, and why" in page.js("document.getElementById('notes').textContent"), "unreadable pictures are not named")
    named = seen(page, "#notes .plain-list li")
    check(named == 21, "of 25 unreadable pictures", named, "lines")
    legend = text(page, "#legend")
    check("principal components" in legend and "no slice was found on it" in legend, "the map's words are", legend)
    check(page.js("window.hacked === undefined"), "a name ran as a script")
    quiet(page)
    opened(browser, path, "a narrow window", 400)


def versions(browser, path):
    page = browser.open(path, width=1200, height=1000)
    page.frames(4)
    check("<i>v2</i>" in text(page, "#title") and "<u>test</u>" in text(page, "#names"), "names are not shown as they are")
    lead = text(page, "#lead")
    check("is worse than" in lead and "new" in lead, "the first sentence says", lead)
    verdicts = texts(page, "#slices .verdict")
    order = ["new", "worse", "pending", "same", "better", "mended"]
    check(verdicts[0] in ("new", "worse") and verdicts == sorted(verdicts, key=order.index), "the order is", verdicts)
    check(sum(v in ("better", "mended") for v in verdicts) >= 4, "the mended ones are", verdicts)
    first = text(page, "#slices .card")
    for word in ("<b>fun</b>", "Turned wrong", "corrected"):
        check(word.lower() in first.lower(), "the first card has no", word, "but", first)
    (was, rows), (now, again) = [map(int, side) for side in re.findall(r"wrong, (\d+) of (\d+)", first)]
    turned, back = map(int, re.search(r"(\d+) turned wrong, (\d+) right", first).groups())
    check(rows == again and now - was == turned - back, "the numbers of the first card do not add up:", first)
    check(seen(page, "#slices .card canvas") > 20, "there are no pictures")
    check(re.search(r"[1-9]\d* rows? outside these slices turned wrong", lead), "rows outside are not told:", lead)
    check(seen(page, "#whole tbody tr") == 7, "the classes are not all there")
    page.js("document.querySelector('#slices details').open = true")
    page.wait("document.querySelector('#slices details table') !== null")
    check(page.js("window.hacked === undefined"), "a name ran as a script")
    check(not page.js("document.querySelector('main b i, main b u, main td b') !== null"), "a name became markup")
    quiet(page)
    opened(browser, path, "a narrow window", 400, 399)          # dark and light


def equal(browser, path):
    page = browser.open(path, width=1200, height=1000)
    check("Both versions have the same rows wrong" in text(page, "#lead"), "it says", text(page, "#lead"))
    check(page.js("document.getElementById('lost-part').hidden"), "there are rows outside")
    quiet(page)


if __name__ == "__main__":
    with Browser() as b:
        {"cause": cause, "versions": versions, "equal": equal}[sys.argv[1]](b, sys.argv[2])
    print(sys.argv[1], "page holds")
