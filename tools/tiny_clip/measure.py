"""measure.py BUILD WEIGHTS [--choose PLANT --test PLANT] - how well a tiny CLIP knows its world, on pictures that it never saw.

Classes: share of planted pictures whose nearest class caption is right. Shifts: area under the ROC curve of the similarity to a
shift's caption, pictures with the shift against those without any. Words: for every phrase of one fact, the pictures of
SpotCheck's scenes of which it is true are taken for a slice; the phrase that is nearest to the slice's mean less the mean of
all should be that phrase or another for the same fact.

--choose, --test: two planted worlds (plant section of a config of shifts) of different seeds. Thresholds for the similarity to
a shift's caption are chosen on the first; precision and recall of the filter are those of the second."""
import argparse
import csv
import json
import os

import numpy as np
import torch
from safetensors.torch import load_file

import net
import train
import words

SEED = 777000


def load(path):
    with open(os.path.join(os.path.dirname(path), "config.json")) as f:
        config = json.load(f)
    t, i = config["text_config"], config["vision_config"]

    def tower(c):
        return {"width": c["hidden_size"], "layers": c["num_hidden_layers"], "heads": c["num_attention_heads"]}
    model = net.Clip({"side": i["image_size"], "patch": i["patch_size"], "dim": config["projection_dim"], "image": tower(i),
                      "context": t["max_position_embeddings"], "vocabulary": t["vocab_size"], "text": tower(t)})
    model.load_state_dict({k: v.float() for k, v in load_file(path).items()})
    return model.eval()


class Encoder:
    def __init__(self, path):
        self.net, self.vocabulary = load(path), words.Vocabulary(words.all_words())

    @torch.no_grad()
    def images(self, rgb):
        return torch.cat([torch.nn.functional.normalize(self.net.visual_projection(self.net.vision_model(x)), dim=-1)
                          for x in rgb.split(256)]).numpy()

    @torch.no_grad()
    def texts(self, texts):
        return self.net.texts(*net.pad([self.vocabulary.encode(t) for t in texts], train.SHAPE["context"])).numpy()


def sample(build, kind, n):
    p = train.Pictures(build, SEED, 0, kind)
    rgb, fact = p.batch(n)
    number = {f: i for i, f in enumerate(p.names())}
    p.close()
    return rgb, fact, number


def auc(yes, no):
    """The chance that one of `yes` is above one of `no`."""
    if not len(yes) or not len(no):
        return float("nan")
    rank = np.argsort(np.argsort(np.concatenate([yes, no])))
    return (rank[:len(yes)].sum() - len(yes) * (len(yes) - 1) / 2) / len(yes) / len(no)


def measure_classes(e, build, n):
    rgb, fact, number = sample(build, "planted", n)
    image, said = e.images(rgb), words.class_phrases()
    true = train.truth(fact, [[number[f] for f in facts] for _, facts in said])
    right = (image @ e.texts(["a photo of " + t for t, _ in said]).T).argmax(1)
    one, plain = true.sum(1) == 1, fact[:, number["effect"]] == 0
    hit = true[np.arange(n), right] == 1
    print(f"class of {one.sum()} planted pictures: {hit[one].mean():.3f} right, {hit[one & plain].mean():.3f} without effects")
    for k, (caption, facts) in enumerate(words.shift_captions()):
        there = train.truth(fact, [[number[f] for f in facts]])[:, 0]
        similar = image @ e.texts([caption])[0]
        print(f"  {caption:38} AUC {auc(similar[there == 1], similar[there == 0]):.3f}   class right with it "
              f"{hit[one & (there == 1)].mean():.3f}")


def measure_words(e, build, n):
    rgb, fact, number = sample(build, "scenes", n)
    image, said = e.images(rgb), [s for s in words.single_phrases()]
    text, mean = e.texts([t for t, _ in said]), image.mean(0)
    true = train.truth(fact, [[number[f] for f in facts] for _, facts in said])
    usable = [j for j in range(len(said)) if 20 < (true[:, j] == 1).sum() < n - 20]
    first = third = 0
    wrong, areas = [], []
    for j in usable:
        score = text[usable] @ (image[true[:, j] == 1].mean(0) - mean)
        order = [usable[k] for k in np.argsort(-score)]
        same = [set(said[k][1]) == set(said[j][1]) or np.array_equal(true[:, k] == 1, true[:, j] == 1) for k in order]
        first, third = first + same[0], third + any(same[:3])
        similar = image @ text[j]
        areas.append(auc(similar[true[:, j] == 1], similar[true[:, j] == 0]))
        if not same[0]:
            wrong.append(f"{said[j][0]} -> {said[order[0]][0]}")
    worst = said[usable[int(np.argmin(areas))]][0]
    print(f"phrases of one fact on scenes: {first} of {len(usable)} are nearest to their own pictures, {third} among the "
          f"nearest three; AUC median {np.median(areas):.3f}, least {min(areas):.3f} ({worst})")
    print("  " + "; ".join(wrong))


