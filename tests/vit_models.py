"""vit_models.py FOLDER: for each line NAME of stdin a vision transformer with random weights by timm's or DINOv2's names,
NAME.safetensors, pictures for it, NAME.rgb, and its features and logits, NAME.want, by a forward pass that is written here in
plain PyTorch. The answer to NAME: the side of its pictures, numbers of a feature, outputs and heads."""
import math
import sys

import torch
import torch.nn.functional as F

from network_models import cast, put, save

PICTURES = 5
torch.manual_seed(7)                    # for those who import this

# width, heads, blocks, patch, patches a side, registers, rows of pos_embed before the patches, layer scale, outputs, and what
# its user's file makes of the state
cases = {
    "timm": (192, 3, 4, 16, 4, 0, 1, False, 5, dict),
    "dinov2": (384, 6, 3, 14, 5, 0, 1, True, 0, lambda s: {**s, "mask_token": torch.zeros(1, 384)}),
    "registers": (192, 3, 3, 14, 3, 4, 1, True, 0, dict),
    "timm_registers": (192, 3, 2, 14, 4, 4, 0, True, 7, lambda s: put(s, "module.")),
    "placed": (192, 3, 2, 8, 5, 4, 5, True, 3, dict),
    "tuned": (192, 3, 2, 16, 3, 0, 1, False, 3,
              lambda s: {("model." if k.startswith("head") else "model.backbone.") + k: v for k, v in s.items()}),
    "half": (192, 3, 2, 16, 3, 0, 1, False, 3, lambda s: cast(s, torch.float16)),
    "base": (768, 12, 12, 16, 14, 0, 1, False, 10, dict),
    "gap": (512, 8, 2, 16, 3, 0, 0, False, 4, dict),
    "gap_register": (320, 5, 2, 16, 3, 1, 0, True, 4, lambda s: {k: v for k, v in s.items() if not k.endswith("qkv.bias")}),
    "gap_registers": (192, 3, 2, 16, 3, 4, 0, False, 0, dict),
    "mean": (192, 3, 2, 16, 3, 0, 1, False, 4, dict),
    "mean_registers": (192, 3, 2, 16, 3, 4, 0, False, 4, dict),
    "linear_head": (384, 6, 2, 14, 3, 4, 1, True, 6,
                    lambda s: {("" if k.startswith("linear_head") else "backbone.") + k: v for k, v in s.items()}),
    "odd": (100, 4, 2, 7, 5, 0, 1, False, 3, dict),
}

# The feature, where it is not the class token behind the norm: without a class token the mean of the patches behind it; the
# norm of that mean, by the name of timm; both, as DINOv2's linear classifier has it.
pools = {"gap": "gap", "gap_register": "gap", "gap_registers": "gap", "mean": "fc_norm", "mean_registers": "fc_norm",
         "linear_head": "linear_head"}


def number(*shape, spread=1.0):
    return torch.randn(*shape) * spread


def make(width, blocks, patch, across, registers, placed, scale, outputs, pool):
    last = "fc_norm" if pool == "fc_norm" else "norm"
    s = {"cls_token": number(1, 1, width), "pos_embed": number(1, across * across + placed, width, spread=0.5),
         "patch_embed.proj.weight": number(width, 3, patch, patch, spread=0.05), "patch_embed.proj.bias": number(width),
         last + ".weight": 1 + number(width, spread=0.2), last + ".bias": number(width, spread=0.2)}
    if pool == "gap" or (pool and not placed):
        del s["cls_token"]
    if registers:
        s["reg_token" if outputs else "register_tokens"] = number(1, registers, width)
    for b in range(blocks):
        at = f"blocks.{b}."
        for name, out, into in (("attn.qkv", 3 * width, width), ("attn.proj", width, width), ("mlp.fc1", 4 * width, width),
                                ("mlp.fc2", width, 4 * width)):
            s[at + name + ".weight"], s[at + name + ".bias"] = number(out, into, spread=into ** -0.5), number(out, spread=0.2)
        for name in ("norm1", "norm2"):
            s[at + name + ".weight"], s[at + name + ".bias"] = 1 + number(width, spread=0.2), number(width, spread=0.2)
        for name in ("ls1", "ls2") if scale else ():
            s[at + name + ".gamma"] = number(width, spread=0.5)
    if outputs:
        head, into = ("linear_head", 2 * width) if pool == "linear_head" else ("head", width)
        s[head + ".weight"], s[head + ".bias"] = number(outputs, into, spread=0.1), number(outputs)
    return s


