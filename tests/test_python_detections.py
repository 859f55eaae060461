"""test_python_detections.py SPOTTER [PART OF A NAME...]: run by test_python.sh in a folder with detector/
(detector_data.py) and encoder/ (random_clip.py). A detector's rows in Python are those of the program, and so are the
slices."""
import csv
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

import spotter
from python_checks import Skip, fiftyone_with_database, raises

program = sys.argv[1]
TRUTH, FOUND, PHOTOS = "detector/truth.json", "detector/found.json", "detector/images"


def run(*more):
    subprocess.run([program, "discover", "--coco", TRUTH, "--detections", FOUND, "--threads", "1", "--device", "cpu", *more],
                   check=True, capture_output=True)


def rows_of(*given, **settings):
    return spotter.detections(*(given or (TRUTH, FOUND)), device="cpu", threads=1, **settings)


def features(rows):
    """The side of each box, beside noise."""
    noise = np.random.default_rng(1).normal(0, 0.3, (len(rows), 3))
    return np.column_stack([rows.boxes[:, 2] / 10, noise]).astype(np.float32)


def test_rows_are_those_of_the_program():
    run("--rows-only", "--out", "tables")
    table = list(csv.DictReader(open("tables/rows.csv")))
    rows = rows_of()
    assert len(rows) == len(table) and rows.ids == [r["id"] for r in table] and rows.images == [r["image"] for r in table]
    assert list(rows.classes) == [r["class"] for r in table] and list(rows.outcomes) == [r["outcome"] for r in table]
    assert list(rows.reasons) == [r["reason"] for r in table] and {"missed", "false"} <= set(rows.outcomes)
    assert np.allclose(rows.boxes, [[float(r[k]) for k in ("x", "y", "width", "height")] for r in table])
    scores = np.array([float(r["score"] or "nan") for r in table])
    assert np.allclose(rows.scores, scores, equal_nan=True) and np.isnan(scores).any()
    assert ((rows.confidence < 0.5) == rows.wrong).all() and rows.paths is None and rows.embeddings is None
    assert (rows.wrong == np.isin(rows.outcomes, ("missed", "false"))).all() and "objects of" in repr(rows)
    given = rows_of(json.load(open(TRUTH)), [{**d, "score": np.float64(d["score"])} for d in json.load(open(FOUND))])
    assert given.ids == rows.ids and (given.outcomes == rows.outcomes).all() and (given.boxes == rows.boxes).all()
    assert set(rows_of(rows="misses").outcomes) == {"found", "missed"}
    assert set(rows_of(rows="alarms").outcomes) == {"right", "false"}
    assert (rows_of(iou=0.9).outcomes == "missed").sum() > (rows.outcomes == "missed").sum()
    try:
        frame = rows.to_frame()
    except ImportError:
        return
    assert list(frame.columns[:10]) == list(table[0]) and list(frame.id) == rows.ids


def test_slices_are_those_of_the_program():
    rows = rows_of()
    np.save("e.npy", features(rows))
    run("--embeddings", "e.npy", "-m", "ward", "--no-proof", "--no-report", "--out", "rows_by_program")
    found = rows.fit(spotter.Ward(device="cpu", threads=1), np.load("e.npy"))
    found.write("rows_by_python")
    found.describe(attributes="rows_by_python/attributes.csv:id").write("rows_by_python")
    for name in ("slices.csv", "map.npy", "rows.csv", "attributes.csv", "fit.safetensors"):
        assert Path("rows_by_python", name).read_bytes() == Path("rows_by_program", name).read_bytes(), name
    ours, theirs = (json.loads(Path(d, "slices.json").read_text()) for d in ("rows_by_python", "rows_by_program"))
    assert ours["findings"] == theirs["findings"] and ours["subject"] == theirs["subject"]
    assert all(s.predicted is None for s in found.slices_)
    again = pickle.loads(pickle.dumps(found))
    again.write("rows_again")
    for name in ("slices.json", "subject.safetensors", "rows.csv", "attributes.csv"):
        assert Path("rows_again", name).read_bytes() == Path("rows_by_python", name).read_bytes(), name
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.validate(ours, spotter.schema())


