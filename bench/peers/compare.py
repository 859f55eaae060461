#!/usr/bin/env python3
"""Every peer against spotter in one run on the same threads: figures for bench/results/*.jsonl.

    compare.py [build/spotter] [--threads 2] [--rounds 5] [--ops OP,..] [--append MACHINE]

Run it with the Python of the environment that bench/peers/setup makes. A round times spotter, then the peer; the ratio is
taken within a round, and the table shows the median ratio with the least and the greatest. Where there are several peers, each
is timed in each round, and the one of the least median counts. --append writes lines into bench/results/*.jsonl in place of
the table: into the file that has the case, or else the op, with ", AVX2" behind the threads where the CPU has no AVX-512;
`asked` and `aim` are those of the case's line before, of whatever threads. `load` is what the machine says during the rounds,
and whether this process goes before all others: with
`chrt -f 5 taskset -c 0 compare.py --threads 1` nothing interrupts either side on a busy machine, and the clock shows the
processor's time. Pictures: tuxpaint-stamps-default and plasma-workspace-wallpapers.
(opentsne.py, of 100,000 rows, and background_torch.py print ratios of their own.)
"""
import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(os.path.dirname(HERE), "results")
RESIZED = ["640 x 480 to 224, bicubic", "JPEG of 640 x 480, decoded, to 224, bicubic"]
MATRIX = "1,712 x 33 on 128 x 128, kernel 32, sigma 10"
LIKELIHOOD, POSTERIOR = "likelihood and slopes, 300 points, 9 lengths", "posterior of 1,000, 300 points"


def lines(text):
    """Seconds of lines "op, case, peer, seconds", by (op, case) and peer; "op, case, seconds" has no peer's name."""
    found = {}
    for words in (line.split("\t") for line in text.splitlines() if not line.startswith("#")):
        if len(words) >= 3 and re.match(r"[\d.]+", words[-1]):
            named = len(words) > 3 and not re.match(r"[\d.]+( s)?$", words[2])
            found.setdefault((words[0], words[1]), {})[words[2] if named else None] = float(words[2 + named].split()[0])
    return found


def only(op, pattern):
    """Seconds of an op with one case: the least of what the pattern finds."""
    return lambda text: {op: {None: min(float(s) for s in re.findall(pattern, text))}}


