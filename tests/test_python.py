"""test_python.py SPOTTER: run by test_python.sh in an empty folder, with the package installed."""
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from sklearn.base import clone

import spotter
from python_checks import raises
from spotter.scene import Scene

program = sys.argv[1]


def planted(n=900, d=12, seed=0):
    """Two classes of three places each; the third place of class 1 is what the classifier gets wrong."""
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 2, n).astype(np.int64)
    place = rng.integers(0, 3, n)
    feature = rng.normal(0, 0.3, (n, d)).astype(np.float32)
    feature[np.arange(n), 2 * place + target] += 4
    blind = (target == 1) & (place == 2)
    right = np.where(blind, rng.uniform(0.05, 0.2, n), rng.uniform(0.9, 0.99, n)).astype(np.float32)
    return feature, target, np.where(target == 1, right, 1 - right).astype(np.float32), blind


def test_fit_finds_the_planted_blindspot():
    feature, target, prob, blind = planted()
    found = spotter.PlaneSpot(reduce="pca", seed=3).fit(feature, target, prob)
    first = [s for s in found.slices_ if s.class_ == 1][0]
    assert set(first.rows) == set(np.flatnonzero(blind)) and first.error_rate == 1 and first.share_of_errors == 1
    assert found.left_out_ == ["0"] and found.map_.shape == (len(feature), 2)
    assert (found.labels_[blind] == found.labels_[first.rows[0]]).all()
    assert not blind[first.nearest_correct].any() and (target[first.nearest_correct] == 1).all()


def test_predict_puts_new_rows_where_they_belong():
    feature, target, prob, blind = planted()
    for cls in (spotter.PlaneSpot, spotter.Domino, spotter.Spotlight, spotter.Barlow, spotter.Multiaccuracy):
        found = cls(**({"reduce": "pca"} if cls is spotter.PlaneSpot else {})).fit(feature, target, prob)
        again = found.predict(feature, target, prob)
        assert again.shape == (len(feature), len(found.slices_))
        for j, s in enumerate(found.slices_):
            assert (np.flatnonzero(again[:, j]) == s.rows).all(), (cls, j)
        fresh, fresh_target, fresh_prob, fresh_blind = planted(seed=1)
        member = found.predict(fresh, fresh_target, fresh_prob)
        assert member[fresh_blind].any(1).mean() > 0.9, cls


def test_same_bytes_as_the_program():
    feature, target, prob, _ = planted()
    np.save("e.npy", feature), np.save("y.npy", target), np.save("p.npy", prob)
    Path("methods.yaml").write_text("seed: 3\nbdms:\n  - {method: planespot, reduce: pca, representation: model, top: 10}\n")
    subprocess.run([program, "discover", "--no-proof", "--embeddings", "e.npy", "--labels", "y.npy", "--probs", "p.npy",
                    "--config",
                    "methods.yaml", "--device", "cpu", "--no-report", "--out", "by_program"], check=True, capture_output=True)
    spotter.PlaneSpot(reduce="pca", seed=3, device="cpu").fit(feature, target, prob).write("by_python")
    for name in ("slices.csv", "map.npy", "fit.safetensors", "config.yaml"):
        assert Path("by_program", name).read_bytes() == Path("by_python", name).read_bytes(), name
    ours, theirs = (json.loads(Path(d, "slices.json").read_text()) for d in ("by_python", "by_program"))
    assert ours["findings"] == theirs["findings"]


