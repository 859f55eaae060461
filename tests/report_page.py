#!/usr/bin/python3
"""The report in a real browser: what test_html.sh gives it is opened, looked at pixel by pixel, clicked, dragged, typed into.

    report_page.py hostile FILE.html      300 rows of 3 classes with pictures, ids and names that would be markup
    report_page.py two FILE.html          of two models, the rows of the second in another order
    report_page.py proven FILE.html       600 rows of 3 classes with pictures and proofs, names that would be markup
    report_page.py both FILE.html         of two models with proofs and such names
    report_page.py run FILE.html          of a sweep
    report_page.py big FILE.html          100,000 points: times
"""
import re
import sys
import tempfile

from browser import Browser, Failure

MEMBERS = "what.findings[List.finding()].slices[%d].member"


def check(truth, *words):
    if not truth:
        raise Failure(" ".join(str(w) for w in words))


def close(a, b, tolerance):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b))


def pixel(page, x, y, of="points"):
    """The colour at CSS pixel (x, y) of a canvas."""
    return page.js("""(() => { const c = document.getElementById('%s'), r = c.width / c.clientWidth;
        return Array.from(c.getContext('2d').getImageData(%f * r, %f * r, 1, 1).data.slice(0, 3)); })()""" % (of, x, y))


def where(page, row):
    """A point of the map on the screen: within the map, and in the window."""
    x, y = page.js("PointMap.where(%d)" % row)
    left, top = page.js("(r => [r.left, r.top])(document.getElementById('over').getBoundingClientRect())")
    return (x, y), (left + x, top + y)


def lonely(page, bad):
    """A row, wrong or right, with no other within 9 pixels, so that its colour is to be seen."""
    return page.js("""(() => { const p = what.places[PointMap.place()], at = Array.from(p.row, (_, i) => PointMap.where(i));
        return at.findIndex(([x, y], i) => !!p.isBad[i] === %s &&
            at.every(([u, v], j) => i === j || Math.hypot(u - x, v - y) > 9)); })()""" % ("true" if bad else "false"))


def quiet(page):
    check(not page.errors, "the console says", page.errors)
    strange = [u for u in page.requests if not u.startswith(("file://", "data:", "blob:"))]
    check(not strange, "it asked the network for", strange)
    check(len([u for u in page.requests if u.startswith("file://")]) == 1, "it reads other files", page.requests[:5])


def expected_colour(confidence):
    low, middle, high = (213, 94, 0), (189, 189, 189), (0, 114, 178)
    a, b, t = (low, middle, 2 * confidence) if confidence < 0.5 else (middle, high, 2 * confidence - 1)
    return [p + (q - p) * t for p, q in zip(a, b)]


def look_at_points(page):
    for bad in (False, True):
        row = lonely(page, bad)
        check(row >= 0, "no point stands alone")
        (x, y), _ = where(page, row)
        confidence = page.js("what.places[PointMap.place()].at[%d] / 255" % row)
        seen = pixel(page, int(x), int(y))
        check(close(seen, expected_colour(confidence), 45), "row", row, "of confidence", confidence, "is", seen)
        beside = pixel(page, int(x) + 3, int(y)), pixel(page, int(x) + 2, int(y) + 2)
        check(close(beside[1], seen, 70) == bad or not bad, "a wrong row is no cross:", beside)
    check(pixel(page, 2, 2) == [255, 255, 255], "the ground is not white")


def click_a_slice(page):
    page.js("document.querySelectorAll('button.card')[0].click()")
    page.wait("List.selected() !== null")
    page.frames(4)
    check(page.js("document.querySelectorAll('button.card')[0].getAttribute('aria-pressed')") == "true", "the card is not lit")
    faint = page.js("""(() => { const s = new Set(List.selected().member), p = what.places[PointMap.place()];
        const at = Array.from(p.row, (_, i) => PointMap.where(i));
        return at.findIndex(([x, y], i) => !s.has(i) && !p.isBad[i] && p.at[i] > 220 &&
            at.every(([u, v], j) => i === j || Math.hypot(u - x, v - y) > 9)); })()""")
    (x, y), _ = where(page, faint)
    check(min(pixel(page, int(x), int(y))) > 150, "what is not of the slice stands out:", pixel(page, int(x), int(y)))
    check("rows" in page.js("document.getElementById('detail').textContent"), "no detail")
    shown = page.js("document.querySelectorAll('#detail .gallery li').length")
    check(shown > 5, "a gallery of", shown)


