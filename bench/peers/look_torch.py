#!/usr/bin/env python3
"""PyTorch's time for bench/bench_look.c's row: a folder of pictures through torchvision's ImageFolder and transforms, a
DataLoader with as many workers as threads, and ResNet-18 (fp32, channels last) with its pooled features.

    look_torch.py --make FOLDER          256 pictures from Debian's tuxpaint-stamps-default (PNG as they are) and
                                         plasma-workspace-wallpapers (JPEG, cuts of 640 x 480, quality 90)
    look_torch.py FOLDER [THREADS]       seconds
"""
import glob
import os
import random
import shutil
import sys
import time

import torch
import torchvision
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, Normalize, Resize, ToTensor

PHOTOS, STAMPS = 192, 64


def make(folder):
    rng = random.Random(1)
    scenes = sorted(glob.glob("/usr/share/wallpapers/*/contents/images/*.jpg"))
    scenes = [p for p in scenes if min(Image.open(p).size) >= 1080] or sys.exit("no plasma-workspace-wallpapers here")
    stamps = sorted(glob.glob("/usr/share/tuxpaint/stamps/**/*.png", recursive=True))
    for name in ("photos", "stamps"):
        os.makedirs(f"{folder}/{name}", exist_ok=True)
    for scene in rng.sample(scenes, min(12, len(scenes))):
        image = Image.open(scene).convert("RGB")
        have = len(os.listdir(f"{folder}/photos"))
        for k in range(have, min(have + PHOTOS // 12 + 1, PHOTOS)):
            w, h = image.size
            x, y, scale = rng.randrange(w - 960), rng.randrange(h - 720), rng.choice((1, 1.25, 1.5))
            cut = image.resize((640, 480), box=(x, y, x + 640 * scale, y + 480 * scale))
            cut.save(f"{folder}/photos/{k:03d}.jpg", quality=90)
    for k, path in enumerate(rng.sample(stamps, min(STAMPS, len(stamps)))):
        shutil.copy(path, f"{folder}/stamps/{k:03d}.png")


def look(folder, threads):
    torch.set_num_threads(threads)
    see = Compose([Resize(256), CenterCrop(224), ToTensor(), Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])])
    data = torchvision.datasets.ImageFolder(folder, see)
    net = torchvision.models.resnet18(num_classes=len(data.classes)).eval().to(memory_format=torch.channels_last)
    features = []
    net.avgpool.register_forward_hook(lambda module, given, out: features.append(out.flatten(1)))
    with torch.no_grad():
        net(torch.zeros(32, 3, 224, 224).to(memory_format=torch.channels_last))
        start = time.perf_counter()
        seen = [torch.softmax(net(x.to(memory_format=torch.channels_last)), 1)
                for x, _ in torch.utils.data.DataLoader(data, batch_size=32, num_workers=threads)]
    print(f"{sum(map(len, seen))} pictures: {time.perf_counter() - start:.3f} s")


if sys.argv[1] == "--make":
    make(sys.argv[2])
else:
    look(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2)
