#!/usr/bin/python3
"""The report in a real browser: what test_html.sh gives it is opened, looked at pixel by pixel, clicked, dragged, typed into.
All that must be there is known from what the page says elsewhere (a slice's rows from its table, a point's row from the words
beside the pointer), and from check_findings.h, which made the findings.

    report_page.py hostile FILE.html      300 rows of 3 classes with pictures, ids and names that would be markup
    report_page.py two FILE.html          of two models, the rows of the second in another order
    report_page.py proven FILE.html       600 rows of 3 classes with pictures and proofs, names that would be markup
    report_page.py both FILE.html         of two models with proofs and such names
    report_page.py across FILE.html       600 rows of 4 classes, one of them not examined, with proofs and a slice of all rows
    report_page.py gather FILE.html       a claim on new pictures; of 7 groups where the name ends so
    report_page.py run FILE.html          of a sweep
    report_page.py big FILE.html          100,000 points: times
"""
import csv
import json
import math
import re
import sys
import tempfile

from browser import Browser, check, labels, number, pick, press, quiet, seen, text, texts

METHODS = ("planespot-scvis", "domino")
PRESSED_CARD = "button.card[aria-pressed=true]"
PRESSED = "document.querySelector('%s')" % PRESSED_CARD
# Marks on the map: connected pixels that are not ground. In CSS pixels: the middle, the width and the height.
MARKS = """(() => { const c = document.getElementById('points'), w = c.width, h = c.height, r = w / c.clientWidth, out = [];
    const d = c.getContext('2d').getImageData(0, 0, w, h).data, seen = new Uint8Array(w * h);
    const ink = i => Math.abs(d[4 * i] - d[0]) + Math.abs(d[4 * i + 1] - d[1]) + Math.abs(d[4 * i + 2] - d[2]) > 24;
    for (let s = 0; s < w * h; s++) {
      if (seen[s] || !ink(s)) continue;
      const stack = [s]; let n = 0, x0 = w, x1 = 0, y0 = h, y1 = 0;
      seen[s] = 1;
      while (stack.length) {
        const i = stack.pop(), x = i % w, y = (i - x) / w;
        n++; x0 = Math.min(x0, x); x1 = Math.max(x1, x); y0 = Math.min(y0, y); y1 = Math.max(y1, y);
        for (let v = y - 1; v <= y + 1; v++) for (let u = x - 1; u <= x + 1; u++) {
          const j = v * w + u;
          if (u >= 0 && v >= 0 && u < w && v < h && !seen[j] && ink(j)) { seen[j] = 1; stack.push(j); } }
      }
      out.push({ x: (x0 + x1 + 1) / 2 / r, y: (y0 + y1 + 1) / 2 / r, w: (x1 - x0 + 1) / r, h: (y1 - y0 + 1) / r });
    }
    return out; })()"""


def close(a, b, tolerance):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b))


# ---- the list and the details ----

def choose(page, what, value):
    pick(page, "#by-" + what, value)
    page.frames(4)


def open_card(page, k, within=""):
    """Chooses card k of those within, unless it is chosen."""
    card = "document.querySelectorAll('%s button.card')[%d]" % (within, k)
    page.js("(e => e.getAttribute('aria-pressed') === 'true' || e.click())(%s)" % card)
    page.wait(card + ".getAttribute('aria-pressed') === 'true'")
    page.frames(3)
    return page.js(card + ".getAttribute('aria-label')")


def rows(page):
    """The rows of the slice that is shown: {id: (confidence, wrong)}, and their number as the table has them."""
    page.js("document.querySelector('#detail > details').open = true")
    page.wait("document.querySelector('#detail > details table') !== null")
    head, *body = page.js("[...document.querySelectorAll('#detail > details tr')].map(r => [...r.cells].map(c => "
                          "c.textContent))")
    at = {name: k for k, name in enumerate(head)}
    return {r[at["id"]]: (float(r[at["confidence"]]), r[at["wrong"]] == "✕") for r in body}, len(body)


def facts(page):
    return dict(page.js("[...document.querySelectorAll('#detail dl.few > div')].map(e => [...e.children].map(t => "
                        "t.textContent))"))


def all_in_view(page):
    """A slice of all rows of the map, by the keyboard: its rows."""
    n = seen(page, "button.card.own")
    page.js("document.getElementById('over').focus()")
    page.key("v", 86, "v")
    page.wait("document.querySelectorAll('button.card.own').length === %d" % (n + 1))
    page.wait(PRESSED + "?.classList.contains('own')")
    page.frames(3)
    return rows(page)[0]


# ---- the map ----

def pixel(page, x, y, of="points"):
    """The colour at CSS pixel (x, y) of a canvas."""
    return page.js("""(() => { const c = document.getElementById('%s'), r = c.width / c.clientWidth;
        return Array.from(c.getContext('2d').getImageData(%f * r, %f * r, 1, 1).data.slice(0, 3)); })()""" % (of, x, y))


def stage(page):
    return page.js("(r => [r.left, r.top, r.width, r.height])(document.getElementById('over').getBoundingClientRect())")


def pointed_at(page, x, y):
    """What the page says of the row at (x, y) of the map."""
    left, top, *_ = stage(page)
    page.mouse("mouseMoved", left + x + 30, top + y + 30)
    page.mouse("mouseMoved", left + x, top + y)
    page.wait("!document.getElementById('tip').hidden")
    said = text(page, "#tip")
    return {"x": x, "y": y, "id": text(page, "#tip .id"), "confidence": number(said, r"confidence ([\d.]+)"),
            "bad": "✕ wrong" in said}


def lonely(page, most=40):
    """Rows whose marks no other is near to, as pointed_at says; at least one right and one wrong."""
    page.js("document.getElementById('stage').scrollIntoView({ block: 'center' })")
    marks = page.js(MARKS)
    alone = [m for m in marks if max(m["w"], m["h"]) < 13 and
             all(n is m or abs(n["x"] - m["x"]) > 9 + n["w"] / 2 or abs(n["y"] - m["y"]) > 9 + n["h"] / 2 for n in marks)]
    found = [pointed_at(page, m["x"], m["y"]) for m in alone[:most]]
    check({f["bad"] for f in found} == {False, True}, "of", len(marks), "marks none stands alone")
    return found


def mark_at(page, x, y):
    """How far the nearest mark is."""
    return min(((m["x"] - x) ** 2 + (m["y"] - y) ** 2) ** 0.5 for m in page.js(MARKS))


