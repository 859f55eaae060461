"""test_python_nonsense.py: run by test_python.sh in an empty folder. Every keyword of every public function, given what it
cannot use, is refused by a sentence that names it, or is used; no traceback of numpy, ctypes or torch comes out."""
import inspect
import traceback
import warnings
from pathlib import Path

import numpy as np

import spotter
from python_checks import Skip, package, planted, raises

warnings.simplefilter("ignore")

NAN, INF = float("nan"), float("inf")
NONSENSE = (NAN, INF, -INF, -1, 0.5, 2 ** 70, "x", "", "a\0b", "\ud800", b"\xff", None, True, object(), [], [1, 2], ["x"],
            (NAN,), {"a": 1}, np.arange(3), np.full((2, 2), NAN), np.array("x"), np.float32("nan"), 1j,
            Path("nowhere"), len, range(0))

FEW = (NAN, -1, "\ud800", "a\0b", None, object(), [1, 2], np.arange(3))        # of calls that take long


def short(value):
    return " ".join(repr(value).split())[:60]


def told(call, name, value, failed):
    """Runs it; what is raised must be spotter's own."""
    try:
        call()
    except spotter.SpotterError as e:
        if not str(e):
            failed.append(f"{name}={short(value)}: an error without a sentence")
    except MemoryError:
        pass
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1]
        failed.append(f"{name}={short(value)}: {type(e).__name__}: {str(e)[:90]} ({Path(where.filename).name}:{where.lineno})")


def every_keyword(function, base, without=(), extra=(), values=NONSENSE):
    """Failures of a call whose other arguments are good."""
    failed = []
    names = [n for n, p in inspect.signature(function).parameters.items()
             if n not in ("self", *without) and p.kind != p.VAR_KEYWORD]
    for name in (*names, *extra):
        for value in values:
            given = {**base(), name: value}
            told(lambda: function(**given), name, value, failed)
    assert not failed, f"{getattr(function, '__qualname__', function)}: {len(failed)} failures\n" + "\n".join(failed)


def refused(function, base, table):
    """Each of these values is refused by a sentence that names the keyword."""
    for name, values in table.items():
        for value in values:
            raises(name.rstrip("_"), lambda: function(**{**base(), name: value}))


FEATURE, TARGET, PROBS, _ = planted(120, 12)


def rows():
    return {"embeddings": FEATURE, "labels": TARGET, "probs": PROBS, "method": "ward", "least": 5, "device": "cpu",
            "threads": 1}


def test_discover():
    every_keyword(spotter.discover, rows, without=("verbose",))
    numbers = (NAN, INF, -1, "x", np.arange(3), 1j)
    refused(spotter.discover, rows, {name: numbers for name in ("least", "top", "threads", "chance", "holdout", "level")})
    refused(spotter.discover, lambda: {**rows(), "out": "never"}, dict.fromkeys(("max_seconds", "starts", "budget"), numbers))
    refused(spotter.discover, rows, {"class_": (np.arange(3), 1.5, [1], NAN), "proof": (0.3, "cross", np.arange(3)),
                                     "seed": (np.full((2, 2), NAN), 1j), "memory": ("1e400", 2.0 ** 70, NAN, np.arange(3)),
                                     "config": ("nowhere.yaml", "", 5), "fit": ("x", np.arange(3)), "skip_bad_rows": ("x",),
                                     "method": (np.arange(3), 1j)})
    refused(spotter.discover, lambda: {**rows(), "images": "photos"},
            {"resize": (*numbers, 1 << 20), "crop": (*numbers, 0, 1 << 20), "exif": (np.arange(3), 5),
             "pillow": (np.arange(3), 11)})
    told_by = lambda: {**rows(), "images": ["a.png"] * 120, "describe": "nowhere.safetensors", "words": ["a"]}
    refused(spotter.discover, told_by, {"embed_end_token": ("x", NAN, -1, 1.5, np.arange(3)),
                                        "embed_heads": ("x", 0, [], [1, 2, 3], NAN),
                                        "embed_activation": (5, np.arange(3)), "embed_precision": (5, np.arange(3)),
                                        "phrases": (*numbers, 0), "words": ("nowhere.txt", np.full((2, 2), NAN))})
    assert not Path("never").exists()


def test_a_claim():
    found = spotter.discover(**rows(), attributes={"a": [i % 2 for i in range(120)]})
    every_keyword(found.claim, lambda: {"rule": "a=0"})
    refused(found.claim, lambda: {"rule": "a=0"}, {
        "level": (2, 0, -0.1, NAN, "x", np.arange(3)), "seed": (-1, 0.5, NAN, 2 ** 64, "x"), "new": ("x", np.arange(3)),
        "rule": (5, None, b"a=0")})


def test_what_is_found():
    found = spotter.discover(**rows(), proof=False, ids=[f"r{i}" for i in range(120)])
    every_keyword(found.assign, lambda: {"embeddings": FEATURE, "labels": TARGET, "probs": PROBS})
    for call, given in ((found.save, {"out": "saved", "report": False}), (found.report, {"path": "page.html"}),
                        (found.write, {"folder": "saved"}), (found.to_parquet, {"path": "rows.parquet"}),
                        (found.to_fiftyone, {"folder": "boxes"})):
        every_keyword(call, lambda: given, values=FEW)
    refused(found.report, lambda: {"path": "page.html"}, {
        "budget": (NAN, -1, 0, "x", np.arange(3)), "full": ("x",), "matte": (5,), "title": (np.arange(3), "\ud800", "a\0b"),
        "replace": ("x",)})
    words = np.eye(12, dtype=np.float32)
    new = lambda: {"embeddings": FEATURE, "targets": TARGET, "probs": PROBS, "text": "a", "text_embedding": words[0]}
    every_keyword(found.gather_rows, new)
    refused(found.gather_rows, new, {"most": (0, -1, NAN, "x"), "seed": (-1, NAN), "level": (NAN, 2),
                                     "slice": (NAN, "x", 0)})
    every_keyword(found.gather, lambda: {"images": ".", "embed": "nowhere.safetensors", "text": "a"})
    claim = found.gather_rows(**new())
    every_keyword(claim.judge, lambda: {"wrong": [0] * len(claim.pictures)})
    every_keyword(claim.report, lambda: {"path": "claim.html"}, values=FEW)


