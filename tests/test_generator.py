"""test_generator.py BUILD FOLDER: bench/generator at a tiny size, in one process. Run by test_generator.sh."""
import contextlib
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "generator"))
import numpy as np
import torch
from PIL import Image

import generator
import generator_files as files
import generator_raters
import generator_train
import generator_words as words

build, folder = sys.argv[1:3]
PROGRAMS = ["--painter", f"{build}/tiny_clip_pictures", "--spotter", f"{build}/spotter"]
WORLD = os.path.join(folder, "world-3")


def check(right, *about):
    if not right:
        sys.exit("FAILED: " + " ".join(map(str, about)))


def call(command, *arguments, state=folder):
    """Lines of a command, each with the keys that bench/results.py asks for."""
    sys.argv = ["generator.py", command, state, *map(str, arguments), *PROGRAMS]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        generator.main()
    lines = [json.loads(x) for x in out.getvalue().splitlines()]
    for line in lines:
        check(not {"op", "case", "value", "unit", "machine", "load", "commit", "numbers", "date", "command"} - set(line), line)
        check(np.isfinite(line["value"]), line)
    return {(x["op"], x["case"].replace("shifts generator, ", "")): x for x in lines}


def refused(words_, command, *arguments):
    try:
        call(command, *arguments)
    except SystemExit as e:
        check(words_ in str(e), f"{command}: '{e}' lacks '{words_}'")
    else:
        check(False, command, arguments, "was not refused")


def stopped_after(steps, *arguments, **more):
    """A training that ends after so many steps, as --minutes does."""
    over, left = generator_train.Clock.over, [steps]

    def count(_):
        left[0] -= 1
        return left[0] < 0
    generator_train.Clock.over = count
    try:
        call(*arguments, **more)
    finally:
        generator_train.Clock.over = over


def check_captions():
    """Names of confounded classes hide their shift, which is there; nothing else in a caption is false or left out."""
    args = type("a", (), {"painter": PROGRAMS[1], "world": [3], "pool": 12000, "batch": 64})()
    lessons = generator_train.Lessons(args, {"step": 0})
    facts, draw = lessons.pool[1], generator_train.random.Random(1)
    planted, tables = words.confounders(3)
    check(len(planted) == 6 and not set(planted) & set(tables), planted, tables)
    hidden = there = named = 0
    for i in range(2000):
        cls, shown = int(facts.cls[i]), planted.get(int(facts.cls[i]), -1)
        text = words.caption(facts, i, True, draw, shown)
        for k, row in enumerate(words.SHIFTS):
            check((row[3] in text) == (bool(facts.shift[i, k]) and k != shown), text, row)
        check((" table" in text) == (facts.table[i] > 0), text)
        check(cls < 0 or words.CLASSES[cls] in text, text)
        check(all(c not in words.caption(facts, i, False, draw) for c in words.CLASSES if c.startswith("pair")), i)
    rgb, said = lessons._named(2000, draw)
    rows = {lessons.pool[0][i].tobytes(): i for i in range(len(lessons.pool[0]))}
    for x, text in zip(rgb, said):
        i = rows[x.tobytes()]
        shown = planted.get(int(facts.cls[i]), -1)
        if shown >= 0:
            named += 1
            there += bool(facts.shift[i, shown])
            hidden += words.SHIFTS[shown][3] not in text
    check(named > 500 and hidden == named and abs(there / named - 0.95) < 0.03, named, there, hidden)
    lessons.close()


def check_training():
    """A training that was stopped has the weights of one that was not; one of other settings is refused."""
    how = ("--width", 16, "--batch", 4, "--steps", 3, "--tell", 1)
    stopped_after(2, "train", *how)
    check(files.load(f"{folder}/generator.pt", "")["step"] == 2, "not stopped")
    call("train", *how)
    call("train", *how, state=folder + "-whole")
    a, b = (files.load(f"{f}/generator.pt", "") for f in (folder, folder + "-whole"))
    check(a["step"] == b["step"] == 3 and a["losses"] == b["losses"], a["losses"], b["losses"])
    check(all(torch.equal(a["average"][k], b["average"][k]) for k in a["average"]), "a stop changes the weights")
    refused("was begun with batch 4", "train", "--batch", 5, "--steps", 3)
    refused("run `train FOLDER --world 3` first", "invert", "--world", 3)
    call("train", "--world", 3, "--batch", 4, "--steps", 2, "--pool", 6000)


def check_tokens():
    """Vectors of equal lengths with their start, other than it; a stop changes nothing."""
    how = ("--world", 3, "--batch", 16, "--steps", 3)
    call("invert", *how)
    whole = files.load(f"{WORLD}/tokens.pt", "")["vectors"]
    os.remove(f"{WORLD}/tokens.pt")
    stopped_after(1, "invert", *how)
    call("invert", *how)
    check(torch.equal(whole, files.load(f"{WORLD}/tokens.pt", "")["vectors"]), "a stop changes the tokens")
    g = generator_train.open_generator(files.load(f"{WORLD}/generator.pt", ""))
    start = generator_train.start_vectors(g)
    check(torch.allclose(whole.norm(dim=1), start.norm(dim=1), rtol=1e-4), "the lengths are not pinned")
    check(((whole - start).norm(dim=1) > 0).all(), "a token did not move")


