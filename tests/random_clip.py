"""random_clip.py DIR - a CLIP of random weights with its vocabulary, pictures, texts and annotations, for test_embed.sh.

DIR/resnet.safetensors: a ResNet-18 of width 16 with 2 outputs.
DIR/clip: model.safetensors (names of Hugging Face, 16 pixels, rows of 8 numbers), config.json, merges.txt.
DIR/photos: cat/*.png, dog/*.png, dog/more/*.png, top.png. DIR/big: three larger ones. texts.txt, boxes.json, captions.json.
Needs numpy alone."""
import json
import os
import struct
import sys
import zlib

import numpy as np

import tensor_files

WIDTH, DIM, SIDE, PATCH, CONTEXT, MERGES = 16, 8, 16, 4, 12, ["c a", "ca t</w>", "d o"]
rng = np.random.default_rng(1)


def pair(name, out, into=None):
    spread = rng.normal(0, 0.3, (out, into)) if into else 1 + rng.normal(0, 0.1, out)
    return {name + ".weight": spread, name + ".bias": rng.normal(0, 0.1, out)}


def block(tower):
    at = tower + "encoder.layers.0."
    t = {}
    for part in ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.out_proj"):
        t.update(pair(at + part, WIDTH, WIDTH))
    for part in ("layer_norm1", "layer_norm2"):
        t.update(pair(at + part, WIDTH))
    t.update(pair(at + "mlp.fc1", 4 * WIDTH, WIDTH))
    t.update(pair(at + "mlp.fc2", WIDTH, 4 * WIDTH))
    return t


def clip():
    image, text = "vision_model.", "text_model."
    t = {image + "embeddings.class_embedding": rng.normal(0, 1, WIDTH),
         image + "embeddings.patch_embedding.weight": rng.normal(0, 0.3, (WIDTH, 3, PATCH, PATCH)),
         image + "embeddings.position_embedding.weight": rng.normal(0, 1, ((SIDE // PATCH) ** 2 + 1, WIDTH)),
         text + "embeddings.token_embedding.weight": rng.normal(0, 1, (514 + len(MERGES), WIDTH)),
         text + "embeddings.position_embedding.weight": rng.normal(0, 1, (CONTEXT, WIDTH)),
         "visual_projection.weight": rng.normal(0, 1, (DIM, WIDTH)),
         "text_projection.weight": rng.normal(0, 1, (DIM, WIDTH)), "logit_scale": np.array(2.6592)}
    t.update(pair(image + "pre_layrnorm", WIDTH))
    t.update(pair(image + "post_layernorm", WIDTH))
    t.update(pair(text + "final_layer_norm", WIDTH))
    t.update(block(image))
    t.update(block(text))
    return t


def resnet(outputs):
    """torchvision's ResNet-18 with 16 channels in the first stage; num_batches_tracked is left out, as in old files."""
    t = {}

    def conv(name, norm, out, into, size):
        t[name + ".weight"] = rng.normal(0, (2 / (into * size * size)) ** 0.5, (out, into, size, size))
        t.update(pair(norm, out))
        t.update({norm + ".running_mean": np.zeros(out), norm + ".running_var": np.ones(out)})

    conv("conv1", "bn1", 16, 3, 7)
    for stage in range(4):
        width, before = 16 << stage, 16 << max(stage - 1, 0)
        for k in range(2):
            at = f"layer{stage + 1}.{k}."
            conv(at + "conv1", at + "bn1", width, width if k else before, 3)
            conv(at + "conv2", at + "bn2", width, width, 3)
            if stage and not k:
                conv(at + "downsample.0", at + "downsample.1", width, before, 1)
    t.update(pair("fc", outputs, 128))
    return t


def save(path, tensors):
    tensor_files.write(path, {name: ("F32", np.shape(v), np.asarray(v, "<f4").tobytes()) for name, v in tensors.items()})


def save_png(path, rgb):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    os.makedirs(os.path.dirname(path), exist_ok=True)
    height, width, _ = rgb.shape
    lines = b"".join(b"\0" + line.tobytes() for line in rgb)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def main(root):
    os.makedirs(root + "/clip")
    save(root + "/clip/model.safetensors", clip())
    with open(root + "/clip/config.json", "w") as f:
        json.dump({"model_type": "clip", "text_config": {"num_attention_heads": 2, "eos_token_id": 2},
                   "vision_config": {"num_attention_heads": 2}}, f)
    with open(root + "/clip/merges.txt", "w") as f:
        f.write("#version: 0.2\n" + "\n".join(MERGES) + "\n")
    save(root + "/resnet.safetensors", resnet(2))
    names = ["cat/1.png", "cat/2.png", "dog/1.png", "dog/b.png", "dog/more/1.png", "top.png"]
    for name in names:
        save_png(f"{root}/photos/{name}", rng.integers(0, 256, (rng.integers(10, 60), rng.integers(10, 60), 3), "uint8"))
    for i in range(3):
        save_png(f"{root}/big/{i}.png", rng.integers(0, 256, (300, 300, 3), "uint8"))
    texts = ["a cat", "dog, dog", "=do", "a \"cat\""]
    with open(root + "/texts.txt", "w", newline="") as f:
        f.write("\ufeff" + "\r\n".join(texts))
    images = [{"id": 10 + i, "file_name": name} for i, name in enumerate(reversed(names))]
    boxes = {"images": images, "annotations": [{"image_id": 10, "category_id": 1}], "categories": [{"id": 1, "name": "x"}]}
    captions = {"images": images, "annotations": [{"id": i, "image_id": 10 + i % 3, "caption": t} for i, t in enumerate(texts)]}
    for name, v in (("boxes", boxes), ("captions", captions)):
        with open(f"{root}/{name}.json", "w") as f:
            json.dump(v, f)


main(sys.argv[1])