def test_every_method_has_a_class_that_does_what_the_program_does():
    feature, target, prob, blind = planted(300)
    np.save("some_e.npy", feature), np.save("some_y.npy", target), np.save("some_p.npy", prob)
    np.save("some_bits.npy", (feature > 2).astype(np.float32))
    settings = {"random": {"rows": 9, "among": "all"}, "confidence": {"rows": 9}, "confusion": {}, "kmeans": {"clusters": 7},
                "ward": {"clusters": 7}, "mistakes": {"clusters": 4}, "itemsets": {"longest": 2}, "influence": {"clusters": 7},
                "svm": {"share": 0.2}, "density": {"lambda_": 2, "share": 0.2}, "dbscan_group": {"core": 5, "eps": 0.1},
                "joinspot": {"joinspot_least": 6}}
    classes = [c for c in vars(spotter).values() if isinstance(c, type) and issubclass(c, spotter.Method)]
    classes = {c.method: c for c in classes if c.method}
    usage = subprocess.run([program, "discover", "--help"], check=True, capture_output=True, text=True).stdout
    listed = re.search(r"methods: (.*?) or a method with its reducer", " ".join(usage.split())).group(1)
    assert sorted(classes) == sorted(name.strip() for name in listed.split(",") if name.strip())
    for name, own in settings.items():
        rows = "some_bits.npy" if name == "itemsets" else "some_e.npy"
        found = classes[name](n_slices=5, seed=3, device="cpu", **own).fit(np.load(rows), target, prob)
        found.write(f"{name}_by_python")
        own = {key.rstrip("_").replace("joinspot_", ""): value for key, value in own.items()}
        entry = {"method": name, "representation": "attributes" if name == "itemsets" else "model", "top": 5, **own}
        Path(f"{name}.yaml").write_text(json.dumps({"seed": 3, "bdms": [entry]}))
        subprocess.run([program, "discover", "--no-proof", "-e", rows, "-y", "some_y.npy", "-p", "some_p.npy", "--config",
                        f"{name}.yaml",
                        "--device", "cpu", "--no-report", "--out", f"{name}_by_program"], check=True, capture_output=True)
        for file in ("slices.csv", "config.yaml"):
            assert Path(f"{name}_by_python", file).read_bytes() == Path(f"{name}_by_program", file).read_bytes(), (name, file)
        assert found.slices_ and all(s.class_ == 1 for s in found.slices_), name
        if name == "random":
            raises("no rule for rows", lambda: found.predict(feature, target, prob), spotter.SpotterError)
            continue
        top = max(found.slices_, key=lambda s: s.wrong)
        assert blind[top.rows].mean() > 0.3 and found.predict(np.load(rows), target, prob).shape[1] == len(found.slices_), name
    raises("columns of 0 and 1", lambda: spotter.Itemsets().fit(feature, target, prob), spotter.SpotterError)


def test_constructors_have_the_settings_of_the_help():
    """By `spotter help config`, which prints the same tables in its own words."""
    usage = subprocess.run([program, "help", "config"], check=True, capture_output=True, text=True).stdout
    usage = usage[usage.index("\nbdms: "):usage.index("\nencoder: ")]
    told = re.findall(r"^  bdms\[\]\.(\w+) = (.*)\n      (?:([a-z_, ]+): )?", usage, re.M)
    groups = dict(re.findall(r"^bdms\[\]\.(\w+): (?:([a-z_, ]+): )?", usage, re.M))
    classes = [c for c in vars(spotter).values() if isinstance(c, type) and issubclass(c, spotter.Method)]
    classes = {c.method: c for c in classes if c.method}
    seen = 0
    for method, cls in classes.items():
        mine = dict(list(inspect.signature(cls).parameters.items())[9:])
        for name, said, owners in told:
            owners = [o for o in owners.split(", ")] if owners and set(owners.split(", ")) <= set(classes) else list(classes)
            if method not in owners or name in ("method", "top", "representation", "embeddings"):
                continue
            one = mine.pop({"lambda": "lambda_", "least": f"{method}_least"}.get(name, name))
            by_method = re.findall(r"(\S+) \(([a-z_, ]+)\)(?:, |  )", said)
            value = next((v for v, who in by_method if method in who.split(", ")), said.split("  (")[0])
            if one.default is None:
                assert cls is spotter.Spotlight and name in ("compat", "threshold", "lr", "membership")
            else:
                assert value.strip('"') == (f"{one.default:g}" if isinstance(one.default, float) else
                                            str(one.default).lower()), (method, name, value, one)
            seen += 1
        assert all(name in groups and p.default is None for name, p in mine.items()), (method, mine)
        assert ("mixture" in mine) == (method in groups["mixture"].split(", ")) and {"tsne", "scvis", "umap"} <= set(mine)
    assert seen > 150
    profile = spotter.Spotlight(profile="paper", device="cpu")
    for one, lr, threshold in ((profile, 0.001, 0.5), (spotter.Spotlight(profile="paper", threshold=0.1), 0.001, 0.1),
                               (spotter.Spotlight(lr=0.02), 0.02, 0.1)):
        one.fit(*planted(300)[:3]).write("profile")
        text = Path("profile/config.yaml").read_text()
        assert f"    lr: {lr}\n" in text and f"    threshold: {threshold}\n" in text, text


