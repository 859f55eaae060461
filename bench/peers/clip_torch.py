#!/usr/bin/env python3
"""PyTorch's times for bench/bench_clip.c's rows: CLIP's towers with random weights, by transformers and by open_clip, eager and
compiled, on THREADS (default 2) threads, in fp32 and bf16 (autocast).

    clip_torch.py [THREADS] [--rows]    a line a case: op, case, by whom, median seconds
        --rows: once more for each line on stdin; an empty line ends a round

Captions have the lengths of bench_clip.c. transformers pads each batch of 250 to its longest caption, open_clip to 77 ids.
"""
import contextlib
import statistics
import sys
import time

import open_clip
import torch
import transformers

threads = [a for a in sys.argv[1:] if not a.startswith("--")]
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


def median(run, times=3):
    run()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def cases():
    """Case, by whom, bf16, work."""
    for case, patch, n in (("ViT-B/32, 32 pictures", 32, 32), ("ViT-B/16, 8 pictures", 16, 8)):
        hf, oc = models(patch)
        x = torch.randn(n, 3, 224, 224)
        for who, see in (("transformers", lambda x, net=hf: net.get_image_features(pixel_values=x)),
                         ("open_clip", oc.encode_image)):
            for words, call in ((who, see), (who + ", compiled", torch.compile(see))):
                yield case, words, False, lambda call=call, x=x: call(x)
                yield case + ", bf16", words, True, lambda call=call, x=x: call(x)
    hf, oc = models(32)
    ids, length = captions(1000)
    cut = [ids[i:i + BATCH, :int(length[i:i + BATCH].max())].contiguous() for i in range(0, len(ids), BATCH)]
    yield ("ViT-B/32, 1,000 captions", "transformers, padded to the longest of 250", False,
           lambda: [hf.get_text_features(input_ids=b) for b in cut])


def main():
    print("# torch", torch.__version__, "transformers", transformers.__version__, "open_clip", open_clip.__version__, "threads",
          torch.get_num_threads())
    made = list(cases())
    for _ in sys.stdin if "--rows" in sys.argv else [None]:
        for case, who, bf16, work in made:
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16) if bf16 else contextlib.nullcontext():
                print(f"clip\t{case}\t{who}\t{median(work):.4f}", flush=True)
        print(flush=True)


main()
