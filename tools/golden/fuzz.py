#!/usr/bin/env python3
"""Writes the seeds of fuzz targets that read what Spotter writes, or several files at once, into tests/fuzz/corpus_*.

    fuzz.py TESTS SPOTTER     (the folder tests, and a built program, which makes folders of findings)

Each seed is a good input or one that is wrong in a way of its own. What a fuzzer adds is named fuzz_*, and is left alone."""
import glob
import io
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np

TESTS, SPOTTER = sys.argv[1:]


def put(target, **seeds):
    folder = os.path.join(TESTS, "fuzz", "corpus_" + target)
    os.makedirs(folder, exist_ok=True)
    for path in glob.glob(folder + "/*"):
        if not os.path.basename(path).startswith("fuzz_"):
            os.unlink(path)
    for name, content in seeds.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)


def tensors(**named):
    """A safetensors file; a tensor is (dtype, shape, bytes) or an array."""
    types = {"f4": "F32", "f8": "F64", "i4": "I32", "i8": "I64", "u1": "U8"}
    header, data = {}, b""
    for name, t in named.items():
        if isinstance(t, np.ndarray):
            t = (types[t.dtype.str[1:]], list(t.shape), t.tobytes())
        header[name.replace("__", "/")] = {"dtype": t[0], "shape": t[1], "data_offsets": [len(data), len(data) + len(t[2])]}
        data += t[2]
    text = json.dumps(header, separators=(",", ":"))
    return struct.pack("<Q", len(text)) + text.encode() + data


def words(*texts):
    return np.frombuffer("".join(t + "\0" for t in texts).encode(), "u1")


# -- segments ------------------------------------------------------------------------------------------------------

METHOD = {"name": "planespot", "settings": "0" * 32, "status": "OK", "dr": 0.5, "fdr": None, "u": 1, "components": 3,
          "hypotheses": [{"size": 4, "score": 1.5, "mean_error": 0.25, "belongs": 0, "bp": [0.9, 0]}],
          "blindspots": [{"size": 5, "br": 0.8, "covered": True, "not_returned": None, "found": None, "merged": None,
                          "impure": None},
                         {"size": 3, "br": 0, "covered": False, "not_returned": 1, "found": 0, "merged": 0, "impure": 0}]}
SEGMENT = {"schema": 1, "index": 0, "seed": 18446744073709551615, "config": "1" * 32, "numbers": 4, "build": "0.1.0",
           "device": "cpu", "profile": "tmlr", "lambda_p": 0.8, "lambda_r": 0.8, "top": 10,
           "ec": {"layers": "square circle", "rollable": "square.size", "images": {"train": 8, "val": 4, "test": 4},
                  "blindspots": [{"specificity": 5, "is": "a"}, {"specificity": 6, "is": "b"}]},
           "status": "OK",
           "lesson": {"best_epoch": 1, "epochs": [{"train_loss": 0.5, "val_loss": 0.25}], "outside": 0.99,
                      "outside_count": 7, "inside": [0, 0.1], "inside_count": [3, 2], "learned": True},
           "methods": [METHOD, {"name": "barlow", "settings": "2" * 32, "embedding": "3" * 32, "status": "NUMERIC",
                                "message": "singular"}]}


def but(**changes):
    return json.dumps({**SEGMENT, **changes}, separators=(",", ":"))


put("segment", good=but(), failed=but(status="INPUT", message="no blindspot"),
    other_index=but(index=7), schema=but(schema=2), no_methods=but(methods=[]), methods_17=but(methods=[METHOD] * 17),
    index_huge=but(index=2 ** 40), seed_negative=but(seed=-1), status_unknown=but(status="FINE"), status_real=but(status=1.5),
    profile_unknown=but(profile="x"),
    epochs_201=but(lesson={**SEGMENT["lesson"], "epochs": [{"train_loss": 0, "val_loss": 0}] * 201}),
    inside_short=but(lesson={**SEGMENT["lesson"], "inside": [0]}), lambda_huge=but().replace("0.8", "8e999", 1),
    nested="[" * 600 + "]" * 600, twice=but()[:-1] + ',"index":3}', word_long=but(build="x" * 100), empty="", object="{}",
    whole='{"checksum":"0000000000000000","segment":{}}\n', whole_cut='{"checksum":"00', not_utf8=b'{"schema":"\xff"}')

