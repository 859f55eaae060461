"""test_python_gather.py SPOTTER: run by test_python.sh in an empty folder. A slice's words tested on new pictures by a tiny
CLIP: Python says what the command says."""
import copy
import csv
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.stats import fisher_exact

import spotter
from python_checks import planted, raises

program, clip = sys.argv[1], str(Path(__file__).resolve().parent.parent / "tools/tiny_clip/model.safetensors")
WORDS = ["a speckled background", "a grey background", "a square", "a blue circle"]


def photos(folder, n, seed):
    """Reddish cats and bluish dogs, plain or noisy."""
    draw = np.random.default_rng(seed)
    for kind, red in (("cat", 40), ("dog", -40)):
        Path(folder, kind).mkdir(parents=True)
        for i in range(n):
            rgb = draw.integers(60, 190) + draw.normal(0, 60, (40, 48, 3)) * (draw.random() > 0.5) + red * np.array([1, 0, -1])
            Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8)).save(f"{folder}/{kind}/{i:03d}.png")
    return sorted(Path(folder).rglob("*.png"))


def by_colour(rgb):
    """It takes most noisy pictures for the other class."""
    x = rgb.astype(np.float32)
    red = (x[..., 0] - x[..., 2]).mean((1, 2)) / 80
    noisy = np.abs(np.diff(x[..., 1], axis=2)).mean((1, 2)) > 12
    cat = 0.5 + np.clip(np.where(noisy & (rgb.sum((1, 2, 3)) % 4 > 0), -red, red), -1, 1) / 2.5
    return np.stack([cat, 1 - cat], 1)


def searched(**settings):
    """A search in old pictures, described."""
    old = sorted(Path("old").rglob("*.png"))
    names, probs = np.array([p.parent.name for p in old]), by_colour(np.stack([np.asarray(Image.open(p)) for p in old]))
    found = spotter.Ward(device="cpu", clusters=6, **settings).fit(None, names, probs, images=old, embed=clip)
    return found.describe(WORDS)


def test_the_same_verdict_as_the_command():
    photos("old", 90, 3), photos("new", 60, 4)
    Path("colour.py").write_text("import sys\nsys.path.insert(0, sys.argv[1])\nimport numpy as np\n"
                                 "from protocol import serve\nsource = open(sys.argv[2]).read()\n"
                                 "exec(source[source.index('def by_colour'):source.index('def searched')])\n"
                                 "serve(lambda x: (by_colour(x), np.zeros((len(x), 0)), np.zeros((len(x), 0))))\n")
    model = f"{sys.executable} colour.py {Path(__file__).resolve().parent.parent / 'tools/python/examples'} {__file__}"
    seen = set()
    for proof in (None, "cross"):
        found = searched(proof=proof)
        found.write("found")
        for number, word, most, more in ((1, 1, 20, {}), (1, 2, 20, {}), (2, 1, 25, {"text": WORDS[0], "seed": 7}),
                                         (2, 1, 25, {"text": WORDS[1]})):
            said = [f"--{key}={value}" for key, value in more.items()]
            subprocess.run([program, "gather", "found", "--slice", str(number), "--word", str(word), *said, "--most",
                            str(most), "--images", "new", "--encoder", clip, "--predict", model, "--resize", "40", "--crop",
                            "32", "--device", "cpu", "--out", "by_program"], check=True, capture_output=True)
            claim = found.gather(number, "new", by_colour, word=word, most=most, resize=40, crop=32, **more)
            theirs, told = (json.loads(Path(f"by_program/{name}.json").read_text()) for name in ("verdict", "claim"))
            rows = list(csv.DictReader(open("by_program/gathered.csv")))
            ours = [(p.picture, p.group, f"{p.similarity:.6g}", str(int(p.wrong)), p.predicted) for p in claim.pictures]
            assert ours == [tuple(r.values()) for r in rows] and len(ours) == 2 * most
            assert (claim.verdict, claim.text, claim.class_) == (theirs["verdict"], told["claim"], told["class"])
            assert abs(claim.p - theirs["p"]) <= 1e-15 and claim.slice_claim == (told["slice_claim"] or None)
            for ours, name in ((claim.gathered, "gathered"), (claim.control, "control")):
                assert [ours.pictures, ours.wrong, *ours.rate] == [theirs[name]["pictures"], theirs[name]["wrong"],
                                                                  *theirs[name]["rate"].values()]
            assert abs(claim.rate - told["slice_rate"]) < 1e-12 and abs(claim.class_rate - told["class_rate"]) < 1e-12
            counts = [[k.wrong, k.pictures - k.wrong] for k in (claim.gathered, claim.control)]
            assert abs(claim.p - fisher_exact(counts, "greater")[1]) < 1e-12
            assert claim.confirmed == (claim.p <= 0.05) == (claim.verdict == "confirmed on new data")
            assert all(p.picture.startswith(claim.class_ + "/") for p in claim.pictures)
            seen.add(claim.verdict)
            claim.report("claim.html")
            assert "by_colour" in Path("claim.html").read_text() and Path("claim.html").stat().st_size > 20000
    assert len(seen) == 2, seen


