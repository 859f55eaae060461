#!/usr/bin/env python3
"""What torchvision makes of folders of pictures: ImageFolder, Resize, CenterCrop, Normalize, ResNet-18.

    look.py tests                writes tests/golden/look.bin: of pictures of the corpora, by a net of width 16 and two outputs
                                 whose weights are those of resnet18.py: name (32 bytes), 2 logits, 128 features (float)
    look.py --against PROGRAM    PROGRAM MODEL FOLDER RESIZE CROP 12|13 must see pictures, real and made up, as the whole
                                 ResNet-18 does: it writes int32 n, d, classes; for each row float logits, probabilities and features
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor

ARGUMENTS, sys.argv = sys.argv, sys.argv[:1] + ["16", "64", "1", "2", "1", "1"]
import pictures  # noqa: E402
import resnet18  # noqa: E402  (it reads its sizes from the command line)


def sees(resize, crop):
    return Compose([Resize(resize), CenterCrop(crop), ToTensor(),
                    Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])


def looked(net, x):
    """Logits and features of x (n, 3, size, size), in double precision."""
    kept = []
    hook = net.avgpool.register_forward_hook(lambda module, given, out: kept.append(out.flatten(1)))
    with torch.no_grad():
        logits = net(x)
    hook.remove()
    return logits, kept[0]


def write(tests):
    net, see, rng = resnet18.narrow(torch.float64).eval(), sees(70, 64), np.random.default_rng(0)
    hostile = {name for kind in (pictures.hostile_pngs, pictures.hostile_jpegs) for name, _ in kind(rng)}
    with open(f"{tests}/golden/look.bin", "wb") as out:
        for path in sorted(glob.glob(f"{tests}/fuzz/corpus_png/*") + glob.glob(f"{tests}/fuzz/corpus_jpeg/*")):
            base = os.path.basename(path)
            if base in hostile or base.startswith(("exif_", "palette_few")):       # these are from picture_kinds.py
                continue
            with open(path, "rb") as f:
                image = pictures.told(f.read())
            logits, features = looked(net, see(image)[None].double())
            name = path.split("corpus_")[1]
            out.write(name.encode().ljust(32, b"\0") + logits.numpy().astype("<f4").tobytes()
                      + features.numpy().astype("<f4").tobytes())


def save(path, state):
    """As the safetensors package would."""
    header, blobs, at = {}, [], 0
    for name, t in state.items():
        blob = t.contiguous().numpy().tobytes()
        header[name] = {"dtype": "I64" if t.dtype == torch.int64 else "F32", "shape": list(t.shape),
                        "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def fill(folder):
    """Pictures of five classes: those that are there, else made up. Names that sort in their own way."""
    real = sorted(glob.glob("/usr/share/tuxpaint/stamps/animals/birds/*.png"))[:4]
    real += sorted(glob.glob("/usr/share/wallpapers/*/contents/screenshot.[jp][pn]g"))[:3]
    rng = np.random.default_rng(3)
    made = {f"{k}.{'png' if kind is pictures.pngs else 'JPG'}": v
            for kind in (pictures.pngs, pictures.jpegs) for k, v in kind(rng, 61, 83)}
    for k, (name, data) in enumerate(sorted(made.items())[::3]):
        where = f"{folder}/{('a b', 'a', 'B', 'a-c', 'z')[k % 5]}{('', '/n', '/n-1', '/n/m')[k // 5 % 4]}"
        os.makedirs(where, exist_ok=True)
        with open(f"{where}/{name}", "wb") as f:
            f.write(data)
        with open(f"{where}/notes.txt", "w") as f:
            f.write("no picture")
    for k, path in enumerate(real):
        shutil.copy(path, f"{folder}/z/real_{k}{path[-4:]}")


def against(program):
    torch.manual_seed(7)
    with tempfile.TemporaryDirectory() as folder:
        fill(f"{folder}/pictures")
        net = torchvision.models.resnet18(num_classes=5).eval()
        for name, t in net.state_dict().items():
            if name.endswith("running_mean"):
                t.normal_(0, 0.1)
            elif name.endswith("running_var"):
                t.uniform_(0.5, 1.5)
        save(f"{folder}/net.safetensors", net.state_dict())
        data = torchvision.datasets.ImageFolder(f"{folder}/pictures", sees(256, 224))
        got = subprocess.run([program, f"{folder}/net.safetensors", f"{folder}/pictures", "256", "224",
                              "13" if pictures.OLD == 0 else "12"], stdout=subprocess.PIPE,
                             check=True).stdout
        n, d, classes = struct.unpack("<3i", got[:12])
        mine = torch.from_numpy(np.frombuffer(got, "<f4", offset=12).reshape(n, 2 * classes + d).astype("f8"))
        assert (n, d, classes) == (len(data), 512, 5), (n, d, classes, len(data))
        net, worst, scale = net.double(), [0, 0, 0], 0
        for i in range(n):
            logits, features = looked(net, data[i][0][None].double())
            for k, (a, b) in enumerate(((mine[i, :5], logits), (mine[i, 5:10], torch.softmax(logits, 1)),
                                        (mine[i, 10:], features))):
                worst[k] = max(worst[k], float((a - b).abs().max()))
            scale = max(scale, float(logits.abs().max()))
        print(f"{n} pictures: logits up to {scale:.3g} differ by {worst[0]:.2g}, probabilities by {worst[1]:.2g}, "
              f"features by {worst[2]:.2g}")
        if not max(worst) < 1e-4:
            sys.exit("that is more than 1e-4")


if __name__ == "__main__":
    if len(ARGUMENTS) == 3 and ARGUMENTS[1] == "--against":
        against(ARGUMENTS[2])
    elif len(ARGUMENTS) == 2:
        write(ARGUMENTS[1])
    else:
        sys.exit(__doc__)
