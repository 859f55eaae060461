#!/usr/bin/env python3
"""spotter on a GPU against its peers in one job, as Markdown, misses included: figures for bench/results/gpu.jsonl.

    compare_gpu.py [build/spotter] [--rounds 3] [--only train infer ...] [--busy FILE] [--log FILE] [--small] [--eager]
    compare_gpu.py --table FILE... [--busy FILE]

A round times spotter, then the peer (bench/peers/gpu_torch.py); the ratio is taken within a round, and the table shows the
median ratio with the least and the greatest. The peer is the fastest of PyTorch's ways, eager or compiled; the others stand
below the table. What could not be measured says why. --busy: what tools/gpu_busy wrote of a sweep. --log keeps every figure as
JSON; --table makes the table of such files, a round or a part of one each. --small and --device cpu try this script out.
--eager leaves out compiled PyTorch, which takes a minute to compile.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# op, case of spotter's, what is compared, at least, aim. Seconds are of an item on both sides: image, iteration, map, fit.
ROWS = [
    ("train", "224 px, batch 256, bf16", "ResNet-18, training, 224 px, batch 256, bf16", 1.0, 1.3),
    ("train", "224 px, batch 256, bf16, epoch of 20 steps", "the same with images drawn in every step", None, None),
    ("train", "64 px, batch 256, bf16", "ResNet-18, training, 64 px, batch 256, bf16", None, None),
    ("infer", "224 px, batch 256, bf16", "ResNet-18, inference, 224 px, batch 256, bf16", 1.0, 1.5),
    ("infer", "64 px, batch 256, bf16", "ResNet-18, inference, 64 px, batch 256, bf16", None, None),
    ("mixture", "100 ECs, K = 1..32 on 3,200 x 3, BIC", "mixtures, 100 ECs x 32 on 3,200 x 3", 500, 5000),
    ("tsne", "100 x 3200x512, 1000 iterations", "t-SNE, 100 problems of 3,200 x 512", 20, None),
    ("scvis", "100 x 3200x512, batch 512, 300 iterations", "scvis, 100 problems of 3,200 x 512", 20, 100),
]
RENDER = ("render", "224 px, batch 256, bf16 input", "rendering 224 px into the network's input", 50, 80)
OPS = ("ceiling", "render", "train", "infer", "mixture", "tsne", "scvis")
FASTEST_TRAINING = 25000     # images/s, the other half of that row's aim


def lines_of(by, op, small, command, log):
    """JSON that a command prints, as an array or an object a line; what it could not do is in there."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        found = json.loads(done.stdout) if done.stdout.startswith("[") else [json.loads(l) for l in done.stdout.splitlines()]
    except ValueError:
        found = []
    if not found:
        found = [{"error": (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]}]
    log.append({"by": by, "op": op, "small": small, "date": str(datetime.date.today()), "command": command,
                "exit": done.returncode, "rows": found})


def matching(rows, op, case):
    """The peer's case is the beginning of ours, or the only one of its op; its error stands for all."""
    rows = [r for r in rows if r.get("op") in (op, None)]
    same = [r for r in rows if r.get("case") and case.startswith(r["case"])]
    return (same or ([] if op in ("train", "infer") else rows) or [r for r in rows if "error" in r] or [None])[0]


def time_words(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds * 1e9:.4g} ns"


def verdict(value, least, aim, also=True):
    if aim is not None and value >= aim and also:
        return "met"
    if least is not None and value < least:
        return "missed, even the least"
    return "" if aim is None and least is None else "at least: met" if aim is None else "aim missed"


def compared(row, ours, theirs, small):
    op, case, words, least, aim = row
    case += ", small" if small else ""
    mine, peers = [], []
    for rows, others in zip(ours.get(op, []), theirs.get(op, [])):
        a, b = next((r for r in rows if r.get("case") in (case, row[1])), None), matching(others, op, case)
        if not a or "per_s" not in a:
            return f"| {words} | not measured: {a.get('error') if a else 'no such row'} | | | | | |"
        mine.append(a)
        peers.append(b)
    if not mine:
        return f"| {words} | not measured | | | | | |"
    per_s = statistics.median(a["per_s"] for a in mine)
    own = f"{time_words(1 / per_s)}" + (f", {per_s:.5g} images/s" if op in ("train", "infer") else "")
    if "tflops" in mine[0]:
        own += f", {statistics.median(a['tflops'] for a in mine):.4g} TFLOP/s"
    wanted = " | ".join("" if v is None else f"{v:g}" for v in (least, aim))
    if not all(b and "seconds" in b for b in peers):
        why = next((b["error"] for b in peers if b and "error" in b), "no such case")
        return f"| {words} | {own} | not to be had: {why} | | {wanted} | |"
    ratio = sorted(b["seconds"] * a["per_s"] for a, b in zip(mine, peers))
    also = op != "train" or per_s >= FASTEST_TRAINING
    return (f"| {words} | {own} | {time_words(statistics.median(b['seconds'] for b in peers))}, {peers[0]['peer']} "
            f"| {statistics.median(ratio):.3g} ({ratio[0]:.3g} to {ratio[-1]:.3g}) | {wanted} "
            f"| {verdict(statistics.median(ratio), least, aim, also)} |")


def of_ceiling(ours, small):
    op, case, words, least, aim = RENDER
    case += ", small" if small else ""
    found = [r for rows in ours.get(op, []) for r in rows if r.get("case") == case and "ceiling_percent" in r]
    if not found:
        return f"| {words} | not measured | | | {least} % | {aim} % | |"
    share = statistics.median(r["ceiling_percent"] for r in found)
    return (f"| {words} | {statistics.median(r['gbs'] for r in found):.4g} GB/s written, "
            f"{statistics.median(r['per_s'] for r in found):.4g} images/s | copy bandwidth "
            f"| {share:.3g} % | {least} % | {aim} % | {verdict(share, least, aim)} |")


def busy_row(path):
    words = "device busy during a sweep"
    if not path:
        return f"| {words} | not measured | | | 85 % | 95 % | |"
    with open(path) as file:
        seen = json.load(file)
    if "error" in seen:
        return f"| {words} | not measured: {seen['error']} | | | 85 % | 95 % | |"
    return (f"| {words} | {seen['busy_percent']:.3g} % of {seen['seconds']:.4g} s, {seen['samples']} samples | nvidia-smi | "
            f"| 85 % | 95 % | {verdict(seen['busy_percent'], 85, 95)} |")


def ceilings(rows):
    """The ceilings that each program measured, once."""
    for row in rows:
        if row.get("op") == "ceiling" and ("gbs" in row or "tflops" in row):
            rate = f"{row['gbs']:.4g} GB/s" if "gbs" in row else f"{row['tflops']:.4g} TFLOP/s"
            yield f"{row['case']}: {rate}{' by ' + row['peer'] if 'peer' in row else ''}"


def other_ways(theirs):
    """Seconds of every way in which PyTorch was tried, and what failed."""
    for op, rounds in theirs.items():
        for row in rounds[0]:
            ways = [f"{name} {time_words(seconds)}" for name, seconds in row.get("all", {}).items()]
            ways += [f"{name} failed: {why}" for name, why in row.get("failed", {}).items()]
            if ways:
                yield f"{op}, {row['case']}: {row['peer'].split(', ')[0]}: {'; '.join(ways)}"


def measure(o):
    log, small = [], ["--small"] if o.small else []
    for _ in range(o.rounds):
        for op in o.only or OPS:
            lines_of("spotter", op, o.small, [o.spotter, "bench", op, "--device", "cuda", "--json", *small], log)
            if op != "render":
                peer = [sys.executable, os.path.join(HERE, "gpu_torch.py"), op, "--device", o.device, *small,
                        *(["--eager"] if o.eager else [])]
                lines_of("peer", op, o.small, peer, log)
            if o.log:
                with open(o.log, "w") as file:
                    json.dump(log, file, indent=1)
    return log


def print_table(log, busy):
    ours, theirs, small = {}, {}, any(entry["small"] for entry in log)
    for entry in log:
        (ours if entry["by"] == "spotter" else theirs).setdefault(entry["op"], []).append(entry["rows"])
    device = next((r["device"] for rows in ours.values() for r in rows[0] if "device" in r), "no GPU")
    dates, rounds = sorted({entry["date"] for entry in log}), min([len(r) for r in ours.values()] or [0])
    print(f"{device}, {' to '.join(dict.fromkeys(dates[:1] + dates[-1:])) or 'no date'}, {rounds} round{'s' * (rounds != 1)}. "
          "An item is an image, a fit, a map or an iteration.\n")
    for line in [*ceilings(ours.get("ceiling", [[]])[0]), *ceilings(theirs.get("ceiling", [[]])[0])]:
        print("- " + line)
    print("\n| what | spotter, an item | peer, same run | ratio, median (least to greatest) | at least | aim | |\n"
          "|---|---|---|---|---|---|---|")
    for row in ROWS:
        if row[0] in ours or not log:
            print(compared(row, ours, theirs, small))
    if "render" in ours or not log:
        print(of_ceiling(ours, small))
    print(busy_row(busy) + "\n")
    for line in other_ways(theirs):
        print("- " + line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("spotter", nargs="?", default="build/spotter")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=OPS)
    parser.add_argument("--device", default="cuda", help="the peers'")
    parser.add_argument("--busy")
    parser.add_argument("--log")
    parser.add_argument("--table", nargs="*", metavar="FILE")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--eager", action="store_true")
    o = parser.parse_args()
    log = measure(o) if o.table is None else []
    for path in o.table or []:
        with open(path) as file:
            log += json.load(file)
    print_table(log, o.busy)


if __name__ == "__main__":
    main()