def test_slices_are_described():
    feature, target, prob, blind = planted()
    text = np.eye(12, dtype=np.float32)
    words = [f"place {k // 2} of class {k % 2}" for k in range(12)]
    Path("table.csv").write_text("blind,number\n" + "".join(f"{int(b)},{i % 7}\n" for i, b in enumerate(blind)))
    found = spotter.PlaneSpot(reduce="pca", seed=3, device="cpu").fit(feature, target, prob)
    first = [s for s in found.slices_ if s.class_ == 1][0]
    assert first.words == [] and first.conjunction is None
    assert found.describe(words, text, "table.csv", phrases=2) is found
    assert [w["phrase"] for w in first.words][0] == "place 2 of class 1" and len(first.words) == 2
    assert first.words[0]["p"] == 0.001 and first.words[0]["auc"] == 1
    assert first.conjunction["items"] == ["blind"] and first.conjunction["held_out"]["precision"] == 1
    found.write("told_by_python")
    np.savez("told.npz", e=feature, y=target, p=prob, w=text)
    Path("words.txt").write_text("\n".join(words))
    subprocess.run([program, "discover", "--no-proof", "-e", "told.npz:e", "-y", "told.npz:y", "-p", "told.npz:p", "-m",
                    "planespot-pca",
                    "--seed", "3", "--device", "cpu", "--words", "words.txt", "--word-embeddings", "told.npz:w", "--phrases",
                    "2", "--attributes", "table.csv", "--no-report", "--out", "told_by_program"],
                   check=True, capture_output=True)
    a, b = (json.loads(Path(f"told_by_{who}/slices.json").read_text())["findings"] for who in ("python", "program"))
    for part in ("words", "conjunction"):
        assert [[s.get(part) for s in f["slices"]] for f in a] == [[s.get(part) for s in f["slices"]] for f in b]
    raises("together with word_embeddings", lambda: found.describe(words))
    raises("do not belong together", lambda: found.describe(words[:-1], text))
    raises("nothing to describe with", lambda: found.describe())
    e = raises("no ids to be found by", lambda: found.describe(attributes="table.csv:number"))
    assert e.id == "attributes.rows_without_ids" and spotter.InputError("x").id == "", e.id


def test_an_encoder_looks_at_pictures():
    clip, names = "encoder/clip/model.safetensors", ["cat/1.png", "cat/2.png", "dog/1.png", "dog/b.png", "dog/more/1.png"]
    photos = [Path("encoder/photos") / name for name in names] * 8
    prob = np.where(np.arange(len(photos)) % 5 < 2, 0.2, 0.8).astype(np.float32)
    words = ["a cat", "a dog", "red"]
    found = spotter.Domino(seed=3, target_class="all", device="cpu").fit(probs=prob, images=photos, embed=clip)
    found.describe(words, phrases=2).write("seen_by_python")
    Path("rows.csv").write_text("path,label,p\n" + "".join(f"{n},all,{p}\n" for n, p in zip(names * 8, prob)))
    Path("phrases.txt").write_text("\n".join(words))
    subprocess.run([program, "discover", "--no-proof", "--images", "encoder/photos", "--ids", "rows.csv:path", "-y",
                    "rows.csv:label", "-p",
                    "rows.csv:p", "--embed", clip, "-m", "domino", "--class", "all", "--seed", "3", "--device", "cpu",
                    "--words", "phrases.txt", "--phrases", "2", "--no-report", "--out", "seen_by_program"],
                   check=True, capture_output=True)
    a, b = (json.loads(Path(f"seen_by_{who}/slices.json").read_text()) for who in ("python", "program"))
    assert a["subject"]["encoder"] == b["subject"]["encoder"] and a["subject"]["encoder"].startswith("clip-")
    told = [[(s["size"], s["words"]) for f in who["findings"] for s in f["slices"]] for who in (a, b)]
    assert told[0] == told[1] and len(told[0]) > 0 and len(told[0][0][1]) == 2
    again = found.predict(probs=prob, images=photos)
    assert again.shape == (40, len(found.slices_)) and (again.argmax(1) == found.labels_)[found.labels_ >= 0].all()
    raises("give their paths as images", lambda: spotter.Domino().fit(probs=prob, embed=clip))
    raises("one of the two", lambda: spotter.Domino().fit(np.zeros((40, 2)), probs=prob, images=photos, embed=clip))
    raises("one of the two", lambda: spotter.Domino().fit(probs=prob))
    raises("is no encoder", lambda: spotter.Domino().fit(probs=prob, images=photos, embed="seen_by_python/fit.safetensors"))
    raises("nowhere.png", lambda: found.predict(probs=prob[:1], images=["nowhere.png"]))
    raises("another encoder now", lambda: (Path(clip).write_bytes(Path(clip).read_bytes()[:-4] + b"\0\0\0\0"),
                                           found.predict(probs=prob, images=photos)))