PEERS = {   # peer: its command, and what reads its seconds by (op, case) or op, and by the peer's name where it says one
    "resnet_torch.py": (["{threads}", "--rows"], lines),
    "mixture_sklearn.py": (["-", "{threads}"], only("mixture", r"scikit-learn: ([\d.]+) s")),
    "domino_pypi.py": (["-", "{threads}"], only("domino", r"domino: ([\d.]+) s")),
    "barlow_sklearn.py": (["-", "{threads}"], only("barlow", r"scikit-learn: ([\d.]+) s")),
    "george_sklearn.py": (["{threads}"], lambda text: {op: {None: float(s)} for op, s in
                          re.findall(r"^(\w+): ([\d.]+) s", text, re.M)}),
    "newer_sklearn.py": (["{threads}", "{ops}"], lines),
    "forest_sklearn.py": (["-", "{threads}"], lines),
    "gaussian_sklearn.py": (["-"], lines),
    "itemsets_mlxtend.py": ([], only("itemsets", r": ([\d.]+) s;")),
    "cma_package.py": (["-"], only("examiner", r"cma: ([\d.]+) s")),
    "tsne_sklearn.py": (["3000", "512", "{threads}", "--opentsne"], lambda text: {"tsne": {
                        name: float(s) for name, s in re.findall(r"^(\S+) tsne n.*?: ([\d.]+) s", text, re.M)}}),
    "scvis_torch.py": (["1600", "512", "{threads}"], only("scvis", r"([\d.]+) s an iteration")),
    "umap_peer.py": (["3200", "512", "{threads}", "--george"], only("umap", r"neighbours=10 .*: ([\d.]+) s")),
    "look_torch.py": (["{pictures}", "{threads}"], only("look", r": ([\d.]+) s")),
    "resize_pil.py": ([], lines),
    "rbf_scipy.py": (["{spotter}", "{threads}"], only("rbf", r"(?:numpy|SciPy): ([\d.]+) s")),
    "blend_cv2.py": (["{threads}"], lines),
    "bpe_hf.py": ([], only("bpe", r"batch: ([\d.]+) s")),
    "spotlight_torch.py": (["{threads}"], only("spotlight", r": ([\d.]+) s")),
    "clip_torch.py": (["{threads}", "--rows"], lines),
    "lstm_torch.py": (["{threads}"], lines),
    "mesh_pyrender.py": (["{spotter}"], lines),
    "proof_numpy.py": (["{threads}"], lines),
    "render_pil.py": (["{spotter}", HERE + "/../../configs/paper_synthetic.yaml"], lambda text: {"render": {None:
                      1e-6 * float(re.search(r"numpy (\d+) us", text)[1])}}),
}
STAYS = {"resnet_torch.py", "clip_torch.py"}      # one process for all rounds, which compiles once: a line on stdin is a round
PACKAGES = {"PyTorch": "torch", "numpy": "numpy", "scikit-learn": "scikit-learn", "SciPy": "scipy", "faiss": "faiss-cpu",
            "OpenCV": "opencv-python-headless", "fastcluster": "fastcluster", "PIL": "pillow", "shap": "shap",
            "mlxtend": "mlxtend", "umap-learn": "umap-learn", "openTSNE": "openTSNE", "domino": "domino", "cma": "cma",
            "tokenizers": "tokenizers", "transformers": "transformers", "open_clip": "open_clip_torch", "pyrender": "pyrender",
            "VTK": "vtk"}
