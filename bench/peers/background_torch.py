#!/usr/bin/env python3
"""`spotter background` and PyTorch with PIL's blending, one after the other on the same pictures and threads.

    background_torch.py build/spotter [THREADS] [TARGETS] [ROUNDS] [PRECISIONS]

Each of TARGETS cut-outs (Debian's tuxpaint-stamps-default on cuts of plasma-workspace-wallpapers, 256 pixels) is
looked at as it is and on 32 random backgrounds, 224 pixels, by a ResNet-18. The peer decodes each picture once,
composites by PIL's Image.composite (no pyramids) and looks at a target's 33 pictures as one batch, channels last.
Spotter's time is the whole command: suite, pyramids, looks, channels, four matrices, results. PRECISIONS: fp32 (by
default), bf16 or fp32,bf16; in bf16 the peer's whole network and its input are bfloat16. A round is one of each, so
that every precision of ours is compared with every one of the peer's. A line gives the median ratio of the seconds, the
least and the greatest, and in brackets the same of the processor's seconds, which other programs disturb less.
"""
import copy
import glob
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torchvision
from PIL import Image

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import tensors  # noqa: E402

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


def peer(folder, net, kind):
    mean, std = (torch.tensor(v)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    rng, opened = random.Random(1), {}
    backgrounds = sorted(glob.glob(f"{folder}/backgrounds/*.png"))

    def squash(path, mode):
        return Image.open(path).convert(mode).resize((PIXELS, PIXELS), Image.BILINEAR)

    def see(image):
        return (torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255 - mean) / std

    start, busy, answers = time.perf_counter(), time.process_time(), []
    with torch.no_grad():
        for path in sorted(glob.glob(f"{folder}/images/*/*.png")):
            picture, mask = squash(path, "RGB"), squash(path.replace("/images/", "/masks/"), "L")
            batch = [see(picture)]
            for back in rng.sample(backgrounds, N):
                if back not in opened:
                    opened[back] = squash(back, "RGB")
                batch.append(see(Image.composite(picture, opened[back], mask)))
            pictures = torch.stack(batch).to(kind, memory_format=torch.channels_last)
            answers.append(torch.softmax(net(pictures).float(), 1))
    return time.perf_counter() - start, time.process_time() - busy


def busy_children():
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def spotter(program, folder, threads, precision):
    shutil.rmtree(f"{folder}/run", ignore_errors=True)
    before = busy_children()
    said = subprocess.run([program, "background", f"{folder}/{precision}.yaml", "--out", f"{folder}/run", "--device", "cpu",
                           "--threads", str(threads), "--json"], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    return json.loads(said.stdout)["seconds"], busy_children() - before


def write_config(folder, precision):
    with open(f"{folder}/{precision}.yaml", "w") as f:
        f.write(f"study: background\ndata: {{images: {folder}/images, masks: {folder}/masks, "
                f"backgrounds: {folder}/backgrounds, size: {PIXELS}}}\nsuite: {{n: {N}}}\n"
                f"measure: {{sets: false, precision: {precision}}}\n"
                f"models: [{{name: net, weights: {folder}/net.safetensors}}]\n")


def spread(ratios):
    ratios = sorted(ratios)
    return f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def main():
    program, threads, targets, rounds, precisions = (sys.argv[1:] + ["2", "48", "3", "fp32"][len(sys.argv) - 2:])[:5]
    precisions = precisions.split(",")
    torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    net = torchvision.models.resnet18(num_classes=CLASSES).eval()
    with tempfile.TemporaryDirectory() as folder:
        make(folder, int(targets))
        tensors.write(f"{folder}/net.safetensors", **{name: value.numpy() for name, value in net.state_dict().items()
                                                      if value.dtype == torch.float32})
        nets, ours, theirs = {}, {p: [] for p in precisions}, {p: [] for p in precisions}
        for p in precisions:
            write_config(folder, p)
            kind = {"fp32": torch.float32, "bf16": torch.bfloat16}[p]
            nets[p] = copy.deepcopy(net).to(kind, memory_format=torch.channels_last), kind
            with torch.no_grad():
                nets[p][0](torch.zeros(N + 1, 3, PIXELS, PIXELS).to(kind, memory_format=torch.channels_last))
        for _ in range(int(rounds)):
            for p in precisions:
                ours[p].append(spotter(program, folder, threads, p))
            for p in precisions:
                theirs[p].append(peer(folder, *nets[p]))
    for p in precisions:
        for q in precisions:
            wall, busy = ([b[i] / a[i] for a, b in zip(ours[p], theirs[q])] for i in (0, 1))
            print(f"{targets} targets x {N + 1} pictures: spotter {p} {min(a for a, _ in ours[p]):.2f} s, PyTorch "
                  f"{torch.__version__} {q} with PIL {min(b for b, _ in theirs[q]):.2f} s; {spread(wall)} times "
                  f"[processor {min(a for _, a in ours[p]):.2f} s, {min(b for _, b in theirs[q]):.2f} s; {spread(busy)}]")


main()