# -- stage values --------------------------------------------------------------------------------------------------

MODEL, LESSON, SEEN, POINTS, FOUND, WHOLE = 0, 1, 2, 3, 4, 0x80


def value(kind, form, *numbers):
    return bytes([kind]) + struct.pack("<" + form, *numbers)


def lesson(epochs, learned, more=b""):
    """As struct spot_learning goes: epochs, best; 200 x 3 losses; outside, inside (8); counts; blindspots; learned."""
    return value(LESSON, "ii600dd8di8iiB", epochs, 1, *[0.5] * 600, 0.9, *[0.1] * 8, 5, *[2] * 8, 2, learned) + more


put("value",
    points=value(POINTS, "iid4f", 2, 2, 1.5, 1, 2, 3, 4), points_negative=value(POINTS, "iidf", -1, -1, 0, 1),
    points_short=value(POINTS, "iidf", 2, 2, 0, 1), points_huge=value(POINTS, "iid", 2 ** 31 - 1, 2 ** 31 - 1, 0),
    points_long=value(POINTS, "iid5f", 2, 2, 0, 1, 2, 3, 4, 5),
    found=value(FOUND, "iiidd2i", 1, 3, 2, 0.5, 0.25, 0, 1), found_none=value(FOUND, "ii", 0, 0),
    found_65=value(FOUND, "ii", 65, 0), found_negative=value(FOUND, "iiidd", 1, 0, -1, 0, 0),
    seen=value(SEEN, "ii2f1f1iii1I", 1, 2, 1, 2, 0.5, 0, 1, 1, 1),
    seen_head=value(SEEN, "ii2f1f1iii1I2f", 1, 2, 1, 2, 0.5, 0, 1, 1, 1, 3, 4),
    seen_negative=value(SEEN, "ii", -1, 2), seen_zero=value(SEEN, "iiii", 0, 0, 0, 0),
    model_short=value(MODEL, "iiqQ2f", 16, 1, 3, 2, 0.5, 0.25), model_huge=value(MODEL, "iiqQ", 16, 1, 3, 2 ** 62),
    lesson_short=value(LESSON, "ii", 3, 1), lesson=lesson(3, 1), lesson_robust=lesson(3, 1, struct.pack("<d", 0.5)),
    lesson_epochs=lesson(201, 1), lesson_learned=lesson(3, 2),
    seen_truth=value(SEEN, "ii2f1f1iii", 1, 2, 1, 2, 0.5, 0, 0, 1), empty=bytes([POINTS]), whole_empty=bytes([WHOLE | POINTS]),
    whole_magic=bytes([WHOLE | POINTS]) + b"SPOTVAL1" + bytes(16), whole_length=bytes([WHOLE]) + b"SPOTVAL1" + b"\xff" * 16)

# -- numbers -------------------------------------------------------------------------------------------------------

put("number", **{"n%02d" % i: text for i, text in enumerate(
    "0 -0 1 -1 +1 .5 5. 1e5 1E-5 1e+5 9007199254740993 9223372036854775807 -9223372036854775808 9223372036854775808 "
    "18446744073709551616 1e308 1e309 4.9e-324 2e-324 1e-400 nan -nan inf -Infinity 0x10 1e 1e+ . - 1.2.3 1_0 1e99999999999 "
    "0.1 123456789012345678901234567890 2.2250738585072011e-308 8.41e21 0000000000000000000000001e-5".split()
    + ["", " 1", "1 "])})

# -- embeddings ----------------------------------------------------------------------------------------------------

put("embedding", good=tensors(embedding=np.arange(6, dtype="f4").reshape(3, 2)),
    one_row=tensors(embedding=np.zeros((1, 2), "f4")), no_rows=tensors(embedding=np.zeros((0, 2), "f4")),
    no_columns=tensors(embedding=np.zeros((3, 0), "f4")), doubles=tensors(embedding=np.zeros((3, 2))),
    nan=tensors(embedding=np.full((3, 2), np.nan, "f4")), beyond=tensors(embedding=np.full((3, 2), 1e13, "f4")),
    vector=tensors(embedding=np.zeros(3, "f4")), other=tensors(features=np.zeros((3, 2), "f4")),
    deep=tensors(embedding=("F32", [1] * 8, b"\0" * 4)), none=tensors(), empty=b"")