def keyboard(page):
    page.js("document.querySelector('button.card[tabindex=\"0\"]').focus()")
    page.key("ArrowDown", 40)
    page.wait("document.querySelectorAll('button.card')[1].getAttribute('aria-pressed') === 'true'")
    check(page.js("document.activeElement === document.querySelectorAll('button.card')[1]"), "the focus did not follow")
    page.key("Escape", 27)
    page.wait("List.selected() === null")
    page.js("document.getElementById('over').focus()")
    for key, code, moved in (("+", 187, "PointMap.view.k > 1.3"), ("ArrowLeft", 37, "PointMap.view.x !== 0"),
                             ("0", 48, "PointMap.view.k === 1 && PointMap.view.x === 0")):
        page.key(key, code, key if len(key) == 1 else None)
        page.wait(moved)
    check(page.js("[...document.querySelectorAll('button,select,input,[role=img]')].every(e => "
                  "e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))"), "something has no name")


def wheel_and_hover(page):
    page.js("document.getElementById('stage').scrollIntoView({ block: 'center' })")
    row = lonely(page, False)
    _, (x, y) = where(page, row)
    page.mouse("mouseMoved", x, y)
    page.wait("!document.getElementById('tip').hidden")
    page.wait("document.querySelector('#tip .id').textContent === Data.row(PointMap.place(), %d).id" % row)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
    page.wait("PointMap.view.k > 1.2")
    page.frames(20)
    _, (u, v) = where(page, row)
    check(abs(u - x) < 2 and abs(v - y) < 2, "zooming moved the point under the pointer from", (x, y), "to", (u, v))
    k = page.js("PointMap.view.k")
    page.drag([(x, y), (x + 30, y + 20), (x + 60, y + 40)])
    page.frames(4)
    _, (u, v) = where(page, row)
    check(abs(u - x - 60) < 2 and abs(v - y - 40) < 2 and page.js("PointMap.view.k") == k, "dragging moved it to", (u, v))
    page.js("PointMap.reset()")
    page.frames(20)


def lasso(page):
    """A rectangle around the first slice: what it must hold is counted here, from where the points are."""
    box = page.js("""(() => {
        const at = Array.from(%s, i => PointMap.where(i)), xs = at.map(p => p[0]), ys = at.map(p => p[1]);
        return [Math.min(...xs) - 3.5, Math.min(...ys) - 3.5, Math.max(...xs) + 3.5, Math.max(...ys) + 3.5];
        })()""" % (MEMBERS % 0))
    want = page.js("""(b => { const p = what.places[PointMap.place()]; return Array.from(p.row.keys()).filter(i => {
        const [x, y] = PointMap.where(i); return x > b[0] && x < b[2] && y > b[1] && y < b[3]; }); })(%s)""" % box)
    left, top = page.js("(r => [r.left, r.top])(document.getElementById('over').getBoundingClientRect())")
    x0, y0, x1, y1 = box[0] + left, box[1] + top, box[2] + left, box[3] + top
    page.js("document.getElementById('lasso').click()")
    page.drag([(x0, y0), ((x0 + x1) / 2, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0 + 5)])
    page.wait("List.own().length === 1")
    got = page.js("Array.from(List.own()[0].member)")
    check(got == want, "the lasso took", len(got), "rows instead of", len(want))
    wrong = page.js("List.own()[0].wrong")
    check(wrong == page.js("%s.filter(i => what.places[PointMap.place()].isBad[i]).length" % want), "wrong rows:", wrong)
    csv = page.js("Export.csvText(List.own())")
    check(csv.startswith("id,class,method,seed,rank,score\n"), csv[:60])
    check(csv.count("my slice 1") == len(want), "the CSV has", csv.count("my slice 1"), "rows")
    ids = page.js("JSON.parse(Export.jsonText(List.own())).slices[0].ids")
    check(ids == page.js("%s.map(i => Data.row(PointMap.place(), i).id)" % want), "the JSON's ids differ")
    # With the shift key, without the button; and by the keyboard all that is in view.
    page.drag([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], modifiers=8)
    page.wait("List.own().length === 2")
    page.js("document.getElementById('over').focus()")
    page.key("v", 86, "v")
    page.wait("List.own().length === 3 && List.own()[0].size === what.places[PointMap.place()].n")


