"""shifts_world.py make DIR | check DIR RUN | embed DIR | mask DIR RUN: a small study of shifts for tests/test_shifts.sh.

make: DIR/pictures (folders of PNGs), DIR/clip (a random CLIP with the vocabulary of tests/golden/bpe), DIR/m0.csv ... (tables
of predictions), DIR/truth.csv, DIR/shifts.yaml. check: recomputes thresholds, what passes, impact, slope and gaps of RUN in
plain Python from the similarities in its files and from the tables, and compares them with shifts.json. embed: DIR/e,
embeddings of all folders and captions, and DIR/e.yaml. mask: DIR/masks.npz, what passes in RUN, and DIR/mask.yaml. Standard
library only."""
import csv
import glob
import json
import math
import os
import random
import shutil
import statistics
import struct
import sys
import zipfile
import zlib

import tensor_files

HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES = ["a_cat", "dog", "fox", "owl"]
SHIFTS = [("in the snow", "background", -1, False), ("blue", "attribute", 0.9999, False), ("pencil sketch", "style", -1, True),
          ("at night", "lighting", -0.02, False)]
SOURCES, MODELS, REAL, BASE, EACH = ["clean", "bing"], 6, 20, 16, 14


def png(path, rng):
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(3 * 9)) for _ in range(7))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 9, 7, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def clip(folder, seed):
    rng = random.Random(seed)
    words = len(json.load(open(f"{HERE}/golden/bpe/vocab.json")))
    width, dim, tensors = 16, 8, {}

    def add(name, *shape, scale=0.3):
        tensors[name] = (shape, [rng.gauss(0, scale) for _ in range(math.prod(shape))])

    def norm(name):
        tensors[name + ".weight"] = ((width,), [1.0] * width)
        tensors[name + ".bias"] = ((width,), [0.0] * width)
    for tower in ("text_model", "vision_model"):
        at = f"{tower}.encoder.layers.0."
        for p in "qkv":
            add(at + f"self_attn.{p}_proj.weight", width, width), add(at + f"self_attn.{p}_proj.bias", width)
        add(at + "self_attn.out_proj.weight", width, width), add(at + "self_attn.out_proj.bias", width)
        norm(at + "layer_norm1"), norm(at + "layer_norm2")
        add(at + "mlp.fc1.weight", 32, width), add(at + "mlp.fc1.bias", 32)
        add(at + "mlp.fc2.weight", width, 32), add(at + "mlp.fc2.bias", width)
    add("text_model.embeddings.token_embedding.weight", words, width)
    add("text_model.embeddings.position_embedding.weight", 77, width)
    norm("text_model.final_layer_norm")
    add("text_projection.weight", dim, width)
    add("vision_model.embeddings.class_embedding", width)
    add("vision_model.embeddings.patch_embedding.weight", width, 3, 4, 4)
    add("vision_model.embeddings.position_embedding.weight", 5, width)
    norm("vision_model.pre_layrnorm"), norm("vision_model.post_layernorm")
    add("visual_projection.weight", dim, width)
    tensors["logit_scale"] = ((), [2.0])
    os.makedirs(folder, exist_ok=True)
    tensor_files.write(f"{folder}/model.safetensors", {name: ("F32", shape, struct.pack(f"<{len(values)}f", *values))
                                                       for name, (shape, values) in tensors.items()})
    tower = {"hidden_size": width, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 32,
             "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5}
    with open(f"{folder}/config.json", "w") as f:
        json.dump({"model_type": "clip", "projection_dim": dim,
                   "text_config": dict(tower, vocab_size=words, max_position_embeddings=77, eos_token_id=words - 1),
                   "vision_config": dict(tower, image_size=8, patch_size=4)}, f)
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(f"{HERE}/golden/bpe/{name}", folder)


def folder_of(shift):
    return shift.replace(" ", "_")


def make(at):
    rng = random.Random(1)
    paths = [f"real/{k}/{i:02}.png" for k in CLASSES for i in range(REAL)]
    for source in SOURCES:
        paths += [f"{source}/base/{k}/{i:02}.png" for k in CLASSES for i in range(BASE)]
        for name, _, _, _ in SHIFTS:
            paths += [f"{source}/{folder_of(name)}/{k}/{i:02}.png" for k in CLASSES for i in range(EACH)
                      if not (source == "bing" and name == "in the snow" and k == "owl")]
    for path in paths:
        png(f"{at}/pictures/{path}", rng)
    clip(f"{at}/clip", 5)
    clip(f"{at}/other", 6)
    for m in range(MODELS):
        rows = [["path", "predicted"]]
        for path in paths:
            k = path.split("/")[-2]
            confounded = path.startswith("bing/base/fox")
            p = 0.02 if confounded else 0.55 + 0.06 * m - (0.2 if "snow" in path else 0.05 * ("night" in path))
            rows.append([path, k if rng.random() < p else rng.choice(CLASSES + ["plate"])])
        rng.shuffle(rows[1:])
        with open(f"{at}/m{m}.csv", "w", newline="") as f:
            csv.writer(f).writerows(rows + [["elsewhere/x.png", "dog"]])
    with open(f"{at}/truth.csv", "w", newline="") as f:
        csv.writer(f).writerows([["path", "shift_there", "object_there"]]
                                + [[p, int(rng.random() < 0.85), int(rng.random() < 0.9)] for p in paths])
    with open(f"{at}/shifts.yaml", "w") as f:
        f.write(f"study: shifts\ndata: {{root: {at}/pictures}}\n"
                f"encoder: {{weights: {at}/clip/model.safetensors, label: random clip}}\n"
                f"filter: {{chosen_for: random clip, oracle: {at}/truth.csv}}\nevaluation: {{draws: 200}}\nsources:\n")
        f.writelines(f"  - name: {s}\n" for s in SOURCES)
        f.write("shifts:\n")
        f.writelines(f"  - {{name: {n}, category: {c}, threshold: {t}, style: {str(s).lower()}}}\n" for n, c, t, s in SHIFTS)
        f.write("models:\n")
        f.writelines(f"  - {{name: m{m}, predictions: {at}/m{m}.csv}}\n" for m in range(MODELS))


def npy(kind, shape, data):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def put_rows(at, name, ids, rng, dim):
    path = f"{at}/e/{name}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    values = [rng.gauss(0, 1) for _ in range(len(ids) * dim)]
    with open(path + ".npy", "wb") as f:
        f.write(npy("<f4", (len(ids), dim), struct.pack(f"<{len(values)}f", *values)))
    with open(path + ".csv", "w", newline="") as f:
        csv.writer(f).writerows([["row", "id"]] + [[i, name] for i, name in enumerate(ids)])


def embed(at):
    rng = random.Random(3)
    folders = ["real"] + [f"{s}/{f}" for s in SOURCES for f in ["base"] + [folder_of(n) for n, _, _, _ in SHIFTS]]
    for folder in folders:
        ids = [os.path.relpath(p, f"{at}/pictures/{folder}") for p in glob.glob(f"{at}/pictures/{folder}/*/*.png")]
        rng.shuffle(ids)
        put_rows(at, folder, ids, rng, 6)
    classes = [k.replace("_", " ") for k in CLASSES]
    captions = [f"a photo of a {k}" for k in classes] + [f"a {k}" for k in classes] + [f"a photo {n}" for n, _, _, _ in SHIFTS]
    put_rows(at, "captions", captions, rng, 6)
    with open(f"{at}/shifts.yaml") as f, open(f"{at}/e.yaml", "w") as g:
        g.write(f.read().replace(f"weights: {at}/clip/model.safetensors", f"embeddings: {at}/e"))


def mask(at, run):
    with zipfile.ZipFile(f"{at}/masks.npz", "w") as z, open(f"{run}/shifts.json") as f:
        for s in json.load(f)["sources"]:
            for u in [s["base"]] + s["shifts"]:
                passes = bytes(int(b & 3 == 3) for b in unit(run, u["unit"])[2]["pass"])
                z.writestr(u["folder"] + ".npy", npy("|u1", (len(passes),), passes))
    with open(f"{at}/shifts.yaml") as f, open(f"{at}/mask.yaml", "w") as g:
        text = f.read().replace("oracle:", f"masks: {at}/masks.npz, oracle:")
        g.writelines(line + "\n" for line in text.splitlines() if "encoder:" not in line)


# ---- the same in plain Python ----

def percentile(values, q):
    v = sorted(values)
    at = q / 100 * (len(v) - 1)
    i = min(int(at), len(v) - 2)
    return v[i] + (at - i) * (v[i + 1] - v[i])


def near(a, b, what, tolerance=1e-9):
    same = a is b is None or (a is not None and b is not None and abs(a - b) <= tolerance)
    if not same:
        sys.exit(f"FAILED: {what}: {a} and {b}")


def unit(run, number):
    t = {k: v for k, (_, v) in tensor_files.read(f"{run}/similarities/000/shift-{number:06}.safetensors").items()}
    paths = bytes(t["path"]).decode().split("\0")[:-1]
    columns = len(t["similarity"]) // len(paths)
    return paths, [t["similarity"][i * columns:(i + 1) * columns] for i in range(len(paths))], t


def accuracy(paths, tables):
    """models -> class -> [answers right]"""
    right = [{} for _ in tables]
    for m, table in enumerate(tables):
        for p in paths:
            right[m].setdefault(p.split("/")[-2], []).append(table[p] == p.split("/")[-2])
    return right


def estimate(base, shift, tables):
    base, shift = accuracy(base, tables), accuracy(shift, tables)
    used = [k for k in CLASSES if len(shift[0].get(k, [])) >= 5 and base[0].get(k)]
    if not used:
        return 0, None, None
    x = [statistics.mean(statistics.mean(b[k]) for k in used) for b in base]
    y = [statistics.mean(statistics.mean(s[k]) for k in used) for s in shift]
    mx, my = statistics.mean(x), statistics.mean(y)
    xx = sum((a - mx) ** 2 for a in x)
    return len(used), mx - my, sum((a - mx) * (b - my) for a, b in zip(x, y)) / xx


def check(at, run):
    with open(f"{run}/shifts.json") as f:
        found = json.load(f)
    tables = [dict(list(csv.reader(open(f"{at}/m{m}.csv")))[1:]) for m in range(MODELS)]
    truth = {p: s + o for p, s, o in list(csv.reader(open(f"{at}/truth.csv")))[1:]}
    paths, real, _ = unit(run, 0)
    captions = [s["caption"] for s in found["real"]["similarities"]]
    assert captions[:2] == ["a photo of a <class>", "a <class>"] and captions[2] == "a photo in the snow", captions
    threshold = [{k: percentile([r[c] for p, r in zip(paths, real) if p.split("/")[1] == k], 20) for k in CLASSES}
                 for c in (0, 1)]
    numbers = 1
    for s, source in enumerate(SOURCES):
        got = found["sources"][s]
        base, similar, _ = unit(run, numbers)
        kept_base = [p for p, r in zip(base, similar) if r[0] >= threshold[0][p.split("/")[2]]]
        near(got["base"]["kept"], len(kept_base), f"{source}: base kept")
        for i, (name, _, least, style) in enumerate(SHIFTS):
            own, similar, t = unit(run, numbers + 1 + i)
            kept = [p for p, r in zip(own, similar) if r[0] >= threshold[style][p.split("/")[2]] and r[1] >= least]
            assert kept == [p for p, b in zip(own, t["pass"]) if b & 3 == 3], name
            g = got["shifts"][i]
            near(g["pass_rate"]["value"], len(kept) / len(own), f"{name}: pass rate")
            near(g["similarities"][1]["percentiles"][30], percentile([r[1] for r in similar], 30), f"{name}: percentile", 1e-6)
            right = [p for p in own if truth[p] == "11"]
            near(g["filter_against_truth"]["right_and_passed"], len(set(kept) & set(right)), f"{name}: hits")
            sets = {"all": (base, own), "kept": (kept_base, kept), "oracle": ([p for p in base if truth[p][1] == "1"], right)}
            for key, (b, o) in sets.items():
                used, impact, slope = estimate(b, o, tables)
                assert g["estimates"][key]["classes_used"] == used, (name, key)
                near(g["estimates"][key]["impact"]["value"], impact, f"{source}, {name}, {key}: impact")
                near(g["estimates"][key]["slope"]["value"], slope, f"{source}, {name}, {key}: slope")
        gaps = {g["class"]: g for g in got["gaps"]}
        r, b = accuracy(paths, tables), accuracy(kept_base, tables)
        for k, g in gaps.items():
            gap = statistics.mean(statistics.mean(x[k]) for x in r) - statistics.mean(statistics.mean(x[k]) for x in b)
            near(g["gap"]["value"], gap, f"{source}, {k}: gap")
        assert [k for k, g in gaps.items() if g["verdict"] == "confounded"] == (["fox"] if source == "bing" else []), gaps
        numbers += 1 + len(SHIFTS)
    with open(f"{run}/shifts.csv") as f:
        assert len(list(csv.reader(f))) == 1 + 3 * len(SOURCES) * len(SHIFTS) * MODELS


if __name__ == "__main__":
    {"make": make, "check": check, "embed": embed, "mask": mask}[sys.argv[1]](*sys.argv[2:])
