"""world_files.py: a finished world (a run of `spotter background` with its variants) as one small file, for bench/worlds.py.

keep(RUN, FILE.tar.xz) packs what bench/worlds.py reads of a world, unpacked(FILE, TOP) makes a run directory of it again, from
which every mode prints the same lines. The file has, of each suite and kernel:
config.yaml             as it is; of the world also zoo/truth.csv
looks.json              of background.json: the suite, and of each model accuracy, worst case, BG-gap and coverage, as they are
matrices.planes         the matrices' features as 32-bit floats, which all forests and AdaBoost make of them: features by
                        models, first the lowest bytes of all numbers, at last the highest ones, which compress best apart
segments, suites        of the run and of its other kernels, as they are: `spotter verdict` reads them, and no
                        matrices.planes is needed. Of other suites of choice random without a test of realness: the distances
responses               of the same. `spotter verdict` opens these files, but its answer has no more of them than the BG-gap's
                        words. So they have the answers to mixed-same and mixed-rand; other sets are said to lack (-2), and
                        answers to the suite, signals and matrices are 0: tables, pages and maps cannot be made of such a run.
"""
import glob
import io
import json
import lzma
import os
import re
import sys
import tarfile

import numpy as np

import tensors
from world_runs import NUMBERS, World

MIXED = slice(3, 5)                 # columns of the responses' tensor "derived": mixed-same, mixed-rand
PRESET = 6 | lzma.PRESET_EXTREME    # a window of 8 MB: members are sorted so that equal ones are near each other


def read(path):
    with open(path, "rb") as file:
        return file.read()


# ---- packing ----

def short_responses(path):
    answer, derived, signal = [x.copy() for x in tensors.read(path, "answer", "derived", "signal")]
    mixed = derived[:, MIXED].copy()
    derived[:], answer[:], signal[:] = -2, 0, 0
    derived[:, MIXED] = mixed
    return tensors.packed(answer=answer, derived=derived, matrix=np.zeros((len(signal), 2, 2), "<f4"),
                          own=np.zeros((len(answer), 0), "<i4"), signal=signal, weight=np.zeros((2, 2), "<f4"))


def features_of(segments):
    """{model: its features}"""
    rows = [json.loads(text)["segment"] for text in segments]
    return {row["name"]: [v for m in row["matrices"] if m["there"] for v in m["features"]] for row in rows}


def looks_of(folder):
    with open(os.path.join(folder, "background.json")) as file:
        told = json.load(file)
    models = told["models"]
    return {**{key: told.get(key) for key in ("spotter", "numbers", "suite")}, "models": [m["model"] for m in models],
            **{key: [(m.get(key) or {}).get("value") for m in models] for key in NUMBERS},
            "above": [c["above"] for c in models[0]["neuron_coverage"]],
            "coverage": [list(share) for share in zip(*[[c["share"] for c in m["neuron_coverage"]] for m in models])]}


def members_of(world, looks, asked):
    """{path within looks.folder: bytes}; asked: spotter verdict reads it"""
    folder, found = looks.folder, {"config.yaml": read(os.path.join(looks.folder, "config.yaml"))}
    found["looks.json"] = json.dumps(looks_of(folder), separators=(",", ":")).encode()
    suite = f"suites/{looks.suite['key']}.safetensors"
    if asked:
        for k in range(len(world.names)):
            name = f"{k // 1000:03d}/model-{k:06d}"
            for path in (f"segments/{name}.json", f"responses/{name}.safetensors"):
                if not os.path.exists(os.path.join(folder, path)):
                    sys.exit(f"worlds: {folder} has no {path}, which spotter verdict reads")
            found[f"segments/{name}.json"] = read(os.path.join(folder, f"segments/{name}.json"))
            found[f"responses/{name}.safetensors"] = short_responses(os.path.join(folder, f"responses/{name}.safetensors"))
        features = features_of(text for path, text in found.items() if path.startswith("segments/"))
        if [features.get(name) for name in looks.names] != looks.matrices.tolist():
            sys.exit(f"worlds: {folder}: background.json and the segments have other features; `spotter background` with the "
                     "same config writes it again")
        found[suite] = read(os.path.join(folder, suite))
        return found
    found["matrices.planes"] = np.ascontiguousarray(looks.matrices.T, "<f4").view(np.uint8).reshape(-1, 4).T.tobytes()
    if looks.config["suite"]["choice"] == "random" and float(looks.config["suite"]["realness"]) == 0:
        distance, = tensors.read(os.path.join(folder, suite), "distance")
        found[suite] = tensors.packed(distance=distance.astype("<f4"))
    return found


