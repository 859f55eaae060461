"""kill_many.py BUILD [KILLS [SEED]]: SIGKILL at random moments of the real program, which then runs to its end.

In each life 1, 2 or 4 shards with 1 or 2 threads write into one directory side by side, now and then two of them the same
shard; some or all are killed, started again and killed again. In the end every file must have the bytes of an undisturbed run,
and no stage of an EC may have been kept twice but where two processes did the same shard at once."""
import filecmp
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

CONFIG = """
seed: 3
ecs: 4
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 4, val: 4, test: 12}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 3}}
  - {method: planespot, name: heavy, reduce: pca, weight: 0.5, mixture: {k_max: 3}}
"""
ROUNDS = 3


def start(spotter, home, out, shard, shards, threads):
    return subprocess.Popen([spotter, "sweep", f"{home}/tiny.yaml", "--out", f"{home}/{out}", "--threads", str(threads),
                             "--shard", f"{shard}/{shards}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=open(f"{home}/err", "w"))


def files(tree):
    """Those that must come out the same: no logs, temporary files, or lessons, which hold times."""
    found = set()
    for folder, _, names in os.walk(tree):
        if not folder.endswith("/logs"):
            found |= {os.path.relpath(f"{folder}/{n}", tree) for n in names if not n.endswith((".tmp", "lesson"))}
    return found


def differs(tree, whole):
    if files(tree) != files(whole):
        return f"other files: {sorted(files(tree) ^ files(whole))[:4]}"
    return next((f"{f} is another" for f in sorted(files(whole))
                 if not filecmp.cmp(f"{tree}/{f}", f"{whole}/{f}", False)), None)


def kept(tree):
    """How often the logs say that a stage's value of an EC was kept."""
    count = {}
    for log in os.scandir(f"{tree}/logs"):
        for line in open(log.path):
            try:
                event = json.loads(line)
            except ValueError:
                continue                       # the line that a kill cut off
            if event["event"] in ("model", "view", "points"):
                what = event["event"], event["ec"]
                count[what] = count.get(what, 0) + 1
    return count


def live(spotter, home, draw, seconds):
    """One life of a directory. Kills, complaints."""
    shards, threads, kills = draw.choice((1, 2, 4)), draw.choice((1, 2)), 0
    doubled = draw.random() < 0.3
    out = f"{home}/run"
    shutil.rmtree(out, ignore_errors=True)
    for _ in range(draw.randint(1, ROUNDS)):
        every = list(range(shards)) + [draw.randrange(shards)] * doubled
        running = [start(spotter, home, "run", i, shards, threads) for i in every]
        doomed = [p for p in running if draw.random() < 0.8] or running[:1]
        since = time.monotonic()
        moments = sorted((draw.random() ** 2 * seconds * len(every) / shards, i) for i in range(len(doomed)))
        for moment, i in moments:              # sooner rather than later: a later round has less to do
            time.sleep(max(0, since + moment - time.monotonic()))
            doomed[i].kill()
        for p in running:
            p.wait()
            kills += p.returncode == -9
            if p.returncode not in (0, -9):
                return kills, f"exit code {p.returncode}: {open(f'{home}/err').read()[-300:]}"
    for i in range(shards):
        p = start(spotter, home, "run", i, shards, threads)
        if p.wait():
            return kills, f"the same command again: {p.returncode}: {open(f'{home}/err').read()[-300:]}"
    wrong = differs(out, f"{home}/whole")
    twice = [what for what, n in kept(out).items() if n > 1]
    if not wrong and twice and not doubled:
        wrong = f"computed again: {twice}"
    return kills, wrong and f"{shards} shards, {threads} threads, doubled {doubled}: {wrong}"


def main(build, kills="1000", seed="1"):
    home, draw, done, lives, failed = tempfile.mkdtemp(dir="/dev/shm"), random.Random(int(seed)), 0, 0, 0
    spotter = os.path.realpath(f"{build}/spotter")
    try:
        with open(f"{home}/tiny.yaml", "w") as f:
            f.write(CONFIG)
        since = time.monotonic()
        if start(spotter, home, "whole", 0, 1, 1).wait():
            return f"the undisturbed run: {open(f'{home}/err').read()}"
        seconds = time.monotonic() - since
        if len(kept(f"{home}/whole")) != 12:
            return f"the undisturbed run's log: {kept(f'{home}/whole')}"
        while done < int(kills) and failed < 10:
            n, wrong = live(spotter, home, draw, seconds)
            done, lives, failed = done + n, lives + 1, failed + bool(wrong)
            if wrong:
                print(f"life {lives} of seed {seed}: {wrong}")
    finally:
        shutil.rmtree(home)
    print(f"{done} kills in {lives} lives, {failed} lives ended in other bytes or did something twice")
    return int(failed > 0)


sys.exit(main(*sys.argv[1:]))