def pictures(page, n):
    """Every picture is its row's: the colour says which row it was made for. Missing ones say their name."""
    page.wait("document.querySelectorAll('.gallery canvas').length > 5")
    page.frames(30)
    wrong = page.js("""(async () => { const out = [];
        for (let row = 0; row < %d; row++) {
          if (row === 5 || row === 7 || row === 11) { out.push(...Picture.has(row) ? [row] : []); continue; }
          const c = Picture.show(row, "", 64);
          const cx = c.getContext('2d');
          while (!cx.getImageData(10, 10, 1, 1).data[3]) await new Promise(r => setTimeout(r, 2));
          const d = cx.getImageData(c.width / 2 | 0, c.height / 2 | 0, 1, 1).data;
          const want = [37, 91, 53].map(f => 28 + row * f %% 200);
          const ratio = c.width / c.height / ((row %% 3 === 1 ? 32 : 96) / (row %% 3 === 2 ? 40 : 96));
          if (want.some((v, k) => Math.abs(v - d[k]) > 12) || Math.abs(ratio - 1) > 0.06) out.push([row, want, [...d], ratio]);
        } return out; })()""" % n)
    check(not wrong, "rows with another picture:", wrong[:5])
    check("unreadable" in page.js("Picture.show(5, 'images/five.png', 64).textContent"), "an unreadable picture says nothing")
    check("five.png" in page.js("Picture.show(5, 'images/five.png', 64).textContent"), "an unreadable picture has no name")
    notes = page.js("document.getElementById('notes').textContent")
    check("2 pictures could not be read" in notes, "unreadable ones are not counted:", notes)


def choose(page, what, value):
    page.js("(e => { e.value = '%s'; e.dispatchEvent(new Event('change')); })(document.getElementById('by-%s'))"
            % (value, what))


def filters_and_overlap(page):
    choose(page, "place", "")
    page.wait("document.querySelectorAll('#cards > li').length > 10")
    before = page.js("document.querySelectorAll('#cards > li').length")
    choose(page, "place", "class 0")
    page.wait("document.querySelectorAll('#cards > li').length < %d" % before)
    choose(page, "method", "")
    page.wait("document.querySelectorAll('#cards > li').length > 4")
    wrong = page.js("""(async () => { const [f, g] = await Promise.all([0, 2].map(i => Data.finding(i)));
        const o = Compare.overlaps(f.slices, g.slices), out = [];
        f.slices.forEach((s, i) => g.slices.forEach((t, j) => {
          const a = new Set(s.member), both = Array.from(t.member).filter(r => a.has(r)).length;
          const jaccard = both / new Set([...s.member, ...t.member]).size;
          if (Math.abs(jaccard - o[i][j].jaccard) > 1e-12 || both !== o[i][j].both) out.push([i, j, jaccard, o[i][j]]); }));
        return out; })()""")
    check(not wrong, "overlaps are wrong:", wrong)
    check(page.js("document.querySelectorAll('#compare .matrix tbody tr').length") > 2, "no matrix")


def described(page):
    """Words and attributes of two slices, which try to become markup, are texts in cards and details."""
    at = "what.findings.findIndex(f => f.slices.some(s => s.words))"
    check(page.js(at) == 0, "no finding has words")
    page.js("(async () => { await Data.finding(0); List.clear(); await List.choose(what.findings[0].slices[0]); })()")
    page.wait("List.selected() === what.findings[0].slices[0]")
    told = page.js("[...document.querySelectorAll('#detail td bdi')].map(e => e.textContent)")
    check("</script><script>window.hacked = 1</script>" in told, "the phrases are", told)
    said = page.js("[...document.querySelectorAll('.said')].map(e => e.textContent)")
    check(any(t.count("“") == 2 for t in said), "phrases that chance may have made are in a card:", said)
    page.js("List.choose(what.findings[0].slices[1])")
    page.wait("List.selected() === what.findings[0].slices[1]")
    told = page.js("document.getElementById('detail').textContent")
    check("0 of 0" in told and "3 of 4" in told and "< 0.0001" in told, "the attributes are", told)
    check(any(t.endswith("may be chance") for t in said), "no card says that chance may do as well:", said)
    check(page.js("window.hacked === undefined"), "a phrase ran as a script")


