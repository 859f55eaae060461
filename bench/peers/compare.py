#!/usr/bin/env python3
"""Every peer against spotter in one run on the same threads: figures for bench/results/*.jsonl.

    compare.py [build/spotter] [--threads 2] [--rounds 3] [--lines MACHINE LOAD]

A round times spotter, then the peer; the ratio is taken within a round, and the table shows the median ratio with the
least and the greatest. --lines prints lines for bench/results/*.jsonl in place of the table; `asked` and `aim` of a case's line
before are taken over. Needs what the peers need: python3-torch, -torchvision, -scipy, -opencv, -sklearn, -pil, umap-learn,
pyrender, vtk, and for pictures, tuxpaint-stamps-default and plasma-workspace-wallpapers.
(opentsne.py, of 100,000 rows, takes minutes and prints a ratio of its own.)
"""
import argparse
import datetime
import importlib.util
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RESIZED = ["640 x 480 to 224, bicubic", "JPEG of 640 x 480, decoded, to 224, bicubic"]
MATRIX = "1,712 x 33 on 128 x 128, kernel 32, sigma 10"
PEERS = {   # peer: its command, and seconds by (op, case) from what it prints
    "resnet_torch.py": (["{threads}"], lambda text: {(op, case): float(s) for op, case, s in
                        re.findall(r"^(train|infer)\t(.*?)\t([\d.]+)", text, re.M)}),
    "mixture_sklearn.py": (["{spotter}", "{threads}"], lambda text: {"mixture":
                           statistics.median(float(s) for s in re.findall(r"scikit-learn: ([\d.]+) s", text))}),
    "domino_pypi.py": (["{spotter}", "{threads}"], lambda text: {"domino":
                       statistics.median(float(s) for s in re.findall(r"domino: ([\d.]+) s", text))}),
    "barlow_sklearn.py": (["{spotter}", "{threads}"], lambda text: {"barlow":
                          statistics.median(float(s) for s in re.findall(r"scikit-learn: ([\d.]+) s", text))}),
    "george_sklearn.py": (["{threads}"], lambda text: {op: float(s) for op, s in
                          re.findall(r"^(\w+): ([\d.]+) s", text, re.M)}),
    "newer_sklearn.py": (["{threads}"], lambda text: {op: float(s) for op, s in
                         re.findall(r"^(\w+): ([\d.]+) s", text, re.M)}),
    "tsne_sklearn.py": (["3000", "512", "{threads}"], lambda text: {"tsne": float(re.search(r": ([\d.]+) s", text)[1])}),
    "scvis_torch.py": (["1600", "512", "{threads}"], lambda text: {"scvis":
                       float(re.search(r"([\d.]+) s an iteration", text)[1])}),
    "umap_peer.py": (["3200", "512", "{threads}"], lambda text: {"umap": min(float(s) for s in
                      re.findall(r"neighbours=10 .*: ([\d.]+) s", text))}),
    "look_torch.py": (["{pictures}", "{threads}"], lambda text: {"look": float(re.search(r": ([\d.]+) s", text)[1])}),
    "resize_pil.py": ([], lambda text: {("resize", case): 1e-3 * float(ms) for case, ms in zip(RESIZED,
                      re.findall(r": ([\d.]+) ms", text))}),
    "rbf_scipy.py": (["{spotter}", "{threads}"], lambda text: {("rbf", MATRIX): min(float(s) for s in
                     re.findall(r"(?:numpy|SciPy): ([\d.]+) s", text))}),
    "blend_cv2.py": (["{threads}"], lambda text: {(op, case): float(s) for op, case, s in
                     re.findall(r"^(blend)\t(.*?)\t([\d.]+)", text, re.M)}),
    "bpe_hf.py": ([], lambda text: {"bpe": float(re.search(r"batch: ([\d.]+) s", text)[1])}),
    "spotlight_torch.py": (["{threads}"], lambda text: {"spotlight": float(re.search(r": ([\d.]+) s", text)[1])}),
    "clip_torch.py": (["{threads}"], lambda text: {(op, case): float(s) for op, case, s in
                      re.findall(r"^(clip)\t(.*?)\t([\d.]+)", text, re.M)}),
    "lstm_torch.py": (["{threads}"], lambda text: {(op, case): float(s) for op, case, s in
                      re.findall(r"^(lstm)\t(.*?)\t([\d.]+)", text, re.M)}),
    "mesh_pyrender.py": (["{spotter}"], lambda text: {(op, case): float(s) for op, case, s in
                         re.findall(r"^(mesh)\t(.*?)\t([\d.]+)", text, re.M)}),
    "render_pil.py": (["{spotter}", HERE + "/../../configs/paper_synthetic.yaml"], lambda text: {"render":
                      1e-6 * float(re.search(r"numpy (\d+) us", text)[1])}),
}
ROWS = [    # op, case, peer, what the peer's seconds are of; threads of spotter where not all
    ("train", "width 64, 64 px, batch 64", "resnet_torch.py", "PyTorch", 0),
    ("train", "width 64, 224 px, batch 16", "resnet_torch.py", "PyTorch", 0),
    ("train", "width 32, 64 px, batch 64", "resnet_torch.py", "PyTorch", 0),
    ("train", "width 64, 64 px, batch 64, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
    ("train", "width 64, 224 px, batch 16, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
    ("train", "width 32, 64 px, batch 64, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
    ("infer", "width 64, 64 px, batch 64", "resnet_torch.py", "PyTorch", 0),
    ("infer", "width 64, 224 px, batch 16", "resnet_torch.py", "PyTorch", 0),
    ("infer", "width 32, 64 px, batch 64", "resnet_torch.py", "PyTorch", 0),
    ("infer", "width 64, 64 px, batch 64, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
    ("infer", "width 64, 224 px, batch 16, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
    ("infer", "width 32, 64 px, batch 64, bf16", "resnet_torch.py", "PyTorch, autocast, the faster of eager and compiled", 0),
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
    ("influence", "3,200 x 512", "newer_sklearn.py", "SciPy, scikit-learn", 0),
    ("svm", "3,200 x 512", "newer_sklearn.py", "scikit-learn's LinearSVC", 0),
    ("density", "3,200 x 512", "newer_sklearn.py", "scikit-learn, the neighbours alone", 0),
    ("dbscan_group", "3,200 x 512", "newer_sklearn.py", "scikit-learn", 0),
    ("ward", "3,200 x 512", "newer_sklearn.py", "fastcluster or scikit-learn, the tree alone", 0),
    ("tsne", "3000x512, 1000 iterations", "tsne_sklearn.py", "scikit-learn, Barnes-Hut", 0),
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
    ("clip", "ViT-B/32, 1,000 captions", "clip_torch.py", "transformers, padded to the longest of a batch", 0),
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
    for op, case, peer, _, mine, other in measured:
        if not other:
            print(f"| {op} | {case} | {1e3 * statistics.median(mine):.4g} ms | not measured | | |")
            continue
        ratio = sorted(b / a for a, b in zip(mine, other))
        print(f"| {op} | {case} | {1e3 * statistics.median(mine):.4g} ms | {1e3 * statistics.median(other):.4g} ms, {peer} "
              f"| {statistics.median(ratio):.1f} | {ratio[0]:.1f} to {ratio[-1]:.1f} |")


def print_lines(measured, machine, load):
    """Lines of bench/results, without what was not measured: medians in milliseconds."""
    sys.path.insert(0, os.path.dirname(HERE))
    newest = importlib.import_module("results").read()[1]
    commit = run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"]).strip()
    for op, case, peer, threads, mine, other in measured:
        if not other:
            continue
        case += f"; {threads} thread" + ("s" if threads > 1 else "")
        before, ratio = newest.get((op, case), {}), sorted(b / a for a, b in zip(mine, other))
        row = {"op": op, "case": case, "value": float(f"{1e3 * statistics.median(mine):.4g}"), "unit": "ms", "peer": peer,
               "peer_value": float(f"{1e3 * statistics.median(other):.4g}"), "ratio": round(statistics.median(ratio), 2),
               "ratio_least": round(ratio[0], 2), "ratio_greatest": round(ratio[-1], 2)}
        row.update((key, float(before[key])) for key in ("asked", "aim") if key in before)
        row.update((key, before[key]) for key in ("better",) if key in before)
        row.update(machine=machine, load=load, commit=commit, numbers=None, date=str(datetime.date.today()),
                   command="bench/peers/compare.py")
        print(json.dumps(row, ensure_ascii=False))


def compare(pictures):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("spotter", nargs="?", default="build/spotter")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lines", nargs=2, metavar=("MACHINE", "LOAD"))
    o = parser.parse_args()
    ours, theirs = {}, {}
    make_pictures(pictures)
    find_vocabulary()
    for _ in range(o.rounds):
        for peer, (arguments, read) in PEERS.items():
            ops = sorted({(row[0], row[4] or o.threads) for row in ROWS if row[2] == peer})
            for op, threads in ops:
                for line in json.loads(run([o.spotter, "bench", op, "--device", "cpu", "--json", "--threads", str(threads)])):
                    # a rate counts what the peer's seconds are of: an image, an iteration; a step or a map is whole
                    each = 1 / line["per_s"] if op in ("mesh", "render", "resize", "scvis") else line["median_s"]
                    ours.setdefault((op, line["case"]), []).append(each)
            words = [a.format(spotter=o.spotter, threads=o.threads, pictures=pictures) for a in arguments]
            try:
                said = read(run([sys.executable, os.path.join(HERE, peer), *words]))
            except subprocess.CalledProcessError as failure:      # a package that is not there: its rows are left out
                sys.stderr.write(failure.stderr)
                continue
            for key, seconds in said.items():
                theirs.setdefault(key, []).append(seconds)
    measured = [(op, case, peer, threads or o.threads, ours[op, case], theirs.get((op, case)) or theirs.get(op))
                for op, case, _, peer, threads in ROWS]
    print_lines(measured, *o.lines) if o.lines else print_table(measured)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as pictures:
        compare(pictures)