def by_background(x):
    """A model that looks at one corner: bright is class 0. The object lies in the middle."""
    bright = x[:, :4, :4].astype(np.float32).mean((1, 2, 3)) / 255
    return np.stack([bright, 1 - bright], 1), x.astype(np.float32).mean((1, 2))


def test_background_takes_any_function():
    draw, paint = np.random.default_rng(1), lambda path, grey: Image.fromarray(grey.astype(np.uint8)).save(path)
    for folder in ("world/images/a", "world/images/b", "world/masks/a", "world/masks/b", "world/grounds"):
        Path(folder).mkdir(parents=True)
    mask = np.zeros((32, 32))
    mask[8:24, 8:24] = 255
    for kind, light in (("a", 200), ("b", 20)):
        for i in range(4):
            paint(f"world/images/{kind}/{i}.png", draw.integers(light, light + 40, (32, 32, 3)))
            paint(f"world/masks/{kind}/{i}.png", mask)
        for i in range(5):
            paint(f"world/grounds/{kind}{i}.png", draw.integers(light, light + 40, (32, 32, 3)))
    about = dict(images="world/images", backgrounds="world/grounds", masks="world/masks", size=32, n=6, device="cpu")
    asked = spotter.Background(by_background, **about, identity="corner")
    found = asked.run("world/run")
    assert found["accuracy"]["value"] == 1 and found["bg_gap"]["value"] > 0 and found["embedding"] == 3
    assert found["turned_by_some_background"]["value"] == 1            # of 6 among 5 of each kind, one is of the other
    assert found["sets"]["plain"]["right"] == 4                        # grey looks bright
    Path("corner.py").write_text("import sys\nsys.path[:0] = [sys.argv[1], sys.argv[2]]\nimport numpy as np\n"
                                 "from protocol import serve\nsource = open(sys.argv[2] + '/test_python.py').read()\n"
                                 "exec(source[source.index('def by_background'):source.index('def test_background_takes')])\n"
                                 "serve(lambda x: (*by_background(x), np.zeros((len(x), 0))))\n")
    here = Path(__file__).resolve().parent
    subprocess.run([program, "background", "--images", "world/images", "--masks", "world/masks", "--backgrounds",
                    "world/grounds", "--size", "32", "-n", "6", "--device", "cpu", "--out", "world/program", "--predict",
                    f"{sys.executable} corner.py {here.parent / 'tools/python/examples'} {here}"],
                   check=True, capture_output=True)
    theirs = json.loads(Path("world/program/background.json").read_text())["models"][0]
    assert all(found[key] == theirs[key] for key in theirs if key != "identity"), theirs
    calls = []
    again = spotter.Background(lambda x: (calls.append(len(x)), by_background(x))[1], **about, identity="corner")
    assert again.run("world/run") == found and calls == [1]            # the run was there: only the width was asked for
    asked.report("world/page.html")
    assert Path("world/page.html").stat().st_size > 20000

    def breaks(x):
        return np.zeros((len(x), 2)) if len(x) == 1 else 1 / 0
    raises("division", lambda: spotter.Background(breaks, **about).run("world/broken"), ZeroDivisionError)
    raises("of shape (3,)", lambda: spotter.Background(lambda x: np.zeros(3), **about))
    raises("gave 3 numbers", lambda: spotter.Background(lambda x: np.zeros((len(x), min(len(x), 2) + 1)), **about).run("w"))
    raises("needs 60 different backgrounds", lambda: spotter.Background(by_background, **{**about, "n": 60}).run("world/many"))
    raises("no run yet", lambda: spotter.Background(by_background, **about).report("x.html"))
    raises("'sute'", lambda: spotter.Background(by_background, **about, sute={}), TypeError)
    raises("suite is a group of settings; give a dict, not 3", lambda: spotter.Background(by_background, **about, suite=3))
    raises("vary is a list of groups", lambda: spotter.Background(by_background, **about, vary={"name": "x"}))
    told = raises("suite has no setting", lambda: spotter.Background(by_background, **about, suite={"nn": 3}).run("w"))
    assert str(told) == 'suite has no setting "nn"; did you mean "n"?', told