def untested(page):
    """Slices without proofs: said so, those that are no worse than their class under a fold, all counted right."""
    told = page.js("document.querySelector('.lead').textContent")
    worse, slices = page.js("(all => [all.filter(Boolean).length, all.length])(what.findings.flatMap(f => f.slices.map(s => "
                            "s.rate > what.places[f.place].wrong / what.places[f.place].n)))")
    check(0 < worse < slices and told.startswith("%d of %d slices by 2 methods have more errors" % (worse, slices)),
          "%d of %d slices are worse than their class, the page says %s" % (worse, slices, told))
    check("Not tested: these slices were found and counted on the same rows" in told, "the page says", told)
    choose(page, "place", "")
    page.wait("document.querySelectorAll('#fold-fine li').length > 2")
    choose(page, "order", "size")
    choose(page, "order", "")
    page.wait("document.querySelectorAll('#fold-fine li').length > 2")
    page.frames(4)
    main, fine = page.js("['#cards', '#fold-fine'].map(e => document.querySelectorAll(e + ' > li, ' + e + ' ol > li').length)")
    want = page.js("""what.findings.filter(f => f.method === document.getElementById('by-method').value ||
        !document.getElementById('by-method').value).filter(f => !document.getElementById('by-seed').value ||
        f.seed === document.getElementById('by-seed').value).flatMap(f => f.slices.map(s =>
        s.rate > what.places[f.place].wrong / what.places[f.place].n))""")
    check((main, fine) == (min(40, want.count(True)), want.count(False)), "of", len(want), "slices:", main, "and", fine)
    said = page.js("document.getElementById('say').textContent")
    check(said.startswith("%d slices with more errors than elsewhere, not tested, shown" % want.count(True)) and
          "%d with no more errors than elsewhere" % want.count(False) in said, "the live region says", said)
    check(not page.js("/blindspot/i.test(document.getElementById('list').textContent)"), "an untested slice is a blindspot")
    check(page.js("document.getElementById('title').textContent") == "Possible blindspots", "the title claims too much")


def cards_of(page, where):
    return page.js("[...document.querySelectorAll('%s button.card')].map(b => b.getAttribute('aria-label'))" % where)


def claims(page):
    """What the tests say, in a sentence, in the order and in the folds."""
    of = page.js("what.findings.flatMap(f => f.slices.map(s => [s.proof.claim, s.proof.excess[0]]))")
    sure, likely = (sum(c == k for c, _ in of) for k in (2, 1))
    fine = sum(c == 0 and e <= 0 for c, e in of)
    chance = len(of) - sure - likely - fine
    check(min(sure, likely, fine, chance) > 0, "a kind of claim is missing:", sure, likely, fine, chance)
    told = page.js("document.querySelector('.lead').textContent")
    for words in ("%d slices are confirmed blindspots" % sure, "%d are suggested" % likely, "%d may be chance" % chance,
                  "%d have no more errors" % fine, "%d tests" % (2 * len(of)), "at the level 5 %", "19 searches"):
        check(words in told, "the sentence lacks", words, "in", told)
    check(page.js("document.getElementById('claims').getBoundingClientRect().bottom < 400"), "the sentence is not on top")
    main, maybe, good = (cards_of(page, w) for w in ("#cards", "#fold-chance", "#fold-fine"))
    check((len(main), len(maybe), len(good)) == (sure + likely, chance, fine), "cards:", len(main), len(maybe), len(good))
    check(["confirmed blindspot" in t for t in main] == [True] * sure + [False] * likely, "not the surest first:", main)
    check(all("may be chance" in t for t in maybe) and all("no more errors" in t for t in good), "folds hold", maybe, good)
    check(not any("blindspot" in t for t in main[sure:] + maybe + good), "what is not confirmed is called a blindspot")
    numbers = [int(re.match(r"class \d #(\d+),", t).group(1)) for t in main + maybe + good]
    check(numbers == list(range(1, len(of) + 1)), "the numbers are", numbers)
    shrunk = page.js("Claim.all().filter(s => s.kind === 'confirmed').sort(Claim.order).map(s => s.proof.shrunk)")
    check(shrunk == sorted(shrunk, reverse=True), "confirmed slices come by", shrunk)
    card = main[0]
    for words in (r"\d+ rows?", r"\d+ % wrong \(\d+ to \d+ %\)", r"\d+ % of its class", r"predicted as class \d, 100 %",
                  "found by planespot-scvis, domino"):
        check(re.search(words, card), "the first card lacks", words, "in", card)
    shown = page.js("document.querySelector('button.card').textContent")
    check("200 rows" in shown and "judged" in shown, "the card shows", shown)
    check(not page.js("[...document.querySelectorAll('details.fold')].some(e => e.open)"), "a fold is open")
    said = page.js("document.getElementById('say').textContent")
    check(said == "%d confirmed blindspots and %d suggested shown; under folds %d that may be chance and %d with no more "
          "errors than elsewhere" % (sure, likely, chance, fine), "the live region says", said)