def expected_colour(confidence):
    low, middle, high = (213, 94, 0), (189, 189, 189), (0, 114, 178)
    a, b, t = (low, middle, 2 * confidence) if confidence < 0.5 else (middle, high, 2 * confidence - 1)
    return [p + (q - p) * t for p, q in zip(a, b)]


def look_at_points(page):
    found = lonely(page)
    for bad in (False, True):
        row = next(f for f in found if f["bad"] == bad)
        x, y = int(row["x"]), int(row["y"])
        seen, diagonal, beside = pixel(page, x, y), pixel(page, x + 2, y + 2), pixel(page, x + 3, y)
        check(close(seen, expected_colour(row["confidence"]), 45), row, "is", seen)
        check(not bad or (close(diagonal, seen, 70) and not close(beside, seen, 20)), "a wrong row is no cross:", diagonal,
              beside)
    check(pixel(page, 2, 2) == [255, 255, 255], "the ground is not white")
    return found


def click_a_slice(page, found):
    open_card(page, 0)
    inside, shown = rows(page)[0], seen(page, "#detail .gallery li")
    faint = next(f for f in found if f["id"] not in inside and not f["bad"] and f["confidence"] > 0.86)
    check(min(pixel(page, int(faint["x"]), int(faint["y"]))) > 150, "what is not of the slice stands out:", faint)
    check("rows" in text(page, "#detail"), "no detail")
    check(shown > 5, "a gallery of", shown)


def keyboard(page):
    page.js("document.querySelector('button.card[tabindex=\"0\"]').focus()")
    page.key("ArrowDown", 40)
    page.wait("document.querySelectorAll('button.card')[1].getAttribute('aria-pressed') === 'true'")
    check(page.js("document.activeElement === document.querySelectorAll('button.card')[1]"), "the focus did not follow")
    page.key("Escape", 27)
    page.wait(PRESSED + " === null")
    page.js("document.getElementById('over').focus()")
    page.frames(20)
    drawn = "document.getElementById('points').toDataURL()"
    before = now = page.js(drawn)
    for key, code in (("+", 187), ("ArrowLeft", 37)):
        page.key(key, code, key if len(key) == 1 else None)
        page.wait("%s !== '%s'" % (drawn, now))
        page.frames(20)
        now = page.js(drawn)
    page.key("0", 48, "0")
    page.wait("%s === '%s'" % (drawn, before))
    check(page.js("[...document.querySelectorAll('button,select,input,[role=img]')].every(e => "
                  "e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))"), "something has no name")


def wheel_and_hover(page):
    row = next(f for f in lonely(page) if not f["bad"])
    left, top, *_ = stage(page)
    x, y, drawn = row["x"], row["y"], "document.getElementById('points').toDataURL()"
    before = page.js(drawn)
    page.mouse("mouseMoved", left + x, top + y)
    page.mouse("mouseWheel", left + x, top + y, deltaX=0, deltaY=-240)
    page.wait("%s !== '%s'" % (drawn, before))
    page.frames(20)
    check(mark_at(page, x, y) < 2 and pointed_at(page, x, y)["id"] == row["id"], "zooming moved the point under the pointer")
    page.drag([(left + x, top + y), (left + x + 30, top + y + 20), (left + x + 60, top + y + 40)])
    page.frames(20)
    check(mark_at(page, x + 60, y + 40) < 2 and pointed_at(page, x + 60, y + 40)["id"] == row["id"], "dragging moved it away")
    press(page, "#tools button", "All")
    page.wait("%s === '%s'" % (drawn, before))


def lasso(page):
    """Both sides of a line that no mark touches: each row is on one of them, and on that where it is to be seen."""
    found, marks = lonely(page), page.js(MARKS)
    left, top, width, height = stage(page)
    cut = next(x for x in sorted(range(20, int(width) - 20), key=lambda x: abs(x - width / 2))
               if all(abs(m["x"] - x) > m["w"] / 2 + 1 for m in marks))
    sides = []
    for k, (x0, x1) in enumerate(((2, cut), (cut, width - 2))):
        # First by the button, then with the shift key.
        if not k:
            page.js("document.getElementById('lasso').click()")
        page.drag([(left + x0, top + 2), (left + (x0 + x1) / 2, top + 2), (left + x1, top + 2), (left + x1, top + height - 2),
                   (left + x0, top + height - 2), (left + x0, top + 5)], modifiers=8 * k)
        page.wait("document.querySelectorAll('button.card.own').length === %d" % (k + 1))
        page.frames(3)
        open_card(page, 0)
        sides.append(rows(page)[0])
        for f in found:
            check((f["id"] in sides[k]) == (x0 < f["x"] < x1), "the lasso from", x0, "to", x1, "and", f)
        check(int(facts(page)["wrong"]) == sum(bad for _, bad in sides[k].values()), "wrong rows:", facts(page))
    every = all_in_view(page)
    check(not set(sides[0]) & set(sides[1]) and {**sides[0], **sides[1]} == every, "sides of", *map(len, sides), "of",
          len(every))
    check("%d rows" % len(every) in labels(page, "button.card")[0], "a slice of all in view has", labels(page, "button.card"))
    open_card(page, 2)
    saved(page, "my slice 1", sides[0])


def saved(page, name, want):
    """The files that the buttons save."""
    for kind in ("CSV", "JSON"):
        press(page, "#detail button", "Save %s" % kind)
    with open(page.browser.download("my-slice-1.csv"), newline="") as f:
        lines = list(csv.DictReader(f))
    check([*lines[0]] == ["id", "class", "method", "seed", "rank", "score"], lines[0])
    check(len(lines) == len(want) and {r["id"] for r in lines} == set(want) and {r["method"] for r in lines} == {name},
          "the CSV has", lines[:3])
    with open(page.browser.download("my-slice-1.json")) as f:
        s, = json.load(f)["slices"]
    check(set(s["ids"]) == set(want) and s["size"] == len(want) and s["wrong"] == sum(b for _, b in want.values()), s)


