"""test_python_exchange.py SPOTTER [PART OF A NAME...]: run by test_python.sh and test_python_exchange.sh in an empty folder.
Files that other programs read of Spotter, and that Spotter reads of theirs: the schema of slices.json, Parquet, data frames,
FiftyOne's and cleanlab's. A test whose package is not installed is skipped."""
import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import spotter
from python_checks import Skip, fiftyone_with_database, package, planted, raises

program = sys.argv[1]


# --- The schema of slices.json.
def written(folder, **settings):
    """slices.json of a PlaneSpot with words and a conjunction."""
    feature, target, probs, blind = planted()
    found = spotter.PlaneSpot(reduce="pca", device="cpu", threads=1, **settings).fit(feature, target, probs)
    Path("blind.csv").write_text("blind\n" + "".join(f"{int(b)}\n" for b in blind))
    found.describe([f"place {k}" for k in range(12)], np.eye(12, dtype=np.float32), "blind.csv").write(folder)
    return json.loads(Path(folder, "slices.json").read_text())


def by_program(folder, *more):
    feature, target, probs, _ = planted()
    np.savez("rows.npz", e=feature, y=target, p=probs)
    subprocess.run([program, "discover", "-e", "rows.npz:e", "-y", "rows.npz:y", "-p", "rows.npz:p", "--device", "cpu",
                    "--threads", "1", "--no-report", "--out", folder, *more], check=True, capture_output=True)
    return json.loads(Path(folder, "slices.json").read_text())


def faults(document):
    """A checker's complaints."""
    jsonschema = package("jsonschema")
    return [e.message for e in jsonschema.Draft202012Validator(spotter.schema()).iter_errors(document)]


def test_the_schema_holds_what_is_written():
    package("jsonschema").Draft202012Validator.check_schema(spotter.schema())
    plain, judged = written("plain"), written("judged", proof="cross", chance=19)
    documents = [plain, judged, written("share", proof=0.4), written("all", target_class="all"),
                 written("all_judged", target_class="all", proof="cross"),
                 by_program("program", "-m", "ward,domino", "--seed", "0,1"),
                 by_program("program_plain", "-m", "kmeans,joinspot", "--no-proof", "--seed", "18446744073709551615")]
    for i, document in enumerate(documents):
        assert faults(document) == [], (i, faults(document)[:3])
        assert document["findings"][0]["slices"], i
    first = [d["findings"][0]["slices"][0] for d in (plain, judged)]
    assert all(s["words"] and s["conjunction"] for s in first) and "proof" in first[1]
    assert [d["schema"] for d in documents] == [1, 2, 2, 1, 2, 2, 1]


# A place in the document, and what is written there; None: the member goes.
WRONG = [("schema", 3), ("schema", "2"), ("schema", 1), ("spotter", None), ("numbers", 0.5), ("subject", []), ("proof", None),
         ("mine", 1), ("subject/rows", -1), ("subject/accuracy", 1.5), ("subject/wrong", None), ("subject/class_names/0", 4),
         ("proof/parts", 3), ("proof/holdout", 0), ("proof/tests", None), ("left_out/0/why", None),
         ("left_out/0/class_number", -1),
         ("findings", {}), ("findings/0/merged", None), ("findings/0/merged", False), ("findings/0/status", "fine"),
         ("findings/0/status", "INPUT"), ("findings/0/message", "no"), ("findings/0/method", "ward"),
         ("findings/0/slices/0/proof", None), ("findings/0/slices/0/size", 2.5), ("findings/0/slices/0/error_rate", 1.01),
         ("findings/0/slices/0/rank", 0), ("findings/0/slices/0/nearest_correct/0/id", 7), ("findings/0/slices/0/words", []),
         ("findings/0/slices/0/words/0/p", "0.1"), ("findings/0/slices/0/conjunction/items", ["a", "b", "c", "d"]),
         ("findings/0/slices/0/conjunction/held_out", None), ("findings/0/slices/0/conjunction/all/recall", 2),
         ("findings/0/slices/0/proof/claim", "proved"), ("findings/0/slices/0/proof/corrected_p", -0.1),
         ("findings/0/slices/0/proof/pieces", []), ("findings/0/slices/0/proof/pieces/0/part", 2),
         ("findings/0/slices/0/proof/pieces/0/judged", 0), ("findings/0/slices/0/proof/excess", None),
         ("findings/0/slices/0/entry", 0), ("entries", None), ("entries", [{"number": 1}]), ("entries/0/slices", []),
         ("entries/0/kind", "cause"), ("classes/0/rate", 2), ("summary", "text"), ("proof/map", None)]