# -- weights -------------------------------------------------------------------------------------------------------


def layout(width, outputs):
    """torchvision's ResNet-18: name and shape of its 122 tensors."""
    def norm(name, n):
        return [(name + "." + t, [n]) for t in ("weight", "bias", "running_mean", "running_var")] + \
               [(name + ".num_batches_tracked", [])]
    all = [("conv1.weight", [width, 3, 7, 7])] + norm("bn1", width)
    n = width
    for stage in range(4):
        for block in range(2):
            at, to = "layer%d.%d." % (stage + 1, block), width << stage
            all += [(at + "conv1.weight", [to, n, 3, 3])] + norm(at + "bn1", to)
            all += [(at + "conv2.weight", [to, to, 3, 3])] + norm(at + "bn2", to)
            if n != to:
                all += [(at + "downsample.0.weight", [to, n, 1, 1])] + norm(at + "downsample.1", to)
            n = to
    return all + [("fc.weight", [outputs, n]), ("fc.bias", [outputs])]


def weights(rows, odd=0):
    header, at = {}, 0
    for name, shape in rows:
        n = (4 if shape else 8) * int(np.prod(shape, dtype=int))
        header[name] = {"dtype": "F32" if shape else "I64", "shape": shape, "data_offsets": [at, at + n]}
        at += n
    text = json.dumps(header, separators=(",", ":")) + " " * odd
    return bytes([at & 255, at >> 8 & 255, at >> 16]) + text.encode() + b" " * ((len(text) + 3) % 2 ^ odd)


small = [("conv1.weight", [16, 3, 7, 7]), ("fc.weight", [1, 128])]
bare = [row for row in layout(16, 3) if row[1]]
put("weights", good=weights(layout(16, 2)), no_counts=weights(bare, 1), stem_only=weights(small[:1]), two_only=weights(small),
    width_8=weights([("conv1.weight", [8, 3, 7, 7]), small[1]]), rank=weights([("conv1.weight", [16]), small[1]]),
    other_shape=weights(small + [("bn1.weight", [8])]), one_more=weights(bare + [("x", [1])]), empty=b"")

# -- pictures and what is annotated in them ------------------------------------------------------------------------


def coco(pictures, categories=("cat", "dog", "car"), file="p"):
    animals = [{"id": i, "name": n, "supercategory": "vehicle" if n == "car" else "animal"} for i, n in enumerate(categories)]
    images = [{"id": i, "file_name": file, "width": 9, "height": 9} for i in range(len(pictures))]
    boxes = [{"id": 10 * i + k, "image_id": i, "category_id": c, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}
             for i, shown in enumerate(pictures) for k, c in enumerate(shown)]
    return json.dumps({"images": images, "categories": animals, "annotations": boxes}, separators=(",", ":"))


def photos(pool, tasks, against, induced, text):
    return bytes([pool]) + b"\0".join(t.encode() for t in (tasks, against, induced, text))


mixed = coco([[0], [1], [], [2], [0, 2], [1], [0], [2], []])
put("photos", general=photos(0, "animal", "", "", mixed), singles=photos(1, "animal, vehicle", "", "", mixed),
    number=photos(2, "animal", "", "cat, dog", mixed), specificity=photos(3, "animal", "", "cat", mixed),
    against=photos(0, "animal", "vehicle", "", mixed), against_itself=photos(0, "animal", "animal", "", mixed),
    no_task=photos(0, "animl", "", "", mixed), twice=photos(0, "animal,animal", "", "", mixed),
    commas=photos(0, ",, ,", "", ",,", mixed), tasks_17=photos(0, ",".join("abcdefghijklmnopq"), "", "", mixed),
    induced_unknown=photos(2, "animal", "", "cow", mixed), gone=photos(0, "animal", "", "", coco([[0], [], [1], []], file="q")),
    all_show=photos(0, "animal", "", "", coco([[0], [0], [1]])), none=photos(0, "animal", "", "", coco([])), empty=b"")