def pictures(page):
    """Every picture is its row's: the colour says which row it was made for. Missing ones say their name."""
    seen = 0
    for k in range(3):
        choose(page, "place", "class %d" % k if k != 1 else "</script><b>bold\\\\xff</b>")
        page.wait("document.querySelectorAll('#cards button.card').length > 0")
        all_in_view(page)
        page.wait("document.querySelectorAll('#detail .gallery canvas').length > 80")
        page.frames(30)
        for label, width, height, colour in page.js("""[...document.querySelectorAll('#detail .gallery canvas')].map(c =>
                [c.getAttribute('aria-label'), c.width, c.height,
                 [...c.getContext('2d').getImageData(c.width / 2 | 0, c.height / 2 | 0, 1, 1).data]])"""):
            row = re.match(r"img_(\d+)\.png, ", label)
            if not row:
                continue                       # an id that would be markup
            row, seen = int(row[1]), seen + 1
            want = [28 + row * f % 200 for f in (37, 91, 53)]
            ratio = width / height / ((32 if row % 3 == 1 else 96) / (40 if row % 3 == 2 else 96))
            check(close(want, colour, 12) and colour[3] == 255 and abs(ratio - 1) < 0.06, "row", row, want, colour, ratio)
            check(row not in (5, 7, 11), "a picture of row", row)
    check(seen > 250, "only", seen, "pictures were seen")
    missing = texts(page, ".nopic")
    check(any("img_000011.png" in t and ("unreadable" in t or "✕" in t) for t in missing), "missing pictures say", missing)
    check("2 pictures could not be read" in text(page, "#notes"), "unreadable ones are not counted:", text(page, "#notes"))


def slices_shown(page):
    """{(method, seed, number): ids} of the cards."""
    found = {}
    for k in range(seen(page, "#list button.card")):
        page.js("document.querySelectorAll('#list details.fold').forEach(e => { e.open = true; })")
        open_card(page, k, "#list")
        who, rank = page.js("(e => [e.querySelector('.who')?.textContent, e.querySelector('.rank').textContent])(%s)" % PRESSED)
        if not who:
            continue                           # a slice of one's own
        seed = re.search(r"seed (\d+)", who)
        found[re.search(r"found by ([\w-]+)", who)[1], seed[1] if seed else "", rank.split()[-1]] = set(rows(page)[0])
    return found


def check_overlaps(page, left, right):
    """The matrix side by side: {number: ids} of both sides."""
    head, *body = page.js("[...document.querySelectorAll('#compare .matrix tr')].map(r => [...r.cells].map(e => "
                          "[e.firstChild ? e.firstChild.textContent : '', e.title]))")
    for r in body:
        for h, (value, title) in zip(head[1:], r[1:]):
            a, b = left[r[0][0]], right[h[0]]
            same = number(title, r"([\d,]+) rows in both") == len(a & b)
            check(same and abs(float(value) - len(a & b) / len(a | b)) <= 0.0051, "the overlap of", r[0][0], h[0], "is", value,
                  title, "and not", len(a & b), len(a | b))
    check(len(body) == len(left) and len(head) - 1 == len(right), "a matrix of", len(body), len(head) - 1)


def side_by_side(page, which):
    return page.js("(e => e.selectedOptions[0].textContent)(document.querySelectorAll('#compare select')[%d])" % which)


def filters_and_overlap(page):
    choose(page, "place", "")
    page.wait("document.querySelectorAll('#cards > li').length > 10")
    before = seen(page, "#cards > li")
    choose(page, "place", "class 0")
    page.wait("document.querySelectorAll('#cards > li').length < %d" % before)
    choose(page, "method", "")
    choose(page, "seed", "")
    page.wait("document.querySelectorAll('#cards > li').length > 4")
    found = slices_shown(page)
    sides = []
    for k in range(2):
        name = side_by_side(page, k)
        method, seed = next(m for m in METHODS if m in name), re.search(r"seed (\d+)", name)[1]
        sides.append({n: ids for (m, s, n), ids in found.items() if (m, s) == (method, seed)})
    check_overlaps(page, *sides)


def described(page):
    """Words and attributes of two slices, which try to become markup, are texts in cards and details."""
    choose(page, "method", METHODS[0])
    choose(page, "seed", "0")
    choose(page, "order", "rank")
    open_card(page, 0, "#cards")
    told = texts(page, "#detail td bdi")
    check("</script><script>window.hacked = 1</script>" in told, "the phrases are", told)
    said = texts(page, ".said")
    check(any(t.count("“") == 2 for t in said), "phrases that chance may have made are in a card:", said)
    open_card(page, 1, "#cards")
    told = text(page, "#detail")
    check("0 of 0" in told and "3 of 4" in told and "< 0.0001" in told, "the attributes are", told)
    check(any(t.endswith("chance describes it as well") for t in said), "no card says that chance does as well:", said)
    check(any("2 of 4 rows with these attributes wrong" in t for t in said), "the rate of the attributes is not told:", said)
    check(page.js("window.hacked === undefined"), "a phrase ran as a script")
    choose(page, "order", "")


def show_all(page):
    for _ in range(10):
        if not page.js("(b => b && (b.click(), true))([...document.querySelectorAll('#list button.small')].find(b => "
                       "b.textContent.startsWith('Show more')))"):
            return
        page.frames(2)


def rates(labels_):
    """Of each card its rows, its error rate and that of its class, in per cent as they are shown."""
    patterns = r": ([\d,]+) rows?", r"([\d.]+) % wrong", r"([\d.]+) % of its class"
    return [tuple(number(t, p) for p in patterns) for t in labels_]


def untested(page):
    """Slices without proofs: said so, those that are no worse than their class under a fold, all counted right."""
    told = text(page, ".tests")
    for k in ("place", "method", "seed"):
        choose(page, k, "")
    page.wait("document.querySelectorAll('#fold-fine li').length > 2")
    show_all(page)
    main, fine = (labels(page, w + " button.card") for w in ("#cards", "#fold-fine"))
    check(all(r > c or (r == c and n < 1000) for n, r, c in rates(main)) and all(r <= c for _, r, c in rates(fine)),
          "folds hold", rates(main), rates(fine))
    words = "%d of %d slices by 2 methods have more errors" % (len(main), len(main) + len(fine))
    check(0 < len(fine) and told.startswith(words), "the page does not say", words, "but", told)
    check("Not tested: these slices were found and counted on the same rows" in told, "the page says", told)
    choose(page, "order", "size")
    show_all(page)
    sizes = [n for n, *_ in rates(labels(page, "#cards button.card"))]
    check(sizes == sorted(sizes, reverse=True), "by size they are", sizes)
    choose(page, "order", "")
    said = text(page, "#say")
    check(said.startswith("%d slices with more errors than elsewhere, not tested, shown" % len(main)) and
          "%d with no more errors than elsewhere" % len(fine) in said, "the live region says", said)
    check(not page.js("/blindspot/i.test(document.getElementById('list').textContent)"), "an untested slice is a blindspot")
    check(text(page, "#title") == "Possible blindspots", "the title claims too much")
    numbers = texts(page, ".lead a.rank")
    for k, n in enumerate(numbers):
        page.js("document.querySelectorAll('.lead a.rank')[%d].click()" % k)
        page.wait(PRESSED + "?.querySelector('.rank').textContent.endsWith(' %s')" % n)
    check(numbers == ["1", "2", "3"], "the causes on top are", numbers)
    page.js("location.hash = '#slice-2'")
    page.wait(PRESSED + "?.querySelector('.rank').textContent.endsWith(' 2')")