def test_the_schema_refuses_wrong_documents():
    right = written("right", proof="cross")
    assert faults(right) == []
    ruled = copy.deepcopy(right)
    ruled["entries"][0].update(rule=["a", "b"], rule_rows=5, rule_wrong=4)
    assert faults(ruled) == []
    del ruled["entries"][0]["rule_rows"]
    assert faults(ruled)
    failed = {"class": "0", "class_number": 0, "method": "domino", "seed": 0, "rows": 9, "wrong": 1, "slices": []}
    plain = written("right_plain")
    plain["findings"].append({**failed, "status": "INPUT", "message": "9 rows"})
    assert faults(plain) == []
    plain["findings"][-1] = {**failed, "status": "INPUT"}
    assert faults(plain)
    plain["findings"].pop()
    for place, value in WRONG:
        wrong = copy.deepcopy(right)
        *way, last = [int(k) if k.isdigit() else k for k in place.split("/")]
        at = wrong
        for key in way:
            at = at[key]
        if value is None:
            del at[last]
        else:
            at[last] = value
        assert faults(wrong), (place, value)
    for key, value in (("schema", 2), ("proof", right["proof"])):
        assert faults({**plain, key: value}), key
    plain["findings"][0]["slices"][0]["proof"] = right["findings"][0]["slices"][0]["proof"]
    assert faults(plain) and faults([]) and faults(None)


# --- Tables.
def same(one, two):
    assert [len(m.slices_) for m in (one, two)] == [len(one.slices_)] * 2 and one.slices_
    assert (one.labels_ == two.labels_).all() and all((a.rows == b.rows).all() for a, b in zip(one.slices_, two.slices_))


def test_parquet_comes_out():
    parquet = package("pyarrow.parquet").parquet
    feature, target, probs, blind = planted()
    words = np.array(["cat", "dog", "owl"])[target]
    ids, images = [f"row {i}" for i in range(len(feature))], [f"photos/{i}.png" for i in range(len(feature))]
    for proof in (None, "cross"):
        found = spotter.PlaneSpot(reduce="pca", device="cpu", threads=1, proof=proof).fit(feature, words, probs, ids=ids,
                                                                                          images=images)
        found.to_parquet("slices.parquet")
        found.to_parquet(Path("all.parquet"), rows=True)
        slices, rows = (parquet.read_table(f) for f in ("slices.parquet", "all.parquet"))
        assert slices.column("size").to_pylist() == [s.size for s in found.slices_]
        assert slices.column("claim").to_pylist() == [s.claim for s in found.slices_] if proof else "claim" not in \
            slices.column_names
        assert slices.schema.metadata[b"spotter"].decode() == spotter.__version__
        assert rows.column("id").to_pylist() == ids and rows.column("image").to_pylist() == images
        assert rows.column("class").to_pylist() == list(words)
        told = np.array(rows.column("predicted").to_pylist())
        assert (told == np.where(blind, "owl", words)).all()
        assert (rows.column("wrong").to_numpy() == blind).all()
        assert (rows.column("confidence").to_numpy() == probs[np.arange(len(probs)), target]).all()
        assert [-1 if k is None else k - 1 for k in rows.column("slice").to_pylist()] == list(found.labels_)
        for s in found.slices_:
            assert [i for i, m in enumerate(rows.column("slices").to_pylist()) if s.number in m] == list(s.rows)
        try:
            frame = found.to_frame()
        except ImportError:
            continue
        assert list(frame.columns) == slices.column_names


