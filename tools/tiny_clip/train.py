"""train.py BUILD OUT [--steps N] [--seed S] - trains the tiny CLIP of this folder on pictures of BUILD/tiny_clip_pictures.

Needs PyTorch and safetensors; one core suffices. For each picture and each caption of a batch it is known whether the caption
is true, so the loss is a cross-entropy for each pair (as in SigLIP): true captions and false ones have half the weight each. A
linear layer that predicts all facts helps the image tower at the beginning; it is not saved. OUT receives the weights (an
average over the last thousand steps or so), config.json, vocab.json and merges.txt, and checkpoint.pt, from which a stopped run
goes on."""
import argparse
import math
import os
import random
import subprocess
import time

import numpy as np
import torch
from torch.nn import functional as F

import net
import words

SHAPE = {"side": 64, "patch": 8, "dim": 96, "context": 24, "image": {"width": 128, "layers": 5, "heads": 4},
         "text": {"width": 96, "layers": 2, "heads": 4}}
BATCH, SINGLES, CLASSES_FROM = 64, 40, 1000


class Pictures:
    """Batches of pictures and facts from the program, always new ones."""

    def __init__(self, build, seed, first, kind="mixed"):
        self.program = f"{build}/tiny_clip_pictures"
        self.facts = subprocess.run([self.program, "facts"], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
        self.size = 3 * SHAPE["side"] ** 2
        self.pipe = subprocess.Popen([self.program, str(seed), str(first), "1000000000", kind], stdout=subprocess.PIPE)

    def batch(self, n):
        record = self.size + len(self.facts)
        raw = np.frombuffer(self.pipe.stdout.read(n * record), np.uint8).reshape(n, record)
        rgb = torch.from_numpy(raw[:, :self.size].reshape(n, SHAPE["side"], SHAPE["side"], 3).copy())
        fact = raw[:, self.size:].copy()
        return rgb, np.concatenate([fact, np.where(fact == 2, 2, 1 - fact)], 1)

    def names(self):
        return self.facts + [f"no {f}" for f in self.facts]

    def close(self):
        self.pipe.kill()
        self.pipe.wait()


def truth(fact, columns):
    """fact (n, facts), columns: lists of numbers of facts -> (n, captions): 0, 1, 2."""
    out = np.empty((len(fact), len(columns)), np.uint8)
    for j, column in enumerate(columns):
        f = fact[:, column]
        out[:, j] = np.where((f == 0).any(1), 0, np.where((f == 2).any(1), 2, 1))
    return out


def pair_loss(logit, true):
    """Mean over the captions of half the mean loss of true pairs and half that of false ones."""
    yes, no = (true == 1).float(), (true == 0).float()
    loss = F.softplus(torch.where(true == 1, -logit, logit))
    by_yes, by_no = (loss * yes).sum(0) / yes.sum(0).clamp(min=1), (loss * no).sum(0) / no.sum(0).clamp(min=1)
    return (by_yes + by_no).mean() / 2


def rank_loss(logit, true):
    """For each picture the cross-entropy of its true captions among all that are not unknown."""
    logit = logit.masked_fill(true == 2, -1e4)
    yes = (true == 1).float()
    each = -(F.log_softmax(logit, 1) * yes).sum(1) / yes.sum(1).clamp(min=1)
    return each.sum() / (yes.sum(1) > 0).sum().clamp(min=1)


class Trainer:
    def __init__(self, args):
        torch.manual_seed(args.seed)
        self.args, self.random = args, random.Random(args.seed)
        self.vocabulary = words.Vocabulary(words.all_words())
        self.net = net.Clip(dict(SHAPE, vocabulary=len(self.vocabulary.ids)))
        self.step, self.average = 0, {k: v.clone() for k, v in self.net.state_dict().items()}
        self.first = {"picture": 0}
        pictures = Pictures(args.build, args.seed, 0)
        self.number = {f: i for i, f in enumerate(pictures.names())}
        self.names = pictures.names()
        pictures.close()
        self.probe = torch.nn.Linear(SHAPE["image"]["width"], len(self.names) // 2)
        self.bias = torch.nn.Parameter(torch.tensor(-2.0))
        self.rest = [*self.probe.parameters(), self.bias]
        flat = [p for p in self.net.parameters() if p.dim() > 1]
        other = [p for p in self.net.parameters() if p.dim() <= 1] + self.rest
        self.optimizer = torch.optim.AdamW([{"params": flat, "weight_decay": 0.02}, {"params": other, "weight_decay": 0}],
                                           lr=args.lr, betas=(0.9, 0.98))
        self.always = [c for c in words.class_phrases() + words.shift_captions()]
        self.singles = words.single_phrases()
        self.captions = words.Captions(self.random)

    def rate(self):
        warm, at = min(1, (self.step + 1) / 200), self.step / self.args.steps
        return self.args.lr * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1, at))))

    def choose(self, fact):
        """The captions of a step: one for each picture, those of classes and shifts, and some of one fact."""
        held = [dict(zip(self.names, row)) for row in fact]
        chosen = [self.captions.draw(h.__getitem__) for h in held]
        chosen += [(self.random.choice(words.BEFORE) + t, f) if k < 16 else (t, f) for k, (t, f) in enumerate(self.always)]
        return chosen + self.random.sample(self.singles, SINGLES)

    def learn(self, rgb, fact):
        chosen = self.choose(fact)
        true = torch.from_numpy(truth(fact, [[self.number[f] for f in facts] for _, facts in chosen]))
        ids, length = net.pad([self.vocabulary.encode(t) for t, _ in chosen], SHAPE["context"])
        with torch.autocast("cpu", torch.bfloat16, enabled=self.args.bf16):
            pooled = self.net.vision_model(rgb)
            image = F.normalize(self.net.visual_projection(pooled).float(), dim=-1)
            text = self.net.texts(ids, length).float()
            probe = self.probe(pooled).float()
        logit = image @ text.T * self.net.logit_scale.exp() + self.bias
        known = torch.from_numpy(fact[:, :len(self.names) // 2])
        facts = F.binary_cross_entropy_with_logits(probe, (known == 1).float(), reduction="none")
        loss = pair_loss(logit, true) + 0.1 * rank_loss(logit - self.bias, true) + (facts * (known != 2)).mean()
        if self.step >= CLASSES_FROM:          # from then on, the class captions also compete with each other
            loss = loss + 0.3 * rank_loss(logit[:, BATCH:BATCH + 16] - self.bias, true[:, BATCH:BATCH + 16])
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()
        with torch.no_grad():
            self.net.logit_scale.clamp_(max=math.log(40))
        self.step += 1
        keep = min(0.999, self.step / (self.step + 10))
        for k, v in self.net.state_dict().items():
            self.average[k].lerp_(v, 1 - keep)
        with torch.no_grad():
            right = ((logit > 0) == (true == 1))
            each = [float(right[true == v].float().mean()) for v in (1, 0)]
        return float(loss.detach()), float((facts * (known != 2)).mean().detach()), each

    def save(self):
        state = {"step": self.step, "net": self.net.state_dict(), "average": self.average,
                 "optimizer": self.optimizer.state_dict(), "probe": self.probe.state_dict(), "bias": self.bias.detach(),
                 "random": self.random.getstate()}
        torch.save(state, f"{self.args.out}/checkpoint.tmp")
        os.replace(f"{self.args.out}/checkpoint.tmp", f"{self.args.out}/checkpoint.pt")
        net.write(self.args.out, self.net, self.average, self.vocabulary)

    def load(self, path):
        state = torch.load(path, weights_only=True)
        self.step, self.average = state["step"], state["average"]
        self.net.load_state_dict(state["net"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.probe.load_state_dict(state["probe"])
        self.bias.data = state["bias"]
        self.random.setstate(state["random"])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("out")
    p.add_argument("--steps", type=int, default=4000)
    p.add_argument("--seed", type=int, default=20240)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--bf16", action="store_true", help="products in bf16, twice as fast on a CPU that has them")
    args = p.parse_args()
    torch.set_num_threads(args.threads)
    os.makedirs(args.out, exist_ok=True)
    t = Trainer(args)
    if os.path.exists(f"{args.out}/checkpoint.pt"):
        t.load(f"{args.out}/checkpoint.pt")
    pictures, began, sums = Pictures(args.build, args.seed, t.step * BATCH), time.time(), []
    print(f"{sum(p.numel() for p in t.net.parameters())} numbers, {len(t.vocabulary.ids)} tokens", flush=True)
    while t.step < args.steps:
        sums.append(t.learn(*pictures.batch(BATCH)))
        if t.step % 50 == 0:
            loss, facts, each = (np.mean([s[k] for s in sums], 0) for k in range(3))
            print(f"step {t.step}: loss {loss:.4f}, facts {facts:.4f}, true {each[0]:.3f}, false {each[1]:.3f}, "
                  f"scale {float(t.net.logit_scale.exp()):.1f}, {time.time() - began:.0f} s", flush=True)
            sums = []
        if t.step % 250 == 0 or t.step == args.steps:
            t.save()
    pictures.close()


if __name__ == "__main__":
    main()