# ---- proofs: of each of three classes two slices are confirmed, one is suggested, one may be chance, one is fine; three of the
# confirmed ones are cells of the confusion matrix ----

SURE, CELLS, LIKELY, CHANCE, FINE = 6, 3, 3, 3, 3
CONFIRMED = ":is(#cards, #classes)"


def claims(page):
    """What the tests say, in a sentence, in the order and in the folds."""
    told = text(page, ".tests")
    for words in ("%d slices are confirmed blindspots" % SURE, "%d are suggested" % LIKELY, "%d may be chance" % CHANCE,
                  "%d have no more errors" % FINE, "%d causes and %d cells of the confusion matrix" % (SURE - CELLS, CELLS),
                  "30 tests", "at the level 5 %", "19 searches"):
        check(words in told, "the sentence lacks", words, "in", told)
    lead = texts(page, ".lead")
    check(len(lead) == 5 and re.match(r"[\d.]+ % of 600 rows are right", lead[0]) and lead[4].startswith("Next: "),
          "on top stands", lead)
    check([t[0] for t in lead[1:4]] == ["1", "2", "3"], "the causes on top are", lead[1:4])
    check(page.js("document.getElementById('claims').getBoundingClientRect().bottom < 400"), "the sentences are not on top")
    main, cells, likely, maybe, good = (labels(page, w + " button.card") for w in
                                        ("#cards", "#classes", "#fold-suggested", "#fold-chance", "#fold-fine"))
    check([*map(len, (main, cells, likely, maybe, good))] == [SURE - CELLS, CELLS, LIKELY, CHANCE, FINE],
          "cards:", main, cells, likely, maybe, good)
    check(all("confirmed blindspot" in t for t in main + cells), "not the surest first:", main)
    check(all("may be chance" in t for t in maybe) and all("no more errors" in t for t in good), "folds hold", maybe, good)
    check(not any("blindspot" in t for t in likely + maybe + good), "what is not confirmed is called a blindspot")
    check(not any("chance" in t for t in texts(page, "#cards button.card")), "a confirmed card speaks of chance")
    numbers = [int(re.match(r"class \d #(\d+),", t).group(1)) for t in main + likely + maybe + good + cells]
    check(numbers[:-CELLS] + sorted(numbers[-CELLS:]) == list(range(1, len(numbers) + 1)), "the numbers are", numbers)
    told = texts(page, "#cards button.card")
    check(any("in 3 groups" in t for t in told) and not any("in 0 groups" in t for t in told), "groups are not told:", told)
    heads = texts(page, "#cards h3 .where")
    check(len(heads) == SURE - CELLS and all(re.match(r"class \d taken for class \d$", t) for t in heads), "headings:", heads)
    card = main[0]
    for words in (r"\d+ rows?", r"\d+ % wrong \(\d+ to \d+ %\)", r"\d+ % of its class", r"predicted as class \d, 100 %",
                  "found by planespot-scvis, domino"):
        check(re.search(words, card), "the first card lacks", words, "in", card)
    shown = text(page, "button.card")
    found = re.search(r"(\d+) of (\d+) rows wrong.*on unseen rows (\d+) of (\d+).*class: ([\d.]+) % wrong.*excess \+(\d+), "
                      r"to expect \+(\d+) points", shown)
    check(found, "the card shows", shown)
    wrong, size, bad, judged, base, excess, expect = map(float, found.groups())
    check(bad <= wrong <= size and bad <= judged and abs(100 * bad / judged - base - excess) <= 1.01
          and abs(0.7 * (100 * bad / judged - base) - expect) <= 1, "the numbers of the card do not agree:", shown)
    check(not page.js("[...document.querySelectorAll('details.fold, #classes details')].some(e => e.open)"), "a fold is open")
    said = text(page, "#say")
    check(said == "%d confirmed blindspots shown; under folds %d suggested, %d that may be chance, %d with no more "
          "errors than elsewhere" % (SURE, LIKELY, CHANCE, FINE), "the live region says", said)


def class_table(page):
    """The classes with their errors; the cell of the confusion matrix lies folded below its class, with its pictures."""
    wrong = {}
    for k in range(3):
        choose(page, "place", "class %d" % k)
        page.wait("document.querySelectorAll('#classes tr:not(.cells)').length === 2")
        wrong["class %d" % k] = sum(bad for _, bad in all_in_view(page).values())
    choose(page, "place", "")
    page.wait("document.querySelectorAll('#classes tr:not(.cells)').length === 4")
    shown = page.js("[...document.querySelectorAll('#classes tbody tr:not(.cells)')].map(r => [...r.cells].map(c => "
                    "c.textContent))")
    check({r[0]: int(r[2]) for r in shown} == wrong and all(int(r[1]) == 200 for r in shown), "the classes are", shown,
          "not", wrong)
    rates = [int(r[2]) / int(r[1]) for r in shown]
    check(rates == sorted(rates, reverse=True), "not the worst first:", shown)
    check(all(abs(number(r[3], r"([\d.]+)") - 100 * v) <= 0.51 for r, v in zip(shown, rates)), "their rates are", shown)
    check(all(re.match(r"class \d \(\d+ %\)", r[4]) for r in shown), "they are taken for", shown)
    cells = page.js("[...document.querySelectorAll('#classes .cells')].map(r => [r.previousSibling.cells[0].textContent, "
                    "...[...r.querySelectorAll('summary')].map(e => e.textContent)])")
    for name, *told in cells:
        says = name + r" taken for class \d: [\d.]+ % of the class; the confusion matrix says it \(#1[345]\)"
        check(told and all(re.match(says, t) for t in told), "under", name, "stands", told)
    check(sum(len(told) - 1 for told in cells) == CELLS, "cells:", cells)
    check(any("class 2 taken for class 0" in told[1] for told in cells), "the cell of class 2 is not there:", cells)
    other = page.js("[...document.querySelectorAll('#classes td a')].map(a => a.textContent)")
    check(sorted(other) == ["#%d" % n for n in range(1, 1 + SURE - CELLS)], "the classes lead to", other)
    page.js("location.hash = '#slice-15'")
    page.wait("!!" + PRESSED + "?.closest('#classes details[open]')")
    check(page.js(PRESSED + ".querySelectorAll('canvas').length") > 3, "a cell has no pictures")
    page.key("Escape", 27)


