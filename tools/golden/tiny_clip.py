#!/usr/bin/env python3
"""tiny_clip.py [OUT] - what transformers makes of pictures and captions with the tiny CLIP, for tests/test_tiny_clip.c.

Writes tests/golden/tiny_clip.safetensors: pixels (n, 64, 64, 3), captions' ids (m, context) as transformers' tokenizer gives
them, padded with zeros behind their end, length (m), and the embeddings of length 1, computed in double precision from the
weights of the file. The captions stand in the test, too."""
import os
import sys

sys.path.pop(0)        # this folder's safetensors.py is another script

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TINY = os.path.join(ROOT, "tools", "tiny_clip")
CAPTIONS = ["a photo of a solid square", "a photo of a pair of striped circles", "a pencil sketch of a striped text",
            "two small blue squares and a circle on a grey background", "a photo in the fog", "Something RED, and a zebra!"]
MEAN = torch.tensor([0.48145466, 0.4578275, 0.40821073], dtype=torch.float64)
STD = torch.tensor([0.26862954, 0.26130258, 0.27577711], dtype=torch.float64)


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "tests", "golden", "tiny_clip.safetensors")
    model = transformers.CLIPModel.from_pretrained(TINY, dtype=torch.float32).double().eval()
    tokenizer = transformers.CLIPTokenizer(f"{TINY}/vocab.json", f"{TINY}/merges.txt")
    context = model.config.text_config.max_position_embeddings
    rows = [tokenizer(t)["input_ids"] for t in CAPTIONS]
    ids = torch.tensor([r + [0] * (context - len(r)) for r in rows], dtype=torch.int32)
    tiles = np.random.default_rng(5).integers(0, 256, (4, 8, 8, 3))
    pixels = torch.from_numpy(tiles.repeat(8, 1).repeat(8, 2).astype(np.uint8))
    with torch.no_grad():
        x = (pixels.double() / 255 - MEAN) / STD
        image = model.visual_projection(model.vision_model(x.permute(0, 3, 1, 2)).pooler_output)
        text = torch.cat([model.text_projection(model.text_model(torch.tensor([r])).pooler_output) for r in rows])
    unit = torch.nn.functional.normalize
    save_file({"pixels": pixels, "ids": ids, "length": torch.tensor([len(r) for r in rows], dtype=torch.int32),
               "image": unit(image).float(), "text": unit(text).float()}, out)
    print(f"transformers {transformers.__version__}: {out}")


if __name__ == "__main__":
    main()
