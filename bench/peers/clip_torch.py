#!/usr/bin/env python3
"""PyTorch's times for bench/bench_clip.c's rows: CLIP's towers with random weights, by transformers and by open_clip, in fp32,
on THREADS (default 2) threads.

    clip_torch.py [THREADS] [--bf16]    one line a row: op, case, median seconds, items a second; # what was timed
                                        --bf16: also by transformers in bf16 (autocast)

Captions have the lengths of bench_clip.c. transformers pads each batch of 250 to its longest caption, open_clip to 77 ids.
"""
import contextlib
import statistics
import sys
import time

import open_clip
import torch
import transformers

threads = [a for a in sys.argv[1:] if a != "--bf16"]
torch.set_num_threads(int(threads[0]) if threads else 2)
BATCH = 250


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


def median(run, times=5):
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def timed(what, run, half=False):
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16) if half else contextlib.nullcontext():
        seconds = median(run)
    print(f"# {what}: {seconds:.4f} s", flush=True)
    return seconds


def report(case, n, seconds):
    print(f"clip\t{case}\t{seconds:.4f}\t{n / seconds:.1f}", flush=True)


def images(case, patch, n):
    hf, oc = models(patch)
    x = torch.randn(n, 3, 224, 224)
    report(case, n, min(timed(f"{case}, transformers", lambda: hf.get_image_features(pixel_values=x)),
                        timed(f"{case}, open_clip", lambda: oc.encode_image(x))))
    if "--bf16" in sys.argv:
        report(case + ", bf16", n, timed(f"{case}, transformers, bf16", lambda: hf.get_image_features(pixel_values=x), True))


def texts(case, n):
    hf, oc = models(32)
    ids, length = captions(n)
    cut = [ids[i:i + BATCH, :int(length[i:i + BATCH].max())].contiguous() for i in range(0, n, BATCH)]
    report(case, n, timed(f"{case}, transformers, padded to the longest of {BATCH}",
                          lambda: [hf.get_text_features(input_ids=b) for b in cut]))
    report(case + ", padded to 77", n, timed(f"{case}, open_clip, padded to 77",
                                             lambda: [oc.encode_text(ids[i:i + BATCH]) for i in range(0, n, BATCH)]))


print("# torch", torch.__version__, "transformers", transformers.__version__, "open_clip", open_clip.__version__, "threads",
      torch.get_num_threads())
images("ViT-B/32, 32 pictures", 32, 32)
images("ViT-B/16, 8 pictures", 16, 8)
texts("ViT-B/32, 1,000 captions", 1000)
