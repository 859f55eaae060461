"""kills.py BUILD [KILLS [SEED]]: the real program in threads and shards, stopped by SIGTERM, and killed by SIGKILL at random
moments; then it runs to its end.

In each life of a directory 1, 2 or 4 shards with 1 or 2 threads write into it side by side, now and then two of them the same
shard; some or all are killed, started again and killed again. In the end every file and the tables must have the bytes of an
undisturbed run, and no stage of an EC may have been kept twice but where two processes did the same shard at once."""
import filecmp
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

ECS, ROUNDS = 4, 3
CONFIG = """
seed: 3
ecs: 4
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 4, val: 4, test: 12}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, base: {images: 64, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 3}}
  - {method: planespot, name: heavy, reduce: pca, weight: 0.5, mixture: {k_max: 3}}
  - {method: planespot, reduce: tsne, tsne: {iterations: 100}, mixture: {k_max: 3}}
"""


class Failed(Exception):
    pass


def check(truth, *words):
    if not truth:
        raise Failed(" ".join(map(str, words)))


class Lives:
    def __init__(self, build, home, draw):
        self.spotter, self.home, self.draw, self.kills = os.path.realpath(f"{build}/spotter"), home, draw, 0
        with open(f"{home}/tiny.yaml", "w") as f:
            f.write(CONFIG)
        since = time.monotonic()
        self.to_the_end("whole")
        self.seconds, self.tables, self.once = time.monotonic() - since, self.tables_of("whole"), self.kept("whole")
        check(len(self.once) == ECS * 3, "the undisturbed run's log:", self.once)

    def start(self, out, shard=0, shards=1, threads=1, beside=False):
        return subprocess.Popen([self.spotter, "sweep", f"{self.home}/tiny.yaml", "--out", f"{self.home}/{out}", "--threads",
                                 str(threads), "--shard", f"{shard}/{shards}", "--json"] + ["--beside"] * beside,
                                stdin=subprocess.DEVNULL,
                                stdout=open(f"{self.home}/out", "w"), stderr=open(f"{self.home}/err", "w"))

    def said(self, name="err"):
        with open(f"{self.home}/{name}") as f:
            return f.read()

    def to_the_end(self, out, **how):
        check(self.start(out, **how).wait() == 0, "a run to its end:", self.said()[-300:])

    def tables_of(self, out):
        return subprocess.run([self.spotter, "tables", "."], cwd=f"{self.home}/{out}", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=True).stdout

    def files(self, out):
        """Those that must come out the same: no logs, temporary files, or lessons, which hold times."""
        tree, found = f"{self.home}/{out}", set()
        for folder, _, names in os.walk(tree):
            if not folder.endswith("/logs"):
                found |= {os.path.relpath(f"{folder}/{n}", tree) for n in names if not n.endswith((".tmp", "lesson"))}
        return found

    def same(self, out, *what):
        a, b = self.files(out), self.files("whole")
        check(a == b, *what, "other files:", sorted(a ^ b)[:4])
        for f in sorted(b):
            check(filecmp.cmp(f"{self.home}/{out}/{f}", f"{self.home}/whole/{f}", False), *what, f, "is another")
        check(self.tables_of(out) == self.tables, *what, "other tables")

    def kept(self, out):
        """How often the logs say that a stage's value of an EC was kept; shards side by side may each make the base model."""
        count = {}
        for log in os.scandir(f"{self.home}/{out}/logs"):
            for line in open(log.path):
                try:
                    event = json.loads(line)
                except ValueError:
                    continue                   # the line that a kill cut off
                if event["event"] in ("model", "view", "points"):
                    what = event["event"], event["ec"]
                    count[what] = count.get(what, 0) + 1
        return count

    def nothing_to_do(self):
        self.to_the_end("whole")
        check("nothing to do" in self.said(), "it does not say that there was nothing to do:", self.said())
        told = json.loads(self.said("out"))
        check((told["done"], told["already"]) == (0, ECS), told)

    def threads_and_shards(self):
        self.to_the_end("threads", threads=2)
        self.same("threads", "two threads")
        both = [self.start("shards", i, 2) for i in range(2)]
        check([p.wait() for p in both] == [0, 0], "two shards at once:", self.said())
        self.same("shards", "two shards")

    def terminated(self):
        """75 within 20 s, then to the end. A machine in a hurry may be done before the signal comes."""
        for part in (2, 3, 5, 9):
            shutil.rmtree(f"{self.home}/term", ignore_errors=True)
            p = self.start("term")
            time.sleep(self.seconds / part)
            p.terminate()
            since = time.monotonic()
            if p.wait(20):
                break
        check(p.returncode == 75, "SIGTERM: exit code", p.returncode, "not 75:", self.said())
        check(time.monotonic() - since < 20, "SIGTERM: more than 20 s until the exit")
        self.to_the_end("term")
        self.same("term", "stopped by SIGTERM and resumed")

    def killed(self):
        """One life of a directory."""
        draw, shards = self.draw, self.draw.choice((1, 2, 4))
        threads, doubled = draw.choice((1, 2)), draw.random() < 0.3
        what = f"{shards} shards, {threads} threads, doubled {doubled}:"
        shutil.rmtree(f"{self.home}/run", ignore_errors=True)
        for _ in range(draw.randint(1, ROUNDS)):
            every = list(range(shards)) + [draw.randrange(shards)] * doubled
            running = [self.start("run", i, shards, threads, doubled) for i in every]
            doomed = [p for p in running if draw.random() < 0.8] or running[:1]
            since = time.monotonic()
            moments = sorted((draw.random() ** 2 * self.seconds * len(every) / shards, i) for i in range(len(doomed)))
            for moment, i in moments:          # sooner rather than later: a later round has less to do
                time.sleep(max(0, since + moment - time.monotonic()))
                doomed[i].kill()
            for p in running:
                check(p.wait() in (0, -9), what, "exit code", p.returncode, self.said()[-300:])
                self.kills += p.returncode == -9
        for i in range(shards):
            self.to_the_end("run", shard=i, shards=shards, threads=threads)
        self.same("run", what)
        twice = [what for what, n in self.kept("run").items() if n > self.once[what]]
        check(not twice or doubled, what, "computed again:", twice)


def main(build, kills="1000", seed="20"):
    home, lives, failed = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None), 0, 0
    try:
        run = Lives(build, home, random.Random(int(seed)))
        run.nothing_to_do()
        run.threads_and_shards()
        run.terminated()
        while run.kills < int(kills) and failed < 10:
            lives += 1
            try:
                run.killed()
            except Failed as e:
                failed += 1
                print(f"life {lives} of seed {seed}: {e}")
        print(f"{run.kills} kills in {lives} lives, {failed} lives ended in other bytes or did something twice; the "
              f"undisturbed run took {run.seconds:.1f} s")
    except Failed as e:
        print("FAILED:", e)
        failed += 1
    finally:
        shutil.rmtree(home)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
