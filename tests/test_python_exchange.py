"""test_python_exchange.py SPOTTER: run by test_python.sh in an empty folder. What other programs read of Spotter: the schema of
slices.json. A test whose package is not installed is skipped."""
import copy
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

import spotter

program = sys.argv[1]


class Skip(Exception):
    """A package is not installed."""


def package(name):
    """The module."""
    try:
        return __import__(name)
    except ImportError:
        raise Skip(f"no {name}") from None


def planted(n=600, d=12, seed=0):
    """Three classes; a place of class 1 is taken for class 2."""
    rng = np.random.default_rng(seed)
    target, place = rng.integers(0, 3, n), rng.integers(0, 3, n)
    feature = rng.normal(0, 0.3, (n, d)).astype(np.float32)
    feature[np.arange(n), 3 * place + target] += 4
    blind = (target == 1) & (place == 2)
    probs = np.full((n, 3), 0.05) + 0.85 * np.eye(3)[np.where(blind, 2, target)]
    return feature, target, probs.astype(np.float32), blind


def raises(words, call, kind=spotter.InputError):
    try:
        call()
    except kind as e:
        assert words in str(e), f"{words!r} is not in {e!s}"
        return e
    raise AssertionError(f"nothing was raised; {words!r} was to be")


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
         ("findings/0/slices/0/proof/pieces/0/judged", 0), ("findings/0/slices/0/proof/excess", None)]


def test_the_schema_refuses_wrong_documents():
    right = written("right", proof="cross")
    assert faults(right) == []
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


if __name__ == "__main__":
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            try:
                test()
                print("ok", name)
            except Skip as why:
                print("skipped", name, why)