def proof_of(page):
    """The details have every test of the slice, and the numbers that the proof gives."""
    page.js("List.choose(Claim.at('slice-2'))")
    page.wait("List.selected() === Claim.at('slice-2') && document.querySelector('#detail h2').textContent.includes('#2')")
    told = page.js("document.getElementById('detail').textContent")
    for words in ("corrected p", "judged rows", "expect on new rows", "excess", "planespot-scvis", "domino",
                  "Westfall and Young"):
        check(words in told, "the details lack", words)
    rows = page.js("[...document.querySelectorAll('#detail tbody')].map(t => t.rows.length)[0]")
    check(rows == 2, "the table has", rows, "tests")
    check("[object" not in told, "the details show", told)
    cells = page.js("Claim.all().map(s => [s.address, s.proof.cell])")
    for address, cell in (next(c for c in cells if c[1] is not None), next(c for c in cells if c[1] is None)):
        page.js("List.choose(Claim.at('%s'))" % address)
        page.wait("List.selected() === Claim.at('%s')" % address)
        page.frames(3)
        check(page.js("/by predicted class and confidence/.test(document.querySelector('#detail dl').textContent)") ==
              (cell is not None), "the rate by the cell of", address, "is", cell)


def links(browser, page, path):
    page.js("document.querySelectorAll('#cards button.card')[2].click()")
    page.wait("location.hash === '#slice-3'")
    page.js("document.querySelectorAll('#cards button.card')[3].click()")
    page.wait("location.hash === '#slice-4'")
    page.js("history.back()")
    page.wait("List.selected() === Claim.at('slice-3') && location.hash === '#slice-3'")
    check(page.js("document.querySelector('#detail a.small').getAttribute('href')") == "#slice-3", "the link is another")
    page.js("List.clear()")
    page.wait("location.hash === ''")
    folded = page.js("Claim.all().find(s => s.kind === 'fine').address")
    other = browser.open(path + "#" + folded)
    other.wait("List.selected() === Claim.at('%s')" % folded)
    check(other.js("document.getElementById('fold-fine').open"), "the slice of the link lies in a closed fold")
    check(other.js("(r => r.top >= 0 && r.top < innerHeight)(List.selected().button.getBoundingClientRect())"),
          "the slice of the link is out of sight")
    for bad in ("#slice-999", "#<img src=x onerror=hacked=1>", "#list", "#__proto__"):
        quiet(browser.open(path + bad))