# -- subjects ------------------------------------------------------------------------------------------------------

LABELS_CSV, PROBS_CSV, LOSSES, IDS, KNOWN = 1, 2, 4, 8, 16


def npy(a):
    f = io.BytesIO()
    np.lib.format.write_array(f, np.asarray(a), version=(1, 0))
    whole = f.getvalue()                           # shorter: the header's padding is not asked for
    head = whole[10:10 + struct.unpack("<H", whole[8:10])[0]].rstrip() + b"\n"
    return whole[:8] + struct.pack("<H", len(head)) + head + whole[10 + struct.unpack("<H", whole[8:10])[0]:]


def subject(kind, ids, labels, probs, features):
    parts = [p.encode() if isinstance(p, str) else p for p in (ids, labels, probs, features)]
    return bytes([kind]) + b"".join(bytes([len(p)]) + p for p in parts[:3]) + parts[3]


features = npy(np.arange(6, dtype="f4").reshape(3, 2))
put("subject",
    words=subject(LABELS_CSV | PROBS_CSV, "", "y\ncat\ndog\ncat\n", "p\n0.9\n0.1\n1\n", features),
    numbers=subject(0, "", npy(np.array([0, 1, 2], "i1")), npy(np.eye(3, dtype="f4")), features),
    several=subject(0, "", npy(np.array([[0, 1], [1, 1], [0, 0]], "u1")), npy(np.full((3, 2), 0.5, "f4")), features),
    losses=subject(LABELS_CSV | LOSSES | IDS, "id\nx\ny\nx\n", "y\n0\n1\n1\n", npy(np.array([0, 1, 99], "f4")), features),
    ids_numbers=subject(LABELS_CSV | PROBS_CSV | IDS, "id\n1\n2\n3.5\n", "y\n0\n1\n1\n", "p\n0\n0\n1\n", features),
    known=subject(KNOWN | LABELS_CSV | PROBS_CSV, "", "y\ncat\ndog\ncat\n", "p\n0.9\n0.1\n1\n", features),
    known_other=subject(KNOWN | LABELS_CSV | PROBS_CSV, "", "y\ncow\ndog\ncat\n", "p\n0.9\n0.1\n1\n", features),
    class_huge=subject(PROBS_CSV, "", npy(np.array([0, 1, 99999], "i4")), "p\n0\n0\n1\n", features),
    class_beyond=subject(PROBS_CSV, "", npy(np.array([0, 1, 100000], "i4")), "p\n0\n0\n1\n", features),
    no_sum=subject(0, "", npy(np.array([0, 1, 1], "i1")), npy(np.full((3, 2), 0.4, "f4")), features),
    rows=subject(LABELS_CSV | PROBS_CSV, "", "y\n0\n1\n", "p\n0\n0\n1\n", features), empty=b"")

# -- logs ----------------------------------------------------------------------------------------------------------


def line(event, **more):
    return json.dumps({"time": "2026-11-21T18:00:00.125Z", "event": event, "ec": -1, **more}, separators=(",", ":")) + "\n"


START = line("start", shard=0, shards=2, **{"from": 0, "to": 5}, ecs=10, pid=1, config="1" * 32, host="host", job="12_3",
             build="b", device="cpu", unit="u", platform="p")
put("run_log", run=START + line("model", ec=3, seconds=1.5, kept=True) + line("end", status="OK", seconds=9),
    torn=START + START[:40], no_end=START[:-1], huge=line("done", ec=2 ** 40), other="[1,2]\n{}\nnull\n\n" + START,
    long=line("x" * 100, text="y" * 2000)[:900] + '"}\n', nul=b"\0\n" + START.encode(), deep="[" * 500 + "]" * 500 + "\n",
    empty="")

# -- command lines -------------------------------------------------------------------------------------------------