def look(s, rgb, heads, patch, placed, pool):
    """rgb (n, side, side, 3) bytes -> features, logits; in double, from the definition."""
    s = {k: v.double() for k, v in s.items()}
    mean, std = (torch.tensor(v, dtype=torch.float64)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    x = (rgb.permute(0, 3, 1, 2) / 255.0 - mean) / std
    x = F.conv2d(x, s["patch_embed.proj.weight"], s["patch_embed.proj.bias"], patch).flatten(2).transpose(1, 2)
    first = [s[k] for k in ("cls_token", "reg_token", "register_tokens") if k in s]
    front = sum(t.shape[1] for t in first)
    position = s["pos_embed"]
    width = x.shape[2]
    if placed == 1:
        first[0] = first[0] + position[:, :1]
    elif placed:
        first = [torch.cat(first, 1) + position[:, :placed]]
    x = torch.cat([t.expand(len(x), -1, -1) for t in first] + [x + position[:, placed:]], 1)
    norm = lambda v, name: F.layer_norm(v, (width,), s[name + ".weight"], s[name + ".bias"], 1e-6)    # noqa: E731
    linear = lambda v, name: F.linear(v, s[name + ".weight"], s[name + ".bias"])                      # noqa: E731
    for b in range(sum(k.endswith("norm1.weight") for k in s)):
        at = f"blocks.{b}."
        q, k, v = (t.reshape(len(x), -1, heads, width // heads).transpose(1, 2)
                   for t in linear(norm(x, at + "norm1"), at + "attn.qkv").chunk(3, -1))
        y = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(width // heads), -1) @ v
        x = x + linear(y.transpose(1, 2).reshape(x.shape), at + "attn.proj") * s.get(at + "ls1.gamma", 1)
        x = x + linear(F.gelu(linear(norm(x, at + "norm2"), at + "mlp.fc1")), at + "mlp.fc2") * s.get(at + "ls2.gamma", 1)
    if pool == "fc_norm":
        feature = norm(x[:, front:].mean(1), "fc_norm")
    else:
        x = norm(x, "norm")
        mean = x[:, front:].mean(1)
        feature = {"": x[:, 0], "gap": mean, "linear_head": torch.cat([x[:, 0], mean], 1)}[pool]
    head = "linear_head" if pool == "linear_head" else "head"
    return feature, linear(feature, head) if head + ".weight" in s else feature[:, :0]


def main(folder, name):
    width, heads, blocks, patch, across, registers, placed, scale, outputs, write = cases[name]
    pool = pools.get(name, "")
    state = make(width, blocks, patch, across, registers, placed, scale, outputs, pool)
    if name == "half":
        state = {k: v.half().float() for k, v in state.items()}
    if name == "gap_register":
        state = {k: torch.zeros_like(v) if k.endswith("qkv.bias") else v for k, v in state.items()}
    side = across * patch
    rgb = torch.randint(0, 256, (PICTURES, side, side, 3), dtype=torch.uint8)
    feature, logit = look(state, rgb, heads, patch, placed, pool)
    save(f"{folder}/{name}.safetensors", write(state))
    with open(f"{folder}/{name}.rgb", "wb") as f:
        f.write(rgb.numpy().tobytes())
    with open(f"{folder}/{name}.want", "wb") as f:
        f.write(feature.float().numpy().tobytes() + logit.float().numpy().tobytes())
    print(side, feature.shape[1], outputs, heads, flush=True)


if __name__ == "__main__":
    for line in sys.stdin:
        torch.manual_seed(7)
        main(sys.argv[1], line.strip())