def test_discover_takes_a_detector():
    rows = rows_of()
    np.save("d.npy", features(rows))
    run("--embeddings", "d.npy", "-m", "ward", "--no-report", "--out", "found_by_program")
    for name, truth, found in (("files", TRUTH, FOUND), ("objects", json.load(open(TRUTH)), json.load(open(FOUND)))):
        named = dict(coco=truth, detections=found, method="ward", device="cpu", threads=1)
        there = spotter.discover(np.load("d.npy"), out=f"found_{name}", report=False, **named)
        for table in ("slices.csv", "map.npy", "rows.csv", "attributes.csv", "fit.safetensors", "config.yaml"):
            assert Path(f"found_{name}", table).read_bytes() == Path("found_by_program", table).read_bytes(), (name, table)
        here = spotter.discover(np.load("d.npy"), **named)
        told = [here.json["subject"]["source"], rows_of(truth, found)._source.decode(), *(
            path.read_bytes().decode(errors="replace") for path in Path(f"found_{name}").iterdir() if path.is_file())]
        assert not [text for text in told if "/spotter-" in text] and here.json["subject"] == there.json["subject"]
        assert here.slices_ and here.json["findings"] == there.json["findings"] == json.loads(
            Path("found_by_program/slices.json").read_text())["findings"]


def test_rows_alone_have_their_features_and_groups():
    clip = "encoder/clip/model.safetensors"
    named = dict(coco=TRUTH, detections=FOUND, images=PHOTOS, embed=clip, rows_only=True, device="cpu", threads=1)
    rows, plain = spotter.discover(**named), rows_of(images=PHOTOS, embed=clip)
    assert rows.ids == plain.ids and (rows.embeddings == plain.embeddings).all() and rows.embeddings.shape[1] > 1
    assert len(set(rows._group)) == len(set(rows.images))
    assert (spotter.discover(groups="rows", **named)._group == np.arange(len(rows))).all()
    group = np.arange(len(rows)) // 7
    for given in (spotter.discover(groups=group, **named), rows_of(groups=group)):
        assert (given._group == group).all() and given.fit(spotter.Ward(device="cpu", proof="cross"), features(rows)).slices_
    for name, value in (("out", "never"), ("method", "ward"), ("embeddings", features(rows)), ("attributes", {"a": [1]})):
        raises(f"which looks at {name}; leave {name} out", lambda: spotter.discover(**named, **{name: value}))


def test_missed_objects_are_confirmed():
    rows = rows_of(rows="misses")
    found = rows.fit(spotter.PlaneSpot(reduce="pca", proof="cross", device="cpu", threads=1), features(rows))
    first = found.slices_[0]
    assert first.claim == "confirmed" and (rows.outcomes[first.rows] == "missed").mean() > 0.5
    assert (rows.boxes[first.rows, 2] < 20).mean() > 0.8 and first.name.endswith(": objects")


def test_an_encoder_looks_at_boxes():
    clip = "encoder/clip/model.safetensors"
    run("--images", PHOTOS, "--embed", clip, "-m", "ward", "--no-proof", "--no-report", "--out", "boxes_by_program")
    rows = rows_of(images=PHOTOS, embed=clip)
    assert rows.embeddings.shape[0] == len(rows) and rows.paths[0] == f"{PHOTOS}/{rows.images[0]}"
    found = rows.fit(spotter.Ward(device="cpu", threads=1))
    found.write("boxes_by_python")
    for name in ("slices.csv", "map.npy", "rows.csv"):
        assert Path("boxes_by_python", name).read_bytes() == Path("boxes_by_program", name).read_bytes(), name
    found.report("seen.html")
    assert Path("seen.html").stat().st_size > 100_000


def test_pictures_that_are_not_there():
    shutil.copytree(PHOTOS, "fewer")
    Path("fewer", "p0003.png").unlink()
    raises("p0003.png, which is not in fewer", lambda: rows_of(images="fewer"))
    rows = rows_of(images="fewer", skip_unreadable=True)
    whole = rows_of()
    gone = [i for i, name in enumerate(whole.images) if name == "p0003.png"]
    np.save("f.npy", features(rows))
    run("--images", "fewer", "--skip-unreadable", "--embeddings", "f.npy", "-m", "ward", "--no-proof", "--no-report", "--out",
        "fewer_by_program")
    found = rows.fit(spotter.Ward(device="cpu", threads=1), np.load("f.npy"))
    found.write("fewer_by_python")
    for name in ("slices.csv", "rows.csv"):
        assert Path("fewer_by_python", name).read_bytes() == Path("fewer_by_program", name).read_bytes(), name
    left = [i for i, path in enumerate(rows.paths) if path is None]
    assert gone and (left == gone if len(rows) == len(whole) else len(rows) == len(whole) - len(gone))
    assert any("is no file" in words for words in rows.warnings)
    found.report("fewer.html"), found.to_fiftyone("fewer_boxes")
    assert "p0003.png" not in Path("fewer_boxes/samples.json").read_text().replace("p0003.png#", "")
    pickle.loads(pickle.dumps(found)).report("fewer.html")