def test_rows_come_from_parquet():
    pa, parquet = package("pyarrow"), package("pyarrow.parquet").parquet
    feature, target, probs, _ = planted()
    n, words = len(feature), np.array(["cat", "dog", "owl"])[target]
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(feature.ravel()), feature.shape[1])
    table = pa.table({"embedding": fixed, "lists": feature.astype(np.float64).tolist(), "label": words,
                      "number": target, "kind": pa.array(words).dictionary_encode(), "probs": probs.tolist(),
                      "loss": -np.log(probs[np.arange(n), target]), "name": [f"row {i}" for i in range(n)],
                      "half": pa.FixedSizeListArray.from_arrays(pa.array(feature.astype(np.float16).ravel()), feature.shape[1]),
                      **{f"e_{k}": feature[:, k] for k in range(12)}, **{f"p_{k}": probs[:, k] for k in range(3)}})
    parquet.write_table(table, "rows.parquet", row_group_size=100)
    Path("parts").mkdir()
    for k in range(2):
        parquet.write_table(table.slice(k * 300, 300), f"parts/{k}.parquet")
    fit = lambda *arrays: spotter.PlaneSpot(reduce="pca", device="cpu", threads=1).fit(*arrays)
    given = fit(feature, words, probs, None, [f"row {i}" for i in range(n)])
    for source in ("rows.parquet", Path("parts"), table, pa.concat_tables([table.slice(0, 7), table.slice(7)])):
        for e, y, p in (("embedding", "label", "probs"), ("lists", "kind", ["p_0", "p_1", "p_2"]), ("e_*", "label", "p_*")):
            rows = spotter.read_rows(source, e, y, p, ids="name")
            assert rows.embeddings.shape == feature.shape and (rows.embeddings == feature).all(), (source, e)
            assert (rows.targets == words).all() and np.allclose(rows.probs, probs) and rows.ids[3] == "row 3"
            assert rows.losses is None and rows.images is None
        same(given, fit(*rows))
    assert (spotter.read_rows(table.slice(5, 9), "embedding").embeddings == feature[5:14]).all()
    assert (spotter.read_rows(table.slice(5, 9), "lists").embeddings == feature[5:14]).all()
    assert (spotter.read_rows(table, "half").embeddings == feature.astype(np.float16)).all()
    assert spotter.read_rows("rows.parquet", "e_3").embeddings.shape == (n, 1)
    assert spotter.read_rows(table.slice(0, 0), "lists").embeddings.shape[0] == 0
    assert fit(*spotter.read_rows(table, "embedding", "number", losses="loss")).slices_[0].size == given.slices_[0].size

    odd = pa.table({"e": [[1.0, 2.0], [3.0]], "null": [[1.0, 2.0], None], "inside": [[1.0, None], [1.0, 2.0]], "x": [1, None],
                    "w": ["a", "b"]})
    for words, call in (("row 1 has 1 numbers, row 0 has 2", lambda: spotter.read_rows(odd, "e")),
                        ("has 1 empty places; the first is row 1", lambda: spotter.read_rows(odd, "null")),
                        ("row 0 has an empty place in its list, at 1", lambda: spotter.read_rows(odd, "inside")),
                        ("column 'x' of Table has 1 empty places", lambda: spotter.read_rows(odd, "x")),
                        ("has no column 'f' for embeddings; it has e, null", lambda: spotter.read_rows(odd, "f")),
                        ("has no column 'f_*'", lambda: spotter.read_rows(odd, "f_*")),
                        ("'kind' of Table is no column of numbers", lambda: spotter.read_rows(table, ["e_1", "kind"])),
                        ("targets is one column", lambda: spotter.read_rows(table, "embedding", "p_*")),
                        ("name the column", lambda: spotter.read_rows(table, None)),
                        ("not from a list", lambda: spotter.read_rows([1, 2], "e")),
                        ("no Parquet file", lambda: spotter.read_rows(__file__, "e")),
                        ("nowhere.parquet", lambda: spotter.read_rows("nowhere.parquet", "e"))):
        raises(words, call)