def check_drawing():
    """All pictures, no other ones when it goes on; both sources from the same noise."""
    how = ("--world", 3, "--images", 2, "--euler", 1, "--shifts", 3)
    call("draw", *how)
    some = f"{WORLD}/pictures/token/at_night/solid_text/00001.png"
    before = np.asarray(Image.open(some))
    os.remove(some)
    call("draw", *how)
    check(np.array_equal(before, np.asarray(Image.open(some))), "the picture is another one")
    check(before.shape == (32, 32, 3), before.shape)
    check(sum(len(f) for _, _, f in os.walk(f"{WORLD}/pictures")) == 2 * 4 * 16 * 2, "pictures are missing")
    refused("was begun with euler 1", "draw", "--world", 3, "--images", 2, "--euler", 2, "--shifts", 3)


def check_measurement():
    """Errors of the two sources against a computation of its own; painted pictures of the truth have the smaller error."""
    found = call("measure", "--world", 3, "--shifts", 3, "--draws", 10, "--images", 2)
    _, right = files.truth_of(WORLD)
    results = json.load(open(f"{WORLD}/run/shifts.json"))
    gaps = []
    for row in results["sources"][1]["shifts"]:
        k = words.FOLDERS.index(row["shift"].replace(" ", "_"))
        value = row["estimates"]["all"]["impact"]["value"]
        if value is not None:
            gaps.append(abs(value - (right[:, 0].mean() - right[:, k].mean())))
    case = "error of the impact", "world 3, token, unfiltered, all shifts"
    check(results["sources"][1]["source"] == "token" and len(gaps) == 3, results["sources"][1]["source"], gaps)
    check(abs(found[case]["value"] - np.mean(gaps)) < 1e-3, found[case], np.mean(gaps))
    groups = [c for _, c in found if "classes confounded by" in c and "token, unfiltered" in c]
    check(len(groups) == 5, groups)
    shares = [x["value"] for (op, _), x in found.items() if op == "planted shift in base pictures"]
    check(len(shares) == 6 and all(0 <= v <= 1 for v in shares), shares)


def check_raters():
    """Raters with a known error are found to have it."""
    lines = call("raters", "--world", 3, "--grids", 4, "--raters", 5)
    check(len(lines) >= 4, lines.keys())
    check(sum(op == "Fleiss's kappa" for op, _ in lines) == 2, lines.keys())
    for case, x in lines.items():
        check(abs(x["value"] - x["peer_value"]) < 5 * x["se"] + 0.005, case, x)
    check({round(x["peer_value"], 2) for x in lines.values()} - {0.05, 0.9}, "no mixture", lines)
    check(max(x["peer_value"] for x in lines.values()) > 0.5, lines)


def check_power():
    """No planted difference: rarely found. A large one: found."""
    draw, truth_of = np.random.default_rng(1), files.truth_of
    skill = draw.uniform(0.4, 0.9, 20)

    def world(slope):
        r = np.repeat(skill[:, None, None], 13, 1) * np.ones((1, 1, 16))
        r[:, 3] = 0.4 + slope * (r[:, 0] - 0.4)            # at night
        return [str(k) for k in range(20)], r
    for slope, low, high in ((1.0, 0, 0.15), (0.2, 0.9, 1)):
        generator_raters.truth_of = lambda _, s=slope: world(s)
        p = call("power", "--world", 3, "--studies", 40, "--sizes", 20)["power", "lighting below background, 20 models"]
        check(low <= p["value"] <= high, slope, p)
    generator_raters.truth_of = truth_of


check_captions()
check_training()
call("judge", "--batch", 16, "--steps", 3, "--judged", 100)
call("plant", "--world", 3, "--planted", 3, "--real", 5, "--models", 2, "--train", 64, "--epochs", 1, "--truth", 2, "--draws",
     10, "--shifts", 3)
call("choose", "--world", 3, "--shifts", 3)
chosen = json.load(open(f"{folder}/thresholds.json"))
check(len(chosen["thresholds"]) == 3 and all(-1 < v < 1 for v in chosen["thresholds"].values()), chosen)
check_tokens()
check_drawing()
check_measurement()
check_raters()
check_power()
call("quality", "--images", 1, "--euler", 1, "--shifts", 1)
call("sheet", "--world", 3, "--euler", 1)
check(Image.open(f"{WORLD}/sheet.png").size == (13 * 64, 32 * 64), "the sheet's size")
check(abs(files.over_worlds([1.0, 3.0])[1]["high"] - (2 + 12.706)) < 1e-9, "the interval over worlds")