def test_methods():
    base = lambda: {"embeddings": FEATURE, "targets": TARGET, "probs": PROBS}
    every_keyword(spotter.Ward(threads=1).fit, base)
    for cls in (spotter.Ward, spotter.Spotlight):
        every_keyword(lambda **given: cls(**given).fit(FEATURE, TARGET, PROBS), lambda: {"least": 5, "threads": 1},
                      extra=list(inspect.signature(cls).parameters), values=FEW)
    fit = lambda **given: spotter.Ward(**{"threads": 1, **given}).fit(FEATURE, TARGET, PROBS)
    refused(fit, dict, {"seed": (NAN, -1, "x"), "threads": (NAN, -1, "x"), "least": (NAN, 0, "x"), "chance": (NAN, "x"),
                        "proof": ("x", NAN, np.arange(3)), "target_class": (NAN, np.arange(3), [1])})
    found = spotter.Ward(threads=1).fit(FEATURE, TARGET, PROBS)
    for call in (found.predict, found.score):
        every_keyword(call, base)
    every_keyword(found.describe, lambda: {"words": list("abcdefghijkl"), "word_embeddings": np.eye(12, dtype=np.float32)})


def test_versions():
    base = lambda: {"embeddings": FEATURE, "targets": TARGET, "probs_v1": PROBS, "probs_v2": PROBS,
                    "method": spotter.Ward(threads=1)}
    every_keyword(spotter.compare, base, values=FEW)
    refused(spotter.compare, base, {"margin": (NAN, -1, "x"), "level": (NAN, 2, "x"), "names": (5, "x", ["a"]),
                                    "method": (5, "x"), "guards": (5, "x", {"a": 5}, {"a": TARGET}, {"a": (TARGET == 0, 2)}),
                                    "retrain": (5, "x", PROBS, [PROBS[1:]]), "embeddings_v2": (5, "x", FEATURE[1:]),
                                    "neutral": (5, "x", NAN)})


def test_a_detector():
    image = {"images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9}], "categories": [{"id": 1, "name": "cat"}],
             "annotations": [{"id": k, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]} for k in range(2)]}
    said = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.9}]
    base = lambda: {"ground_truth": image, "detections": said, "threads": 1}
    every_keyword(spotter.detections, base)
    refused(spotter.detections, base, {"iou": (NAN, 0, 2, "x"), "score": (NAN, 1, "x"), "context": (NAN, -1, "x"),
                                       "rows": (5, np.arange(3)), "threads": (NAN, -1), "skip_unreadable": ("x",)})
    every_keyword(spotter.discover, lambda: {"coco": image, "detections": said, "rows_only": True}, without=("verbose",))


def test_scenes():
    every_keyword(lambda **given: spotter.scene.Scene(**given), lambda: {"seed": 1},
                  extra=("seed", "ec", "size", "blindspots", "rollable"))
    one = spotter.scene.Scene(seed=1, size=32)
    for call in (one.arrays, one.labels, one.train_labels):
        every_keyword(call, lambda: {"indices": [0]})
    every_keyword(one.length, lambda: {})
    refused(spotter.scene.Scene, dict, {"seed": (-1, NAN, "x"), "ec": (-1, NAN, "x", 2 ** 32)})


def test_studies():
    predict = lambda rgb: np.zeros((len(rgb), 2), np.float32)
    photos = lambda: {"predict": predict, "images": "nowhere", "backgrounds": "nowhere", "masks": "nowhere"}
    every_keyword(lambda **given: spotter.Background(**given).run("background"), photos,
                  extra=[n for n in inspect.signature(spotter.Background).parameters if n != "verbose"])
    every_keyword(lambda **given: spotter.Examine(**given).run("examine"), lambda: {"predict": predict, "objects": "nowhere"},
                  extra=[n for n in inspect.signature(spotter.Examine).parameters if n != "verbose"])
    every_keyword(spotter.Background(**photos()).run, dict)


def test_tables():
    pandas = package("pandas")
    frame = pandas.DataFrame({"e": list(FEATURE), "y": TARGET, "p": PROBS[:, 1]})
    every_keyword(spotter.read_rows, lambda: {"source": frame, "embeddings": "e", "targets": "y", "probs": "p"})


def test_look():
    torch = package("torch")
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(12, 3))
    batches = [(torch.rand(9, 3, 2, 2), torch.arange(9) % 3)]
    every_keyword(spotter.look, lambda: {"model": net, "loader": batches})
    refused(spotter.look, lambda: {"model": net, "loader": "nowhere"}, {"batch_size": (0, NAN, "x"), "transforms": (5,)})


for name, test in list(globals().items()):
    if name.startswith("test_"):
        try:
            test()
            print("ok", name)
        except Skip as why:
            print(f"skipped: {name}: {why}")