def doubted(page):
    """The two labels that may be wrong: on the card with the rate without them, in the details with their pictures."""
    k = next(k for k, t in enumerate(texts(page, "#list button.card")) if "2 labels may be wrong" in t)
    open_card(page, k, "#list")
    mine, size = rows(page)
    wrong = sum(bad for _, bad in mine.values())
    rate = number(text(page, PRESSED_CARD + " .said"), r"without these rows the rate is ([\d.]+) %")
    check(abs(100 * (wrong - 2) / (size - 2) - rate) <= 0.51, "without 2 of", wrong, "of", size, "the rate is", rate)
    shown = texts(page, "#detail .suspects li")
    check(shown == ["class 0 → class 2"] * 2 and seen(page, "#detail .suspects canvas") == 2, "the labels in doubt are", shown)
    check("Labels that may be wrong: 2 of %d rows" % size in text(page, "#detail"), "the details are", text(page, "#detail"))


def own_rule(page):
    """A rule that is typed gets the rows that have it: they are known by their numbers."""
    def ask(words):
        page.js("(e => { e.value = %s; e.form.requestSubmit(); })(document.getElementById('rule'))" % json.dumps(words))
        page.frames(4)
        return text(page, "#rule-answer")
    said = ask("even=YES & Class 0&last=low")
    check("suggested" in said and "spotter claim FOUND 'class 0 & even=yes & last=low (<= 4)'" in said, "the rule is", said)
    wrong, size, rate, base, more = (number(said.replace("−", "-"), p) for p in (
        r"(\d+) of", r"of (\d+) rows wrong", r"wrong, ([\d.]+) %", r"class: ([\d.]+) %", r"([+-]\d+) points"))
    press(page, "#rule-answer button", "Show these rows")
    page.wait(PRESSED + "?.classList.contains('own')")
    page.frames(3)
    mine, _ = rows(page)
    want = {i for i in range(600) if i % 3 == 0 and i % 2 == 0 and i % 10 < 5}
    check({int(number(t, r"(\d+)\.png")) for t in mine} == want and size == len(want), "the rows of the rule are", mine)
    check(wrong == sum(bad for _, bad in mine.values()) and abs(100 * wrong / size - rate) <= 0.51
          and abs(rate - base - more) <= 1, "its numbers are", said)
    press(page, "#detail button", "Remove")
    every = ask("</script><b>last</b>")
    check("of 300 rows wrong" in every and "their classes" in every, "in all classes:", every)
    check("Show these rows" not in every, "rows of several classes make one slice:", every)
    check("no attribute and no class" in ask("<img src=x onerror=hacked=1>"), "an unknown word:", text(page, "#rule-answer"))
    check(page.js("window.hacked === undefined && !document.querySelector('#own-rule img, .items b')"), "a word became markup")
    check("one class" in ask("class 1 & class 2"), "two classes:", text(page, "#rule-answer"))
    page.js("document.querySelector('#own-rule details').open = true")
    press(page, "#own-rule .items button", "even=yes")
    check(page.js("document.getElementById('rule').value").endswith("& even=yes"), "an attribute is not added")
    ask("")


def proof_of(page):
    """The details have every test of the slice, and the numbers that the proof gives."""
    expected, cells = [], []
    for k in range(SURE):
        open_card(page, k, CONFIRMED)
        f = facts(page)
        expected.append(int(f["wrong of these"]) - int(f["judged rows"]) * number(f["its class"], r"([\d.]+)") / 100)
        cells.append(f.get("rate that predicted class and confidence let expect"))
    listed = expected[:SURE - CELLS]
    check(all(a > b - 0.1 for a, b in zip(listed, listed[1:])), "confirmed slices come by", expected)
    check(cells.count(None) == 3 and cells.count("5.0 %") == 2, "rates by the cell are", cells)          # none of the first
    open_card(page, 1, "#cards")
    check("#2" in text(page, "#detail h2"), "the second card opens", text(page, "#detail h2"))
    told = text(page, "#detail")
    for words in ("corrected p", "judged rows", "to expect on new rows", "excess", "planespot-scvis", "domino",
                  "Westfall and Young"):
        check(words in told, "the details lack", words)
    n = page.js("[...document.querySelectorAll('#detail tbody')].map(t => t.rows.length)[0]")
    check(n == 2, "the table has", n, "tests")
    check("[object" not in told, "the details show", told)


def links(browser, page, path):
    for k in (1, 2):
        open_card(page, k, "#cards")
        page.wait("location.hash === '#slice-%d'" % (k + 1))
    page.js("history.back()")
    page.wait("location.hash === '#slice-2' && %s === document.querySelectorAll('#cards button.card')[1]" % PRESSED)
    check(page.js("document.querySelector('#detail a.small').getAttribute('href')") == "#slice-2", "the link is another")
    press(page, "#detail button[aria-label^=Close]")
    page.wait("location.hash === ''")
    folded = SURE - CELLS + LIKELY + CHANCE + 1
    other = browser.open(path + "#slice-%d" % folded)
    other.wait(PRESSED + "?.closest('#fold-fine') && " + PRESSED + ".textContent.trim().startsWith('%d')" % folded)
    check(other.js("document.getElementById('fold-fine').open"), "the slice of the link lies in a closed fold")
    check(other.js("(r => r.top >= 0 && r.top < innerHeight)(%s.getBoundingClientRect())" % PRESSED),
          "the slice of the link is out of sight")
    for bad in ("#slice-999", "#<img src=x onerror=hacked=1>", "#list", "#__proto__"):
        quiet(browser.open(path + bad))


def twins(page):
    """A picture that three rows of one slice have is shown once, with its number of rows."""
    marks = []
    for k in range(SURE):
        open_card(page, k, CONFIRMED)
        page.frames(10)
        size, gallery = int(facts(page)["rows"]), "document.querySelector('#detail .gallery:not(.suspects)')"
        shown = page.js(gallery + ".children.length")
        times = texts(page, "#detail .gallery .times")
        check(size == shown + sum(int(t[1:]) - 1 for t in times), "of", size, "rows", shown, "pictures are shown, and", times)
        marks += times
        names = labels(page, "#detail .gallery [role=img]")
        check(all(re.match(r"img_\d+\.png, confidence \d\.\d\d, (right|wrong, predicted as class \d)", n) for n in names),
              "pictures are called", names[:3])
    check(marks == ["×3"], "marks of twins:", marks)