ROWS = [    # op, case, peer, what the peer's seconds are of; threads of both where not all
    *((op, size + kind, "resnet_torch.py", "PyTorch", 0) for op in ("train", "infer") for kind in ("", ", bf16") for size in
      ("width 64, 64 px, batch 64", "width 64, 224 px, batch 16", "width 32, 64 px, batch 64")),
    ("render", "224 px, bytes", "render_pil.py", "PIL and numpy, an image on one thread", 1),
    ("mesh", "64 px, 4,040 triangles", "mesh_pyrender.py", "the faster of pyrender and VTK on OSMesa", 1),
    ("mesh", "64 px, 29,312 triangles", "mesh_pyrender.py", "the faster of pyrender and VTK on OSMesa", 1),
    ("mesh", "224 px, 4,040 triangles", "mesh_pyrender.py", "the faster of pyrender and VTK on OSMesa", 1),
    ("mesh", "224 px, 29,312 triangles", "mesh_pyrender.py", "the faster of pyrender and VTK on OSMesa", 1),
    ("mixture", "K = 1..32 on 3,000 x 3, BIC", "mixture_sklearn.py", "scikit-learn", 0),
    ("domino", "3,200 x 512, PCA 128, K = 25", "domino_pypi.py", "the domino package", 0),
    ("barlow", "3,200 x 512, depth 11", "barlow_sklearn.py", "scikit-learn, one thread", 0),
    ("george", "3,200 x 2, 2 to 10 clusters, 5 pieces", "george_sklearn.py", "scikit-learn", 0),
    ("multiaccuracy", "3,200 x 512, 10 auditors", "george_sklearn.py", "scikit-learn", 0),
    ("influence", "3,200 x 512", "newer_sklearn.py", "SciPy and scikit-learn", 0),
    ("svm", "3,200 x 512", "newer_sklearn.py", "scikit-learn's LinearSVC", 0),
    ("density", "3,200 x 512", "newer_sklearn.py", "scikit-learn, the neighbours alone", 0),
    ("dbscan_group", "3,200 x 512", "newer_sklearn.py", "scikit-learn", 0),
    ("ward", "3,200 x 512", "newer_sklearn.py", "fastcluster or scikit-learn, the tree alone", 0),
    ("ward", "20,000 x 64", "newer_sklearn.py", "fastcluster or scikit-learn, the tree alone", 0),
    ("neighbours", "3,200 x 512, the ten nearest", "newer_sklearn.py", "faiss or scikit-learn", 0),
    ("neighbours", "20,000 x 512, the ten nearest", "newer_sklearn.py", "faiss or scikit-learn", 0),
    ("kmeans", "3,200 x 512", "newer_sklearn.py", "scikit-learn", 0),
    ("forest", "100 trees, 167 x 64, 3 classes", "forest_sklearn.py", "scikit-learn", 0),
    ("forest", "TreeSHAP of 83 rows", "forest_sklearn.py", "shap, one thread", 0),
    ("gaussian", LIKELIHOOD, "gaussian_sklearn.py", "scikit-learn", 1),
    ("gaussian", POSTERIOR, "gaussian_sklearn.py", "scikit-learn", 1),
    *(("proof", f"9,999 draws, 600 tests, 100,000 rows in {of}", "proof_numpy.py", "numpy and SciPy", 0) for of in
      ("10 classes", "one class")),
    ("itemsets", "1,712 x 515, support .005", "itemsets_mlxtend.py", "mlxtend, fpgrowth and association_rules", 1),
    ("examiner", "cma, 10 objects, 1,000 renders", "cma_package.py", "the package cma", 1),
    ("tsne", "3000x512, 1000 iterations", "tsne_sklearn.py", "scikit-learn or openTSNE", 0),
    ("umap", "3200x512, 10 neighbours, 500 epochs", "umap_peer.py", "umap-learn, the faster of one and all threads", 0),
    ("scvis", "1600x512, batch 512", "scvis_torch.py", "PyTorch, P vectorised, an iteration", 0),
    ("look", "folder of pictures, 256 to 224 px", "look_torch.py", "PyTorch, a DataLoader's worker for each thread", 0),
    ("resize", RESIZED[0], "resize_pil.py", "PIL, a picture on one thread", 1),
    ("resize", RESIZED[1], "resize_pil.py", "PIL, a picture on one thread", 1),
    ("rbf", MATRIX, "rbf_scipy.py", "the faster of numpy and SciPy's KD-tree, every 37th cell timed", 0),
    ("blend", "224 px, 5 levels, bytes, 8 targets on 32 backgrounds", "blend_cv2.py", "OpenCV and numpy", 0),
    ("blend", "224 px, 5 levels, floats, 8 targets on 32 backgrounds", "blend_cv2.py", "OpenCV and numpy", 0),
    ("blend", "224 px, 5 levels, bytes, one pair of each picture", "blend_cv2.py", "OpenCV and numpy", 0),
    ("bpe", "100,000 captions", "bpe_hf.py", "tokenizers, one thread", 1),
    ("clip", "ViT-B/32, 32 pictures", "clip_torch.py", "the faster of transformers and open_clip", 0),
    ("clip", "ViT-B/16, 8 pictures", "clip_torch.py", "the faster of transformers and open_clip", 0),
    ("clip", "ViT-B/32, 32 pictures, bf16", "clip_torch.py", "the faster of transformers and open_clip", 0),
    ("clip", "ViT-B/16, 8 pictures, bf16", "clip_torch.py", "the faster of transformers and open_clip", 0),
    ("clip", "ViT-B/32, 250 captions", "clip_torch.py", "transformers, padded to the longest of them", 0),
    ("lstm", "an update, 9 factors of 100 values, batch 32, one policy", "lstm_torch.py", "PyTorch, LSTMCell", 0),
    ("lstm", "the same, 55 policies", "lstm_torch.py", "PyTorch, policies side by side by bmm", 0),
    ("spotlight", "10 of 1,000 steps, 3,200 x 512", "spotlight_torch.py", "PyTorch, 40 steps of 10,000 timed", 0),
]


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def make_pictures(folder):
    """For both sides of the row "look"; without Debian's pictures its peer has none to look at."""
    try:
        run([sys.executable, os.path.join(HERE, "look_torch.py"), "--make", folder])
        os.environ["SPOT_BENCH_PICTURES"] = folder
    except subprocess.CalledProcessError as failure:
        sys.stderr.write(failure.stderr)