def test_discover_knows_its_encoder():
    old = sorted(Path("old").rglob("*.png"))
    names, probs = [p.parent.name for p in old], by_colour(np.stack([np.asarray(Image.open(p)) for p in old]))
    found = spotter.discover(labels=names, probs=probs, images=old, embed=clip, method="ward", device="cpu")
    by_name = found.gather(None, "new", text=WORDS[0], label="cat", most=5, embed=clip)
    assert found.gather(None, "new", text=WORDS[0], label="cat", most=5).paths == by_name.paths and by_name.paths


def test_rows_in_place_of_pictures():
    found = searched()
    claim = found.gather(1, "new", by_colour, most=20, resize=40, crop=32)
    new = sorted(Path("new").rglob("*.png"))
    pixels = np.stack([np.asarray(Image.open(p)) for p in new])                  # 48 x 40: the command's resize leaves 40
    probs = by_colour(pixels[:, 4:36, 8:40])
    with spotter._library.Context("cpu", 0) as c, spotter._encoder.Encoder(c, clip) as e:
        feature, text = e.pictures([str(p) for p in new]), e.words([claim.text])
    kinds, ids = np.array([p.parent.name for p in new]), [str(p.relative_to("new")) for p in new]
    for more in ({}, {"text_embedding": text}, {"text_embedding": 3 * text[0]}):
        rows = found.gather_rows(1, feature * 2, kinds, probs, ids=ids, most=20, **more)
        assert [p.picture for p in rows.pictures] == [p.picture for p in claim.pictures]
        assert [p.wrong for p in rows.pictures] == [p.wrong for p in claim.pictures] and rows.p == claim.p
        assert [p.predicted for p in rows.pictures] == [p.predicted for p in claim.pictures] and rows.folder is None
    mine = kinds == claim.class_
    alone = found.gather_rows(1, feature[mine], probs=probs[mine], ids=np.array(ids)[mine], most=20)
    assert alone.pictures == found.gather_rows(1, feature, kinds, probs, ids=ids, most=20).pictures
    seen = claim.judge(probs=probs[[ids.index(p.picture) for p in claim.pictures]], model="mine")
    assert seen.pictures == claim.pictures and seen.verdict == claim.verdict and seen.model == "mine"
    for two in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert two.gather(1, "new", by_colour, most=20, resize=40, crop=32).pictures == claim.pictures
    assert pickle.loads(pickle.dumps(claim)) == claim


def test_terms_of_a_text_are_no_phrase():
    """Words from a column of text need not be seen in a picture."""
    old = sorted(Path("old").rglob("*.png"))
    names, probs = np.array([p.parent.name for p in old]), by_colour(np.stack([np.asarray(Image.open(p)) for p in old]))
    given = {"images": old, "embed": clip, "proof": False, "method": spotter.Ward(clusters=6, device="cpu"),
             "picture_attributes": False, "device": "cpu"}
    bare = spotter.discover(None, names, probs, **given)
    s = max(bare.slices_, key=lambda s: len(s.rows))
    notes = [f"{'invoice' if i in set(s.rows) else 'letter'} number {i} of box {i % 7} seen" for i in range(len(old))]
    termed = spotter.discover(None, names, probs, attributes={"note": notes}, **given)
    which = next(t for t in termed.slices_ if set(t.rows) == set(s.rows))
    assert "invoice" in [w["phrase"] for w in which.words], which.words
    raises("terms of a column of text", lambda: termed.gather(which, "new", label=which.name))
    assert termed.gather(which, "new", text="a cat", label=which.name, most=4).text == "a cat"


