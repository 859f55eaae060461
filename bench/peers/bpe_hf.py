#!/usr/bin/env python3
"""transformers' time for bench/bench_bpe.c's row: 100,000 captions through CLIPTokenizer, on one thread.

    bpe_hf.py [VOCABULARY]      seconds; the vocabulary is SPOT_CLIP_VOCABULARY or open_clip's

"call" is tokenizer(captions), "batch" the library below it, tokenizers, without lists of the ids being made."""
import gzip
import importlib.util
import os
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/golden"))
WORDS = """a photo of the dog cat man woman standing sitting on in with street red large tennis racket next to table pizza snow
water train people two holding white field""".split()


def captions(count):
    x = 1

    def draw(below):
        nonlocal x
        x = (x * 1664525 + 1013904223) & 0xffffffff
        return (x >> 16) % below

    def rare():
        return "".join("etaoinshrdlucmfw"[draw(16)] for _ in range(4 + draw(6)))

    return [" ".join([WORDS[draw(len(WORDS))] for _ in range(7)] + [rare(), rare()]) for _ in range(count)]


def main():
    from bpe import Peer, vocabulary
    path = sys.argv[1] if len(sys.argv) > 1 else vocabulary()
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        lines = f.read().decode().split("\n")
    peer = Peer([tuple(line.split()) for line in lines[1:48895]])
    texts = captions(100000)
    peer.clip(texts[:1000])
    start = time.perf_counter()
    peer.clip.backend_tokenizer.encode_batch(texts)
    middle = time.perf_counter()
    peer.clip(texts)
    print(f"batch: {middle - start:.3f} s, call: {time.perf_counter() - middle:.3f} s")


assert importlib.util.find_spec("tokenizers"), "tokenizers is not installed"
main()
