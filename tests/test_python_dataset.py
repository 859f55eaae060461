"""test_python_dataset.py SPOTTER: python3 -m spotter.dataset. Run by test_python.sh and test_python_exchange.sh in an empty
folder; a test of tables is skipped where there is no pyarrow."""
import csv
import io
import json
import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np

import spotter
from python_checks import Skip, package, raises
from spotter.dataset import class_words, export, main

program = sys.argv[1]


def png(i, side=12):
    """A picture of one colour, by PNG's own form."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    line = b"\0" + bytes([i % 256, 40, 255 - i % 256]) * side
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + \
        chunk(b"IDAT", zlib.compress(line * side)) + chunk(b"IEND", b"")


def put(path, data=b""):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_of(folder):
    with open(Path(folder) / "rows.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def listed(folder, records, form="csv"):
    """A folder of pictures 0.png, 1.png ... with metadata of these records."""
    for i in range(len(records)):
        put(f"{folder}/{i}.png", png(i))
    records = [{"file_name": f"{i}.png", **one} for i, one in enumerate(records)]
    if form == "jsonl":
        put(f"{folder}/metadata.jsonl", "".join(json.dumps(one) + "\n" for one in records))
        return
    text = io.StringIO()
    out = csv.DictWriter(text, list(records[0]))
    out.writeheader()
    out.writerows(records)
    put(f"{folder}/metadata.csv", text.getvalue())


# --- Classes.
def test_words_keep_the_order_of_the_classes():
    assert class_words(["cat", "dog", "owl"]) == ["cat", "dog", "owl"] and class_words([]) == []
    assert class_words(["owl", "cat"]) == ["0 owl", "1 cat"]
    assert class_words([str(i) for i in range(12)])[9:11] == ["09 9", "10 10"]
    for odd in ("a/b", "=b", "../b", ".b", "None", "nan", " b", "b\n", "\udc80", "", "x" * 300):
        words = class_words(["a", odd])
        assert words[0] == "0 a" and words[1].startswith("1") and "/" not in words[1] and len(words[1].encode()) < 200, odd
    many = class_words([f"{i % 7} of {i}" for i in range(1000)])
    assert many == sorted(many, key=str.encode) and len(set(many)) == 1000


# --- Lists.
def test_a_list_becomes_folders_that_commands_take():
    listed("birds/train", [{"label": i % 12, "hour": -i, "site": "=x" if i else "y"} for i in range(240)])
    listed("birds/test", [{"label": "owl"}, {"label": "cat"}], "jsonl")
    raises("has the splits test, train; name one", lambda: export("birds", "out"))
    raises("no split 'val'", lambda: export("birds", "out", "val"))
    assert not Path("out").exists()
    made = export("birds", "out", "train")
    assert (made.n, made.classes, made.empty) == (240, [f"{i:02d}" for i in range(12)], [])
    rows = rows_of("out")
    assert [r["label"] for r in rows] == [f"{i % 12:02d}" for i in range(240)] and rows[3]["hour"] == "-3"
    assert rows[0]["site"] == "y" and rows[1]["site"] == "'=x"
    assert all((Path("out/images") / r["file"]).read_bytes() == png(i) for i, r in enumerate(rows))
    assert export("birds/test/metadata.jsonl", "test").classes == ["cat", "owl"]
    assert export("birds", "flat", "test", label="none").classes == [] and Path("flat/images/000001.png").is_file()
    subprocess.run([program, "embed", "--model", "neutral", "--images", "out/images", "--out", "e.npy"], check=True,
                   capture_output=True)
    assert np.load("e.npy").shape[0] == 240
    np.save("p.npy", np.eye(12)[np.arange(240) % 5])
    subprocess.run([program, "discover", "out/rows.yaml", "--embed", "neutral", "--probs", "p.npy", "--no-report", "--out",
                    "found"], check=True, capture_output=True)
    assert json.loads(Path("found/slices.json").read_text())["subject"]["class_names"] == made.classes


def test_what_is_there_stays():
    listed("three", [{"label": "a"}] * 3)
    put("taken/mine", "mine")
    raises("is there already", lambda: export("three", "taken"))
    raises("is there already", lambda: export("three", "taken/mine"))
    put("three/2.png", b"\0\0\0\x20ftypavif")
    raises("row 2: its picture is none of PNG", lambda: export("three", "made"))
    os.remove("three/1.png")
    raises("row 1: cannot read", lambda: export("three", "made"))
    assert Path("taken/mine").read_text() == "mine" and not [p for p in os.listdir(".") if "made" in p]
    Path("empty").mkdir()
    listed("three", [{"label": "a"}] * 3)
    assert export("three", "empty").n == 3


def test_names_do_not_lead_out():
    listed("names/in", [{"label": "a"}])
    put("names/else.png", png(9))
    for name in ("../else.png", str(Path("names/else.png").resolve())):
        put("names/in/metadata.csv", f"file_name,label\n{name},a\n")
        raises("leads out of", lambda: export("names/in", "led"))
    os.symlink("../else.png", "names/in/link.png")
    put("names/in/metadata.csv", "file_name,label\nlink.png,a\n")
    raises("--follow-links allows it", lambda: export("names/in", "led"))
    assert not Path("led").exists() and export("names/in", "led", follow_links=True).n == 1


def test_lists_that_cannot_be_read_say_so():
    put("odd/0.png", png(0))
    for text, words in (("file,label\n0.png,a\n", "no column 'file_name' for the image"),
                        ("file_name,label,labels\n0.png,a,b\n", "name one with --label"),
                        ("file_name,label\n\xff\n", "is no list of records")):
        put("odd/metadata.csv", text.encode("latin-1"))
        raises(words, lambda: export("odd", "none"))
    raises("there is no nowhere", lambda: export("nowhere", "none"))
    os.remove("odd/metadata.csv")
    for text, words in (("[1]\n", "a line that is no record"), ("{\n", "is no list of records"),
                        ('{"file_name": 3, "label": "a"}\n', "row 0 has no picture"),
                        ('{"file_name": "0.png", "label": [1]}\n', "neither words nor numbers"),
                        ('{"file_name": "0.png", "label": 0.5}\n', "neither all words nor all whole numbers"),
                        ('{"file_name": "0.png", "label": null}\n', "the label None in 'label', which is no class")):
        put("odd/metadata.jsonl", text)
        raises(words, lambda: export("odd", "none"))
    os.remove("odd/metadata.jsonl")
    raises("give it to --images", lambda: export("odd", "none"))
    assert main(["odd", "--out", "none"]) == 3 and not Path("none").exists()


# --- Tables.
def table(pa, n, names=("owl", "cat", "dog"), path_only=None):
    features = {"image": {"_type": "Image"}, "label": {"names": list(names), "_type": "ClassLabel"}}
    pictures = [{"bytes": None, "path": path_only} if path_only else {"bytes": png(i), "path": "x.png"} for i in range(n)]
    made = pa.table({"image": pa.array(pictures, pa.struct([("bytes", pa.binary()), ("path", pa.string())])),
                     "label": pa.array(np.arange(n) % len(names)), "hour": pa.array(np.arange(n) / 2),
                     "e": pa.array([[float(i)] for i in range(n)])})
    return made.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def hub(pa, parquet, name, commits):
    """The cache of huggingface_hub: snapshots are links to blobs."""
    top = Path(name) / "datasets--me--birds"
    (top / "blobs").mkdir(parents=True)
    for commit, sizes in commits.items():
        (top / "snapshots" / commit / "data").mkdir(parents=True)
        for split, n in sizes.items():
            blob = f"{commit}{split}"
            parquet.write_table(table(pa, n), top / "blobs" / blob)
            os.symlink(f"../../../blobs/{blob}", top / "snapshots" / commit / "data" / f"{split}-00000-of-00001.parquet")
    return top


def test_the_cache_of_the_hub_is_read():
    pa, parquet = package("pyarrow"), package("pyarrow.parquet").parquet
    top = hub(pa, parquet, "hub", {"aa": {"train": 9, "test": 70}, "bb": {"test": 4}})
    raises("holds 2 snapshots; give one of them: aa, bb", lambda: export(top, "h1", "test"))
    raises("holds 2 snapshots", lambda: spotter.read_rows(top, "e", split="test"))
    put(top / "refs/main", "aa\n")
    made = export(top, "h1", "test")
    rows = rows_of("h1")
    assert made.n == 70 and made.classes == ["0 owl", "1 cat", "2 dog"] and rows[68]["hour"] == "34.0" and "e" not in rows[0]
    assert all((Path("h1/images") / r["file"]).read_bytes() == png(i) for i, r in enumerate(rows))
    assert export(top / "snapshots/bb", "h2").n == 4
    assert len(spotter.read_rows(top, "e", "label", split="train").targets) == 9
    parquet.write_table(table(pa, 2), "outside.parquet")
    os.symlink("../../../../../outside.parquet", top / "snapshots/bb/data/more-00000-of-00001.parquet")
    for call in (lambda: export(top / "snapshots/bb", "h3", "more"),
                 lambda: spotter.read_rows(top / "snapshots/bb", "e", split="more")):
        raises("leads out of", call)
    pictures = Path("hub2/datasets--me--seen")             # a folder of pictures in the cache
    put(pictures / "blobs/b0", png(0))
    put(pictures / "blobs/b1", "file_name,label\n0.png,owl\n")
    (pictures / "snapshots/cc").mkdir(parents=True)
    os.symlink("../../blobs/b0", pictures / "snapshots/cc/0.png")
    os.symlink("../../blobs/b1", pictures / "snapshots/cc/metadata.csv")
    assert export(pictures, "h4").n == 1


def test_splits_are_not_joined():
    pa, parquet, ipc = package("pyarrow"), package("pyarrow.parquet").parquet, package("pyarrow.ipc").ipc
    cache = Path("arrow/birds/default/0.0.0/0123")         # as datasets keeps what it made
    cache.mkdir(parents=True)
    for name, n in (("train", 6), ("odd_one", 3), ("cache-0123", 50)):
        file = cache / ((name if name[:5] == "cache" else f"birds-{name}") + ".arrow")
        with ipc.new_stream(str(file), table(pa, 1).schema) as out:
            out.write_table(table(pa, n))
    put(cache / "dataset_info.json", json.dumps({"splits": {"train": {}, "odd_one": {}}}))
    Path("flat_files").mkdir()
    for split, n in (("train", 6), ("test", 3)):
        parquet.write_table(table(pa, n), f"flat_files/{split}.parquet")
        parquet.write_table(table(pa, n), put(f"by_folder/{split}/0000.parquet"))
    for source, split in (("arrow", "odd_one"), (cache, "odd_one"), ("flat_files", "test"), ("by_folder", "test")):
        raises("name one, such as split=", lambda: spotter.read_rows(source, "e"))
        assert len(spotter.read_rows(source, "e", split=split).embeddings) == 3, source
    assert export("arrow", "a1", "odd_one").n == 3
    parquet.write_table(table(pa, 3), put("two/a/test-00000-of-00001.parquet"))
    parquet.write_table(table(pa, 3), put("two/b/test-00000-of-00001.parquet"))
    raises("the split test in 2 folders; give one of them: a, b", lambda: spotter.read_rows("two", "e"))
    parquet.write_table(table(pa, 3), "flat_files/more.parquet")
    raises("more.parquet of no split", lambda: spotter.read_rows("flat_files", "e"))
    put("saved/state.json", json.dumps({"_data_files": [{"filename": "../arrow/birds/default/0.0.0/0123/birds-train.arrow"}]}))
    raises("which is no file of its folder", lambda: spotter.read_rows("saved", "e"))


def test_tables_say_what_they_lack():
    pa, parquet = package("pyarrow"), package("pyarrow.parquet").parquet
    parquet.write_table(table(pa, 4).select(["label", "e"]), "blind.parquet")
    raises("no column of pictures; it has label, e", lambda: export("blind.parquet", "none"))
    two = table(pa, 4, ("a", "b", "c", "d", "e"))
    parquet.write_table(two, "five.parquet")
    made = export("five.parquet", "five")
    assert made.empty == ["e"] and made.n == 4
    parquet.write_table(two.append_column("other", two.column("image")).replace_schema_metadata(None), "both.parquet")
    raises("name one with --image", lambda: export("both.parquet", "none"))
    assert export("both.parquet", "both", image="other", label="label").classes == ["0", "1", "2", "3"]
    hidden = two.set_column(1, "label", pa.array([0, 1, -1, 2])).replace_schema_metadata(two.schema.metadata)
    parquet.write_table(hidden, "hidden.parquet")
    raises("row 2 has the label -1 in 'label', which is no class", lambda: export("hidden.parquet", "none"))
    put("secret.png", png(1))
    parquet.write_table(table(pa, 1, path_only=str(Path("secret.png").resolve())), put("names/paths/x.parquet"))
    raises("--follow-links allows it", lambda: export("names/paths", "none"))
    assert export("names/paths", "paths", follow_links=True).n == 1


def test_without_pyarrow_a_sentence_tells():
    try:
        import pyarrow
    except ImportError:
        put("needs/x.parquet", "x")
        assert main(["needs", "--out", "none"]) == 3
        raises("pip install pyarrow", lambda: export("needs", "none"), ImportError)
    else:
        raise Skip(f"pyarrow {pyarrow.__version__} is installed")


if __name__ == "__main__":
    os.mkdir("data_sets")                              # what other tests leave is not in the way
    os.chdir("data_sets")
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print("ok", name)
            except Skip as why:
                print("skipped", name, why)