def keep(run, file):
    """writes the file whole or not at all"""
    if os.path.lexists(file):
        sys.exit(f"worlds: {file} is there; a kept world is not written again: remove it or give another name")
    if not os.path.exists(os.path.join(run, "background.json")):
        sys.exit(f"worlds: {run} has no background.json: it is no run directory of `spotter background`, or it is not done")
    world = World(run)
    for name in [entry["name"] for entry in world.config.get("vary", [])]:
        if name not in world.variants:
            sys.exit(f"worlds: {run}: variant {name} is not done; the run's command continues it")
    asked, members = [world, *world.kernels().values()], {"zoo/truth.csv": read(os.path.join(run, "zoo", "truth.csv"))}
    for looks in [world, *world.variants.values()]:
        for path, data in members_of(world, looks, looks in asked).items():
            members[os.path.normpath(os.path.join(os.path.relpath(looks.folder, run), path))] = data
    with tarfile.open(file + ".part", "w:xz", preset=PRESET) as tar:
        for path in sorted(members, key=lambda p: (os.path.basename(p), p)):
            entry = tarfile.TarInfo(path)
            entry.size = len(members[path])
            tar.addfile(entry, io.BytesIO(members[path]))
    os.rename(file + ".part", file)
    models, settings, size = len(world.names), 1 + len(world.variants), os.path.getsize(file)
    print(f"{file}: {models} models, {settings} suites and kernels, {size} bytes, {size / models / settings:.0f} for each pair")


# ---- unpacking ----

def write_background(folder):
    """background.json from looks.json"""
    with open(os.path.join(folder, "looks.json")) as file:
        looks = json.load(file)
    names, planes = looks["models"], os.path.join(folder, "matrices.planes")
    if os.path.exists(planes):
        x = np.frombuffer(read(planes), np.uint8).reshape(4, -1).T.copy().view("<f4").reshape(-1, len(names)).T.tolist()
    else:
        features = features_of(map(read, glob.glob(os.path.join(glob.escape(folder), "segments", "*", "*.json"))))
        x = [features[name] for name in names]
    models = [{"model": name, **{key: {"value": looks[key][i]} for key in NUMBERS},
               "neuron_coverage": [{"above": a, "share": s[i]} for a, s in zip(looks["above"], looks["coverage"])],
               "matrices": [{"features": dict(enumerate(x[i]))}]} for i, name in enumerate(names)]
    with open(os.path.join(folder, "background.json"), "w") as file:
        json.dump({"numbers": looks["numbers"], "suite": looks["suite"], "models": models}, file)


def unpacked(file, top):
    """a run directory within top, whose name is the file's"""
    folder = os.path.join(top, os.path.basename(file).removesuffix(".tar.xz"))
    try:
        with tarfile.open(file, "r:xz") as tar:
            for entry in tar:
                parts = entry.name.split("/")
                if not entry.isreg() or {".", ".."} & set(parts) or not all(re.fullmatch(r"[\w.-]+", part) for part in parts):
                    sys.exit(f"worlds: {file}: {entry.name!r} is no plain file within a run")
                path = os.path.join(folder, entry.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as out:           # and not tar.extract, which filters names since Python 3.12 only
                    out.write(tar.extractfile(entry).read())
    except (tarfile.TarError, lzma.LZMAError, EOFError) as why:
        sys.exit(f"worlds: {file} is no run directory and no file that `bench/worlds.py keep` made: {why}")
    looks = glob.glob(os.path.join(glob.escape(folder), "**", "looks.json"), recursive=True)
    if os.path.join(folder, "looks.json") not in looks:
        sys.exit(f"worlds: {file} is no file that `bench/worlds.py keep` made: it has no looks.json")
    for path in looks:
        write_background(os.path.dirname(path))
    return folder