def by_colour(rgb):
    """Box, cylinder, pyramid are red, green, blue (examine_world.py)."""
    return rgb.astype(np.float32).mean((1, 2)) / 10


def test_examine_takes_any_function():
    here = Path(__file__).resolve().parent
    subprocess.run([sys.executable, str(here / "examine_world.py"), "objects", "2"], check=True)
    about = dict(objects="objects", size=32, renders=60, seeds=1, examiners=["cem", {"method": "random", "batch": 8}],
                 search={"perturbed": 10}, device="cpu", identity="colour")
    calls = []
    found = spotter.Examine(by_colour, **about).run("examined")
    assert [s["examiner"] for s in found["summaries"]] == ["cem", "random"] and len(found["searches"]) == 6
    assert all(u["curve"][-1]["lowest"] < u["mean_of_random_renders"] for u in found["searches"])
    again = spotter.Examine(lambda x: (calls.append(len(x)), by_colour(x))[1], **about)
    assert again.run("examined") == found and calls == [1]             # the run was there: only the width was asked for
    raises("division", lambda: spotter.Examine(lambda x: by_colour(x) if len(x) == 1 else 1 / 0, **about).run("e"),
           ZeroDivisionError)
    raises("outputs", lambda: spotter.Examine(lambda x: by_colour(x)[:, :2], **about).run("f"))
    raises("camera_elevatio", lambda: spotter.Examine(by_colour, **about, factors=[{"factor": "camera_elevatio"}]).run("g"))
    raises("holdout", lambda: spotter.Examine(by_colour, **{**about, "objects": {"catalogue": "objects", "holdout": 1}}).run("h"))


def test_tensors_and_lists():
    feature, target, prob, _ = planted(300)
    by_numpy = spotter.Domino().fit(feature, target, prob).labels_
    by_torch = spotter.Domino().fit(torch.from_numpy(feature), torch.from_numpy(target), torch.from_numpy(prob)).labels_
    by_list = spotter.Domino().fit(feature.tolist(), ["yes" if t else "no" for t in target], prob.tolist()).labels_
    of_graph = spotter.Domino().fit(torch.from_numpy(feature).requires_grad_(), target, prob).labels_
    fortran = spotter.Domino().fit(np.asfortranarray(feature.astype(np.float64)), target, prob).labels_
    assert all((by_numpy == other).all() for other in (by_torch, by_list, of_graph, fortran))
    both = np.stack([1 - prob, prob], 1)
    assert (spotter.Domino().fit(feature, target, both).labels_ == by_numpy).all()


def test_manners_of_scikit_learn():
    one = spotter.PlaneSpot(n_slices=4, reduce="pca", mixture={"k_max": 6})
    two = clone(one).set_params(seed=7)
    assert two.get_params() == {**one.get_params(), "seed": 7} and one.seed == 0 and two.reduce == "pca"
    assert "n_slices=4" in repr(one)
    raises("call fit first", lambda: one.predict(np.zeros((2, 2))))
    raises("call fit first", lambda: one.slices_, AttributeError)


def test_what_is_wrong_is_said():
    feature, target, prob, _ = planted(200)
    fit = spotter.PlaneSpot(reduce="pca").fit
    raises("targets has 199", lambda: fit(feature, target[:-1], prob))
    raises("probs has 199", lambda: fit(feature, target, prob[:-1]))
    raises("probs or losses", lambda: fit(feature, target))
    raises("(rows, features)", lambda: fit(feature[0], target, prob))
    raises("no numbers", lambda: fit(np.array([["a"]]), None, [0.5]))
    raises("targets: row 7 is 0.5", lambda: fit(feature, np.where(np.arange(200) == 7, 0.5, 1), prob))
    broken = feature.copy()
    broken[5, 3] = np.nan
    raises("row 5", lambda: fit(broken, target, prob))
    raises("row 9", lambda: fit(feature, target, np.where(np.arange(200) == 9, 1.5, prob)))
    raises("reduce", lambda: spotter.PlaneSpot(reduce="tsme").fit(feature, target, prob))
    raises("wieght", lambda: spotter.PlaneSpot(wieght=1).fit(feature, target, prob))
    raises("target_class", lambda: spotter.PlaneSpot(target_class="dog").fit(feature, target, prob))