def find_vocabulary():
    """For both sides of the row "bpe": CLIP's own, out of open_clip's package unless SPOT_CLIP_VOCABULARY names it."""
    spec = importlib.util.find_spec("open_clip")
    if spec:
        folder = spec.submodule_search_locations[0]
        os.environ.setdefault("SPOT_CLIP_VOCABULARY", os.path.join(folder, "bpe_simple_vocab_16e6.txt.gz"))


def print_table(measured):
    print("| op | case | spotter | peer | ratio | least to greatest |\n|---|---|---|---|---|---|")
    for op, case, peer, _, mine, other, _ in measured:
        if not other:
            print(f"| {op} | {case} | {1e3 * statistics.median(mine):.4g} ms | not measured | | |")
            continue
        ratio = sorted(b / a for a, b in zip(mine, other))
        print(f"| {op} | {case} | {1e3 * statistics.median(mine):.4g} ms | {1e3 * statistics.median(other):.4g} ms, {peer} "
              f"| {statistics.median(ratio):.2f} | {ratio[0]:.2f} to {ratio[-1]:.2f} |")


def versions(peer):
    """Of the packages that the words name."""
    return ", ".join(importlib.metadata.version(package) for name, package in PACKAGES.items()
                     if re.search(rf"\b{name}\b", peer))


def without_threads(case):
    return re.sub(r"; \d threads?\b.*", "", case)


def short(x, digits=3):
    """x with so many digits, and without a fraction where it has none."""
    x = float(f"{x:.{digits}g}")
    return int(x) if x == int(x) else x


def line_of(measured, machine, load, newest):
    """A line of bench/results and the name of its file: medians in milliseconds."""
    op, case, peer, threads, mine, other, rest = measured
    with open("/proc/cpuinfo") as file:
        narrow = "" if " avx512f " in file.read() else ", AVX2"        # another case: other code of both sides runs there
    whole = f"{case}; {threads} thread" + ("s" if threads > 1 else "") + narrow
    ratio = sorted(b / a for a, b in zip(mine, other))
    same = [r for (o, c), r in newest.items() if o == op and without_threads(c) == case]
    before = newest.get((op, whole)) or next((r for r in reversed(same) if "asked" in r or "aim" in r), {})
    row = {"op": op, "case": whole, "value": short(1e3 * statistics.median(mine), 4), "unit": "ms", "peer": peer,
           "peer_value": short(1e3 * statistics.median(other), 4), "peer_version": versions(peer),
           "ratio": short(statistics.median(ratio)), "ratio_least": short(ratio[0]), "ratio_greatest": short(ratio[-1])}
    row.update((key, short(float(before[key]))) for key in ("asked", "aim") if key in before)
    row.update((key, before[key]) for key in ("better",) if key in before)
    changed = run(["git", "-C", os.path.dirname(HERE), "log", "-1", "--format=%h", "--", "../include", "../kernels", "../host"])
    row.update(machine=machine, load=load, commit=changed.strip(), numbers=None, date=str(datetime.date.today()),
               command=f"bench/peers/compare.py, {len(ratio)} rounds")
    if rest:
        row["note"] = "; ".join(f"{who} {versions(who)} takes {1e3 * statistics.median(s):.4g} ms" for who, s in rest.items())
    of_op = [r["file"] for (o, _), r in newest.items() if o == op]
    return row, (before or {"file": of_op[-1] if of_op else "against_peers.jsonl"})["file"]