def test_fiftyone_gets_boxes():
    rows = rows_of(images=PHOTOS)
    found = rows.fit(spotter.Ward(device="cpu", threads=1), features(rows))
    found.to_fiftyone("boxes", name="detector")
    about, samples = json.loads(Path("boxes/metadata.json").read_text()), json.loads(Path("boxes/samples.json").read_text())
    assert about["default_classes"] == ["disc", "square"] and about["name"] == "detector"
    seen = {}
    for s in samples["samples"]:
        for kind in ("objects", "detections"):
            for d in s[kind]["detections"]:
                seen[d["row"]] = d
                i = d["row"]
                assert d["name"] == rows.ids[i] and d["outcome"] == rows.outcomes[i] and d["reason"] == rows.reasons[i]
                assert np.allclose(np.array(d["bounding_box"]) * [160, 120, 160, 120], rows.boxes[i], atol=1e-4)
                assert s["filepath"] == str(Path(rows.paths[i]).absolute()) and d["label"] + ": " + kind == rows.classes[i]
                assert d["tags"] == [f"slice {one.number}" for one in found.slices_ if i in one.rows] + \
                    ["wrong"] * bool(rows.wrong[i])
                assert d["confidence"] is None if kind == "objects" else abs(d["confidence"] - rows.scores[i]) < 1e-6
    assert sorted(seen) == list(range(len(rows)))


def test_fiftyone_reads_boxes():
    fiftyone = fiftyone_with_database()
    rows, samples = rows_of(images=PHOTOS), json.loads(Path("boxes/samples.json").read_text())
    seen = {d["row"]: d for s in samples["samples"] for kind in ("objects", "detections") for d in s[kind]["detections"]}
    data = fiftyone.Dataset.from_dir("boxes", dataset_type=fiftyone.types.FiftyOneDataset)
    try:
        assert len(data) == len(samples["samples"])
        read = [d for s in data for kind in ("objects", "detections") for d in s[kind].detections]
        assert sorted(d.row for d in read) == list(range(len(rows)))
        assert all(d.outcome == rows.outcomes[d.row] and d.slice == seen[d.row]["slice"] for d in read)
        assert "objects.detections.outcome" in data.get_field_schema(flat=True)
    finally:
        data.delete()


def test_what_is_refused():
    rows = rows_of()
    plain = {"images": [{"id": 1, "file_name": "a.png"}], "categories": [{"id": 1, "name": "cat"}],
             "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}]}
    one = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.9}]
    for words, call in (("give their folder as images", lambda: rows_of(embed="clip.safetensors")),
                        ("it is one of both", lambda: rows_of(rows="some")),
                        ("iou is 0; it takes a number above 0", lambda: rows_of(iou=0)),
                        ("score is 1; it takes a number from 0 to below 1", lambda: rows_of(score=1)),
                        ("has no \"images\"", lambda: rows_of({}, [])),
                        ("nowhere.json", lambda: rows_of("nowhere.json", FOUND)),
                        ("there is no \"score\"", lambda: rows_of(TRUTH, [{"image_id": 1, "category_id": 1, "bbox": [0] * 4}])),
                        ("neither a path nor", lambda: rows_of(TRUTH, [object()])),
                        ("have no embeddings", lambda: rows.fit(spotter.Ward())),
                        ("embeddings have 3 rows", lambda: rows.fit(spotter.Ward(), np.zeros((3, 2)))),
                        ("give their paths as images", lambda: rows.fit(
                            spotter.Ward(device="cpu", threads=1), features(rows)).to_fiftyone("no")),
                        ("is not in detector", lambda: rows_of(plain, one, images="detector"))):
        raises(words, call, (spotter.InputError, spotter.SpotterError))
    assert rows_of(plain, one).outcomes.tolist() == ["found", "right"]


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_") and any(part in name for part in sys.argv[2:] or [""]):
            try:
                test()
                print("ok", name)
            except Skip as why:
                print("skipped", name, why)