def long_names(page):
    """A card's number stands beside a long title, and no number of the classes is broken."""
    page.js("document.querySelectorAll('#cards .where').forEach(e => { e.textContent = 'folders and places where dark=no and "
            "sharpness=high (> 0.433)'; }); document.querySelectorAll('.classes bdi').forEach(e => { e.textContent = "
            "'mimetypes and places'; })")
    tops = page.js("[...document.querySelectorAll('#cards button.card')].map(e => [e.querySelector('.rank'), e.querySelector("
                   "'.where')].map(t => t.getBoundingClientRect().top))")
    check(tops and all(abs(a - b) < 8 for a, b in tops), "a card's number stands above its title:", tops)
    lines = page.js("[...document.querySelectorAll('.classes td.number')].map(e => { const r = document.createRange(); "
                    "r.selectNodeContents(e); return r.getClientRects().length; })")
    check(lines and max(lines) == 1, "a number of a class is broken:", lines)
    check(page.js("document.documentElement.scrollWidth <= innerWidth"), "long names scroll sideways")


def small_window(browser, path):
    page = browser.open(path, width=400, height=800)
    check(page.js(PRESSED + " === null"), "a slice is chosen from the start")
    check(page.js("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways")
    long_names(browser.open(path, width=400, height=800))
    near = page.js("[...document.querySelectorAll('#cards .near')].map(e => [e.getBoundingClientRect().height, "
                   "getComputedStyle(e).borderTopStyle, e.querySelectorAll('canvas').length])")
    check(near and all(height > 40 and line == "dotted" and n for height, line, n in near), "right pictures are gone:", near)
    page.js("document.querySelectorAll('details').forEach(e => { e.open = e.id !== 'key'; })")
    page.frames(4)
    check(page.js("document.documentElement.scrollWidth <= innerWidth"), "with all unfolded it scrolls sideways")
    for k in (0, 2):
        page.js("document.querySelectorAll('button.card')[%d].scrollIntoView({ block: 'center' })" % k)
        x, y = page.js("(r => [r.left + r.width / 2, r.top + 20])(document.querySelectorAll('button.card')[%d]"
                       ".getBoundingClientRect())" % k)
        page.click(x, y)
        page.wait("document.querySelectorAll('button.card')[%d].getAttribute('aria-pressed') === 'true'" % k)
        page.frames(4)
        top, height = page.js("(e => [e.getBoundingClientRect().top, innerHeight])(document.getElementById('detail'))")
        check(0 < top < height - 150, "the details begin at", top, "of", height)
        check(page.js("document.getElementById('detail').parentElement.contains(%s)" % PRESSED), "not below the card")
        check(page.js("document.documentElement.scrollWidth <= innerWidth"), "the details scroll sideways")
    broken = page.js("""[...document.querySelectorAll('.nopic b')].filter(e => e.getClientRects().length > 1).length""")
    check(broken == 0, "a word is broken in its box")
    quiet(page)


def named(page):
    """Names of a model, of data and a date are text, whatever they are."""
    check(page.js("window.hacked === undefined"), "a name ran as a script:", page.js("window.hacked"))
    told = text(page, "header")
    for words in ("</script><b>v1</b>", "<i>rows</i> & \\xff", "2026-11-27<script>window.hacked = 5</script>"):
        check(words in told, "the head lacks", words, "in", told)
    check(not page.js("document.querySelector('header i, main img')"), "a name became markup")
    check(page.js("[...document.querySelectorAll('button,select,input,a,[role=img]')].every(e => "
                  "e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))"), "something has no name")


def proven(browser, path):
    page = browser.open(path, width=1200, height=900)
    page.wait("document.querySelectorAll('button.card').length > 3")
    page.frames(4)
    check(page.js("%s === document.querySelector('#cards button.card') && location.hash === ''" % PRESSED),
          "the map does not begin with the first")
    claims(page)
    named(page)
    proof_of(page)
    twins(page)
    doubted(page)
    class_table(page)
    own_rule(page)
    links(browser, page, path)
    open_card(page, 0, "#cards")
    press(page, "#detail button", "Save JSON")
    with open(browser.download(r"class-\d-.*-1.json")) as f:
        s, = json.load(f)["slices"]
    check(s["claim"] == "confirmed" and s["name"].endswith("#1"), "the JSON has", s["claim"], s["name"])
    quiet(page)
    small_window(browser, path)
    dark = browser.open(path, width=1200, height=900, dark=True)
    ink, chip = (dark.js("getComputedStyle(document.querySelector('.claim.confirmed')).%s" % k)
                 for k in ("color", "backgroundColor"))
    check(contrast(ink, chip) > 4.5, "in the dark the claim has", ink, "on", chip)
    quiet(dark)


def answer_of_model(page):
    """The answer to a rule is that of the model that is shown."""
    told = []
    choose(page, "model", "0")
    page.js("(e => { e.value = 'even=yes'; e.form.requestSubmit(); })(document.getElementById('rule'))")
    for m in ("0", "1"):
        choose(page, "model", m)
        page.wait("document.querySelector('#rule-answer b') !== null")
        page.frames(4)
        told.append(text(page, "#rule-answer b"))
    check(all(re.match(r"\d+ of 150$", t) for t in told) and told[0] != told[1], "of two models the same answer:", told)
    choose(page, "model", "0")


def across(browser, path):
    page = browser.open(path, width=1200, height=900)
    page.wait("document.querySelectorAll('button.card').length > 3")
    page.frames(4)
    options = texts(page, "#by-place option")
    check(options == ["all classes", "class 0", "class 1", "class 2", "slices across classes"], "the filter has", options)
    cells = labels(page, CONFIRMED + " button.card")
    choose(page, "place", "slices across classes")
    page.wait("document.querySelectorAll('%s button.card').length === 1" % CONFIRMED)
    one = labels(page, CONFIRMED + " button.card")
    check(one[0] in cells and "confirmed blindspot" in one[0] and one[0].startswith("slice #"), "across classes there is", one)
    card = text(page, CONFIRMED + " button.card")
    check("their classes: 20 % wrong" in card and "of 600 rows" not in card, "its rate is told so:", card)
    open_card(page, 0, "#cards")
    told = facts(page)
    check(told.get("their classes") == "20.0 %" and "share of all errors" in told, "its facts are", told)
    choose(page, "place", "")
    page.wait("document.querySelectorAll('%s button.card').length === %d" % (CONFIRMED, len(cells)))
    told = text(page, "header")
    check("97 % of a row’s nearest neighbours have its answer" in told and "in 93 % of cases" in told,
          "the head does not say what the features decide:", told)
    cards = texts(page, CONFIRMED + " button.card")
    check(not any("with these attributes" in t or "chance" in t for t in cards), "attributes do not fit, and are told:", cards)
    names_of_rules(page)
    quiet(page)


def names_of_rules(page):
    """A name is that of the command, also in the command that is printed; rows of all classes are counted."""
    def ask(words):
        page.js("(e => { e.value = %s; e.form.requestSubmit(); })(document.getElementById('rule'))" % json.dumps(words))
        page.frames(4)
        return text(page, "#rule-answer")
    for words, rows, command in (
            ("colour=Grey", 300, "colour=Grey"), ("colour=grey", 300, "colour=grey"), ("last=low", 300, "last=low (<= 4)"),
            ("LAST=low & class 0", 90, "class 0 & last=low (<= 4)"), ("black & white", 300, '"black & white"'),
            ('"black & white" & Class 0', 150, 'class 0 & "black & white"'),
            ("class 1", 300, "class 1"), ("class=class 1 & last=low", 60, "class=class 1 & last=low (<= 4)"),
            ("class 3 & last=low", 60, "class 3 & last=low (<= 4)")):
        said = ask(words)
        more = number(said.replace("−", "-"), r"([+-]\d+) points")
        check("of %d rows wrong" % rows in said and page.js("Rule.said(Rule.parse(%s))" % json.dumps(words)) == command
              and ("spotter claim FOUND '%s'," % command in said if more > 0 else "nothing to claim" in said or not more),
              words, "is", said)
    check("no attribute and no class" in ask("kind=old"), "a value is taken for a third:", ask("kind=old"))
    check("called “COLOUR=grey”" in ask("COLOUR=grey"), "one of two names is chosen:", ask("COLOUR=grey"))
    check("A class alone is no claim" in ask("class 3") and "spotter claim" not in ask("class 3"), "a class:", ask("class 3"))
    check("thirds of numbers" in ask("last<3"), "a comparison is", ask("last<3"))


def gather(browser, path):
    page = browser.open(path, width=1200, height=900)
    told = text(page, "#why")
    test = "signs of the sums of 7 groups" if path.endswith("7.html") else "Fisher's exact test"
    check("1 of 1 gathered pictures are wrong, 0 of 1 controls" in told and "(%s, one-sided" % test in told, "it says", told)


def contrast(a, b):
    """WCAG's ratio of two colours as CSS gives them."""
    def light(colour):
        v = [int(n) / 255 for n in re.findall(r"\d+", colour)[:3]]
        v = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in v]
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]
    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def both(browser, path):
    """Two models with proofs: each one's confirmed slices with the other's rate on the same rows, counted here by ids."""
    page = browser.open(path, width=1200, height=900)
    check(page.js("!document.getElementById('models').hidden && document.getElementById('models').compareDocumentPosition("
                  "document.getElementById('list')) & 4"), "the models are not compared before the list")
    check("Rates on the same rows; not a test" in text(page, "#models"), "no label")
    tables = page.js("[...document.querySelectorAll('#models table')].map(t => [...t.tBodies[0].rows].map(r => "
                     "[...r.cells].map(c => c.textContent)))")
    wrong, members = [{}, {}], [{}, {}]
    for m in range(2):
        choose(page, "model", str(m))
        for k in range(sum("confirmed blindspot" in t for t in labels(page, CONFIRMED + " button.card"))):
            name = open_card(page, k, CONFIRMED).split(",")[0]
            members[m][name] = set(rows(page)[0])
        for k in range(3):
            choose(page, "place", "class %d" % k)
            page.wait("document.querySelectorAll('#list button.card').length > 0")
            wrong[m].update({i: bad for i, (_, bad) in all_in_view(page).items()})
        choose(page, "place", "")
    check(len(wrong[0]) == len(wrong[1]) == 300, "rows of both models:", *map(len, wrong))
    for m, table in enumerate(tables):
        check(len(table) == len(members[m]) > 3, "the table has", len(table), "confirmed slices of", len(members[m]))
        for name, size, *shown in table:
            ids = members[m][name]
            check(int(size) == len(ids), name, size)
            for k, cell in enumerate(shown):
                want = 100 * sum(wrong[k][i] for i in ids) / len(ids)
                check(abs(number(cell, r"^([\d.]+) %") - want) <= 0.51, name, "of model", m, "is shown as", shown, "not", want)
    answer_of_model(page)
    page.js("document.querySelectorAll('#models table')[1].querySelector('a').click()")
    page.wait(PRESSED + " !== null && location.hash.startsWith('#model-2.slice-')")
    check(page.js("document.getElementById('by-model').value") == "1", "the list is of the other model")
    check("not a test" in text(page, "#detail"), "the details lack the other model")
    check(page.js("window.hacked === undefined && document.title.startsWith('</title><script>')"), "the title is markup")
    check("model 1" not in page.js("document.body.innerText"), "a model is called by its number")
    quiet(page)


