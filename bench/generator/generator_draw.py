"""Drawing of bench/generator: pictures of both sources, and a sheet of them."""
import json
import os

import numpy as np
import torch
from PIL import Image

import generator_net as net
import generator_words as words
from generator_files import SIDE, SOURCES, check_settings, class_folder, load, say, world_folder, write
from generator_train import Clock, load_generator


def noise_for(cls, shift, first, n):
    """From (class, shift, number) alone, so that both sources begin from the same noise."""
    return torch.stack([torch.randn(3, SIDE, SIDE, generator=torch.Generator().manual_seed(
        (cls * 100 + shift + 1) * 100000 + first + k)) for k in range(n)])


def draw_batch(a, g, vectors, jobs):
    """Pictures of jobs: (source, class, shift, number)."""
    ids = torch.tensor([words.encode(words.prompt(c, s, src == "token")) for src, c, s, _ in jobs])
    given = torch.stack([vectors[c] if src == "token" else torch.zeros(vectors.shape[1]) for src, c, _, _ in jobs])
    noise = torch.cat([noise_for(c, s, k, 1) for _, c, s, k in jobs])
    return net.draw_pictures(g, ids, noise, a.euler, a.guidance, given).numpy()


def drawing_jobs(a, root):
    for src in SOURCES:
        for s in range(-1, a.shifts):
            for c in range(len(words.CLASSES)):
                where = os.path.join(root, src, words.FOLDERS[s + 1], class_folder(c))
                os.makedirs(where, exist_ok=True)
                for k in range(a.images):
                    if not os.path.exists(os.path.join(where, f"{k:05d}.png")):
                        yield (src, c, s, k), os.path.join(where, f"{k:05d}.png")


def put_picture(path, rgb):
    Image.fromarray(rgb).save(path + ".part", "PNG")
    os.replace(path + ".part", path)


def settings_of_drawing(a, folder, steps):
    """Pictures of other settings, or of another training, are refused, not mixed."""
    path, now = os.path.join(folder, "pictures.json"), {"euler": a.euler, "guidance": a.guidance, **steps}
    if os.path.exists(path):
        check_settings({"settings": json.load(open(path))}, now, path)
    write(path, json.dumps(now) + "\n")


def draw(a):
    folder, g, clock = world_folder(a), load_generator(a), Clock(a)
    tokens = load(os.path.join(folder, "tokens.pt"), f"invert FOLDER --world {a.world[0]}")
    vectors, learned = tokens["vectors"], load(os.path.join(folder, "generator.pt"), "")
    settings_of_drawing(a, folder, {"steps of the generator": learned["step"], "steps of the tokens": tokens["step"]})
    jobs, done = list(drawing_jobs(a, os.path.join(folder, "pictures"))), 0
    for k in range(0, len(jobs), a.batch):
        if clock.over():
            break
        some = jobs[k:k + a.batch]
        for (_, path), rgb in zip(some, draw_batch(a, g, vectors, [j for j, _ in some])):
            put_picture(path, rgb)
        done += len(some)
        if k // a.batch % 20 == 0:
            say(f"{done} of {len(jobs)} pictures, {clock.spent()[0]:.0f} s of processor")
    say(f"{done} of {len(jobs)} pictures drawn, {clock.spent()[0]:.0f} s of processor, {clock.spent()[1]:.0f} s"
        + ("" if done == len(jobs) else "; run again to go on"))


def sheet(a):
    """A row a class: its base, then shifts; with a world the names above and the tokens below."""
    g, vectors, sources = load_generator(a), torch.zeros(16, 1), SOURCES[:1]
    path = os.path.join(world_folder(a) if a.world else a.folder, "sheet.png")
    if a.world and os.path.exists(os.path.join(world_folder(a), "tokens.pt")):
        vectors, sources = load(os.path.join(world_folder(a), "tokens.pt"), "")["vectors"], SOURCES
    vectors = vectors if vectors.shape[1] > 1 else torch.zeros(16, g.shape["text"])
    jobs = [(src, c, s, 0) for c in range(16) for src in sources for s in range(-1, len(words.SHIFTS))]
    rgb = np.concatenate([draw_batch(a, g, vectors, jobs[k:k + a.batch]) for k in range(0, len(jobs), a.batch)])
    across = 13
    rows = rgb.reshape(-1, across, SIDE, SIDE, 3).transpose(0, 2, 1, 3, 4).reshape(-1, across * SIDE, 3)
    image = Image.fromarray(rows)
    image.resize((2 * image.width, 2 * image.height), Image.NEAREST).save(path)
    say(path)
