#!/usr/bin/env python3
"""`spotter background` and PyTorch with PIL's blending, one after the other on the same pictures and threads.

    background_torch.py build/spotter [THREADS] [TARGETS] [ROUNDS]

Each of TARGETS cut-outs (Debian's tuxpaint-stamps-default on cuts of plasma-workspace-wallpapers, 256 pixels) is
looked at as it is and on 32 random backgrounds, 224 pixels, by a ResNet-18. The peer decodes each picture once,
composites by PIL's Image.composite (no pyramids) and looks at a target's 33 pictures as one batch, fp32, channels
last. Spotter's time is the whole command: suite, pyramids, looks, channels, four matrices, results. A round is one of
each; the line gives the median ratio, the least and the greatest.
"""
import glob
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torchvision
from PIL import Image

N, SIDE, PIXELS, CLASSES, SCENES = 32, 256, 224, 4, 64


def make(folder, targets):
    rng = random.Random(1)
    stamps = sorted(glob.glob("/usr/share/tuxpaint/stamps/**/*.png", recursive=True))
    scenes = sorted(p for p in glob.glob("/usr/share/wallpapers/*/contents/images/*.jpg") if min(Image.open(p).size) >= 720)
    if not stamps or not scenes:
        sys.exit("tuxpaint-stamps-default and plasma-workspace-wallpapers are needed")
    large = [Image.open(p).convert("RGB").resize((1280, 720)) for p in rng.sample(scenes, min(8, len(scenes)))]

    def scene():
        x, y = rng.randrange(1280 - SIDE), rng.randrange(720 - SIDE)
        return rng.choice(large).crop((x, y, x + SIDE, y + SIDE))

    os.makedirs(f"{folder}/backgrounds")
    for i in range(SCENES):
        scene().save(f"{folder}/backgrounds/{i:03d}.png")
    for kind in ("images", "masks"):
        for cls in range(CLASSES):
            os.makedirs(f"{folder}/{kind}/{cls}")
    done = 0
    while done < targets:
        stamp = Image.open(rng.choice(stamps)).convert("RGBA").resize((SIDE // 2, SIDE // 2))
        if not 0.15 < np.asarray(stamp)[..., 3].mean() / 255 < 0.95:
            continue
        picture, mask = scene(), Image.new("L", (SIDE, SIDE))
        picture.paste(stamp, (SIDE // 4, SIDE // 4), stamp)
        mask.paste(stamp.getchannel("A"), (SIDE // 4, SIDE // 4))
        picture.save(f"{folder}/images/{done % CLASSES}/{done:04d}.png")
        mask.save(f"{folder}/masks/{done % CLASSES}/{done:04d}.png")
        done += 1


def save_net(net, path):
    header, at, parts = {}, 0, []
    for name, value in net.state_dict().items():
        if value.dtype != torch.float32:
            continue
        data = value.numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def peer(folder, net):
    mean, std = (torch.tensor(v)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    rng, opened = random.Random(1), {}
    backgrounds = sorted(glob.glob(f"{folder}/backgrounds/*.png"))

    def squash(path, mode):
        return Image.open(path).convert(mode).resize((PIXELS, PIXELS), Image.BILINEAR)

    def see(image):
        return (torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255 - mean) / std

    start, answers = time.perf_counter(), []
    with torch.no_grad():
        for path in sorted(glob.glob(f"{folder}/images/*/*.png")):
            picture, mask = squash(path, "RGB"), squash(path.replace("/images/", "/masks/"), "L")
            batch = [see(picture)]
            for back in rng.sample(backgrounds, N):
                if back not in opened:
                    opened[back] = squash(back, "RGB")
                batch.append(see(Image.composite(picture, opened[back], mask)))
            answers.append(torch.softmax(net(torch.stack(batch).to(memory_format=torch.channels_last)), 1))
    return time.perf_counter() - start


def spotter(program, folder, threads):
    shutil.rmtree(f"{folder}/run", ignore_errors=True)
    said = subprocess.run([program, "background", f"{folder}/config.yaml", "--out", f"{folder}/run", "--device", "cpu",
                           "--threads", str(threads), "--json"], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    return json.loads(said.stdout)["seconds"]


def main():
    program, threads, targets, rounds = (sys.argv[1:] + ["2", "48", "3"][len(sys.argv) - 2:])[:4]
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    net = torchvision.models.resnet18(num_classes=CLASSES).eval()
    with tempfile.TemporaryDirectory() as folder:
        make(folder, int(targets))
        save_net(net, f"{folder}/net.safetensors")
        with open(f"{folder}/config.yaml", "w") as f:
            f.write(f"study: background\ndata: {{images: {folder}/images, masks: {folder}/masks, "
                    f"backgrounds: {folder}/backgrounds, size: {PIXELS}}}\nsuite: {{n: {N}}}\nmeasure: {{sets: false}}\n"
                    f"models: [{{name: net, weights: {folder}/net.safetensors}}]\n")
        net = net.to(memory_format=torch.channels_last)
        with torch.no_grad():
            net(torch.zeros(N + 1, 3, PIXELS, PIXELS).to(memory_format=torch.channels_last))
        pairs = [(spotter(program, folder, threads), peer(folder, net)) for _ in range(int(rounds))]
    ratios = sorted(b / a for a, b in pairs)
    print(f"{targets} targets x {N + 1} pictures: spotter {min(a for a, _ in pairs):.2f} s, PyTorch with PIL "
          f"{min(b for _, b in pairs):.2f} s; {statistics.median(ratios):.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f})")


main()
