#!/usr/bin/env python3
"""CLIP's tokenizer as others have it, for tests/test_bpe.c: transformers' CLIPTokenizer.

    bpe.py                        writes tests/golden/bpe/: a small vocabulary in all formats, difficult texts and their ids;
                                  and the seeds of tests/fuzz/fuzz_bpe.c and fuzz_caption.c
    bpe.py --against PROGRAM [N]  N fuzzed texts (100,000) through PROGRAM, build/test_bpe, with CLIP's own vocabulary, out
                                  of open_clip's package or the file SPOT_CLIP_VOCABULARY

Needs transformers, as from PyPI: in a virtual environment, with its python as PYTHON of tests/test_bpe_hf.sh."""
import gzip
import importlib.util
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata

from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import CLIPTokenizer

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/golden/bpe")
SPECIAL = ["<|startoftext|>", "<|endoftext|>"]
BROKEN = re.compile("&(#[0-9]{1,32}|#[xX][0-9a-fA-F]{1,32}|[A-Za-z0-9]{2,32});|[\x80-\x9f\ufffd]")      # refused


def letters_of_bytes():
    printing = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in printing]
    return {b: chr(b) for b in printing} | {b: chr(256 + i) for i, b in enumerate(others)}


LETTER = letters_of_bytes()


class Peer:
    def __init__(self, merges):
        names = [*LETTER.values(), *(v + "</w>" for v in LETTER.values()), *map("".join, merges), *SPECIAL]
        self.vocab = {name: i for i, name in enumerate(names)}
        self.merges = merges
        self.clip = CLIPTokenizer(vocab=self.vocab, merges=merges)

    def ids(self, texts):
        """None for a text that is refused."""
        return [None if BROKEN.search(t) else e.ids for t, e in zip(texts, self.clip.backend_tokenizer.encode_batch(texts))]


DIFFICULT = """\
a photo of a fox~this is a test string of text~a photo of a really, functistaner big cat.~A Photo Of A DOG!!!~\
it's we've they're I'm she'll he'd don't can't~IT'S WE'VE THEY'RE I'M SHE'LL HE'D DON'T~\
'sunny 'tis 'rest 'very 'mad 'llama 'dog~3 dogs and 12 cats, 1,000.5~x2 y3z~...wait... what?!~(a) [b] {c} <d>~\
e-mail: a_b@c.de~http://a.b/c?d=e&f=g~&amp; &lt;b&gt; &quot;q&quot;~&amp;amp;lt; &amp;amp;amp;amp;~\
&notit; &not it &NTILDE; &nTILDE; &EACUTE;~AT&T R&D Q&A~&#233; &#xe9; &#X1F600; &#38;#38;~\
&#0; &#128; &#x80; &#xd800; &#x110000; &#99999999999;~&#1; &#12; &#x1f; &#65534; a&#8;b~&#59; &semi; &colon~\
&szlig; &SZLIG; &ETH; &AMPERSAND; &lt &LT &ltimes &LTIMES;~<br> &amp; &lt;~caf\xe9 na\xefve fa\xe7ade~\
cafe\u0301 nai\u0308ve~\xc9COLE \xd6L~\u0130stanbul I\u0307 \u0131~\
\u03a3\u0391\u03a3 \u03a3 \u03a3\u03a3\u03a3. \u1f48\u0394\u03a5\u03a3\u03a3\u0395\u038e\u03a3~\
\u041c\u043e\u0441\u043a\u0432\u0430~\u6f22\u5b57\u3068\u304b\u306a~\ud55c\uad6d\uc5b4 \u1112\u1161\u11ab~\
\u0e44\u0e17\u0e22~\u0627\u0644\u0639\u0631\u0628\u064a\u0629~\
\U0001f600\U0001f1e9\U0001f1ea\U0001f468\u200d\U0001f469~\u2460\xbd\u2167\xb2~\uff21\uff22\uff43\uff11\u3000\uff01~\
\ufb01sh \ufb00 \u01c4 \u0132 \u0149a~\u201cquoted\u201d \u2018it\u2019s\u2019 \u02bc~\u212aelvin \u212b \u2126~\
'\u017f it'\u017f~a\xa0b\u2003c\u2028d\x85e\u1680f~\ta\nb\rc\r\nd~a\u200bb\xadc\ufeffd~\x1b[1;31mred\x1b[0m \x1b[ x~\
a\x01b\x7fc\x1fd~a\ufffcb \ufff9c~\u0345\u03b1\u0345 \u24b6\u24d0~\u1e9e \xdf STRASSE~<|startoftext|> x <|endoftext|>~\
<|STARTOFTEXT|>! <|EndOfText|>~!<|endoftext|>!~<|endoftext|\u0301>~<|endoftext|>\u0301~< |endoftext|>~\
<|<|endoftext|>|> \u0301lone~&lt;|endoftext|&gt; a~sch\xf6n\xe4 \xc3\xa9 \xe2\u20ac\u2122~\x80\x93quoted\x94~\
\xc3 la mode~a?\xc3?b~L&\u039f;\u0391~&aacute;&Aacute;&AACUTE;~&Jscr;ohn &nGt; &acE;~\u1ecc\u0302 \u0323\u0302""".split("~")
PIECES = [*"aAbBeEsStTxXyZ019 .,!?'-_&;#<>|\"/\\\t\n\u00e9\u00c9\u00df\u0130\u03a3\u03c3\u03c2\u0301\u0308\u0327",
          "\u00a0", "\u3000", "\u2019", "\u017f", "'s", "'ll", " the ", " a ", " photo", " of ", "&amp;", "&lt;", "&eacute;",
          "&#39;", "&#x1F600;", "&NTILDE;", *SPECIAL, "\U0001f600", "\u4e2d", "\ud55c", "\u0e01", "\u0915\u094d", "\ufb01",
          "\uff21", "\u01c5", "\x1b[0m", "\x07", "\r\n", "running"]