def hostile(browser, path):
    page = browser.open(path, width=1400, height=900)
    page.wait("document.querySelectorAll('button.card').length > 3")
    choose(page, "place", "class 0")
    page.wait("document.getElementById('legend').textContent.includes('100 rows of class 0')")
    page.wait(PRESSED + " !== null")
    page.key("Escape", 27)
    page.frames(20)
    click_a_slice(page, look_at_points(page))
    keyboard(page)
    wheel_and_hover(page)
    lasso(page)
    filters_and_overlap(page)
    check(page.js("window.hacked === undefined"), "an id ran as a script:", page.js("window.hacked"))
    described(page)
    ids = {i for k in ("class 0", "class 2") for i in every_id(page, k)}
    for id_ in ("</script><script>window.hacked = 1</script>", "a\\x0ab\\x0dc\\x09d", "\\xff\\xfe\\xc0\\x80"):
        check(id_ in ids, "no row is called", id_)
    pictures(page)
    check(not page.js("[...document.querySelectorAll('main b, main img')].some(e => e.textContent.includes('bold'))"),
          "a class's name became markup")
    untested(page)
    quiet(page)

    dark = browser.open(path, width=420, height=800, dark=True, ratio=2)
    dark.frames(4)
    check(max(pixel(dark, 2, 2)) < 40, "no dark map in dark mode:", pixel(dark, 2, 2))
    check(dark.js("getComputedStyle(document.body.parentElement).backgroundColor") == "rgb(21, 23, 27)", "no dark page")
    check(dark.js("document.documentElement.scrollWidth <= innerWidth"), "a narrow window scrolls sideways")
    with tempfile.NamedTemporaryFile(suffix=".pdf") as f:
        dark.pdf(f.name)
        check(len(f.read()) > 20000, "nothing is printed")
    quiet(dark)


