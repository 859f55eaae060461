"""A text-conditioned generator of pictures of 32 pixels a side, in PyTorch: a text tower and a U-Net that two cores can train.

The U-Net learns flow matching: between noise x0 and a picture x1 it predicts the velocity x1 - x0 at x = (1 - t) x0 + t x1.
Drawing follows the velocity from noise in equal steps, with guidance away from the velocity without a caption. A caption is a
list of words of a fixed list; a `<token>` in it stands for a vector that is given, so that textual inversion can learn it."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from generator_words import LONGEST, PAD, TOKEN

SIDE = 32


class TextTower(nn.Module):
    """Ids (n, t) -> states (n, t, width), their mean (n, width) and where there is no word (n, t)."""

    def __init__(self, words, width, layers=2, heads=4):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Parameter(0.1 * torch.randn(LONGEST, width))
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids, vectors=None):
        """vectors (n, width): in place of <token>, each row's own."""
        x, empty = self.words(ids), ids == PAD
        if vectors is not None:
            x = torch.where((ids == TOKEN)[:, :, None], vectors[:, None, :], x)
        x = x + self.places[:ids.shape[1]]
        for layer in self.layers:
            x = layer(x, empty)
        x = self.norm(x)
        there = (~empty)[:, :, None].to(x)
        return x, (x * there).sum(1) / there.sum(1).clamp(min=1), empty


class Attention(nn.Module):
    """From `x` to `to`; a row of `to` without any place to look at counts as zeros."""

    def __init__(self, width, to_width, heads):
        super().__init__()
        self.heads = heads
        self.q, self.kv = nn.Linear(width, width), nn.Linear(to_width, 2 * width)
        self.out = nn.Linear(width, width)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x, to, empty=None):
        n, m, w = x.shape
        q = self.q(x).view(n, m, self.heads, -1).transpose(1, 2)
        k, v = (a.view(n, -1, self.heads, w // self.heads).transpose(1, 2) for a in self.kv(to).chunk(2, -1))
        score = q @ k.transpose(2, 3) * (w // self.heads) ** -0.5
        if empty is not None:
            score = score.masked_fill(empty[:, None, None, :], -1e4)
        return self.out((score.softmax(-1) @ v).transpose(1, 2).reshape(n, m, w))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.middle = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, width, heads)
        self.more = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, empty):
        y = self.before(x)
        x = x + self.attention(y, y, empty)
        return x + self.more(self.middle(x))


class Residual(nn.Module):
    """Two convolutions; the condition shifts and scales between them."""

    def __init__(self, of, to, condition):
        super().__init__()
        self.norm, self.first = nn.GroupNorm(8, of), nn.Conv2d(of, to, 3, padding=1)
        self.again, self.second = nn.GroupNorm(8, to), nn.Conv2d(to, to, 3, padding=1)
        self.look = nn.Linear(condition, 2 * to)
        self.past = nn.Conv2d(of, to, 1) if of != to else nn.Identity()
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)

    def forward(self, x, condition):
        scale, shift = self.look(condition)[:, :, None, None].chunk(2, 1)
        y = self.first(F.silu(self.norm(x)))
        return self.past(x) + self.second(F.silu(self.again(y) * (1 + scale) + shift))


class Looks(nn.Module):
    """Each place of a map looks at all places, then at the words."""

    def __init__(self, width, text):
        super().__init__()
        self.norm, self.middle = nn.GroupNorm(8, width), nn.LayerNorm(width)
        self.self_, self.words = Attention(width, width, 4), Attention(width, text, 4)

    def forward(self, x, states, empty):
        n, c, h, w = x.shape
        y = self.norm(x).flatten(2).transpose(1, 2)
        rows = x.flatten(2).transpose(1, 2) + self.self_(y, y)
        rows = rows + self.words(self.middle(rows), states, empty)
        return rows.transpose(1, 2).reshape(n, c, h, w)