def test_a_claim_that_people_judge():
    found = searched()
    claim = found.gather(None, "new", text="red", label="dog", most=8)
    assert claim.verdict == "too few pictures" and claim.slice is None and not claim.confirmed and len(claim.paths) == 16
    assert all(Path(p).exists() for p in claim.paths) and all(p.wrong is None for p in claim.pictures)
    yes = claim.judge([p.group == "gathered" for p in claim.pictures])
    assert yes.confirmed and abs(yes.p - 7.77e-05) < 1e-6 and yes.gathered.wrong == 8 and yes.control.rate.value == 0
    alone = yes.judge([p.group == "gathered" for p in claim.pictures], groups=range(16))
    assert alone.p == 2 ** -8 and alone.confirmed and alone.gathered.wrong == 8
    few = yes.judge([p.group == "gathered" for p in claim.pictures], groups=["ride"] * 5 + [None] * 11)
    assert few.p == 2 ** -4 and few.verdict == "too few pictures" and few.gathered.rate.value == 1
    raises("groups has 3 entries; there are 16 pictures", lambda: claim.judge([1] * 16, groups=list("abc")))
    assert claim.judge([None] * 15 + [1]).verdict == "too few pictures"
    assert claim.judge([float("nan")] * 8 + [0] * 8).control.pictures == 8
    assert "confirmed on new data" in yes._repr_html_() and "8 of 8" in repr(yes)
    try:
        assert list(yes.to_frame().columns) == ["picture", "group", "similarity", "wrong", "predicted"]
        assert list(alone.to_frame()["groups"]) == list(range(16))
    except ImportError:
        pass


def test_what_is_wrong_is_said():
    found = searched()
    claim = found.gather(1, "new", most=8)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        raises("has no new pictures", lambda: found.gather(1, "old"))
        assert len(found.gather(1, "new", most=50).pictures) == 60
    assert any("fewer than twice 50; 30 are gathered" in str(w.message) for w in said)
    plain = spotter.Ward().fit(*planted()[:3])
    whole = spotter.Ward().fit(planted()[0], None, planted()[2][:, 0])
    data, three = planted()[:3], lambda x: np.zeros((len(x), 3))
    for words, call in (("there is no slice 99", lambda: found.gather(99, "new")),
                        ("word=9 is not among them", lambda: found.gather(1, "new", word=9)),
                        ("give the folder of new pictures", lambda: found.gather(1)),
                        ("give the folder of new pictures", lambda: plain.gather(1, "new", text="red")),
                        ("slice 1 has no words; call describe", lambda: plain.gather(1, "new")),
                        ("nothing to claim", lambda: found.gather(None, "new")),
                        ("but label is 'owl'", lambda: found.gather(1, "new", label="owl")),
                        ("give the class that the pictures of new show", lambda: found.gather(None, "new", three, text="x")),
                        ("there was no class 'owl'", lambda: found.gather(None, "new", by_colour, text="x", label="owl")),
                        ("has no folder of that name", lambda: found.gather(1, "new/dog", by_colour)),
                        ("level is 0.7", lambda: found.gather(1, "new", level=0.7)),
                        ("most is 0; it takes a whole number from 1", lambda: found.gather(1, "new", most=0)),
                        ("has 3 outputs, and there are 2 classes", lambda: found.gather(1, "new", three)),
                        ("probs has shape (3, 2); here are 16", lambda: claim.judge(probs=np.zeros((3, 2)))),
                        ("wrong has 2; it takes 0, 1", lambda: claim.judge([2] * 16)),
                        ("wrong has 3 entries", lambda: claim.judge([1] * 3)), ("one of them", lambda: claim.judge()),
                        ("has 3 numbers", lambda: plain.gather_rows(1, *data, text="x", text_embedding=[1, 2, 3])),
                        ("give text_embedding, or a CLIP", lambda: plain.gather_rows(1, *planted()[:3], text="red")),
                        ("fit knew no classes", lambda: whole.gather(1, "new", by_colour, text="x", label="cat", embed=clip))):
        raises(words, call)
    raises("division", lambda: found.gather(1, "new", lambda x: by_colour(x) if len(x) == 1 else 1 / 0), ZeroDivisionError)
    numbered = whole.gather(1, "new/cat", by_colour, text="x", label=1, embed=clip, resize=40, crop=32, most=5)
    assert {p.predicted for p in numbered.pictures} <= {"0", "1"} and numbered.class_ == "1"
    assert all(p.wrong == (p.predicted != "1") for p in numbered.pictures)


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print("ok", name)
