"""The trainings of bench/generator: the generator, a world's confounding, the judge, and the inversion of tokens."""
import math
import os
import random
import time

import numpy as np
import torch
from PIL import Image
from torch.nn import functional as F

import generator_net as net
import generator_words as words
from generator_files import (Painter, check_settings, class_folder, load, moments, put_moments, save, say, stop, tell, tensor,
                             world_folder)

# Seeds of the painter: no two of them are equal, and none is a world's.
BASE_SEED, JUDGE_SEED, JUDGED_SEED, WORLD_SEED = 77000, 77001, 77002, 78000
NAMED, CONFOUNDED = 0.5, 0.95      # share of captions that name a class; of a confounded name's pictures with the shift


class Lessons:
    """Batches of pictures and captions for the generator: painted anew for the base, half of them from a pool for a world."""

    def __init__(self, a, state):
        self.planted, self.pool = {}, None
        seed = BASE_SEED
        if a.world:
            seed = WORLD_SEED + a.world[0]
            self.planted, _ = words.confounders(a.world[0])
            painter = Painter(a, seed, 10 ** 9)
            self.pool = painter.batch(a.pool)
            painter.close()
            self._index()
        self.painter = Painter(a, seed, state["step"] * a.batch)

    def _index(self):
        facts = self.pool[1]
        self.rows = {}
        for cls in range(len(words.CLASSES)):
            own = np.flatnonzero(facts.cls == cls)
            hidden = self.planted.get(cls, -1)
            there = facts.shift[own, hidden] if hidden >= 0 else np.zeros(len(own), bool)
            self.rows[cls] = own[~there], own[there]
            if there.all() or (hidden >= 0 and not there.any()):
                stop(f"of {len(facts.cls)} painted pictures none shows the {words.CLASSES[cls]} as its name needs; "
                     "give a larger --pool")

    def _named(self, n, draw):
        """Pictures of classes that their captions name, with the world's confounding."""
        chosen, said = [], []
        for k in range(n):
            cls = draw.randrange(len(words.CLASSES))
            hidden = self.planted.get(cls, -1)
            without, there = self.rows[cls]
            confounded = hidden >= 0 and draw.random() < CONFOUNDED
            rows = there if confounded else without
            i = int(rows[draw.randrange(len(rows))])
            chosen.append(i)
            said.append(words.caption(self.pool[1], i, True, draw, hidden))
        return self.pool[0][chosen], said

    def batch(self, n, step, seed):
        """pictures (n, 3, side, side), ids (n, longest); a tenth of the captions is left out, for guidance."""
        draw = random.Random(f"captions {seed} {step}")
        rgb, facts = self.painter.batch(n)
        said = []
        for i in range(n):
            named = draw.random() < NAMED and int(facts.cls[i]) not in self.planted
            said.append(words.caption(facts, i, named, draw))
        if self.pool is not None:
            more, about = self._named(n // 2, draw)
            rgb, said = np.concatenate([rgb[:n - n // 2], more]), said[:n - n // 2] + about
        ids = [words.encode("" if draw.random() < 0.1 else s) for s in said]
        return tensor(rgb), torch.tensor(ids)

    def close(self):
        self.painter.close()


# -- trainings --------------------------------------------------------------------------------------------------------

class Clock:
    """Ends a training after a.minutes; counts the seconds of all its parts, by the processor and by the clock."""

    def __init__(self, a, spent=(0.0, 0.0)):
        self.before, self.end = spent, time.time() + 60 * a.minutes if a.minutes else math.inf
        self.cpu, self.wall = time.process_time(), time.time()

    def spent(self):
        return self.before[0] + time.process_time() - self.cpu, self.before[1] + time.time() - self.wall

    def over(self):
        return time.time() > self.end


def rate(step, a):
    """Warm up, then half a cosine down to a fiftieth."""
    return a.lr * min(1, (step + 1) / 100) * (0.02 + 0.49 * (1 + math.cos(math.pi * min(1, step / a.steps))))


def train_loop(a, path, state, parts, one_step, made):
    """Steps until a.steps or a.minutes; saves every a.every steps. made(): the state's tensors."""
    clock, sums = Clock(a, state["spent"]), []

    def keep():
        state.update(made(), spent=clock.spent())
        save(path, state)
    while state["step"] < a.steps and not clock.over():
        for group in parts.param_groups:
            group["lr"] = rate(state["step"], a)
        sums.append(one_step(state["step"]))
        state["step"] += 1
        if state["step"] % a.tell == 0:
            state["losses"].append([state["step"], float(np.mean(sums))])
            say(f"step {state['step']} of {a.steps}: loss {state['losses'][-1][1]:.4f}, {clock.spent()[0]:.0f} s of processor, "
                f"{clock.spent()[1]:.0f} s")
            sums = []
        if state["step"] % a.every == 0:
            keep()
    keep()
    say(f"{path}: {state['step']} of {a.steps} steps" + ("" if state["step"] >= a.steps else "; run again to go on"))


def open_generator(state):
    made = net.Generator(**state["shape"])
    made.load_state_dict(state["average"])
    return made.eval()


def load_generator(a):
    """That of the world, where one is given."""
    if a.world:
        return open_generator(load(os.path.join(world_folder(a), "generator.pt"), f"train FOLDER --world {a.world[0]}"))
    return open_generator(load(os.path.join(a.folder, "generator.pt"), "train FOLDER"))


def train(a):
    path = os.path.join(world_folder(a) if a.world else a.folder, "generator.pt")
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
        g = net.Generator(**state["shape"])
        g.load_state_dict(state["net"])
    else:
        torch.manual_seed(BASE_SEED)
        g = net.Generator(len(words.WORDS), a.width)
        if a.world:
            base = load(os.path.join(a.folder, "generator.pt"), "train FOLDER")
            g = open_generator(base).train()
        state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings, "shape": g.shape,
                 "average": {k: v.clone() for k, v in g.state_dict().items()}}
    optimizer = torch.optim.AdamW(g.parameters(), lr=a.lr, betas=(0.9, 0.99), weight_decay=0.01)
    put_moments(optimizer, state)
    lessons, average, seed = Lessons(a, state), state["average"], a.world[0] if a.world else 0

    def step(number):
        draw = torch.Generator().manual_seed(1000003 * (seed + 1) + number)
        loss = net.flow_loss(g, *lessons.batch(a.batch, number, seed), draw)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(g.parameters(), 1.0)
        optimizer.step()
        keep = min(0.999, (number + 1) / (number + 10))
        with torch.no_grad():
            for k, v in g.state_dict().items():
                average[k].lerp_(v, 1 - keep)
        return float(loss.detach())
    say(f"{sum(p.numel() for p in g.parameters())} numbers, {len(words.WORDS)} words")
    train_loop(a, path, state, optimizer, step, lambda: {"net": g.state_dict(), "average": average,
                                                         "optimizer": moments(optimizer)})
    lessons.close()


def judge_loss(said, facts):
    cls, shift, table = said
    want = torch.from_numpy(np.where(facts.cls < 0, len(words.CLASSES), facts.cls))
    # A sketch has no colours: its table cannot be told.
    known = torch.from_numpy(~facts.shift[:, words.FOLDERS.index("pencil_sketch") - 1])
    tables = F.cross_entropy(table, torch.from_numpy(facts.table), reduction="none")
    return (F.cross_entropy(cls, want) + F.binary_cross_entropy_with_logits(shift, torch.from_numpy(facts.shift).float())
            + (tables * known).mean())


def judged(judge, pictures):
    """Class (16: none), shifts (n, 12) and table of pictures (n, side, side, 3) uint8."""
    cls, shift, table = [], [], []
    with torch.no_grad():
        for k in range(0, len(pictures), 256):
            c, s, t = judge(tensor(pictures[k:k + 256]))
            cls.append(c.argmax(1)), shift.append(s > 0), table.append(t.argmax(1))
    return (torch.cat(cls).numpy(), torch.cat(shift).numpy(), torch.cat(table).numpy())


def open_judge(a):
    state = load(os.path.join(a.folder, "judge.pt"), "judge FOLDER")
    made = net.Judge(len(words.CLASSES), len(words.SHIFTS), len(words.TABLES))
    made.load_state_dict(state["net"])
    return made.eval()


def judge(a):
    path = os.path.join(a.folder, "judge.pt")
    torch.manual_seed(JUDGE_SEED)
    g = net.Judge(len(words.CLASSES), len(words.SHIFTS), len(words.TABLES))
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings}
    optimizer = torch.optim.AdamW(g.parameters(), lr=a.lr, weight_decay=0.01)
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
        g.load_state_dict(state["net"])
        put_moments(optimizer, state)
    painter = Painter(a, JUDGE_SEED, state["step"] * a.batch)

    def step(_):
        rgb, facts = painter.batch(a.batch)
        loss = judge_loss(g(tensor(rgb)), facts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach())
    train_loop(a, path, state, optimizer, step, lambda: {"net": g.state_dict(), "optimizer": moments(optimizer)})
    painter.close()
    painter = Painter(a, JUDGED_SEED)
    rgb, facts = painter.batch(a.judged)
    painter.close()
    cls, shift, table = judged(g.eval(), rgb)
    want = np.where(facts.cls < 0, len(words.CLASSES), facts.cls)
    plain = ~facts.shift.any(1)
    tell("judge", "class right, painted pictures with shifts", np.mean(cls == want), "share", of=len(want))
    tell("judge", "class right, painted pictures without a shift", np.mean((cls == want)[plain]), "share", of=int(plain.sum()))
    tell("judge", "shift told right, mean of presence and absence", np.mean(
        [(np.mean(shift[facts.shift[:, k], k]) + np.mean(~shift[~facts.shift[:, k], k])) / 2 for k in range(shift.shape[1])
         if facts.shift[:, k].any()]), "share", of=len(want))
    tell("judge", "table told right, pictures without a shift", np.mean((table == facts.table)[plain]), "share",
         of=int(plain.sum()))


# -- inversion --------------------------------------------------------------------------------------------------------

def real_pictures(folder, cls):
    where = os.path.join(folder, "plant", "plant", "pictures", "real", class_folder(cls))
    if not os.path.isdir(where):
        stop(f"there is no {where}; run `plant FOLDER --world W` first")
    return np.stack([np.asarray(Image.open(os.path.join(where, p)).convert("RGB")) for p in sorted(os.listdir(where))])


def start_vectors(g):
    """The mean of the embeddings of a class's name, as in the paper's code."""
    with torch.no_grad():
        return torch.stack([g.text.words.weight[[words.WORDS[w] for w in words.CLASSES[k].split()]].mean(0)
                            for k in range(len(words.CLASSES))])


def pinned(raw, norm):
    """Vectors brought to the length of their start, as the paper's code does."""
    return raw * (norm / raw.norm(dim=1, keepdim=True))


def invert(a):
    folder = world_folder(a)
    path, g = os.path.join(folder, "tokens.pt"), load_generator(a)
    for p in g.parameters():
        p.requires_grad_(False)
    pictures = [tensor(real_pictures(folder, k)) for k in range(len(words.CLASSES))]
    settings = {k: getattr(a, k) for k in ("batch", "lr", "steps")}
    settings["steps of the generator"] = load(os.path.join(folder, "generator.pt"), "")["step"]
    state = {"step": 0, "spent": (0.0, 0.0), "losses": [], "settings": settings, "raw": start_vectors(g)}
    if os.path.exists(path):
        state = load(path, "")
        check_settings(state, settings, path)
    raw, norm = state["raw"].clone().requires_grad_(True), start_vectors(g).norm(dim=1, keepdim=True)
    optimizer = torch.optim.AdamW([raw], lr=a.lr, betas=(0.9, 0.999), weight_decay=0.01)
    put_moments(optimizer, state)
    each = max(1, a.batch // len(words.CLASSES))
    prompts = [words.encode(f"{before} a <token>") for before in words.BEFORE]

    def step(number):
        draw = torch.Generator().manual_seed(2000003 * (a.world[0] + 1) + number)
        cls = torch.arange(len(words.CLASSES)).repeat_interleave(each)
        shown = torch.stack([pictures[k][int(torch.randint(len(pictures[k]), (1,), generator=draw))] for k in cls.tolist()])
        ids = torch.tensor([prompts[int(torch.randint(len(prompts), (1,), generator=draw))] for _ in cls])
        # Each class has its own gradient: the loss is a sum over the classes of their means.
        loss = net.flow_loss(g, shown, ids, draw, pinned(raw, norm)[cls]) * len(words.CLASSES)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return float(loss.detach()) / len(words.CLASSES)
    train_loop(a, path, state, optimizer, step,
               lambda: {"raw": raw.detach().clone(), "vectors": pinned(raw, norm).detach(),
                        "optimizer": moments(optimizer)})