put("cli", **{"w%02d" % i: text.replace(" ", "\0") for i, text in enumerate([
    "sweep c.yaml --out d", "sweep c.yaml --out d --shard 0/4 --limit 2 --wave 3 --at-once 2 --json --no-pictures",
    "sweep c.yaml --out d --shard 4/4", "sweep c.yaml --out d --shard -1/4", "sweep c.yaml --out d --shard 99999999999/4",
    "sweep c.yaml --out d --threads 1025 --device cpu --log json", "sweep --shrad", "plan c.yaml", "plan a b", "swep",
    "discover --embeddings e --labels y --probs p --out d --method planespot,domino --seed 1,2,3 --memory 4GB",
    "discover --embeddings e --labels y --losses l --out d --memory 1e18GB --class 3 --least 5 --neighbours 3",
    "discover --out d --seed 1,1", "discover --out d --seed 18446744073709551616", "discover --out d --memory -1",
    "assign d --embeddings e --out f", "tables d --format json --all", "tables d e --table 2", "figures d --out f",
    "report d --out f.html", "scene c.yaml --ec 3 --split test --count 5 --out d", "scene c.yaml --ec -1 --out d",
    "view d --ec 0 --split train", "sweep c.yaml --limit 0", "sweep c.yaml --limit 1000001",
    "sweep c.yaml --limit +5 --out d",
    "merge a b --out c", "status d --json", "check a b --history h --commit c", "accept d --out b.json --reason r",
    "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 sweep c.yaml --out d",
    "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=999999 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_STEP=999999 sweep c --out d",
    "SLURM_ARRAY_TASK_ID=3 JOB_COMPLETION_INDEX=1 sweep c --out d", "JOB_COMPLETION_INDEX=1 sweep c --out d --shard auto/3",
    "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 sweep c.yaml --out d --max-seconds 60 --gpus all",
    "JOB_COMPLETION_INDEX=x sweep c --out d",
    "sweep c --out d --submit --gpus 0,1,1"])})

# -- folders of findings -------------------------------------------------------------------------------------------


def read_tensors(path):
    whole = open(path, "rb").read()
    n = struct.unpack("<Q", whole[:8])[0]
    return {name: (t["dtype"], t["shape"], whole[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]])
            for name, t in json.loads(whole[8:8 + n]).items() if name != "__metadata__"}


def slices(path):
    """What assign reads of slices.json."""
    whole = json.load(open(path))
    known = {k: whole["subject"][k] for k in ("features", "class_names")}
    findings = [{"method": f["method"], "class_number": f["class_number"], "seed": f["seed"], "slices": [0] * len(f["slices"])}
                for f in whole["findings"]]
    return json.dumps({"subject": known, "findings": findings}, separators=(",", ":"))


# As the configs of fuzz_fits.c.
CONFIGS = ["{method: planespot, reduce: pca, mixture: {k_max: 2}}", "{method: planespot, reduce: tsne, mixture: {k_max: 2}}",
           "{method: spotlight, top: 2}, {method: planespot, reduce: pca, mixture: {k_max: 2}}",
           "{method: domino, components: 4, dim: 2}",
           "{method: barlow, top: 2}", "{method: george, reduce: pca, clusters: 3}", "{method: multiaccuracy, reduce: none}"]


def discover(folder, bdms, *more):
    with open("bdms.yaml", "w") as f:
        f.write("bdms: [" + bdms + "]\n")
    subprocess.run([SPOTTER, "discover", "--embeddings", "e.npy", "--labels", "y.csv", "--probs", "p.npy", "--config",
                    "bdms.yaml", "--no-report", "--least", "5", "--out", folder, *more], check=True, stdout=subprocess.DEVNULL)


