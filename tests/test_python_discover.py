"""test_python_discover.py SPOTTER: run by test_python.sh in an empty folder, with the package installed. spotter.discover is
the command: its options, its bytes."""
import csv
import inspect
import json
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import spotter
from python_checks import Skip, package, planted, raises

program = sys.argv[1]
FILES = ("slices.csv", "slices.json", "map.npy", "config.yaml", "fit.safetensors", "subject.safetensors")

# Options that the command has and Python says in another way.
ELSEWHERE = {"fail-on": "an exit code; found.confirmed tells", "merges": "found.merges has them",
             "junit": "a command's file for continuous integration",
             "sarif": "the same", "summary": "the same",
             "json": "found.json is the document", "log": "verbose, and the warnings of Python",
             "describe-clean": "there is one way only", "predict": "model='program:COMMAND'"}
NAMES = {"class": "class_"}


def by_program(out, *options):
    subprocess.run([program, "discover", *map(str, options), "--device", "cpu", "--out", out], check=True, capture_output=True)
    return json.loads(Path(out, "slices.json").read_text())


def without_source(document):
    """Paths and argument names differ on purpose."""
    return {**document, "subject": {**document["subject"], "source": ""}}


def same_bytes(ours, theirs, names=FILES):
    for name in names:
        a, b = Path(ours, name), Path(theirs, name)
        assert a.exists() == b.exists(), name
        if name == "slices.json":
            assert without_source(json.loads(a.read_text())) == without_source(json.loads(b.read_text()))
        elif a.exists() and name != "subject.safetensors":
            assert a.read_bytes() == b.read_bytes(), name


def test_every_option_of_the_command_is_a_keyword():
    usage = subprocess.run([program, "discover", "--help-all"], check=True, capture_output=True, text=True).stdout
    told = re.findall(r"^ {1,6}(?:-\w, +)?--([a-z-]+)", usage, re.M)
    assert len(told) > 60, told
    mine = inspect.signature(spotter.discover).parameters
    for option in told:
        name = option[3:] if option.startswith("no-") else option
        name = NAMES.get(name, name).replace("-", "_")
        assert name in mine or option in ELSEWHERE or option in ("help", "help-all", "usage", "version"), option
        if option.startswith("no-"):
            assert mine[name].default is True, option
    assert not [option for option in ELSEWHERE if option not in told]


def test_one_line_is_the_command():
    feature, target, probs, blind = planted()
    np.savez("one.npz", e=feature, y=target, p=probs)
    there = by_program("one_by_program", "-e", "one.npz:e", "-y", "one.npz:y", "-p", "one.npz:p", "--no-report")
    found = spotter.discover(feature, target, probs, device="cpu")
    assert without_source(found.json) == without_source(there) and there["proof"]["tests"] > 5
    found.save("one_by_python", report=False)
    same_bytes("one_by_python", "one_by_program")
    first = found.confirmed[0]
    assert first.number == 1 and set(first.rows) <= set(np.flatnonzero(blind)) and first.proof.corrected_p < 1e-9
    assert first.predicted == "2" and "confirmed" in repr(found) and "<td>confirmed</td>" in found._repr_html_()
    assert [s.number for s in found.slices_] == list(range(1, len(found.slices_) + 1))


def test_options_are_those_of_the_command():
    feature, target, probs, _ = planted(700, seed=4)
    words = np.array(["cat", "dog", "emu"])[target]
    np.save("o_e.npy", feature), np.save("o_y.npy", words), np.save("o_p.npy", probs)
    np.save("o_w.npy", np.eye(12, dtype=np.float32))
    phrases = [f"place {k}" for k in range(12)]
    Path("o.txt").write_text("\n".join(phrases))
    table = {"lamp": [int(v) for v in feature[:, 7] > 2], "size": [float(v) for v in feature[:, 3]],
             "sky": ["blue, and grey" if v > 0 else None for v in feature[:, 0]]}
    Path("o.csv").write_text("lamp,size,sky\n" + "".join(
        f"{a},{b!r},{'' if s is None else chr(34) + s + chr(34)}\n" for a, b, s in zip(*table.values())))
    base = ("-e", "o_e.npy", "-y", "o_y.npy", "-p", "o_p.npy", "--no-report")
    cases = (
        (("-m", "ward,planespot-pca", "--seed", "3,4", "--level", "0.01"),
         {"method": "ward,planespot-pca", "seed": [3, 4], "level": 0.01}),
        (("--holdout", "0.3", "--chance", "19", "-m", "ward"), {"holdout": 0.3, "chance": 19, "method": ["ward"]}),
        (("--no-proof", "-c", "dog", "--least", "30", "--no-fit"),
         {"proof": False, "class_": "dog", "least": 30, "fit": False}),
        (("-c", "all", "--words", "o.txt", "--word-embeddings", "o_w.npy", "--phrases", "2", "--attributes", "o.csv"),
         {"class_": "all", "words": phrases, "word_embeddings": np.eye(12), "phrases": 2, "attributes": table}),
        (("--attributes", "o.csv", "--memory", "4GB"), {"attributes": "o.csv", "memory": "4GB"}))
    for k, (options, named) in enumerate(cases):
        there = by_program(f"o{k}_by_program", *base, *options)
        found = spotter.discover(feature, words, probs, device="cpu", **named)
        assert without_source(found.json) == without_source(there), named
        found.save(f"o{k}_by_python", report=False)
        same_bytes(f"o{k}_by_python", f"o{k}_by_program")
        assert without_source(pickle.loads(pickle.dumps(found)).json) == without_source(there)
        pickle.loads(pickle.dumps(found)).save(f"o{k}_again", report=False)
        same_bytes(f"o{k}_again", f"o{k}_by_program")
    assert any(s.words for s in spotter.discover(feature, words, probs, device="cpu", **cases[3][1]).slices_)
    Path("o.yaml").write_text(Path("o0_by_program/config.yaml").read_text())
    again = spotter.discover("o_e.npy", "o_y.npy", "o_p.npy", config="o.yaml", seed=[3, 4], level=0.01, device="cpu")
    assert again.json["findings"] == json.loads(Path("o0_by_program/slices.json").read_text())["findings"]
    own = spotter.discover(feature, words, probs, method=[spotter.Ward(clusters=5), "joinspot"], device="cpu")
    assert own.slices_ and {p.method for s in own.slices_ for p in s.proof.pieces} == {"ward", "joinspot"}


