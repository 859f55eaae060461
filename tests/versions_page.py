#!/usr/bin/python3
"""Pages of test_versions_page.sh in a real browser.

    versions_page.py cause FILE.html      of a model with one cause in five classes
    versions_page.py versions FILE.html   of two versions: five blindspots mended, one new
    versions_page.py guards FILE.html     of the same with two guards, one of which is worse
    versions_page.py retrain FILE.html    of the same with three further trainings
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


ORDER = ["worse", "new", "mended", "better"]
MINUS = str.maketrans("−", "-")


def changed(page):
    """Verdicts and names of the sentences that are not folded, in their order."""
    verdicts = texts(page, "#changes > .sentences .verdict")
    check(verdicts == sorted(verdicts, key=ORDER.index), "the order of the sentences is", verdicts)
    titles = texts(page, "#changes > h3")
    check(titles == [t for t in ("Worse", "New blindspots", "Mended and better") if t in titles], "the parts are", titles)
    return verdicts, [re.match(r"\w+ (.*?): ", t).group(1) for t in texts(page, "#changes > .sentences li")]


def pending_is_folded(page):
    """What is pending is told with its number, and not shown before somebody opens it."""
    check(not page.js("document.querySelector('#changes details').open"), "what is pending is not folded")
    n = int(re.match(r"Pending: (\d+), ", text(page, "#changes summary")).group(1))
    check(seen(page, "#changes details li") == 0, "folded sentences are there")
    page.js("document.querySelector('#changes details').open = true")
    page.wait("document.querySelectorAll('#changes details li').length == %d" % n)
    for said in texts(page, "#changes details li"):
        check(re.search(r"may lie from [+−\d.e-]+ to .*(It needs about [\d,]+ rows? of this kind|No number of rows)", said),
              "a pending sentence says", said)
    check(n >= seen(page, "#whole .pending") > 0, n, "are pending, and in the table", seen(page, "#whole .pending"))
    needs = texts(page, "#whole .pending + .needs")
    check(all(re.fullmatch(r"needs about [\d,]+ rows?|no number of rows decides", t) for t in needs), "the table says", needs)


def versions(browser, path):
    page = browser.open(path, width=1200, height=1000)
    page.frames(4)
    check("<i>v2</i>" in text(page, "#title") and "<u>test</u>" in text(page, "#names"), "names are not shown as they are")
    lead = text(page, "#lead")
    check(re.match(r"<i>v2</i> is worse than v1: .*\d of \d+ slices?\. Better: ", lead), "the first sentence says", lead)
    verdicts, names = changed(page)
    check(verdicts[0] in ("worse", "new") and sum(v in ("better", "mended") for v in verdicts) >= 4, "verdicts are", verdicts)
    check(re.fullmatch(r"slice \d+ of <b>fun</b>", names[0]), "the first sentence is about", names[0])
    first = text(page, "#changes li")
    was, now, n, lost, gained = map(float, re.search(r": ([\d.]+) % → ([\d.]+) % wrong on (\d+) rows; (\d+) turned wrong, "
                                                     r"(\d+) turned right", first).groups())
    change, least, above = map(float, re.search(r"is (\S+) points, and at least (\S+) beyond chance; worse is above (\S+)\.",
                                                first.translate(MINUS)).groups())
    check(abs(change - 100 * (lost - gained) / n) < 0.06 and change > least > above == 5 and now > was, "it says", first)
    card = text(page, "#cards .card")
    check(all(w in card.lower() for w in ("<b>fun</b>", "turned wrong", "corrected ends")), "the first card says", card)
    (bad, rows), (worse, again) = [map(int, side) for side in re.findall(r"wrong, (\d+) of (\d+)", card)]
    check(rows == again == n and worse - bad == lost - gained, "the first card does not agree:", card, first)
    check(page.js("document.querySelector(document.querySelector('#changes a').getAttribute('href')) === "
                  "document.querySelector('#cards > li')"), "the sentence does not lead to the card")
    check(seen(page, "#cards .card canvas") > 20, "there are no pictures")
    answers = texts(page, "#cards .card:first-child .answer")
    check("food" in answers, "below the pictures stand", answers)
    check(re.search(r"[1-9]\d* rows? outside the slices turned wrong", lead), "rows outside are not told:", lead)
    check(seen(page, "#whole tbody tr") == 7, "the classes are not all there")
    pending_is_folded(page)
    judged = text(page, "#judged")
    for words in ("The margin is 5 points", "An equal training moves classes by a few points, too",
                  "Here worse begins at a change of about, in points, +", "in one source of features, that of v1",
                  "all rows\t1\t0.50 %"):
        check(words in judged, "how it was judged has no", words, "but", judged)
    page.js("document.querySelector('#cards details').open = true")
    page.wait("document.querySelector('#cards details table') !== null")
    check(page.js("window.hacked === undefined"), "a name ran as a script")
    check(not page.js("document.querySelector('main b i, main b u, main td b') !== null"), "a name became markup")
    quiet(page)
    opened(browser, path, "a narrow window", 400, 399)          # dark and light


def guards(browser, path):
    page = browser.open(path, width=1280, height=1000)
    verdicts, names = changed(page)
    check((verdicts[0], names[0]) == ("worse", "guard <b>fun</b> & colour=grey"), "first is", verdicts[0], names[0])
    check("worse is above 0." in text(page, "#changes li"), "its own margin is not told:", text(page, "#changes li"))
    check("1 of 2 guards" in text(page, "#lead b"), "the first sentence says", text(page, "#lead"))
    check("<b>fun</b> & colour=grey" in names[1:], "no slice is named by its rule:", names)
    card = text(page, "#cards .card")
    lost, gained = map(int, re.search(r"(\d+) turned wrong, (\d+) turned right", text(page, "#changes li")).groups())
    check(lost > 12 and "Turned wrong: 12 of %d" % lost in card and ("Turned right: %d" % gained in card) == (gained > 0),
          "the guard's card says", card)
    check(names[0] in card and seen(page, "#cards > li:first-child .groups > div:first-child canvas") == 12,
          "the guard has no pictures of rows that turned wrong")
    check(page.js("document.querySelector(document.querySelector('#changes a').getAttribute('href')) === "
                  "document.querySelector('#cards > li')"), "the sentence does not lead to the guard's card")
    page.js("document.querySelector('#cards .card details').open = true")
    page.wait("document.querySelector('#cards .card details table') !== null")
    in_table = texts(page, "#cards > li:first-child tbody td:first-child")
    check(len(set(in_table)) == min(40, lost + gained) and all(re.fullmatch(r"3_\d+\.png", i) for i in in_table),
          "the table of the guard has", in_table)
    # The other guard is not worse: its card is folded with the slices that are not.
    check(re.match(r"Guards and slices that are pending or the same: \d+", text(page, "#cards-rest summary")),
          "the fold says", text(page, "#cards-rest summary"))
    page.js("document.querySelector('#cards-rest details').open = true")
    page.wait("document.querySelector('#cards-rest .card') !== null")
    check(any("guard people & colour=red" in t for t in texts(page, "#cards-rest .where")), "the other guard has no card")
    rows = texts(page, "#whole tbody th")
    check(len(rows) == 9 and rows[0] == "all rows" and rows[7] == names[0], "the table has", rows)
    cells = [t.translate(MINUS) for t in texts(page, "#whole tbody tr:nth-child(8) td")]
    low, high = float(cells[5]), float(cells[6])
    check("at least +%.1f " % low in text(page, "#changes li") and low < float(cells[4]) < high, "its row has", cells)
    check(seen(page, "#whole tbody td:nth-child(2) .verdict") == 9, "verdicts are missing")
    quiet(page)


def retrain(browser, path):
    page = browser.open(path, width=1280, height=1000)
    changed(page)
    judged = text(page, "#judged")
    check(re.search(r"Before is the mean of 4 trainings of v1\. Between two of them a class of the usual size moves by up to "
                    r"\d+\.\d points, in 95 % of pairs\. Worse and better are changes of more than these trainings differ by\.",
                    judged), "how it was judged:", judged)
    check("wrong, the mean of 4 trainings" in text(page, "#cards .card"), "the card says", text(page, "#cards .card"))
    check("An equal training moves" not in judged, "it is said that there are no further trainings")
    quiet(page)


def equal(browser, path):
    page = browser.open(path, width=1200, height=1000)
    check("Both versions have the same rows wrong" in text(page, "#lead"), "it says", text(page, "#lead"))
    check(page.js("document.getElementById('lost-part').hidden"), "there are rows outside")
    quiet(page)


if __name__ == "__main__":
    with Browser() as b:
        {"cause": cause, "versions": versions, "guards": guards, "retrain": retrain,
         "equal": equal}[sys.argv[1]](b, sys.argv[2])
    print(sys.argv[1], "page holds")