def twins(page):
    """A picture that three rows have is shown once, with its number of rows."""
    page.js("List.choose(what.findings[0].slices[0], null, { follow: true })")
    page.wait("List.selected() === what.findings[0].slices[0]")
    page.frames(10)
    size, shown = page.js("[List.selected().size, document.querySelectorAll('#detail .gallery')[0].children.length]")
    check(shown == size - 2, "of", size, "rows with 2 twins", shown, "pictures are shown")
    times = page.js("[...document.querySelectorAll('#detail .times')].map(e => e.textContent)")
    check(times == ["×3"], "marks of twins:", times)
    names = page.js("[...document.querySelectorAll('#detail .gallery [role=img]')].map(e => e.getAttribute('aria-label'))")
    check(all(re.match(r"img_\d+\.png, confidence \d\.\d\d, (right|wrong, predicted as class \d)", n) for n in names),
          "pictures are called", names[:3])


def small_window(browser, path):
    page = browser.open(path, width=400, height=800)
    check(page.js("List.selected() === null"), "a slice is chosen from the start")
    check(page.js("document.documentElement.scrollWidth <= innerWidth"), "it scrolls sideways")
    for k in (0, 4):
        page.js("document.querySelectorAll('button.card')[%d].scrollIntoView({ block: 'center' })" % k)
        x, y = page.js("(r => [r.left + r.width / 2, r.top + 20])(document.querySelectorAll('button.card')[%d]"
                       ".getBoundingClientRect())" % k)
        page.click(x, y)
        page.wait("List.selected() && document.querySelectorAll('button.card')[%d].getAttribute('aria-pressed') === 'true'" % k)
        page.frames(4)
        top, height = page.js("(e => [e.getBoundingClientRect().top, innerHeight])(document.getElementById('detail'))")
        check(0 < top < height - 150, "the details begin at", top, "of", height)
        check(page.js("document.getElementById('detail').parentElement.contains(List.selected().button)"), "not below the card")
        check(page.js("document.documentElement.scrollWidth <= innerWidth"), "the details scroll sideways")
    broken = page.js("""[...document.querySelectorAll('.nopic b')].filter(e => e.getClientRects().length > 1).length""")
    check(broken == 0, "a word is broken in its box")
    quiet(page)


def named(page):
    """Names of a model, of data and a date are text, whatever they are."""
    check(page.js("window.hacked === undefined"), "a name ran as a script:", page.js("window.hacked"))
    told = page.js("document.querySelector('header').textContent")
    for words in ("</script><b>v1</b>", "<i>rows</i> & \\xff", "2026-11-27<script>window.hacked = 5</script>"):
        check(words in told, "the head lacks", words, "in", told)
    check(not page.js("document.querySelector('header i, main img')"), "a name became markup")
    check(page.js("[...document.querySelectorAll('button,select,input,a,[role=img]')].every(e => "
                  "e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label'))"), "something has no name")


def proven(browser, path):
    page = browser.open(path, width=1200, height=900)
    page.wait("document.querySelectorAll('button.card').length > 3")
    page.frames(4)
    check(page.js("List.selected() === Claim.at('slice-1') && location.hash === ''"), "the map does not begin with the first")
    claims(page)
    named(page)
    proof_of(page)
    twins(page)
    links(browser, page, path)
    json = page.js("JSON.parse(Export.jsonText([Claim.at('slice-1')])).slices[0]")
    check(json["claim"] == "confirmed" and json["name"].endswith("#1"), "the JSON has", json["claim"], json["name"])
    quiet(page)
    small_window(browser, path)
    dark = browser.open(path, width=1200, height=900, dark=True)
    ink, chip = (dark.js("getComputedStyle(document.querySelector('.claim.confirmed')).%s" % k)
                 for k in ("color", "backgroundColor"))
    check(contrast(ink, chip) > 4.5, "in the dark the claim has", ink, "on", chip)
    quiet(dark)


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
    check("Rates on the same rows; not a test" in page.js("document.getElementById('models').textContent"), "no label")
    wrong = page.js("""(async () => { const out = [], ids = await Block.words(what.ids);
        await Promise.all(what.findings.map((f, i) => Data.finding(i)));
        for (const s of Claim.all()) {
          const here = what.places[s.place], mine = new Set(Array.from(s.member, i => ids[here.row[i]]));
          what.models.forEach((m, k) => {
            const there = what.places.find(p => p.model === k && p.class === here.class);
            const bad = Array.from(there.row, (r, i) => mine.has(ids[r]) && there.isBad[i]).filter(Boolean).length;
            if (bad !== s.others[k] || (k === here.model && bad !== s.wrong)) out.push([s.address, k, bad, s.others[k]]);
          });
        } return out; })()""")
    check(not wrong, "rates on the other model's slices are wrong:", wrong[:5])
    rows = page.js("[...document.querySelectorAll('#models tbody')].map(t => t.rows.length)")
    sure = page.js("[0, 1].map(k => Claim.all().filter(s => s.kind === 'confirmed' && "
                   "what.places[s.place].model === k).length)")
    check(rows == sure, "the tables have", rows, "confirmed slices of", sure)
    page.js("document.querySelectorAll('#models table')[1].querySelector('a').click()")
    page.wait("List.selected() && what.places[List.selected().place].model === 1 && "
              "location.hash.startsWith('#model-2.slice-')")
    check(page.js("document.getElementById('by-model').value") == "1", "the list is of the other model")
    check("not a test" in page.js("document.getElementById('detail').textContent"), "the details lack the other model")
    check(page.js("window.hacked === undefined && document.title.startsWith('</title><script>')"), "the title is markup")
    check("model 1" not in page.js("document.body.innerText"), "a model is called by its number")
    quiet(page)