TESTS, SPOTTER = os.path.abspath(TESTS), os.path.abspath(SPOTTER)
with tempfile.TemporaryDirectory() as there:
    os.chdir(there)
    n, r = 24, np.random.default_rng(0)
    x = r.normal(size=(n, 3)).astype("f4")
    x[16:] += 5
    y = np.repeat([0, 1], n // 2)
    p = np.where(np.arange(2) == y[:, None], 0.9, 0.1).astype("f4")
    p[20:] = p[20:, ::-1]
    p[8:12] = p[8:12, ::-1]
    np.save("e.npy", x)
    np.save("p.npy", p)
    with open("y.csv", "w") as f:
        f.write("y\n" + "\n".join(["cat", "dog"][k] for k in y))
    fits, found = {}, {}
    for i, bdms in enumerate(CONFIGS):
        discover("f%d" % i, bdms, "--class", "all")
        kept, text = read_tensors("f%d/fit.safetensors" % i), slices("f%d/slices.json" % i)
        fits["config_%d" % i] = bytes([i]) + text.encode() + b"\0" + tensors(**kept)
        lost = sorted(kept)[0]
        fits["config_%d_lost" % i] = bytes([i]) + text.encode() + b"\0" + tensors(**{k: t for k, t in kept.items()
                                                                                   if k != lost})
        fits["config_%d_ones" % i] = bytes([i]) + text.encode() + b"\0" + tensors(
            **{k: (t[0], t[1], b"\xff" * len(t[2])) for k, t in kept.items()})
    base = fits["config_0"]
    fits["other_config"] = bytes([4]) + base[1:]
    fits["features_5"] = base.replace(b'"features":3', b'"features":5')
    fits["no_fit"] = base[:base.index(b"\0")]
    fits["deep"] = b"\0" + b"[" * 100 + b"\0"
    fits["empty"] = b""
    put("fits", **fits)
    discover("one", CONFIGS[0] + ", {method: domino, components: 4, dim: 2}")
    discover("all", CONFIGS[0], "--class", "all")
    np.save("several.npy", np.stack([y, 1 - y * 0], 1).astype("u1"))
    subprocess.run([SPOTTER, "discover", "--embeddings", "e.npy", "--labels", "several.npy", "--probs", "p.npy", "--config",
                    "bdms.yaml", "--no-report", "--least", "5", "--out", "several"], check=True, stdout=subprocess.DEVNULL)
    for name in ("one", "all", "several"):
        whole = read_tensors(name + "/subject.safetensors")
        found[name] = tensors(**whole)
        found[name + "_ones"] = tensors(**{k: (t[0], t[1], b"\xff" * len(t[2]) if k == "slices" else t[2])
                                           for k, t in whole.items()})
    for lost in ("about", "findings", "members", "class_names", "map"):
        found["no_" + lost] = tensors(**{k: t for k, t in whole.items() if k != lost})
    found["empty"] = b""
    put("findings", **found)

# -- forests -------------------------------------------------------------------------------------------------------


def forest(profile="bagged", note=(), **change):
    """Two trees over three features, two classes: the first asks for feature 0 twice."""
    t = dict(cover=np.array([8, 5, 2, 3, 3, 8.0]), feature=np.array([0, 0, -1, -1, -1, -1], "i4"), least=np.zeros(3, "f4"),
             left=np.array([1, 2, -1, -1, -1, -1], "i4"), most=np.ones(3, "f4"), right=np.array([4, 3, -1, -1, -1, -1], "i4"),
             share=np.array([[.5, .5], [.4, .6], [1, 0], [0, 1], [2 / 3, 1 / 3], [.5, .5]]), start=np.array([0, 5, 6], "i4"),
             threshold=np.array([1, -1, 0, 0, 0, 0.0]), vote=np.ones(2))
    file = tensors(**{**t, **change})
    size = struct.unpack("<Q", file[:8])[0]
    header = {"__metadata__": {"format": "spotter forest 1", "profile": profile, **dict(note)}, **json.loads(file[8:8 + size])}
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + file[8 + size:]


put("forest", bagged=forest(), samme=forest("samme"), samme_r=forest("samme_r"), other=forest("stacked"),
    named=forest(note={"about": "a test", "class.0": "a", "class.1": "b"}), unnamed=forest(note={"feature.0": "a"}),
    circle=forest(left=np.array([0, 2, -1, -1, -1, -1], "i4")), tiny=forest(cover=np.array([8, 5, 1e-300, 5, 3, 8.0])),
    ends=forest(start=np.array([0, 5, 7], "i4")), shares=forest(share=np.full((6, 2), .7)),
    loud=forest(vote=np.array([1, 1e300])))
