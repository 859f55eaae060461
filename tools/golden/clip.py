#!/usr/bin/env python3
"""Random CLIPs, and what transformers and open_clip make of pictures and texts with them.

    clip.py --golden tests/golden/clip      the committed files: one model, with Hugging Face's names, quick-GELU and F32, and
                                            with open_clip's names, exact GELU and F16
    clip.py --case CASE FOLDER              a model in FOLDER for `test_clip FOLDER`: weights, config, want.safetensors

want.safetensors: pixels, ids, length; image, text (embeddings), per_image, per_text (logits) in double precision, rounded;
own: how far PyTorch's single precision is from them, of embeddings divided by their lengths. Cases: see CASES.
"""
import argparse
import json
import os
import sys

sys.path.pop(0)        # this folder's safetensors.py is another script

import numpy as np
import torch
from safetensors.torch import save_file

MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073])
STD = torch.tensor([0.26862954, 0.26130258, 0.27577711])
TINY = dict(dim=8, image=(16, 2, 2, 4, 14), text=(16, 2, 2, 40, 10))     # width, layers, heads, patch, side; .., words, context
ODD = dict(dim=24, image=(80, 3, 5, 7, 35), text=(48, 3, 3, 99, 77))
B32 = dict(dim=512, image=(768, 12, 12, 32, 224), text=(512, 12, 8, 49408, 77))
B16 = dict(dim=512, image=(768, 12, 12, 16, 224), text=(512, 12, 8, 49408, 77))
CASES = {    # library, sizes, activation, pooling, pictures and texts
    "tiny": ("transformers", TINY, "quick_gelu", "argmax", 5),
    "odd_gelu": ("transformers", ODD, "gelu", "first", 130),
    "odd_open_clip": ("open_clip", ODD, "quick_gelu", "argmax", 7),
    "b32": ("transformers", B32, "quick_gelu", "argmax", 5),
    "b32_gelu": ("transformers", B32, "gelu", "first", 3),
    "b32_open_clip": ("open_clip", B32, "gelu", "argmax", 3),
    "b16": ("transformers", B16, "quick_gelu", "argmax", 2),
}


def fill(model, seed, half):
    """Weights that keep attention and activations away from their linear parts; half: numbers that F16 holds exactly."""
    r = torch.Generator().manual_seed(seed)
    for name, p in model.named_parameters():
        x = torch.randn(p.shape, generator=r)
        if name.endswith("logit_scale"):
            x = torch.tensor(2.6592)
        elif "norm" in name or "layrnorm" in name or "ln_" in name:
            x = 0.2 * x + name.endswith("weight")
        elif p.dim() >= 2 and "embedding" not in name:
            x = 1.2 * x / p[0].numel() ** 0.5
        else:
            x = 0.3 * x
        p.data.copy_(x.half().float() if half else x)
    return model.eval()


def of_transformers(size, act, pool):
    from transformers import CLIPConfig, CLIPModel
    (w, layers, heads, patch, side), (tw, tlayers, theads, words, context) = size["image"], size["text"]
    return CLIPModel(CLIPConfig(
        projection_dim=size["dim"],
        vision_config=dict(hidden_size=w, intermediate_size=4 * w, num_hidden_layers=layers, num_attention_heads=heads,
                           patch_size=patch, image_size=side, hidden_act=act),
        text_config=dict(hidden_size=tw, intermediate_size=4 * tw, num_hidden_layers=tlayers, num_attention_heads=theads,
                         vocab_size=words, max_position_embeddings=context, hidden_act=act, bos_token_id=words - 2,
                         eos_token_id=2 if pool == "argmax" else words - 1)))


def open_clip_config(size, act):
    (w, layers, heads, patch, side), (tw, tlayers, theads, words, context) = size["image"], size["text"]
    return {"model_cfg": {"embed_dim": size["dim"], "quick_gelu": act == "quick_gelu",
                          "vision_cfg": {"image_size": side, "layers": layers, "width": w, "head_width": w // heads,
                                         "patch_size": patch},
                          "text_cfg": {"context_length": context, "vocab_size": words, "width": tw, "heads": theads,
                                       "layers": tlayers}},
            "preprocess_cfg": {"mean": [float(f"{v:.8f}") for v in MEAN], "std": [float(f"{v:.8f}") for v in STD]}}


def of_open_clip(size, act):
    import open_clip
    return open_clip.CLIP(**open_clip_config(size, act)["model_cfg"])


def inputs(size, n, pool):
    r = np.random.default_rng(3)
    side, (words, context) = size["image"][4], size["text"][3:]
    pixels = r.integers(0, 256, (n, side, side, 3), dtype=np.uint8)
    ids = r.integers(3, words - 2, (n, context)) * (pool != "argmax")
    length = r.integers(3, context + 1, n)
    length[0], length[-1] = context, 3
    for row, k in zip(ids, length):
        row[:k] = [words - 2, *r.integers(3, words - 2, k - 2), words - 1]
    return torch.from_numpy(pixels), torch.from_numpy(ids), torch.from_numpy(length)