def fuzzed(rng):
    kind = rng.random()
    if kind < 0.3:                                       # what captions are like
        lengths = [rng.randint(1, 9) for _ in range(rng.randint(1, 12))]
        return " ".join("".join(rng.choice("etaoinshrdlu") for _ in range(n)) for n in lengths)
    if kind < 0.8:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 24)))
    if kind < 0.9:
        words = rng.choice(DIFFICULT)
        at = rng.randint(0, len(words))
        return words[:at] + rng.choice(PIECES) + words[at:] + rng.choice(DIFFICULT)
    out = ""                                             # any old characters
    while len(out) < rng.randint(1, 12):
        ch = chr(rng.randint(*rng.choice(((1, 0x24ff), (0x1e00, 0x30ff), (1, 0xffff), (1, 0x1ffff)))))
        if unicodedata.ucd_3_2_0.category(ch) not in ("Cn", "Cs", "Co"):      # characters that every library knows
            out += ch
    return out


def small_merges():
    """Merges of a small text, from tokenizers' own trainer. It orders equal pairs at random, so a file that is there stays."""
    if os.path.exists(f"{FOLDER}/merges.txt"):
        with open(f"{FOLDER}/merges.txt") as f:
            return [tuple(line.split()) for line in f.read().split("\n")[1:-1]]
    rng = random.Random(3)
    things = "fox dog cat house square circle photograph painting drawing street running sleeping striped wooden".split()
    places = "in the snow|at night|on the left|under water|with red stripes|of the sea|in a forest".split("|")
    kinds = ["photo", "sketch", "picture"]
    text = [f"a {rng.choice(kinds)} of the {rng.choice(things)} {rng.choice(places)}" for _ in range(400)]
    text += ["caf\u00e9 fa\u00e7ade sch\u00f6n \u03bb\u03cc\u03b3\u03bf\u03c2 it's don't we'll ..."] * 30
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    words, letters = pre_tokenizers.WhitespaceSplit(), pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, letters])
    trainer = trainers.BpeTrainer(vocab_size=1000, initial_alphabet=list(LETTER.values()), end_of_word_suffix="</w>",
                                  show_progress=False)
    tokenizer.train_from_iterator(text, trainer)
    merges = [tuple(m) for m in json.loads(tokenizer.to_str())["model"]["merges"]]
    known, seen = {*LETTER.values(), *(v + "</w>" for v in LETTER.values())}, []
    for m in merges:
        if "".join(m) not in known:
            seen.append(m)
            known.add("".join(m))
    return seen[:220]