class Generator(nn.Module):
    def __init__(self, words, width=48, text=96):
        super().__init__()
        w, c = width, 3 * width
        self.shape = {"words": words, "width": width, "text": text}
        self.text = TextTower(words, text)
        self.time = nn.Sequential(nn.Linear(64, c), nn.SiLU(), nn.Linear(c, c))
        self.of_text = nn.Linear(text, c)
        self.enter = nn.Conv2d(12, w, 3, padding=1)
        self.fine = nn.ModuleList(Residual(w, w, c) for _ in range(2))
        self.down = nn.Conv2d(w, 2 * w, 3, stride=2, padding=1)
        self.coarse = nn.ModuleList(Residual(2 * w, 2 * w, c) for _ in range(3))
        self.looks = nn.ModuleList(Looks(2 * w, text) for _ in range(3))
        self.up = nn.Conv2d(2 * w, w, 3, padding=1)
        self.last = nn.ModuleList(Residual(2 * w, w, c) for _ in range(2))
        self.norm, self.leave = nn.GroupNorm(8, w), nn.Conv2d(w, 12, 3, padding=1)
        nn.init.normal_(self.text.words.weight, std=0.3)

    def condition(self, t, ids, vectors=None):
        states, mean, empty = self.text(ids, vectors)
        angle = t[:, None] * torch.exp(torch.linspace(0, math.log(1000.0), 32)).to(t)
        return F.silu(self.time(torch.cat([angle.sin(), angle.cos()], 1)) + self.of_text(mean)), states, empty

    def forward(self, x, t, ids, vectors=None):
        """The velocity at x (n, 3, side, side) and t (n)."""
        c, states, empty = self.condition(t, ids, vectors)
        x = self.enter(F.pixel_unshuffle(x, 2))
        passed = []
        for layer in self.fine:
            x = layer(x, c)
            passed.append(x)
        x = self.down(x)
        for layer, look in zip(self.coarse, self.looks):
            x = look(layer(x, c), states, empty)
        x = self.up(F.interpolate(x, scale_factor=2.0))
        for layer in self.last:
            x = layer(torch.cat([x, passed.pop()], 1), c)
        return F.pixel_shuffle(self.leave(F.silu(self.norm(x))), 2)


def flow_loss(net, pictures, ids, draw, vectors=None):
    """The mean squared error of the velocity, each row at a time of its own. pictures: -1 to 1."""
    noise = torch.randn(pictures.shape, generator=draw)
    t = torch.sigmoid(torch.randn(len(pictures), generator=draw))
    at = t[:, None, None, None]
    said = net((1 - at) * noise + at * pictures, t, ids, vectors)
    return ((said - (pictures - noise)) ** 2).mean()


@torch.no_grad()
def draw_pictures(net, ids, noise, steps, guidance, vectors=None):
    """Pictures (n, side, side, 3) uint8 from noise (n, 3, side, side)."""
    x, n = noise, len(ids)
    both = torch.cat([ids, torch.zeros_like(ids)])
    given = None if vectors is None else torch.cat([vectors, vectors])
    for k in range(steps):
        with_words, without = net(torch.cat([x, x]), torch.full((2 * n,), k / steps), both, given).chunk(2)
        x = x + (without + guidance * (with_words - without)) / steps
    return ((x.clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8).permute(0, 2, 3, 1).contiguous()


class Judge(nn.Module):
    """A picture -> its class (the last: no object), its shifts, its table (0: none)."""

    def __init__(self, classes, shifts, tables):
        super().__init__()
        self.parts = [classes + 1, shifts, tables + 1]
        sizes = [3, 24, 48, 96, 96]
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, stride=1 if a == 3 else 2, padding=1) for a, b in zip(sizes, sizes[1:]))
        self.norms = nn.ModuleList(nn.BatchNorm2d(b) for b in sizes[1:])
        self.hidden, self.out = nn.Linear(96 * 16, 128), nn.Linear(128, sum(self.parts))

    def forward(self, x):
        for layer, norm in zip(self.layers, self.norms):
            x = F.relu(norm(layer(x)))
        return self.out(F.relu(self.hidden(x.flatten(1)))).split(self.parts, 1)
