#!/usr/bin/env python3
"""bench/beside.py SPOTTER DIR: methods on configs/hard.yaml with neutral features of the scenes beside the model's own.

Runs, with a fresh seed, those variants of configs/hard.yaml whose blindspots are learned (not none, rare, left_out and
conflicting, which bench/studies/hard.md names: they were dropped before the run), 12 ECs each. Each method gets the model's
features, and the same features joined with neutral ones (--embed neutral): each source scaled to a sum of variances of 1, as
`spotter discover` joins several sources. The joined rows are files (representation: file), and a sweep takes further methods
without further training. Prints the tables of the run, then paired differences over the ECs that count, with 95 % of 20,000
bootstrap samples: what joining adds to a method, and joinspot less the method, on the model's features and on joined ones.

The same command continues a run that was stopped. Its figures are in bench/studies/hard.md."""
import json
import os
import re
import subprocess
import sys

import numpy

import tensors

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NEVER_LEARNED = "none|rare|left_out|conflicting"
SEED, ECS = 3511, 96
METHODS = ["method: joinspot", "method: planespot, reduce: tsne", "method: planespot, reduce: pca", "method: spotlight",
           "method: domino, representation: model", "method: barlow, representation: model", "method: george",
           "method: multiaccuracy", "method: ward", "method: kmeans", "method: mistakes"]


def config(path, methods):
    """configs/hard.yaml with the seed and the variants above, and these methods."""
    with open(f"{ROOT}/configs/hard.yaml") as f:
        lines = [line for line in f.read().split("bdms:")[0].splitlines() if not re.search(f"name: ({NEVER_LEARNED}),", line)]
    text = re.sub("(?m)^ecs: .*", f"ecs: {ECS}", re.sub("(?m)^seed: .*", f"seed: {SEED}", "\n".join(lines)))
    with open(path, "w") as f:
        f.write(f"{text}\nencoder: {{weights: neutral, shape: other}}\nbdms:\n")
        f.writelines(f"  - {{{m}}}\n" for m in methods)
        f.write("metric: {profile: tmlr, lambda_p: 0.8, lambda_r: 0.8, top: 10}\n")


def joined(spotter, folder, ec):
    """The features of the test positives from both sources, as host/discover/subject/feature_blocks.h joins them."""
    blocks = []
    for source in ("model", "clip"):
        path = f"{folder}/view-{source}.safetensors"
        subprocess.run([spotter, "view", f"{folder}/run", "--ec", str(ec), "--representation", source, "--out", path],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        blocks.append(tensors.read(path, "feature", "image"))
        os.remove(path)
    features, images = zip(*blocks)
    assert (images[0] == images[1]).all()
    return numpy.hstack([f / numpy.sqrt(f.astype("f8").var(0).sum()) for f in features]).astype("<f4")


def print_differences(spotter, run):
    told = json.loads(subprocess.run([spotter, "tables", run, "--format", "json"], check=True, stdout=subprocess.PIPE).stdout)
    dr = numpy.array([[m["dr"] for m in ec["methods"]] for ec in told["ecs"] if ec["learned"]])
    at = {m["name"]: dr[:, i] for i, m in enumerate(told["methods"])}
    own = {name: name.replace("-joined", "-model" if name == "barlow-joined" else "") for name in at if "-joined" in name}
    draws = numpy.random.default_rng(1).integers(0, len(dr), (20000, len(dr)))

    def paired(a, b):
        low, high = numpy.quantile((a - b)[draws].mean(1), [.025, .975])
        return f"{(a - b).mean():+.3f} [{low:+.3f}, {high:+.3f}]"
    print(f"{len(dr)} ECs count\nmethod, joined less own, joinspot less it: model's features, joined")
    for joint, name in own.items():
        print(f"{name:16} {paired(at[joint], at[name])}  {paired(at['joinspot'], at[name])}  "
              f"{paired(at['joinspot-joined'], at[joint])}")


def main():
    spotter, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    first, second = f"{folder}/first.yaml", f"{folder}/second.yaml"
    sources = f"representation: file, embeddings: {folder}/joined"
    own = ["method: joinspot", "method: joinspot, name: joinspot-neutral, representation: clip"]

    os.makedirs(f"{folder}/joined", exist_ok=True)
    config(first, own)
    config(second, own + METHODS[1:] +
           ["%s, name: %s-joined, %s" % (m, "-".join(re.findall(r": (\w+)", m)), sources)
            for m in (m.replace(", representation: model", "") for m in METHODS)])
    sweep = [spotter, "sweep", "--out", f"{folder}/run", "--keep", "views", "--no-pictures"]
    if not os.path.exists(f"{folder}/joined/done"):
        subprocess.run(sweep + [first], check=True)
        for ec in range(ECS):
            tensors.write(f"{folder}/joined/ec-{ec:06d}.safetensors", embedding=joined(spotter, folder, ec))
        open(f"{folder}/joined/done", "w").close()
    subprocess.run(sweep + [second], check=True)
    subprocess.run([spotter, "tables", f"{folder}/run"], check=True)
    print_differences(spotter, f"{folder}/run")


if __name__ == "__main__":
    main()