def test_rows_come_from_a_frame():
    pandas = package("pandas")
    feature, target, probs, _ = planted()
    words = np.array(["cat", "dog", "owl"])[target]
    frame = pandas.DataFrame({"embedding": list(feature), "label": words, "probs": probs.tolist(),
                              **{f"e_{k}": feature[:, k] for k in range(12)}})
    frame["kind"] = frame.label.astype("category")
    fit = lambda *arrays: spotter.PlaneSpot(reduce="pca", device="cpu", threads=1).fit(*arrays)
    given = fit(feature, words, probs)
    same(given, fit(*spotter.read_rows(frame, "embedding", "label", "probs")))
    same(given, fit(*spotter.read_rows(frame.sample(frac=1, random_state=1).sort_index(), "e_*", "kind", "probs")))
    same(given, fit(frame.embedding, frame.label, frame.probs))          # columns of lists without read_rows
    frame.loc[4, "label"] = None
    raises("column 'label' of DataFrame has 1 empty places; the first is row 4",
           lambda: spotter.read_rows(frame, "embedding", "label"))
    frame.at[7, "embedding"] = np.zeros(3)
    raises("row 7 has 3 numbers, row 0 has 12", lambda: spotter.read_rows(frame, "embedding"))
    raises("row 7 has 3 numbers, row 0 has 12", lambda: fit(frame.embedding, words, probs))
    try:
        pa = package("pyarrow")
        typed = pandas.DataFrame({"e": pandas.Series(feature.tolist(), dtype=pandas.ArrowDtype(pa.list_(pa.float32())))})
    except (Skip, AttributeError):                     # pandas before 2 has no such columns
        return
    assert (spotter.read_rows(typed, "e").embeddings == feature).all()


def test_without_pyarrow_a_sentence_tells():
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        raise Skip(f"pyarrow {pyarrow.__version__} is installed")
    found = spotter.KMeans(device="cpu", threads=1).fit(*planted()[:3])
    for call in (lambda: found.to_parquet("no.parquet"), lambda: found.to_parquet("no.parquet", rows=True),
                 lambda: spotter.read_rows("no.parquet", "e")):
        e = raises("pip install pyarrow", call, ImportError)
        assert isinstance(e, spotter.SpotterError)
    assert not Path("no.parquet").exists()