def hostile(browser, path):
    page = browser.open(path, width=1400, height=900)
    page.wait("document.querySelectorAll('button.card').length > 3")
    choose(page, "place", "class 0")
    page.wait("!document.getElementById('points').hidden && what.places[PointMap.place()].n === 100")
    page.wait("List.selected() !== null && List.selected().place === PointMap.place()")
    page.js("PointMap.plant(), List.clear()")
    page.frames(4)
    look_at_points(page)
    click_a_slice(page)
    pictures(page, 300)
    keyboard(page)
    wheel_and_hover(page)
    lasso(page)
    filters_and_overlap(page)
    check(page.js("window.hacked === undefined"), "an id ran as a script:", page.js("window.hacked"))
    shown = page.js("what.places.map((p, k) => k).length && Data.row(0, 0).id")
    check(shown == "</script><script>window.hacked = 1</script>", "the first id is", shown)
    described(page)
    ids = page.js("(async () => (await Block.words(what.ids)))()")
    check(ids[6] == "a\\x0ab\\x0dc\\x09d" and ids[9] == "\\xff\\xfe\\xc0\\x80", "odd bytes are shown as", ids[6], ids[9])
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


def two(browser, path):
    """The overlap of slices of two models is that of their ids, whatever the order of the rows."""
    page = browser.open(path)
    page.wait("document.querySelectorAll('#compare .matrix tbody tr').length > 2")
    wrong = page.js("""(async () => {
        const ids = await Block.words(what.ids), out = [], at = f => what.places[f.place];
        const of = s => Array.from(s.member, i => ids[at(s).row[i]]);
        const pick = m => what.findings.findIndex(f => at(f).model === m && at(f).class === 0);
        const [f, g] = await Promise.all([pick(0), pick(1)].map(Data.finding)), o = Compare.overlaps(f.slices, g.slices);
        if (ids[what.places[f.place].row[0]] !== 'images/img_000000.png') out.push('the first model');
        if (of({ place: g.place, member: [0] })[0] !== `images/img_000${what.rows - 3}.png`) out.push('the second model');
        f.slices.forEach((s, i) => g.slices.forEach((t, j) => {
          const a = new Set(of(s)), both = of(t).filter(r => a.has(r)).length;
          const jaccard = both / (s.size + t.size - both);
          if (both !== o[i][j].both || Math.abs(jaccard - o[i][j].jaccard) > 1e-12) out.push([i, j]);
        }));
        return out; })()""")
    check(not wrong, "rows or overlaps of two models are wrong:", wrong)
    check(page.js("document.querySelector('button.card .ids').textContent.includes('images/img_')"),
          "rows go without their ids")
    page.js("(e => { e.value = [...e.options].find(o => o.textContent.startsWith('model 2')).value; "
            "e.dispatchEvent(new Event('change')); })(document.querySelectorAll('#compare select')[1])")
    page.wait("document.querySelectorAll('#compare .matrix tbody tr').length > 2")
    page.wait("document.querySelector('#compare .cell') !== null")
    page.js("document.querySelector('#compare .cell').click()")
    page.wait("List.selected() !== null")
    page.wait("document.querySelector('#detail').textContent.includes('Squares')")
    quiet(page)