def test_scene_draws_what_the_program_draws():
    settings = {"size": 64, "rollable": [5, 6], "blindspots": [1, 2], "specificity": [4, 5]}
    Path("scene.yaml").write_text(f"seed: 1\nscene: {json.dumps(settings)}\n")
    subprocess.run([program, "scene", "scene.yaml", "--ec", "2", "--count", "8", "--out", "images"], check=True,
                   capture_output=True)
    s = Scene(seed=1, ec=2, **settings)
    images, labels, masks = s.arrays("test", range(8))
    drawn = sorted(Path("images").rglob("*.png"))
    assert len(drawn) == 8 and all((np.array(Image.open(f)) == images[k]).all() for k, f in enumerate(drawn))
    assert (s.labels("test", range(8))[0] == labels).all() and 1 <= len(s.blindspots) <= 2 and s.size == 64
    told = [json.loads(line) for line in Path("images/images.jsonl").read_text().splitlines()]
    assert [t["label"] for t in told] == list(labels)
    assert [sum(1 << m for m in t["blindspots"]) for t in told] == list(masks)
    raises("no image", lambda: s.arrays("test", [10**6]))
    raises("rollabel", lambda: Scene(rollabel=[5, 6]))
    batches = torch.utils.data.DataLoader(s.dataset("train"), batch_size=16)
    x, y, mask = next(iter(batches))
    assert x.shape == (16, 3, 64, 64) and x.max() <= 1 and y.shape == mask.shape == (16,)
    flipped = s.train_labels(range(200)) != s.labels("train", range(200))[0]
    assert (flipped == (s.labels("train", range(200))[1] > 0)).all()


def test_shifts_prompts_and_folders():
    from spotter._pictures import read_shifts
    assert read_shifts({"in the snow": "a {} in the snow"}) == [("base", "base", ("a photo of a ", "")),
                                                               ("in the snow", "in_the_snow", ("a ", " in the snow"))]
    assert read_shifts({"red": "a red <CLASS>", "base": "a {}"})[0] == ("base", "base", ("a ", ""))
    text = "sources: [{name: token}]\ndata: {root: x, base: plain}\nshifts:\n  - {name: at night, prompt: a <class> at night}\n"
    Path("shifts.yaml").write_text(text + "  - {name: blue, folder: b, prompt: a blue <class>, threshold: 0.163}\n")
    assert [row[:2] for row in read_shifts("shifts.yaml", "token")] == [("base", "plain"), ("at night", "at_night"),
                                                                       ("blue", "b")]
    raises("give one of them as source, not None", lambda: read_shifts("shifts.yaml"))
    paper = read_shifts(Path(__file__).resolve().parent.parent / "configs/dataset_interfaces.yaml")
    assert len(paper) == 24 and paper[0][0] == "base" and ("in the snow", "in_the_snow") in [row[:2] for row in paper]
    for bad, words in (("shifts: [", "no YAML"), ("shifts: 3", "no list of shifts"), ("- 1", "no list"), ("\0", "no YAML"),
                       ("shifts: [{name: x}]", "no prompt"), ("shifts: [{prompt: x}]", "name of its own"),
                       ("shifts: [{name: x, prompt: a}, {name: x, prompt: a}]", "shifts[1] needs"),
                       ("shifts: [{name: ../x, prompt: 'a {}'}]", "'../x' is no name"),
                       ("shifts: [{name: plain, prompt: 'a {}'}]\ndata: {base: plain}", "one folder, plain")):
        Path("bad.yaml").write_text(bad)
        raises(words, lambda: read_shifts("bad.yaml"))
    raises("cannot read nowhere.yaml", lambda: read_shifts("nowhere.yaml"))
    for prompt in ("a photo", "{} and {}", 3, ""):
        raises("one {} for the class", lambda: read_shifts({"x": prompt}))
    for name in ("", " ", "a/b", ".hidden", "a\nb", "x" * 241, "\udc80", 5, None):
        raises("no name", lambda: read_shifts({name: "a {}"}))
    raises("list", lambda: read_shifts(["in the snow"]))
    assert len(spotter.shifts.TEMPLATES) == len(set(spotter.shifts.TEMPLATES)) == 27
    assert all(t.count("{}") == 1 for t in spotter.shifts.TEMPLATES)