# --- Hugging Face's datasets, by the layout that datasets 5.2.0 writes.
def labelled(pa, n=60):
    """A table as of Features: image: Image(), label: ClassLabel, e and p lists."""
    feature, target, probs, _ = planted(n)
    features = {"image": {"_type": "Image"}, "label": {"names": ["owl", "cat", "dog"], "_type": "ClassLabel"},
                "e": {"feature": {"dtype": "float32", "_type": "Value"}, "_type": "List"}}
    pixels = [b"\x89PNG" + bytes([i]) * 20 for i in range(n)]
    table = pa.table({
        "image": pa.array([{"bytes": b, "path": f"{i}.png"} for i, b in enumerate(pixels)],
                          pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
        "label": pa.array(target), "e": pa.array(list(feature)), "p": pa.array(list(probs))})
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    return table.replace_schema_metadata(about), pixels, (feature, target, probs)


def save_to_disk(pa, table, folder, shards=2):
    ipc, folder = package("pyarrow.ipc").ipc, Path(folder)
    folder.mkdir(parents=True)
    names, each = [f"data-{k:05d}-of-{shards:05d}.arrow" for k in range(shards)], len(table) // shards
    for k, name in enumerate(names):
        with ipc.new_stream(str(folder / name), table.schema) as out:
            out.write_table(table.slice(k * each, each))
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": n} for n in names], "_split": None}))
    (folder / "dataset_info.json").write_text("{}")


def test_folders_of_hugging_face_are_read():
    pa, parquet = package("pyarrow"), package("pyarrow.parquet").parquet
    table, pixels, (feature, target, probs) = labelled(pa)
    save_to_disk(pa, table, "hf_one")
    save_to_disk(pa, table, "hf_both/train")
    save_to_disk(pa, table.slice(0, 10), "hf_both/test", 1)
    Path("hf_both/dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))
    Path("hf_hub/data").mkdir(parents=True)
    for k in range(2):
        parquet.write_table(table.slice(30 * k, 30), f"hf_hub/data/train-{k:05d}-of-00002.parquet")
    parquet.write_table(table.slice(0, 10), "hf_hub/data/test-00000-of-00001.parquet")
    half = "hf_one/data-00000-of-00002.arrow"
    for source, split in (("hf_one", None), ("hf_both", "train"), ("hf_hub", "train"), (half, None), (table, None)):
        rows = spotter.read_rows(source, "e", "label", "p", images="image", split=split)
        n = len(rows.targets)
        assert n == (30 if source is half else 60) and rows.class_names == ["owl", "cat", "dog"]
        assert (rows.embeddings == feature[:n]).all() and (rows.targets == target[:n]).all() and (rows.probs == probs[:n]).all()
        assert [Path(p).read_bytes() for p in rows.images] == pixels[:n] and rows.images[0].endswith(".png")
    found = spotter.discover(*rows, least=5, method="ward", device="cpu", report=False)
    assert found.json["subject"]["class_names"] == ["owl", "cat", "dog"] and found.left_out_ == ["owl", "dog"]
    assert spotter.Ward(least=5).fit(*rows).slices_[0].name == "cat"
    for source in ("hf_both", "hf_hub"):
        raises("name one, such as split=", lambda: spotter.read_rows(source, "e"))
        raises("no split 'val'", lambda: spotter.read_rows(source, "e", split="val"))
    frame = package("pandas").DataFrame({"e": list(feature[:3])})
    frame["image"] = [{"bytes": pixels[0], "path": None}, pixels[1], "a/b.png"]
    assert [Path(p).read_bytes() for p in spotter.read_rows(frame, "e", images="image").images[:2]] == pixels[:2]
    assert spotter.read_rows(frame, "e", images="image").images[2] == "a/b.png"
    frame["image"] = [{"bytes": None, "path": None}, None, 3]
    raises("row 0 has no picture", lambda: spotter.read_rows(frame, "e", images="image"))


def test_holes_and_columns_twice():
    pa, parquet = package("pyarrow"), package("pyarrow.parquet").parquet
    feature, target, probs, _ = planted(60)
    lists = [list(map(float, row)) for row in feature]
    lists[9][3] = None
    for column, words in ((pa.array(lists, pa.list_(pa.float32())), "row 9"),
                          (pa.array(lists, pa.list_(pa.float32(), 12)), "row 9"),
                          (pa.array([[r[:6], r[6:]] for r in feature.tolist()]), "lists of lists"),
                          (pa.array([None if i == 7 else list(r) for i, r in enumerate(feature)]), "row 7")):
        parquet.write_table(pa.table({"e": column}), "holes.parquet")
        raises(words, lambda: spotter.read_rows("holes.parquet", "e"))
    twice = pa.Table.from_arrays([pa.array(target), pa.array(target), pa.array(list(feature))], ["label", "label", "e"])
    raises("column 'label' twice", lambda: spotter.read_rows(twice, "e", "label"))
    assert len(spotter.read_rows(twice, "e").embeddings) == 60                 # it is not asked for
    pandas = package("pandas")
    raises("row 9", lambda: spotter.read_rows(pandas.DataFrame({"e": lists}), "e"))
    frame = pandas.DataFrame(feature, columns=[f"e{k}" for k in range(12)])
    raises("column 'e0' twice", lambda: spotter.read_rows(pandas.concat([frame, frame[["e0"]]], axis=1), "e*"))


# --- FiftyOne.
def test_fiftyone_has_its_layout():
    """By the format as FiftyOne 1.22 writes and reads it: every member of a sample is a field of the data set."""
    feature, target, probs, blind = planted()
    words = np.array(["cat", "dog", "owl"])[target]
    photos = [f"photos/{i}.png" for i in range(len(feature))]
    blindly = spotter.KMeans(device="cpu", threads=1).fit(feature, words, probs)
    raises("give their paths as images", lambda: blindly.to_fiftyone("no"))
    for given, proof in ((probs, "cross"), (probs[np.arange(len(probs)), target], None)):
        found = spotter.PlaneSpot(reduce="pca", device="cpu", threads=1, proof=proof).fit(feature, words, given, images=photos)
        found.to_fiftyone("manifest", name="shapes")
        about, samples = (json.loads(Path("manifest", f).read_text()) for f in ("metadata.json", "samples.json"))
        samples = samples["samples"]
        assert sorted(p.name for p in Path("manifest").iterdir()) == ["metadata.json", "samples.json"]
        assert len(samples) == len(feature) and about["name"] == "shapes" and about["media_type"] == "image"
        assert len(about["info"]["slices"]) == len(found.slices_) and about["default_classes"] == ["cat", "dog", "owl"]
        fields = {f["db_field"] for f in about["sample_fields"]}
        for i, s in enumerate(samples):
            assert {k for k in s if not k.startswith("_")} <= fields and len(s["_id"]["$oid"]) == 24 and 0 <= s["_rand"] < 1
            assert s["filepath"] == str(Path("photos", f"{i}.png").absolute()) and s["row"] == i and s["wrong"] == blind[i]
            assert s["ground_truth"]["label"] == words[i] and s["ground_truth"]["_cls"] == "Classification"
            inside = [one.number for one in found.slices_ if i in one.rows]
            claims = sorted({found.slices_[k - 1].claim for k in inside} - {None})
            assert s["tags"] == [f"slice {k}" for k in inside] + claims + ["wrong"] * bool(blind[i])
            if given.ndim == 2:
                assert s["prediction"]["label"] == ("owl" if blind[i] else words[i])
                assert abs(s["prediction"]["confidence"] - probs[i].max()) < 1e-6
        assert len({s["_id"]["$oid"] for s in samples}) == len(samples)
        assert ("prediction" in samples[0]) == ("prediction" in fields) == (given.ndim == 2)
        once = [Path("manifest", f).read_bytes() for f in ("metadata.json", "samples.json")]
        found.to_fiftyone("manifest", name="shapes")
        assert once == [Path("manifest", f).read_bytes() for f in ("metadata.json", "samples.json")]


def test_fiftyone_reads_the_folder():
    fiftyone = fiftyone_with_database()
    feature, target, probs, blind = planted()
    words = np.array(["cat", "dog", "owl"])[target]
    photos = [f"photos/{i}.png" for i in range(len(feature))]
    found = spotter.PlaneSpot(reduce="pca", device="cpu", threads=1, proof="cross").fit(feature, words, probs, images=photos)
    found.to_fiftyone("loaded", name="shapes")
    data = fiftyone.Dataset.from_dir("loaded", dataset_type=fiftyone.types.FiftyOneDataset)
    try:
        assert len(data) == len(feature) and data.media_type == "image" and data.default_classes == ["cat", "dog", "owl"]
        assert data.info["slices"][0]["claim"] == found.slices_[0].claim
        for i, s in enumerate(data):
            assert s.filepath == str(Path(photos[i]).absolute()) and s.row == i and s.wrong == blind[i]
            assert s.ground_truth.label == words[i] and s.prediction.label == ("owl" if blind[i] else words[i])
            assert s.slice == (None if found.labels_[i] < 0 else found.labels_[i] + 1)
            assert ("confirmed" in s.tags) == any(i in k.rows for k in found.slices_ if k.claim == "confirmed")
        fields = data.get_field_schema()
        assert {"ground_truth", "prediction", "row", "name", "confidence", "wrong", "slice"} <= set(fields)
        data.first()["note"] = "it can be edited"
    finally:
        data.delete()


# --- cleanlab.
def test_cleanlab_takes_the_clusters():
    package("cleanlab"), package("datasets")           # Datalab needs both
    from cleanlab import Datalab
    feature, target, probs, blind = planted()
    found = spotter.PlaneSpot(reduce="pca", device="cpu", threads=1).fit(feature, target, probs)
    ids = found.cluster_ids()
    assert ids.dtype == np.int64 and ids.shape == target.shape and (ids == found.labels_).all()
    lab = Datalab({"y": target}, label_name="y", verbosity=0)
    lab.find_issues(pred_probs=probs.astype(np.float64), issue_types={"underperforming_group": {"cluster_ids": ids}})
    issues = lab.get_issues("underperforming_group")
    worst = max(found.slices_, key=lambda s: s.error_rate)
    assert set(np.flatnonzero(issues.is_underperforming_group_issue)) == set(worst.rows) == set(np.flatnonzero(blind))


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_") and any(part in name for part in sys.argv[2:] or [""]):
            try:
                test()
                print("ok", name)
            except Skip as why:
                print("skipped", name, why)