def printed_beside(path):
    """The second table of `spotter tables --format md`, which lies beside the page, without the numbers of the methods."""
    lines = open(path.replace(".html", ".md")).read().split("## Beside DR and FDR")[1].split("##")[0].splitlines()
    head, _, *rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [head] + [[row[0].split(" ", 1)[1], *row[1:]] for row in rows]


def same_cell(told, printed):
    """The last digit of a tie may be rounded in two ways."""
    a, b = ([float(n) for n in re.findall(r"-?\d+\.\d+", c)] for c in (told, printed))
    if not b:
        return printed == "-" and told == "–"
    return len(a) == len(b) and close(a, b, 0.0011)


def run(browser, path):
    page = browser.open(path, width=1400, height=900)
    page.wait("document.querySelectorAll('button.card').length > 0")
    page.frames(4)
    check(page.js("document.querySelectorAll('table.plain tbody tr').length") == 4, "not two methods in each of two tables")
    check(not page.js("document.querySelector('#beside').open"), "the second table is not folded")
    page.js("document.querySelector('#beside summary').click()")
    told = page.js("[...document.querySelectorAll('#beside tr')].map(r => [...r.cells].map(e => e.textContent))")
    printed = printed_beside(path)
    check(told[0] == printed[0] and [r[0] for r in told] == [r[0] for r in printed] and len(told) == 3
          and all(len(a) == len(b) and all(map(same_cell, a[1:], b[1:])) for a, b in zip(told[1:], printed[1:])),
          "the second table has", told, "and `spotter tables`", printed)
    page.js("document.querySelector('#beside summary').click()")
    check(page.js("document.querySelectorAll('#by-place option').length") == 2, "not two ECs")
    check(page.js("[...document.querySelectorAll('img.figure')].map(e => (e.scrollIntoView(), e)).length") >= 1, "no figure")
    page.wait("[...document.querySelectorAll('img.figure')].every(e => e.complete && e.naturalWidth > 100)")
    for place in ("EC 1", "EC 0"):
        choose(page, "place", place)
        page.wait("document.querySelector('#truth')?.textContent.includes('%s')" % place)
    page.js("document.querySelector('#legend input').click()")
    page.frames(6)
    check(page.js("what.places[PointMap.place()].truth[0].member.length") > 0, "no truth")
    page.js("document.querySelectorAll('button.card')[0].click()")
    page.wait("List.selected() !== null")
    check(page.js("document.querySelectorAll('#detail .gallery canvas').length") > 0, "no pictures")
    quiet(page)


def big(browser, path):
    opened = []
    for _ in range(3):
        page = browser.open(path, width=1440, height=900)
        page.frames(2)
        opened.append(page.seconds)
    page.frames(30)
    page.js("PointMap.plant()")
    times = {name: min(page.js("[...Array(15)].map(() => PointMap.redrawNow(%s))" % flag))
             for name, flag in (("moving", "true"), ("still", "false"))}
    hover = page.js("""(() => { const t = performance.now(), over = document.getElementById('over');
        const move = i => new PointerEvent('pointermove', { clientX: 700 + i, clientY: 400 + i });
        for (let i = 0; i < 200; i++) over.dispatchEvent(move(i));
        return (performance.now() - t) / 200; })()""")
    print("100,000 points: opened in %.2f s (of 3), redrawn in %.1f ms moving, %.1f ms still (of 15); %.2f ms a hover"
          % (min(opened), times["moving"], times["still"], hover))
    check(page.js("what.places[PointMap.place()].n") == 100000, "not all rows are there")
    check(min(opened) < 2, "it opens in", min(opened), "s, not under 2")
    check(times["moving"] < 30, "moving the map takes", times["moving"], "ms a frame, not under 30")
    quiet(page)


if __name__ == "__main__":
    with Browser() as b:
        {"hostile": hostile, "two": two, "proven": proven, "both": both, "run": run, "big": big}[sys.argv[1]](b, sys.argv[2])
    print(sys.argv[1], "page holds")