# -- the filter -----------------------------------------------------------------------------------------------------------

def read_plant(e, folder):
    from PIL import Image
    with open(f"{folder}/plant.csv") as f:
        rows = list(csv.DictReader(f))
    rgb = np.stack([np.asarray(Image.open(f"{folder}/pictures/{r['path']}").convert("RGB")) for r in rows])
    return rows, e.images(torch.from_numpy(rgb.copy()))


def similarities(e, rows, image):
    classes = {t[2:] if t.startswith("a ") else t: k for k, (t, _) in enumerate(words.class_phrases())}
    classes = {k.removeprefix("a "): v for k, v in classes.items()}
    names = sorted({r["class"] for r in rows})
    photo, plain = (e.texts([before + c for c in names]) for before in ("a photo of a ", "a "))
    folders = ["green_background", "checkered_background", "at_night", "in_the_fog", "in_the_rain", "red", "purple",
               "and_a_cross", "with_noise", "out_of_focus", "pencil_sketch", "mosaic"]
    shift = e.texts([c for c, _ in words.shift_captions()])
    to_class, to_shift = np.zeros(len(rows)), np.zeros(len(rows))
    for i, r in enumerate(rows):
        style = r["shift"] in ("pencil_sketch", "mosaic")
        to_class[i] = image[i] @ (plain if style else photo)[names.index(r["class"])]
        if r["shift"] in folders:
            to_shift[i] = image[i] @ shift[folders.index(r["shift"])]
    real = {c: [i for i, r in enumerate(rows) if r["source"] == "real" and r["class"] == c] for c in names}
    style = {c: np.percentile([image[i] @ plain[k] for i in real[c]], 20) for k, c in enumerate(names)}
    least = {c: np.percentile([to_class[i] for i in real[c]], 20) for c in names}
    passes = np.array([to_class[i] >= (style if r["shift"] in ("pencil_sketch", "mosaic") else least)[r["class"]]
                       for i, r in enumerate(rows)])
    return passes, to_shift, folders


def choose(similar, there):
    """The threshold with the most right decisions, in the middle between two pictures; the mean of equals."""
    order = np.argsort(similar)
    s, t = similar[order], there[order]
    right = np.concatenate([[t.sum()], t.sum() - np.cumsum(t) + np.cumsum(~t)])
    best = np.flatnonzero(right == right.max())
    edge = np.concatenate([[s[0] - 0.1], (s[1:] + s[:-1]) / 2, [s[-1] + 0.1]])
    return float(edge[best].mean())


def measure_filter(e, choose_on, test_on):
    rows, image = read_plant(e, choose_on)
    passes, similar, folders = similarities(e, rows, image)
    shift = np.array([r["shift"] for r in rows])
    there = np.array([r["shift_there"] == "1" for r in rows])
    threshold = {f: choose(similar[shift == f], there[shift == f]) for f in folders if (shift == f).any()}
    rows, image = read_plant(e, test_on)
    passes, similar, _ = similarities(e, rows, image)
    shift = np.array([r["shift"] for r in rows])
    there = np.array([r["shift_there"] == "1" for r in rows])
    good = there & np.array([r["object_there"] == "1" for r in rows])
    print(f"{'shift':22} threshold  yield  precision  recall | shift alone: precision  recall   object alone: recall")
    for f in ["base", *threshold]:
        at = shift == f
        shows = similar >= threshold[f] if f in threshold else np.ones(len(rows), bool)
        kept, objects = at & passes & shows, np.array([r["object_there"] == "1" for r in rows])
        alone = at & shows
        print(f"{f:22} {threshold.get(f, float('nan')):9.3f} {kept.sum() / at.sum():6.2f} {good[kept].mean():10.3f} "
              f"{(kept & good).sum() / (at & good).sum():7.3f} | {there[alone].mean():22.3f} "
              f"{(alone & there).sum() / (at & there).sum():7.3f} {(at & passes & objects).sum() / (at & objects).sum():22.3f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("weights")
    p.add_argument("--choose")
    p.add_argument("--test")
    p.add_argument("--count", type=int, default=4000)
    args = p.parse_args()
    torch.set_num_threads(1)
    e = Encoder(args.weights)
    measure_classes(e, args.build, args.count)
    measure_words(e, args.build, args.count)
    if args.choose and args.test:
        measure_filter(e, args.choose, args.test)


if __name__ == "__main__":
    main()