def every_id(page, place):
    choose(page, "place", place)
    page.wait("document.querySelectorAll('#cards button.card').length > 0")
    return all_in_view(page)


def two(browser, path):
    """The overlap of slices of two models is that of their ids, whatever the order of the rows."""
    page = browser.open(path)
    page.wait("document.querySelectorAll('#compare .matrix tbody tr').length > 2")
    check(page.js("document.querySelector('button.card .ids').textContent.includes('images/img_')"),
          "rows go without their ids")
    pick(page, "#compare select", next(n for n in texts(page, "#compare option") if n.startswith("model 2")), 1)
    page.frames(4)
    names, sides = [side_by_side(page, k) for k in range(2)], []
    for m, name in enumerate(names):
        choose(page, "model", str(m))
        choose(page, "place", next(p for p in ("class 0", "class 1", "class 2") if p in name))
        choose(page, "method", next(k for k in METHODS if k in name))
        if "seed" in name:
            choose(page, "seed", re.search(r"seed (\d+)", name)[1])
        sides.append({n: ids for (_, _, n), ids in slices_shown(page).items()})
    check("model 2" in names[1] and "model 2" not in names[0], "side by side are", names)
    choose(page, "model", "0")
    choose(page, "place", next(p for p in ("class 0", "class 1", "class 2") if p in names[0]))
    pick(page, "#compare select", names[1], 1)
    page.frames(4)
    check_overlaps(page, *sides)
    page.wait("document.querySelector('#compare .cell') !== null")
    press(page, "#compare .cell")
    page.wait(PRESSED + " !== null")
    page.wait("document.querySelector('#detail').textContent.includes('Squares')")
    quiet(page)


def printed_beside(path):
    """The second table of `spotter tables --format md`, which lies beside the page, without the numbers of the methods."""
    lines = open(path.replace(".html", ".md")).read().split("## Beside DR and FDR")[1].split("##")[0].splitlines()
    head, _, *rest = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [head] + [[row[0].split(" ", 1)[1], *row[1:]] for row in rest]


def same_cell(told, printed):
    """The last digit of a tie may be rounded in two ways."""
    a, b = ([float(n) for n in re.findall(r"-?\d+\.\d+", c.replace("−", "-"))] for c in (told, printed))
    if not b:
        return printed == "-" and told == "–"
    return len(a) == len(b) and close(a, b, 0.0011)


def run(browser, path):
    page = browser.open(path, width=1400, height=900)
    page.wait("document.querySelectorAll('button.card').length > 0")
    page.frames(4)
    check(seen(page, "table.plain tbody tr") == 4, "not two methods in each of two tables")
    check(not page.js("document.querySelector('#beside').open"), "the second table is not folded")
    press(page, "#beside summary")
    told = page.js("[...document.querySelectorAll('#beside tr')].map(r => [...r.cells].map(e => e.textContent))")
    printed = printed_beside(path)
    check(told[0] == printed[0] and [r[0] for r in told] == [r[0] for r in printed] and len(told) == 3
          and all(len(a) == len(b) and all(map(same_cell, a[1:], b[1:])) for a, b in zip(told[1:], printed[1:])),
          "the second table has", told, "and `spotter tables`", printed)
    press(page, "#beside summary")
    check(seen(page, "#by-place option") == 2, "not two ECs")
    check(page.js("[...document.querySelectorAll('img.figure')].map(e => (e.scrollIntoView(), e)).length") >= 1, "no figure")
    page.wait("[...document.querySelectorAll('img.figure')].every(e => e.complete && e.naturalWidth > 100)")
    for place in ("EC 1", "EC 0"):
        choose(page, "place", place)
        page.wait("document.querySelector('#truth')?.textContent.includes('%s')" % place)
    before = page.js("document.getElementById('points').toDataURL()")
    press(page, "#legend input")
    page.wait("document.getElementById('points').toDataURL() !== '%s'" % before)
    check(number(text(page, "#truth li"), r"(\d+) images?") > 0, "no truth")
    open_card(page, 0)
    check(seen(page, "#detail .gallery canvas") > 0, "no pictures")
    quiet(page)


def big(browser, path):
    # CPU time of the page's thread, which other programs on this machine lengthen less than a clock's: by what they take of the
    # caches. Of three rounds of moves the least counts.
    page = browser.open(path, width=1440, height=900)
    page.frames(30)
    opened, frames = page.cpu(), 20
    moves = """(async () => { const over = document.getElementById('over'), r = over.getBoundingClientRect();
        for (let i = 0; i < %d; i++) await new Promise(done => {
          over.dispatchEvent(new WheelEvent('wheel', { deltaY: i %% 2 ? 20 : -20, clientX: r.left + 300, clientY: r.top + 200,
                                                       bubbles: true, cancelable: true }));
          requestAnimationFrame(() => requestAnimationFrame(done)); }); })()""" % frames
    moving = math.inf
    for _ in range(3):
        since = page.cpu()
        page.js(moves)
        moving = min(moving, (page.cpu() - since) / frames)
    page.frames(30)
    since = page.cpu()
    page.js("for (let i = 0; i < %d; i++) window.dispatchEvent(new Event('beforeprint'))" % frames)
    still = (page.cpu() - since) / frames
    page.js("window.dispatchEvent(new Event('afterprint'))")
    since = page.cpu()
    page.js("""{ const over = document.getElementById('over');
        const move = i => new PointerEvent('pointermove', { clientX: 700 + i, clientY: 400 + i });
        for (let i = 0; i < 200; i++) over.dispatchEvent(move(i)); }""")
    hover = (page.cpu() - since) / 200
    print("100,000 points, CPU time: opened in %.2f s, redrawn in %.1f ms moving, %.1f ms still; %.2f ms a hover"
          % (opened, 1e3 * moving, 1e3 * still, 1e3 * hover))
    check("100,000 rows" in text(page, "#legend"), "not all rows are there:", text(page, "#legend"))
    check(opened < 2, "it opens in", opened, "s of CPU time, not under 2")
    check(moving < 0.03, "moving the map takes", 1e3 * moving, "ms a frame, not under 30")
    quiet(page)


if __name__ == "__main__":
    with Browser() as b:
        kinds = {k.__name__: k for k in (hostile, two, proven, both, across, gather, run, big)}
        kinds[sys.argv[1]](b, sys.argv[2])
    print(sys.argv[1], "page holds")