def append(measured, machine, load):
    sys.path.insert(0, os.path.dirname(HERE))
    newest = importlib.import_module("results").read()[1]
    for one in measured:
        if not one[5]:
            continue
        row, name = line_of(one, machine, load, newest)
        with open(os.path.join(RESULTS, name), "a") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        print(f"{name}: {row['op']}, {row['case']}: {row['ratio']} ({row['ratio_least']} to {row['ratio_greatest']}) times "
              f"{row['peer']} {row['peer_version']}; {row['value']:g} ms against {row['peer_value']:g} ms", flush=True)


class Peer:
    """A peer's script: started anew for each round, or once for all of them. Its OpenBLAS chooses its kernels by itself."""

    def __init__(self, name, words):
        self.name, self.command, self.child = name, [sys.executable, os.path.join(HERE, name), *words], None
        self.env = {k: v for k, v in os.environ.items() if k not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}

    def round(self):
        """What it prints; "" where it cannot run, as where a package is not there."""
        if self.name not in STAYS:
            done = subprocess.run(self.command, capture_output=True, text=True, env=self.env)
            sys.stderr.write(done.stderr if done.returncode else "")
            return "" if done.returncode else done.stdout
        if not self.child:
            self.child = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.env)
        try:
            self.child.stdin.write("\n"), self.child.stdin.flush()
        except BrokenPipeError:
            return ""
        return "".join(iter(self.child.stdout.readline, "\n") if self.child.poll() is None else [])

    def close(self):
        if self.child:
            self.child.communicate()


def our_seconds(spotter, op, threads):
    """By case. A rate counts what the peer's seconds are of: an image, an iteration; a step or a map is whole."""
    rows = json.loads(run([spotter, "bench", op, "--device", "cpu", "--json", "--threads", str(threads)]))
    return {row["case"]: 1 / row["per_s"] if op in ("mesh", "render", "resize", "scvis") else row["median_s"] for row in rows}


def measure(o, pictures):
    """Rows with the seconds of each round, ours and the best peer's."""
    rows = [row for row in ROWS if not o.ops or row[0] in o.ops]
    ours, theirs, peers = {}, {}, {}
    for name in dict.fromkeys(row[2] for row in rows):
        ops = sorted({row[0] for row in rows if row[2] == name})
        words = [w.format(spotter=o.spotter, threads=o.threads, pictures=pictures) for a in PEERS[name][0]
                 for w in (ops if a == "{ops}" else [a])]
        peers[name] = Peer(name, words)
    for _ in range(o.rounds):
        for name, peer in peers.items():
            for op, threads in sorted({(row[0], row[4] or o.threads) for row in rows if row[2] == name}):
                for case, seconds in our_seconds(o.spotter, op, threads).items():
                    ours.setdefault((op, case), []).append(seconds)
            said = peer.round()
            for key, named in PEERS[name][1](said).items() if said else ():
                for who, seconds in named.items():
                    theirs.setdefault(key, {}).setdefault(who, []).append(seconds)
        o.load.append(os.getloadavg()[0])
    for peer in peers.values():
        peer.close()
    measured = []
    for op, case, _, words, threads in rows:
        found = theirs.get((op, case)) or theirs.get(op) or {}
        whole = [who for who in found if len(found[who]) == max(map(len, found.values()))]
        best = min(whole, key=lambda who: statistics.median(found[who]), default=None)
        measured.append((op, case, best or words, threads or o.threads, ours[op, case], found.get(best),
                         {who: s for who, s in found.items() if who != best}))
    return measured


def compare(pictures):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("spotter", nargs="?", default="build/spotter")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ops", type=lambda words: set(words.split(",")))
    parser.add_argument("--append", metavar="MACHINE")
    o = parser.parse_args()
    o.load = []
    if not o.ops or "look" in o.ops:
        make_pictures(pictures)
    find_vocabulary()
    measured = measure(o, pictures)
    urgent = os.sched_getscheduler(0) == os.SCHED_FIFO
    load = f"{min(o.load):.1f} to {max(o.load):.1f}" + (", beside it at real-time priority" if urgent else "")
    append(measured, o.append, load) if o.append else print_table(measured)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as pictures:
        compare(pictures)
