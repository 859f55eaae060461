#!/usr/bin/env python3
"""PyTorch's times for bench/bench_clip.c's rows: CLIP's towers with random weights, by transformers and by open_clip, eager and
compiled, on THREADS (default 2) threads, in fp32 and bf16 (autocast).

    clip_torch.py [THREADS] [--rows]    a line a case: op, case, by whom, median seconds
        --rows: in rounds (rounds.py)

Captions have the lengths of bench_clip.c. transformers pads them to the longest; open_clip, to 77 ids, takes several times as
long and is left out.
"""
import contextlib
import functools
import sys

import open_clip
import torch
import transformers

import rounds

threads = [a for a in sys.argv[1:] if not a.startswith("--")]
torch.set_num_threads(int(threads[0]) if threads else 2)


def caption_length(i):
    return 8 + i * 7 % 5 + i * 11 % 4 + i * 13 % 3 + (6 if i % 50 == 0 else 0)


def captions(n):
    ids = torch.zeros(n, 77, dtype=torch.long)
    length = torch.tensor([caption_length(i) for i in range(n)])
    for i, row in enumerate(ids):
        row[:length[i]] = (i * 31 + torch.arange(length[i]) * 17) % 49406
        row[length[i] - 1] = 49407
    return ids, length


def models(patch):
    config = transformers.CLIPConfig(vision_config=dict(patch_size=patch), text_config={})
    config.text_config.eos_token_id = 2
    vision = dict(image_size=224, layers=12, width=768, patch_size=patch)
    text = dict(context_length=77, vocab_size=49408, width=512, heads=8, layers=12)
    return (transformers.CLIPModel(config).eval(),
            open_clip.CLIP(embed_dim=512, vision_cfg=vision, text_cfg=text, quick_gelu=True).eval())


def cases():
    """Case, by whom, work."""
    for case, patch, n in (("ViT-B/32, 32 pictures", 32, 32), ("ViT-B/16, 8 pictures", 16, 8)):
        hf, oc = models(patch)
        x = torch.randn(n, 3, 224, 224)
        for who, see in (("transformers", lambda x, net=hf: net.get_image_features(pixel_values=x)),
                         ("open_clip", oc.encode_image)):
            for words, call in ((who, see), (who + ", compiled", torch.compile(see))):
                yield case, words, functools.partial(look, call, x, False)
                yield case + ", bf16", words, functools.partial(look, call, x, True)
    hf, ids = models(32)[0], captions(250)
    cut = ids[0][:, :int(ids[1].max())].contiguous()
    yield ("ViT-B/32, 250 captions", "transformers, padded to the longest of them",
           functools.partial(look, lambda x: hf.get_text_features(input_ids=x), cut, False))


def look(call, x, bf16):
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16) if bf16 else contextlib.nullcontext():
        return call(x)


def main():
    print("# torch", torch.__version__, "transformers", transformers.__version__, "open_clip", open_clip.__version__, "threads",
          torch.get_num_threads())
    rounds.play([("clip", *case) for case in cases()])


main()