def test_shifts_seeds_have_addresses():
    from spotter._pictures import address
    assert address(1, "fox", "in the snow", 3) == 0x032c002ca72dc177 >> 1      # sha256sum of [1, "fox", "in the snow", 3]
    many = {address(s, c, h, i) for s in (0, 1) for c in ("fox", "cat") for h in ("base", "blue") for i in range(500)}
    assert len(many) == 4000 and max(many) < 2 ** 63 and address("1") != address(1) and address("a", "b") != address("ab")


def test_shifts_folders_keep_what_they_did_not_make():
    from spotter._pictures import Folder
    folder = Folder("kept/base/fox", {"steps": 3}, {})
    assert folder.missing(3) == [0, 1, 2]
    folder.keep({0: b"zero", 2: None})                                         # None: withheld
    assert Folder("kept/base/fox", {"steps": 3}, {"torch": "other"}).missing(4) == [1, 3]
    assert sorted(p.name for p in Path("kept/base/fox").iterdir()) == ["00000.png", "spotter.json"]
    raises("steps was 3, now it is 4", lambda: Folder("kept/base/fox", {"steps": 4}, {}))
    raises("more was null, now it is 1", lambda: Folder("kept/base/fox", {"steps": 3, "more": 1}, {}))
    Path("kept/base/fox/00001.png").write_bytes(b"the user's")
    raises("00001.png was not made here", lambda: folder.missing(2))
    raises("00001.png came to be", lambda: folder.keep({1: b"one"}))
    assert Path("kept/base/fox/00001.png").read_bytes() == b"the user's"
    Path("kept/base/fox/00001.png").unlink()
    assert Folder("kept/base/fox", {"steps": 3}, {}).missing(3) == [1]         # named, but killed before it was written
    two = Folder("kept/base/fox", {"steps": 3}, {})
    folder.keep({1: b"one"})
    two.keep({3: b"three"})
    assert Folder("kept/base/fox", {"steps": 3}, {}).missing(5) == [4]         # neither forgot what the other made
    assert not [p for p in Path("kept/base/fox").iterdir() if p.name.endswith(".part")]
    Path("kept/base/cat").write_bytes(b"")
    raises("cannot read kept/base/cat", lambda: Folder("kept/base/cat", {}, {}).missing(1))
    Path("kept/base/fox/spotter.json").write_text("{}")
    raises("no list of pictures", lambda: Folder("kept/base/fox", {"steps": 3}, {}))


def test_shifts_without_diffusers():
    """One sentence, and `import spotter` needs neither torch nor diffusers."""
    code = ("import sys\nfor name in ('torch', 'diffusers', 'transformers', 'safetensors', 'PIL'): sys.modules[name] = None\n"
            "import spotter\nassert 'spotter.shifts' not in sys.modules\nfrom spotter import shifts\n"
            "t = shifts.Token('fox', [1, 2])\n"
            "for call in (lambda: shifts.generate(None, 'fox', {}, 'x'), lambda: shifts.generate(None, t, {}, 'x'),\n"
            "             lambda: shifts.textual_inversion(None, 'x', 'fox'), lambda: shifts.save_tokens('t.safetensors', t),\n"
            "             lambda: shifts.load_tokens('t.safetensors')):\n"
            "    try: call()\n"
            "    except ImportError as e:\n"
            "        assert isinstance(e, spotter.SpotterError) and 'pip install torch diffusers' in str(e), e\n"
            "        assert '\\n' not in str(e)\n"
            "    else: raise SystemExit('nothing was raised')\n")
    subprocess.run([sys.executable, "-c", code], check=True)
    raises("no attribute 'shitfs'", lambda: spotter.shitfs, AttributeError)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        test()
        print("ok", name)