def features(model, pixels, ids, precision):
    x = ((pixels.float() / 255 - MEAN) / STD).permute(0, 3, 1, 2).to(precision)
    model = model.to(precision)
    with torch.no_grad():
        if hasattr(model, "encode_image"):
            return model.encode_image(x), model.encode_text(ids)
        found = model(pixel_values=x, input_ids=ids)
        image = model.visual_projection(model.vision_model(pixel_values=x).pooler_output)
        text = model.text_projection(model.text_model(input_ids=ids).pooler_output)
        assert torch.allclose(unit(image), found.image_embeds) and torch.allclose(unit(text), found.text_embeds)
        return image, text


def unit(x):
    return x / x.norm(dim=-1, keepdim=True)


def want(model, pixels, ids, length):
    own = [unit(e).double() for e in features(model, pixels, ids, torch.float32)]
    image, text = features(model, pixels, ids, torch.float64)
    per_image = model.logit_scale.exp() * unit(image) @ unit(text).T
    far = [float((a - unit(b)).abs().max()) for a, b in zip(own, (image, text))]
    model.float()
    return {"pixels": pixels, "ids": ids.int(), "length": length.int(), "image": image.float(), "text": text.float(),
            "per_image": per_image.detach().float(), "per_text": per_image.T.detach().float().contiguous(),
            "own": torch.tensor(far)}


def write_case(folder, case):
    library, size, act, pool, n = CASES[case]
    model = fill(of_transformers(size, act, pool) if library == "transformers" else of_open_clip(size, act), 7, False)
    save_file(want(model, *inputs(size, n, pool)), os.path.join(folder, "want.safetensors"))
    if library == "transformers":
        return model.save_pretrained(folder)
    save_file({k: v.contiguous() for k, v in model.state_dict().items()}, os.path.join(folder, "model.safetensors"))
    with open(os.path.join(folder, "open_clip_config.json"), "w") as f:
        json.dump(open_clip_config(size, act), f)
    return None


def rewritten(state, layers):
    """Hugging Face's tensors with OpenAI's names, products of a block's start fused, projections turned."""
    out = {"logit_scale": state["logit_scale"]}
    for at, theirs, count in (("vision_model.", "visual.", layers[0]), ("text_model.", "", layers[1])):
        for i in range(count):
            a, b = f"{at}encoder.layers.{i}.", f"{theirs}transformer.resblocks.{i}."
            for end in ("weight", "bias"):
                out[b + "attn.in_proj_" + end] = torch.cat([state[f"{a}self_attn.{k}_proj.{end}"] for k in "qkv"])
                for mine, name in (("self_attn.out_proj", "attn.out_proj"), ("layer_norm1", "ln_1"), ("layer_norm2", "ln_2"),
                                   ("mlp.fc1", "mlp.c_fc"), ("mlp.fc2", "mlp.c_proj")):
                    out[f"{b}{name}.{end}"] = state[f"{a}{mine}.{end}"]
    for end in ("weight", "bias"):
        out["visual.ln_pre." + end] = state["vision_model.pre_layrnorm." + end]
        out["visual.ln_post." + end] = state["vision_model.post_layernorm." + end]
        out["ln_final." + end] = state["text_model.final_layer_norm." + end]
    out["visual.class_embedding"] = state["vision_model.embeddings.class_embedding"]
    out["visual.conv1.weight"] = state["vision_model.embeddings.patch_embedding.weight"]
    out["visual.positional_embedding"] = state["vision_model.embeddings.position_embedding.weight"]
    out["visual.proj"] = state["visual_projection.weight"].T
    out["token_embedding.weight"] = state["text_model.embeddings.token_embedding.weight"]
    out["positional_embedding"] = state["text_model.embeddings.position_embedding.weight"]
    out["text_projection"] = state["text_projection.weight"].T
    return {k: v.half().contiguous() for k, v in out.items()}


def write_golden(folder):
    size, n = TINY, 5
    for name, act in (("quick", "quick_gelu"), ("exact", "gelu")):
        to = os.path.join(folder, name)
        os.makedirs(to, exist_ok=True)
        model = fill(of_transformers(size, act, "argmax"), 7, True)
        save_file(want(model, *inputs(size, n, "argmax")), os.path.join(to, "want.safetensors"))
        if name == "quick":
            model.save_pretrained(to)
            continue
        layers = size["image"][1], size["text"][1]
        save_file(rewritten(model.state_dict(), layers), os.path.join(to, "model.safetensors"))
        with open(os.path.join(to, "open_clip_config.json"), "w") as f:
            f.write(json.dumps(open_clip_config(size, act), indent=1) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--golden", metavar="FOLDER")
    p.add_argument("--case", nargs=2, metavar=("CASE", "FOLDER"))
    o = p.parse_args()
    if o.golden:
        return write_golden(o.golden)
    if not o.case or o.case[0] not in CASES:
        sys.exit(f"clip.py: say --golden FOLDER or --case CASE FOLDER; cases: {', '.join(CASES)}")
    return write_case(o.case[1], o.case[0])


if __name__ == "__main__":
    main()