def test_a_folder_is_that_of_the_command_and_continues():
    feature, target, probs, _ = planted()
    np.savez("f.npz", e=feature, y=target, p=probs)
    spotter.discover(feature, target, probs, out="found_1", device="cpu", title="A page of mine")
    assert "A page of mine" in Path("found_1/report.html").read_text() and list(Path("found_1/segments").iterdir())
    said = subprocess.run([program, "discover", "-e", "f.npz:e", "-y", "f.npz:y", "-p", "f.npz:p", "--device", "cpu", "--out",
                           "found_1", "--json", "--no-report"], check=True, capture_output=True, text=True).stdout
    assert json.loads(said)["already"] > 0 and json.loads(said)["done"] == 0, said
    raises("other data", lambda: spotter.discover(feature[1:], target[1:], probs[1:], out="found_1", device="cpu"))
    other = spotter.discover(feature[1:], target[1:], probs[1:], out="found_1", replace=True, report=False, device="cpu")
    assert other.out == "found_1" and not Path("found_1/report.html").exists()
    more = np.where(np.arange(len(target)) % 9 == 0, np.roll(probs, 1, 1).T, probs.T).T        # all classes have errors
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        each = [spotter.discover(feature, target, more, out="found_2", shard=s, device="cpu") for s in ("0/2", (1, 2))]
    assert each[0] is None and any("this part" in str(w.message) for w in heard)
    assert each[1].json["findings"] == spotter.discover(feature, target, more, device="cpu").json["findings"]


def test_new_rows_are_assigned_by_number():
    feature, target, probs, _ = planted()
    new, new_target, new_probs, blind = planted(300, seed=1)
    found = spotter.discover(feature, target, probs, device="cpu", method="ward")
    member = found._held.assign(spotter._fitted.Subject(new, new_target, new_probs), True)
    package("pandas")
    table = found.assign(new, new_target)
    assert len(table) == member.sum() and all(member[r, k - 1] for r, k in zip(table["row"], table["number"]))
    assert set(table["row"][table["number"] == 1]) <= set(np.flatnonzero(blind)) and (table["class"] == "1").all()
    assert list(found.slices["number"]) == [s.number for s in found.slices_]
    words = set(json.loads(json.dumps(spotter.schema()))["$defs"]["slice"]["properties"]) | set(
        spotter.schema()["$defs"]["proof"]["properties"]) | {"class", "class_rate", "judged_wrong", "method"} | set(
        spotter.schema()["$defs"]["slice"]["properties"]["labels"]["properties"])
    assert set(found.slices.columns) <= words, set(found.slices.columns) - words


def assigned(found, *options):
    """(row, class, rank, number) of the lines that `spotter assign` writes."""
    subprocess.run([program, "assign", found, *options, "--out", "assigned.csv"], check=True, capture_output=True)
    with open("assigned.csv", newline="") as f:
        return sorted((int(r["id"]), r["class"], int(r["rank"]), int(r["number"])) for r in csv.DictReader(f))