def write_golden():
    os.makedirs(FOLDER, exist_ok=True)
    peer = Peer(small_merges())
    with open(f"{FOLDER}/merges.txt", "w") as f:
        f.write("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in peer.merges))
    with open(f"{FOLDER}/vocab.json", "w") as f:
        json.dump(peer.vocab, f, ensure_ascii=False)
    peer.clip.backend_tokenizer.save(f"{FOLDER}/tokenizer.json", pretty=False)
    rng = random.Random(5)
    texts = DIFFICULT + [fuzzed(rng) for _ in range(300)]
    with open(f"{FOLDER}/ids.bin", "wb") as f:
        f.write(struct.pack("<i", len(texts)))
        for text, ids in zip(texts, peer.ids(texts)):
            f.write(struct.pack(f"<i{len(text.encode())}s", len(text.encode()), text.encode()))
            f.write(struct.pack("<i", -1) if ids is None else struct.pack(f"<i{len(ids)}H", len(ids), *ids))


def write_seeds():
    vocab = json.dumps(Peer([("t", "h"), ("th", "e</w>")]).vocab, ensure_ascii=False, separators=(",", ":"))
    pairs = "#version: 0.2\nt h\nth e</w>\n"
    model = {"type": "BPE", "end_of_word_suffix": "</w>", "vocab": json.loads(vocab), "merges": [["t", "h"], ["th", "e</w>"]]}
    seeds = {"bpe": {"good": vocab + "\0" + pairs, "merges": pairs, "no_merges": vocab, "twice": pairs + "t h\n",
                     "unknown": vocab + "\0t x\n", "no_pair": "#version\nabc\n", "id": vocab.replace(":0,", ":1,", 1) + "\0",
                     "cut": vocab[:3000], "gzip": gzip.compress(pairs.encode(), mtime=0),
                     "tokenizer": json.dumps({"model": model}, ensure_ascii=False, separators=(",", ":"))},
             "caption": {f"{i:02}": text for i, text in enumerate(DIFFICULT)} | {"bad": b"a\xffb", "cut": b"\xe6\xbc"}}
    for target, files in seeds.items():
        folder = os.path.join(FOLDER, "../../fuzz/corpus_" + target)
        os.makedirs(folder, exist_ok=True)
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content.encode() if isinstance(content, str) else content)


def vocabulary():
    found = os.environ.get("SPOT_CLIP_VOCABULARY")
    spec = importlib.util.find_spec("open_clip")
    return found or (spec and os.path.join(spec.submodule_search_locations[0], "bpe_simple_vocab_16e6.txt.gz"))


def ours(program, path, texts, folder):
    with open(f"{folder}/texts", "wb") as f:
        f.write(b"".join(t.encode() + b"\0" for t in texts))
    out = subprocess.run([program, path, f"{folder}/texts"], stdout=subprocess.PIPE, check=True).stdout
    rows, at = [], 0
    while at < len(out):
        n, = struct.unpack_from("<i", out, at)
        rows.append(None if n < 0 else list(struct.unpack_from(f"<{n}i", out, at + 4)))
        at += 4 + 4 * max(n, 0)
    return rows


def compare(program, count):
    path = vocabulary()
    with (gzip.open if path.endswith(".gz") else open)(path) as f:
        lines = f.read().decode().split("\n")
    peer = Peer([tuple(line.split()) for line in lines[1:48895]])
    rng = random.Random(11)
    texts = DIFFICULT + [fuzzed(rng) for _ in range(count - len(DIFFICULT))]
    with tempfile.TemporaryDirectory() as folder:
        got, want = ours(program, path, texts, folder), peer.ids(texts)
    assert len(got) == len(texts)
    wrong = [i for i in range(len(texts)) if got[i] != want[i]]
    for i in wrong[:10]:
        print(f"{texts[i]!r}\n  {got[i]}\n  {want[i]}")
    print(f"{len(texts)} texts, of which {want.count(None)} are refused: {len(wrong)} differ")
    return len(wrong) > 0


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[1] == "--against":
        sys.exit(compare(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 100000))
    write_golden()
    write_seeds()