def test_rules_and_groups_take_new_rows_as_the_command_does():
    feature, target, probs, blind = planted(900)
    new, new_target, new_probs, _ = planted(300, seed=1)
    video = np.random.default_rng(2).permutation(900) // 5
    table = {"spot": np.where(blind, "in", "out"), "size": np.arange(900) % 7}
    found = spotter.discover(feature, target, probs, groups=video, attributes=table, out="ruled", report=False, device="cpu")
    assert any(s.rule and s.claim == "confirmed" and s.proof.judged_groups for s in found.slices_), found
    np.savez("ruled.npz", e=new, y=new_target, p=new_probs, g=np.arange(300) // 3)
    options = ("-e", "ruled.npz:e", "-y", "ruled.npz:y", "-p", "ruled.npz:p")
    told = assigned("ruled", *options)
    assert told == assigned("ruled", *options, "--groups", "ruled.npz:g")          # which decide the tests, not the slices
    package("pandas")
    for one in (found, pickle.loads(pickle.dumps(found))):
        for given in ((new, new_target, new_probs), (new, new_target)):
            frame = one.assign(*given)
            assert sorted(zip(frame["row"], frame["class"], frame["rank"], frame["number"])) == told and told


def test_versions_are_compared_by_groups():
    rng, video = np.random.default_rng(3), np.arange(1000) // 25
    feature, target = rng.normal(0, 1, (1000, 8)).astype(np.float32), np.arange(1000) % 2
    answers = []
    for k in range(2):
        wrong = (rng.random(40) < 0.25)[video]
        answers.append(np.where(np.eye(2)[np.where(wrong, 1 - target, target)] > 0, 0.9, 0.1).astype(np.float32))
        np.save(f"version_{k}.npy", answers[-1])
    np.save("version_e.npy", feature), np.save("version_y.npy", target), np.save("version_g.npy", video)
    alone, grouped = (spotter.compare(feature, target, *answers, spotter.Ward(device="cpu"), groups=g) for g in (None, video))
    said = subprocess.run([program, "compare", "version_0.npy", "version_1.npy", "-e", "version_e.npy", "-y", "version_y.npy",
                           "-m", "ward", "--json", "--device", "cpu", "--groups", "version_g.npy"], capture_output=True,
                          text=True)
    told = json.loads(said.stdout)
    assert [(c.rows, c.lost, c.gained, c.groups) for c in grouped.classes] == [
        (c["compared"], c["lost"], c["gained"], c["groups"]) for c in told["classes"]]
    assert [(c.low, c.high) for c in grouped.classes] == [(c["change"]["low"], c["change"]["high"]) for c in told["classes"]]
    assert [(s.rows, s.groups, s.verdict) for s in grouped.slices] == [
        (s["compared"], s.get("groups", 0), s["verdict"]) for s in told["slices"]]
    for a, b in zip(alone.classes, grouped.classes):
        assert a.groups == 0 and b.groups == 40 and (a.lost, a.gained) == (b.lost, b.gained)
        assert b.low <= a.low and b.high >= a.high and b.p_worse >= a.p_worse
    own = spotter.compare(feature, target, *answers, spotter.Ward(device="cpu"), groups=range(1000))
    assert repr(own) == repr(alone)
    raises("groups has 999", lambda: spotter.compare(feature, target, *answers, groups=video[1:]))


def test_versions_have_guards_trainings_and_features_of_their_own():
    rng, target = np.random.default_rng(4), np.arange(2000) % 2
    guarded = (target == 0) & (np.arange(2000) % 20 < 4)
    features = [rng.normal(0, 1, (2000, 6)).astype(np.float32) for _ in range(2)]

    def answers(more):
        wrong = rng.random(2000) < 0.2 + more * guarded
        return np.where(np.eye(2)[np.where(wrong, 1 - target, target)] > 0, 0.9, 0.1).astype(np.float32)

    before, now, other = answers(0), answers(0.4), [answers(0) for _ in range(3)]
    for name, array in {"g_e.npy": features[0], "g_f.npy": features[1], "g_y.npy": target, "g_1.npy": before, "g_2.npy": now,
                        **{f"g_r{k}.npy": a for k, a in enumerate(other)}}.items():
        np.save(name, array)
    with open("g.csv", "w") as f:
        f.write("part\n" + "\n".join("hard" if g else "easy" for g in guarded) + "\n")
    one = spotter.compare(features[0], target, before, now, spotter.Ward(device="cpu"), embeddings_v2=features[1],
                          guards={"0 & part=hard": (guarded, 0.02), "free": target == 1}, retrain=other)
    assert one.failed and one.features == "both" and one.trainings == 3 and 0 < one.move < 0.2 and one.beyond == 0
    hard, free = one.guards
    assert hard.verdict == "worse" and hard.margin == hard.beyond == 0.02 and hard.corrected_low > 0.02 and hard.rows == 200
    assert free.verdict == "same" and free.corrected_high < free.margin == 0.05
    assert abs(hard.change - (hard.now - hard.before)) < 1e-12
    was, now_wrong = before.argmax(1) != target, now.argmax(1) != target
    assert hard.lost_rows.tolist() == np.flatnonzero(guarded & now_wrong & ~was).tolist() and len(hard.lost_rows) == hard.lost
    assert one.classes[0].gained_rows.tolist() == np.flatnonzero(was & ~now_wrong).tolist()
    said = subprocess.run([program, "compare", "g_1.npy", "g_2.npy", "-e", "g_e.npy", "-e", "g_f.npy", "-y", "g_y.npy", "-m",
                           "ward", "--json", "--device", "cpu", "--attributes", "g.csv", "--guard", "0 & part=hard@0.02",
                           "--guard", "part=easy", "--retrain", "g_r0.npy,g_r1.npy,g_r2.npy"], capture_output=True, text=True)
    told = json.loads(said.stdout)
    assert said.returncode == 1 and told["features"] == "both" and told["retrain"]["files"] == 3
    guard = told["guards"][0]
    assert guard["guard"] == "0 & part=hard" and guard["verdict"] == "worse" and guard["compared"] == 200
    assert abs(guard["change"]["value"] - hard.change) < 1e-12 and guard["p_worse"] <= hard.p_worse * 2
    neutral = spotter.compare(features[0], target, before, before.copy(), spotter.Ward(device="cpu"), neutral=True)
    assert neutral.features == "neutral" and neutral.equal and not neutral.failed


def tree_of(merges, n):
    """scipy's linkage of merges of one tree whose leaves are the n rows."""
    return np.array([[m.left, m.right, m.height, m.rows] for m in merges])


def test_merges_are_those_of_scipy():
    hierarchy = package("scipy.cluster.hierarchy").cluster.hierarchy
    feature, target, probs, _ = planted(300)
    found = spotter.discover(feature, target, probs, proof=False, class_="all", method="ward", device="cpu")
    unit = feature.astype(np.float64) / np.linalg.norm(feature.astype(np.float64), axis=1, keepdims=True)
    unit -= unit.mean(0)
    unit *= 1 / np.sqrt((unit ** 2).sum(1).mean())
    sure = probs[np.arange(300), target]
    want = hierarchy.linkage(np.column_stack([unit, sure]).astype(np.float32).astype(np.float64), "ward")
    got = tree_of(found.merges, 300)
    assert got.shape == want.shape and np.allclose(np.sort(got[:, 2]), want[:, 2], rtol=1e-9, atol=1e-12)
    assert hierarchy.is_valid_linkage(got)
    members, wrong = [{i} for i in range(300)], probs.argmax(1) != target
    for m in found.merges:
        members.append(members[m.left] | members[m.right])
        assert m.rows == len(members[-1]) and m.wrong == wrong[list(members[-1])].sum() and m.rate == m.wrong / m.rows
        assert (m.class_, m.part, m.judged, m.judged_wrong) == (None, None, None, None) and np.isnan(m.p)
    for k in (2, 5, 20):                               # the cuts are the same groups of rows
        cuts = [hierarchy.fcluster(z, k, "maxclust") for z in (got, want)]
        assert len({*zip(*cuts)}) == k, k
    slices = {tuple(s.rows) for s in found.slices_}
    assert slices <= {tuple(sorted(m)) for m in members}       # what the method reports is a cluster of its tree


def test_merges_are_judged_by_the_other_part():
    stats = package("scipy.stats").stats
    feature, target, probs, blind = planted(400)
    found = spotter.discover(feature, target, probs, device="cpu", class_="each")
    wrong, seen = probs.argmax(1) != target, set()
    members = [{i} for i in range(400)]
    for m in found.merges:
        members.append(members[m.left] | members[m.right])
    for name in "012":
        mine = np.flatnonzero(target == int(name))
        trees = [[(m, members[400 + i]) for i, m in enumerate(found.merges) if (m.class_, m.part) == (name, q)] for q in (0, 1)]
        if not trees[0]:
            continue
        seen.add(name)
        roots = [t[-1][1] for t in trees]
        assert roots[0] | roots[1] == set(mine) and not roots[0] & roots[1]
        for q in (0, 1):
            own, others = np.array(sorted(roots[q])), np.array(sorted(roots[1 - q]))
            far = ((feature[others][:, None].astype(np.float64) - feature[own][None]) ** 2).sum(2)
            near = own[np.argsort(far, axis=1, kind="stable")[:, :5]]
            for m, rows in trees[q]:
                joins = others[np.isin(near, list(rows)).sum(1) >= 3]
                assert (m.judged, m.judged_wrong) == (len(joins), wrong[joins].sum()), (m, len(joins))
                p = stats.hypergeom.sf(m.judged_wrong - 1, len(others), wrong[others].sum(), m.judged) if m.judged else np.nan
                assert np.isclose(m.p, p, rtol=1e-9, equal_nan=True), (m, p)
    assert "1" in seen
    again = pickle.loads(pickle.dumps(found))
    assert repr(again.merges) == repr(found.merges)
    grouped = spotter.discover(feature, target, probs, groups=np.arange(400) // 4, device="cpu", method="ward")
    assert all(np.isnan(m.p) for m in grouped.merges) and any(m.judged for m in grouped.merges)
    more = np.where(np.arange(400) % 9 == 0, np.roll(probs, 1, 1).T, probs.T).T        # all classes have errors
    both = spotter.discover(feature, target, more, device="cpu", method="ward").merges
    assert list(dict.fromkeys((m.class_, m.part) for m in both)) == [(c, q) for c in ("0", "1", "2", None) for q in (0, 1)]
    assert all(np.isnan(m.p) for m in both if m.class_ is None) and not all(np.isnan(m.p) for m in both if m.class_)


def test_the_file_of_merges_changes_nothing_else():
    feature, target, probs, _ = planted(400)
    np.savez("merged.npz", e=feature, y=target, p=probs)
    base = ("-e", "merged.npz:e", "-y", "merged.npz:y", "-p", "merged.npz:p")
    by_program("unmerged", *base), by_program("merged", *base, "--merges", "merges.csv")
    names = {p.name for p in Path("unmerged").iterdir() if p.is_file()}
    assert names == {p.name for p in Path("merged").iterdir() if p.is_file()}
    for name in names - {"report.html"}:
        assert Path("unmerged", name).read_bytes() == Path("merged", name).read_bytes(), name
    found = spotter.discover(feature, target, probs, device="cpu")
    with open("merges.csv", newline="") as f:
        lines = list(csv.reader(f))
    assert lines[0] == ["class", "part", "left", "right", "height", "rows", "wrong", "rate", "judged", "judged_wrong", "p"]
    assert len(lines) == 1 + len(found.merges)
    for line, m in zip(lines[1:], found.merges):
        said = [None if v == "" else v if k == 0 else float(v) for k, v in enumerate(line)]
        assert said[0] == m.class_ and said[1:10] == list(m[1:10]) and (np.isnan(m.p) if said[10] is None else said[10] == m.p)
    for name in ("merged.npz", "nowhere/merges.csv"):
        done = subprocess.run([program, "discover", *base, "--out", "merged_2", "--device", "cpu", "--merges", name],
                              capture_output=True, text=True)
        assert done.returncode == (2 if name == "merged.npz" else 4), done
    assert np.load("merged.npz")["e"].shape == feature.shape


def test_the_encoder_of_joined_features_is_told():
    clip = "encoder/clip/model.safetensors"
    if not Path(clip).exists():
        raise Skip(f"no {clip}")
    photos = sorted(Path("encoder/photos").rglob("*.png"))
    n = len(photos)
    target, r = np.arange(n) % 2, np.random.default_rng(0)
    probs = np.where(r.random(n) < 0.4, 0.2, 0.8).astype(np.float32)
    feature = r.normal(size=(n, 4)).astype(np.float32)
    names = [str(p.relative_to("encoder/photos")) for p in photos]
    given = {"least": 1, "method": "ward", "proof": False, "device": "cpu", "picture_attributes": False}
    folder, listed = (spotter.discover(feature, target, probs, ids=names, images=images, embed=clip, **given)
                      for images in ("encoder/photos", photos))
    sources = [found.json["subject"]["sources"] for found in (folder, listed)]
    assert sources[0] == sources[1] and sources[0][1]["encoder"], sources
    assert folder.json["subject"]["encoder"] == listed.json["subject"]["encoder"]
    alone = [spotter.discover(None, target, probs, ids=names, images=images, embed=clip, **given) for images in (
        "encoder/photos", photos)]
    assert alone[0].json["subject"]["encoder"] == alone[1].json["subject"]["encoder"] == sources[0][1]["encoder"]
    pictures = {"ids": names, "images": photos, "embed": clip, **given}
    raises("embeddings", lambda: spotter.discover(feature.tolist()[1:], target, probs, **pictures))
    again = spotter.discover(feature.tolist(), target, probs, **pictures)
    assert again.json["subject"]["sources"] == sources[1]


def test_features_of_several_sources():
    feature, target, probs, _ = planted()
    other = np.abs(feature[:, ::-1]) * 100
    np.savez("sources.npz", e=feature, o=other, y=target, p=probs)
    by_program("sources_c", "-e", "sources.npz:e", "-e", "sources.npz:o", "-y", "sources.npz:y", "-p", "sources.npz:p",
               "-m", "ward")
    found = spotter.discover([feature, other], target, probs, method="ward", out="sources_p", device="cpu")
    same_bytes("sources_p", "sources_c")
    assert [s["features"] for s in found.json["subject"]["sources"]] == [feature.shape[1]] * 2
    assert 0 <= found.json["features"]["wrong_told"] <= 1
    raises("give the same sources", lambda: found.assign(feature, target))
    package("pandas")
    found.assign([feature, other], target)


def test_arrays_of_any_kind():
    feature, target, probs, _ = planted(400)
    feature, plain = np.round(feature * 8) / 8, spotter.discover(np.round(feature * 8) / 8, target, probs, method="ward").json
    kinds = [("half", feature.astype(np.float16)), ("Fortran", np.asfortranarray(feature.astype(np.float64))),
             ("big-endian", feature.astype(">f4")), ("list", feature.tolist())]
    for name, module in (("ml_dtypes", "ml_dtypes"), ("torch", "torch")):
        try:
            m = package(module)
        except Skip:
            continue
        kinds.append((name, feature.astype(m.bfloat16) if name == "ml_dtypes" else m.from_numpy(feature).to(m.bfloat16)))
    for name, given in kinds:
        found = spotter.discover(given, target.astype(">i4") if name == "big-endian" else target, probs, method="ward")
        assert found.json["findings"] == plain["findings"], name
    by_least = [spotter.Ward(least=least).fit(feature, target, probs) for least in (20, 30)]
    assert np.array_equal(by_least[0].labels_, by_least[1].labels_)
    raises("has 200 rows", lambda: spotter.Ward(least=200).fit(feature, target, probs))


def test_a_missing_label_is_no_class():
    feature, target, probs, _ = planted(120)
    words = np.array(["cat", "dog", "emu"])[target].astype(object)
    for missing in (None, float("nan"), np.float32("nan")):
        given = words.copy()
        given[5] = missing
        for call in (lambda: spotter.discover(feature, given, probs), lambda: spotter.Ward().fit(feature, given, probs)):
            raises("row 5 is", call)
        raises("row 5", lambda: spotter.discover(feature, list(given), probs[np.arange(120), target]))
    masked = np.ma.masked_array(target, np.arange(120) == 5)
    raises("row 5 is missing", lambda: spotter.discover(feature, masked, probs))
    pandas = package("pandas")
    for kind in ("object", "string", "category"):
        given = pandas.Series(words, dtype=kind)
        given[5] = None
        raises("row 5 is", lambda: spotter.discover(feature, given, probs))


def test_columns_are_matched_by_name():
    pandas = package("pandas")
    feature, target, probs, _ = planted(400)
    names, words = ["owl", "cat", "dog"], np.array(["owl", "cat", "dog"])[target]
    sorted_ = probs[:, [1, 2, 0]]
    plain = spotter.discover(feature, words, sorted_, method="ward").json["findings"]
    frame = pandas.DataFrame(probs, columns=names)
    for given in (frame, frame[["dog", "owl", "cat"]], frame.rename(columns="p_{}".format)[["p_dog", "p_cat", "p_owl"]]):
        assert spotter.discover(feature, words, given, method="ward").json["findings"] == plain, list(given.columns)
    more = frame.assign(yak=np.float32(0))[["yak", "dog", "owl", "cat"]]       # no row has this class
    found = spotter.discover(feature, words, more, method="ward")
    assert found.json["subject"]["class_names"] == ["cat", "dog", "owl", "yak"]
    assert [s["size"] for f in found.json["findings"] for s in f["slices"]] == [s["size"] for f in plain for s in f["slices"]]
    given = spotter.discover(feature, target, frame, class_names=names, method="ward")
    assert given.json["subject"]["class_names"] == names and given.slices_[0].name == "cat"
    assert spotter.discover(feature, target, frame[["dog", "owl", "cat"]], class_names=names, method="ward").json[
        "findings"] == given.json["findings"]
    raises("Dog", lambda: spotter.discover(feature, words, frame.rename(columns={"dog": "Dog"})))
    twice = pandas.concat([frame, frame[["cat"]]], axis=1)
    raises("has the column 'cat' twice", lambda: spotter.discover(feature, words, twice))
    # columns=clf.classes_, as numbers in any order, of which the least need not be 0
    by_number = spotter.discover(feature, target, probs, method="ward").json["findings"]
    swapped = pandas.DataFrame(probs[:, [2, 0, 1]], columns=[2, 0, 1])
    assert spotter.discover(feature, target, swapped, method="ward").json["findings"] == by_number
    from_5 = spotter.discover(feature, target + 5, pandas.DataFrame(probs, columns=[5, 6, 7]), method="ward")
    assert from_5.json["subject"]["class_names"] == ["5", "6", "7"]
    assert len(from_5.assign(feature, target + 5, probs)) > 0


def test_bad_rows_and_logits():
    feature, target, probs, _ = planted(500)
    plain = spotter.discover(feature, target, probs, method="ward").json["findings"]
    odd, bad = feature.copy(), [3, 77, 401]
    odd[bad, 2] = np.nan, np.inf, 1e30
    ids = [f"row {i}" for i in range(500)]
    left = np.setdiff1d(np.arange(500), bad)
    table = {"odd": [i % 2 for i in range(500)]}
    found = spotter.discover(odd, target, probs, ids=ids, images=[f"{i}.png" for i in ids], attributes=table, method="ward",
                             skip_bad_rows=True)
    without = spotter.discover(feature[left], target[left], probs[left], attributes={"odd": left % 2}, method="ward")
    assert [s.size for s in found.slices_] == [s.size for s in without.slices_] and (found.kept_ == left).all()
    assert found._held.subject.ids == [ids[i] for i in left] and found._held.subject.images[5] == f"{ids[left[5]]}.png"
    assert np.isnan(odd[3, 2]) and pickle.loads(pickle.dumps(found)).kept_ is not None       # the caller's array stays
    raises("row 3", lambda: spotter.discover(odd, target, probs))
    raises("logits", lambda: spotter.discover(feature, target, np.log(probs) + 3))
    again = spotter.discover(feature, target, np.log(probs.astype(np.float64)) + 3, logits=True, method="ward").json["findings"]
    assert [s["size"] for f in again for s in f["slices"]] == [s["size"] for f in plain for s in f["slices"]]


def test_rows_that_are_left_out_keep_their_numbers():
    feature, target, probs, _ = planted(500)
    odd = feature.copy()
    odd[[3, 77], 1] = np.nan
    np.savez("left.npz", e=odd, y=target, p=probs)
    by_program("left_by_program", "-e", "left.npz:e", "-y", "left.npz:y", "-p", "left.npz:p", "-m", "ward", "--skip-bad-rows",
               "--no-report")
    found = spotter.discover(odd, target, probs, method="ward", device="cpu", skip_bad_rows=True)
    found.save("left_by_python", report=False)
    same_bytes("left_by_python", "left_by_program")
    assert (found.kept_ == np.delete(np.arange(500), [3, 77])).all() and found._held.subject.ids[3:5] == ["4", "5"]
    whole = spotter.discover(feature, target, probs, method="ward", skip_bad_rows=True)
    assert whole.kept_ is None and whole._held.subject.ids is None
    many = {"ids": [f"row {i}" for i in range(500)], "images": [f"{i}.png" for i in range(500)]}
    for name, given in many.items():
        for other in (given[1:], given * 2):
            raises(f"{name} has {len(other)} entries, and there are 500 rows", lambda: spotter.discover(
                odd, target, probs, method="ward", skip_bad_rows=True, **{name: other}))
    for other in ([1, 2], [1, 2] * 500):
        raises(f"attributes has {len(other)} rows, and there are 500", lambda: spotter.discover(
            odd, target, probs, method="ward", skip_bad_rows=True, attributes={"a": other}))
    Path("left").mkdir()
    for name in many["images"]:
        Path("left", name).touch()
    folder = spotter.discover(odd, target, probs, ids=many["images"], images="left", method="ward", skip_bad_rows=True,
                              attributes={"a": [i % 2 for i in range(500)]})
    assert (folder.kept_ == found.kept_).all() and folder._held.subject.ids[3] == "4.png"
    twice = ["one.png"] * 2 + many["images"][2:]
    Path("left/one.png").touch()
    table = {"a": [i % 2 for i in range(500)]}
    Path("left.csv").write_text("".join(f"{v}\n" for v in ["a", *table["a"]]))
    for more in ({}, {"attributes": table}, {"attributes": "left.csv"}, {"ids": twice, "images": "left"}):
        files = spotter.discover("left.npz:e", "left.npz:y", "left.npz:p", method="ward", skip_bad_rows=True, **more)
        assert (files.kept_ == found.kept_).all(), more
        assert "attributes" not in more or [s.conjunction for s in files.slices_] == [s.conjunction for s in folder.slices_]
    assert (pickle.loads(pickle.dumps(files)).kept_ == found.kept_).all()


def test_missing_places_are_named_or_left_out():
    feature, target, probs, _ = planted(500)
    left = np.delete(np.arange(500), 5)
    words, hole = np.array(["owl", "cat", "dog"])[target].astype(object), np.arange(500) == 5
    word_probs = probs[:, [1, 2, 0]]
    want, of_words = ([(s.size, s.wrong) for s in spotter.discover(feature[left], y[left], p[left], method="ward").slices_]
                      for y, p in ((target, probs), (words, word_probs)))
    labels = [words.copy(), list(words), [int(v) for v in target], np.ma.masked_array(target, hole)]
    for one, missing in zip(labels, (float("nan"), None, None)):
        one[5] = missing
    cases = [("labels", (feature, one, word_probs if k < 2 else probs)) for k, one in enumerate(labels)]
    wide = np.broadcast_to(hole[:, None], probs.shape)
    cases += [("embeddings", (np.ma.masked_array(feature, np.broadcast_to(hole[:, None], feature.shape)), target, probs)),
              ("probs", (feature, target, np.ma.masked_array(probs, wide))),
              ("probs", (feature, target, np.where(wide, None, probs)))]
    try:
        pandas = package("pandas")
        frames = [pandas.DataFrame(a).astype("Float64") for a in (feature, probs)]
        series = pandas.Series(target, dtype="Int64")
        frames[0].iloc[5, 0] = frames[1].iloc[5, 1] = series[5] = pandas.NA
        cases += [("embeddings", (frames[0], target, probs)), ("probs", (feature, target, frames[1])),
                  ("labels", (feature, series, probs)), ("labels", (feature, series, pandas.DataFrame(probs)))]
        from_5 = (feature, series + 5, pandas.DataFrame(probs, columns=[5, 6, 7]))
        cases += [("labels", from_5), ("labels", (feature, pandas.Series(words).astype("category").where(~hole), word_probs))]
    except Skip:
        pass
    for k, (what, given) in enumerate(cases):
        raises(what, lambda: spotter.discover(*given)), raises("row 5", lambda: spotter.discover(*given))
        found = spotter.discover(*given, method="ward", skip_bad_rows=True)
        assert (found.kept_ == left).all() and [(s.size, s.wrong) for s in found.slices_] == (
            of_words if given[2] is word_probs else want), (k, what)


def test_a_claim_is_judged_on_the_rows_of_fit():
    feature, target, probs, blind = planted()
    table = {"id": [f"r{i}" for i in range(len(target))], "spot": np.where(blind, "in", "out"),
             "size": np.arange(len(target)) % 7}
    found = spotter.discover(feature, target, probs, ids=table["id"], attributes={k: table[k] for k in ("spot", "size")})
    claim = found.claim("class=1 & spot=in")
    assert claim.confirmed and claim.class_ == "1" and claim.rate == 1 and list(claim.rows) == list(np.flatnonzero(blind))
    assert claim.corrected_p < 0.001 < claim.excess.low and claim.rules > 10 and claim.groups is None
    assert found.claim("size=low").verdict == "chance"
    lines = ["id,spot,size"] + [",".join(map(str, row)) for row in zip(table["id"], table["spot"], table["size"])]
    Path("claimed.csv").write_text("\n".join(lines) + "\n")
    one = spotter.Ward().fit(feature, target, probs, ids=table["id"])
    shown = one.claim("1 & spot=in & size<5", attributes="claimed.csv:id")
    assert (shown.verdict, np.isnan(shown.corrected_p)) == ("suggested", True) and len(shown.rows) < len(claim.rows)
    assert one.claim("1 & spot=in & size<5", attributes="claimed.csv:id", new=True).confirmed
    grouped = spotter.discover(feature, target, probs, ids=table["id"], attributes={k: table[k] for k in ("spot", "size")},
                               groups=np.arange(len(target)) // 9)
    wide = grouped.claim("class=1 & spot=in")
    assert wide.groups and wide.excess.value == claim.excess.value and -1 < wide.excess.low <= claim.excess.low, wide
    raises("is no class and no item", lambda: one.claim("1 & spot=in"))
    raises("compares numbers", lambda: found.claim("size<5"))


def test_suspect_labels_are_those_of_the_rows():
    feature, target, probs, _ = planted(900)
    flipped = np.flatnonzero((target == 0) & (np.arange(900) % 11 == 0))
    labels = target.copy()
    labels[flipped] = 2
    found = spotter.discover(feature, labels, probs)
    suspects = found.suspect_labels_
    assert set(flipped) == {row for row, name in suspects.items() if name == "0"}, suspects
    assert len(suspects) < len(flipped) + 5 and found.json["suspect_labels"] == len(suspects)
    for s in found.slices_:
        assert s.suspect == sum(row in suspects for row in s.rows)
    again = pickle.loads(pickle.dumps(found))
    assert again.suspect_labels_ == suspects and again.json == found.json
    assert spotter.discover(feature, target, probs[np.arange(900), target]).slices_[0].suspect is None


def test_groups_are_those_of_the_command():
    feature, target, probs, _ = planted(500)
    video = np.random.default_rng(2).permutation(500) // 10
    np.savez("g.npz", e=feature, y=target, p=probs, g=video)
    there = by_program("g_by_program", "-e", "g.npz:e", "-y", "g.npz:y", "-p", "g.npz:p", "--groups", "g.npz:g", "-m", "ward",
                       "--no-report")
    for groups in (video, list(video), [f"{v}" for v in video], "g.npz:g"):
        found = spotter.discover(feature, target, probs, groups=groups, method="ward", device="cpu")
        assert without_source(found.json) == without_source(there)
        assert any("500 rows are in 50 groups" in note for note in found.notes_), found.notes_
    assert all(s.proof.judged_groups > 0 and s.proof.corrected_p >= s.proof.least_p > 0 for s in found.slices_)
    assert f"in {found.slices_[0].proof.judged_groups} groups" in repr(found) and " groups</td>" in found._repr_html_()
    found.save("g_by_python", report=False)
    same_bytes("g_by_python", "g_by_program")
    again = pickle.loads(pickle.dumps(found))
    assert (again._held.subject.group == found._held.subject.group).all() and len(again._held.subject.group_names) == 50
    again.save("g_again", report=False)
    same_bytes("g_again", "g_by_program")
    alone = spotter.discover(feature, target, probs, method="ward", device="cpu")
    for groups in (range(500), "rows"):                # groups of one row are none
        assert spotter.discover(feature, target, probs, groups=groups, method="ward", device="cpu").json == alone.json
    missing = [None if i < 3 else v for i, v in enumerate(video.astype(object))]
    held = spotter.Ward(proof="cross").fit(feature, target, probs, groups=missing)
    subject = held._held.subject
    assert subject.c.groups == 53 and subject.group_names[:3] == ["", "", ""] and subject.group[:3].tolist() == [0, 1, 2]
    for warned in (held, spotter.discover(feature, target, probs, groups=missing, method="ward", device="cpu")):
        assert any("3 rows have no group" in text for text in warned.warnings_)
    raises("groups has 499", lambda: spotter.discover(feature, target, probs, groups=video[1:]))
    raises("in one group", lambda: spotter.discover(feature, target, probs, groups=[1] * 500))
    raises("row 1 is a list", lambda: spotter.discover(feature, target, probs, groups=[1, [2]] * 250))
    odd = feature.copy()
    odd[[3, 77], 2] = np.nan
    kept = spotter.discover(odd, target, probs, groups=video, method="ward", skip_bad_rows=True)
    assert [kept._held.subject.group_names[g] for g in kept._held.subject.group] == [str(v) for v in np.delete(video, [3, 77])]


def test_groups_come_from_a_column():
    pandas = package("pandas")
    feature, target, probs, _ = planted(300)
    frame = pandas.DataFrame({"y": target, "video": [None if i == 4 else f"v{i // 6}" for i in range(300)]})
    for k in range(12):
        frame[f"e{k}"] = feature[:, k]
    for k in range(3):
        frame[f"p_{k}"] = probs[:, k]
    rows = spotter.read_rows(frame, "e*", "y", "p_*", groups="video")
    assert spotter.discover(*rows, method="ward")._held.subject.c.groups == 51
    assert spotter.discover(feature, target, probs, groups=frame["video"], method="ward")._held.subject.c.groups == 51


def test_a_perfect_model_is_a_result():
    feature, target, _, _ = planted(300)
    found = spotter.discover(feature, target, np.eye(3)[target], device="cpu")
    assert not found.slices_ and not found.confirmed and "nothing is wrong: 300 of 300 right" in repr(found)
    found.save("perfect")
    assert Path("perfect/report.html").exists()


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
import spotter
from spotter._library import Context

plain = Context.__call__

def call(self, function, *args):
    if function == "spot_discover":
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    plain(self, function, *args)

Context.__call__ = call
rng, n = np.random.default_rng(1), 20000
target = np.arange(n) % 2
probs = np.where(np.arange(n) % 7 == 0, 0.2, 0.8)
try:
    spotter.discover(rng.normal(size=(n, 32)), target, probs, method="planespot-tsne", device="cpu")
    print("returned", flush=True)
except KeyboardInterrupt as e:
    print(type(e).__name__, flush=True)
assert threading.active_count() == 1, threading.enumerate()
time.sleep(0.5)
print("alive")
"""


def test_files_of_others_stay():
    feature, target, probs, _ = planted(300)
    found = spotter.discover(feature, target, probs, method="ward", device="cpu")
    other = spotter.discover(feature[1:], target[1:], probs[1:], method="ward", device="cpu")
    for name in ("config.yaml", "report.html"):
        folder = Path(f"theirs {name}")
        folder.mkdir()
        (folder / name).write_text("mine")
        raises("choose another", lambda: found.save(folder))
        assert [p.name for p in folder.iterdir()] == [name] and (folder / name).read_text() == "mine"
        found.save(folder, replace=True)
        assert (folder / name).read_text() != "mine"
        found.save(folder)                             # its own
        raises("other data", lambda: other.save(folder))
    Path("mine.html").write_text("mine")
    raises("choose another name, or give replace=True", lambda: found.report("mine.html"))
    assert Path("mine.html").read_text() == "mine"
    found.report("mine.html", replace=True), found.report("mine.html")


def test_a_missing_place_of_the_only_column():
    feature, target, probs, _ = planted(300)
    for places in ([None] + ["q", "r", None] * 99 + ["q", None], [None, "q", "r"] * 100):
        one, two = (spotter.discover(feature, target, probs, method="ward", attributes={"a": places, **more}).json["findings"]
                    for more in ({}, {"b": [None] * 300}))
        assert one == two


def test_ctrl_c_ends_a_search():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", INTERRUPTED], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.split() == ["Stopped", "alive"], (done.returncode, done.stdout, done.stderr)


def test_readings_are_told():
    feature, target, probs, _ = planted(200)
    told = [spotter.discover(feature, labels, p, method="ward").notes_ for labels, p in (
        (np.eye(3)[target], probs), (target, probs[np.arange(200), target]), (np.array(["owl", "cat", "dog"])[target], probs))]
    for notes, words in zip(told, ("one of that class", "probability of the true class", '"cat" first')):
        assert any(words in note for note in notes), notes


def test_errors_name_the_argument():
    feature, target, probs, _ = planted(200)
    raises("row 1 is a list", lambda: spotter.discover(feature, target, probs, ids=["a", ["b"]] * 100))
    raises("row 1 is None, which is missing", lambda: spotter.discover(feature, target, probs, ids=["a", None] * 100))
    raises("no UTF-8 text", lambda: spotter.discover(feature, target, probs, ids=[b"\xff"] * 200))
    raises("read with logits=True", lambda: spotter.discover(feature, target, probs * 100))
    raises("labels", lambda: spotter.discover(feature))
    raises("did you mean 'ward'", lambda: spotter.discover(feature, target, probs, method="wardd"))
    raises("it takes 19", lambda: spotter.discover(feature, target, probs, chance=3))
    raises("part of the proof", lambda: spotter.discover(feature, target, probs, proof=False, chance=19))
    raises("none of the classes", lambda: spotter.discover(feature, target, probs, class_="emu"))
    raises("labels has 199", lambda: spotter.discover(feature, target[1:], probs))
    raises("row 7", lambda: spotter.discover(feature, np.where(np.arange(200) == 7, np.nan, target), probs))
    raises("200", lambda: spotter.discover(feature, target, probs, attributes={"a": [1, 2]}))
    raises("class names are 2", lambda: spotter.discover(feature, np.minimum(target, 1), probs, class_names=["a", "b"]))


def test_no_parameter_is_passed_over():
    feature, target, probs, _ = planted(200)
    idle = {"out": {"replace": True, "shard": "0/2", "max_seconds": 5, "starts": 2, "beside": True, "budget": 5, "full": True,
                    "matte": "white", "title": "a", "model_name": "a", "data_name": "a", "date": "a"},
            "detections": {"iou": 0.7, "score": 0.1, "rows": "misses", "context": 0.2, "rows_only": True},
            "images": {"skip_unreadable": True, "follow_links": True, "resize": 32, "crop": 32, "exif": "apply", "pillow": 12},
            "model": {"mean": 0.5, "std": "1,2,3", "scale": 1}, "model or embed": {"size": 64, "interpolation": "bicubic"},
            "embed": {"embed_mean": 0.5, "embed_std": 1, "embed_scale": 1, "embed_interpolation": "bilinear"},
            "words": {"describe": "clip", "phrases": 3, "describe_vocabulary": "a", "describe_cut": True},
            "embed or describe": {"embed_config": "a", "embed_heads": 4, "embed_activation": "gelu", "embed_end_token": 3,
                                  "embed_precision": "bf16"}}
    for needs, given in idle.items():
        for name, value in given.items():
            raises(f"{name} does nothing without {needs};", lambda: spotter.discover(feature, target, probs, **{name: value}))
    assert spotter.discover(feature, target, probs, method="ward", resize=256, title=None, report=False).slices_


def test_values_of_other_types_are_refused_by_a_sentence():
    feature, target, probs, _ = planted(200)
    odd = {"seed": [-1, "a", 1.5, [], [1, -2], 2 ** 64], "method": [5, [5], None], "least": ["a", None], "top": ["a"],
           "threads": ["a"], "chance": ["a", 20.5], "holdout": ["a"], "level": ["a"], "memory": ["..", [1], -5], "out": [5],
           "images": [5], "ids": [5], "class_names": [5, "abc"], "attributes": [5, {"a": 5}, {"a": "b"}], "device": [5]}
    said = {"out": "5 is no path", "images": "images is 5", "attributes": "attributes", "device": "no device"}
    for name, values in odd.items():
        for value in values:
            raises(said.get(name, name), lambda: spotter.discover(feature, target, probs, **{name: value}))
    raises("shard is 3", lambda: spotter.discover(feature, target, probs, shard=3, out="odd"))
    raises("words is 5", lambda: spotter.discover(feature, target, probs, words=5, word_embeddings=feature))
    raises("iou is 'a'", lambda: spotter.detections([], [], iou="a"))
    for seed in (-1, "a"):
        raises("seed is", lambda: spotter.Ward(seed=seed).fit(feature, target, probs))
    raises("least is 'a'", lambda: spotter.Ward(least="a").fit(feature, target, probs))
    found = spotter.discover(feature, target, probs, method="ward", seed=np.int64(3), memory=".5GB")
    raises("ids is 5", lambda: found.assign(feature, target, probs, ids=5))
    raises("ids has 1 entries, and there are 200 rows", lambda: found.assign(feature, target, probs, ids=["a"]))
    raises("5 is no path", lambda: found.save(5)), raises("5 is no path", lambda: found.report(5))


for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
            print("ok", name)
        except Skip as why:
            print(f"skipped: {name}: {why}")
