"""kills_studies.py BUILD [KILLS [SEED [STUDY...]]]: each study, embed and render, killed by SIGKILL at random moments, and on
full disks.

KILLS processes of each are killed: alone or as shards side by side. Between two kills a user puts files of their own into the
folders. Then the same command runs to its end. Every file must have the bytes of an undisturbed run, logs aside; the user's
files are there as they were. A run an hour later leaves nothing else, in the run or among temporary files, and no process.

Then each runs on disks (tmpfs) of random sizes, half as many as KILLS, all too small: it must end in one sentence, and the same
command must end in the same bytes when the disk is larger."""
import os
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
ROUNDS = 3
USERS = ("mine.txt", "thesis.tmp", "thesis.part", "a.b.tmp", ".hidden")
ADVICE = "free some space"
# Written with times in them, or (.contents) hashes that are made again where they are not there.
UNEQUAL = ("lesson", ".contents")


class Failed(Exception):
    pass


def check(truth, *words):
    if not truth:
        raise Failed(" ".join(map(str, words)))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def make(script, *words):
    subprocess.run([PYTHON, f"{HERE}/{script}", *words], check=True)


# ---- worlds: each makes its inputs in a folder and returns the command without --out -------------------------------------

def sweep(home):
    write(f"{home}/c.yaml", """seed: 3
ecs: 3
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 4, val: 4, test: 12}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3, base: {images: 64, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 3}}
  - {method: planespot, reduce: tsne, tsne: {iterations: 60}, mixture: {k_max: 3}}
""")
    return ["sweep", f"{home}/c.yaml"]


def discover(home):
    import numpy as np
    r = np.random.default_rng(3)
    n, classes = 500, 4
    k, y = r.integers(6, size=n), np.arange(n) % classes
    e = 0.3 * r.standard_normal((n, 12)).astype(np.float32)
    e[:, 0] += 6 * np.cos(k * 1.0472)
    e[:, 1] += 6 * np.sin(k * 1.0472)
    wrong = np.where(k == 2, r.random(n) < 0.9, r.random(n) < 0.05)
    p = np.full((n, classes), 0.02)
    p[np.arange(n), np.where(wrong, (y + 1 + r.integers(classes - 1, size=n)) % classes, y)] = 0.9
    p *= np.exp(0.2 * r.standard_normal(p.shape))
    np.save(f"{home}/e.npy", e), np.save(f"{home}/y.npy", y)
    np.save(f"{home}/p.npy", (p / p.sum(1, keepdims=True)).astype(np.float32))
    return ["discover", "--embeddings", f"{home}/e.npy", "--labels", f"{home}/y.npy", "--probs", f"{home}/p.npy", "--class",
            "each", "--method", "planespot-tsne,ward", "--chance", "19"]


def examine(home):
    make("examine_world.py", f"{home}/world", "3")
    write(f"{home}/c.yaml", f"""study: examine
objects: {{catalogue: {home}/world, choice: trained}}
render: {{size: 32, samples: 1}}
search: {{renders: 200, points: "100, 200", perturbed: 10, seeds: 2}}
models: [{{name: net, objects: 1, renders: 40, epochs: 2, region: [{{factor: camera_elevation, absolute: true, least: 60}}]}}]
examiners: [{{method: cem}}, {{method: random}}]
""")
    return ["examine", f"{home}/c.yaml"]


def background(home):
    """Planted models and one program, in two variants."""
    from PIL import Image, ImageDraw
    for k, folder in enumerate(("animals/mammals/bovines", "animals/birds")):
        os.makedirs(f"{home}/stamps/{folder}")
        im = Image.new("RGBA", (60, 60))
        corners = [(2, 54), (30, 2), (58, 54), (30, 58)]
        ImageDraw.Draw(im).polygon(corners[:3 + k], fill=(220, 200, 180, 255))
        im.save(f"{home}/stamps/{folder}/a.png")
    for k, folder in enumerate(("leaf", "sea")):
        os.makedirs(f"{home}/scenes/{folder}/images")
        Image.effect_noise((80, 60), 60 + 40 * k).convert("RGB").save(f"{home}/scenes/{folder}/images/1.png")
    write(f"{home}/c.yaml", f"""study: background
zoo: {{stamps: {home}/stamps, scenes: {home}/scenes, size: 32, classes: 2, families: 2, targets: 3, backgrounds: 3, models: 2,
      train: 64, epochs: 1, tested: 20}}
suite: {{choice: ontology, n: 3}}
measure: {{levels: 2, grid: 12, kernel: 4, sigma: 2}}
vary: [{{name: again, suite: {{seed: 2}}}}]
""")
    return ["background", f"{home}/c.yaml"]


def programs(home):
    """Backgrounds of a program: with processes of its own."""
    make("verdict_world.py", "make", f"{home}/w")
    with open(f"{home}/w/background.yaml") as f:
        text = f.read()
    text = text[:text.index("  - {name: rho-2")].replace("images: images, backgrounds: backgrounds",
                                                         f"images: {home}/w/images, backgrounds: {home}/w/backgrounds")
    write(f"{home}/c.yaml", text)
    return ["background", f"{home}/c.yaml"]


def shifts(home):
    make("shifts_world.py", "make", f"{home}/w")
    return ["shifts", f"{home}/w/shifts.yaml"]


def embed(home):
    make("random_clip.py", f"{home}/t")
    os.makedirs(f"{home}/many/x")
    for i in range(700):
        os.symlink(f"../../t/big/{i % 3}.png", f"{home}/many/x/{i:03d}.png")
    return ["embed", "--model", f"{home}/t/clip/model.safetensors", "--images", f"{home}/many"]


def render(home):
    make("examine_world.py", f"{home}/world", "2")
    return ["render", "--objects", f"{home}/world", "--size", "32", "--number", "20", "--masks", "--depth"]


WORLDS = {f.__name__: f for f in (sweep, discover, examine, background, programs, shifts, embed, render)}
WITHOUT_SHARDS = ("embed", "render")


# ---- lives ---------------------------------------------------------------------------------------------------------------

class Lives:
    def __init__(self, build, home, name, draw):
        self.spotter, self.home, self.name, self.draw = os.path.realpath(f"{build}/spotter"), home, name, draw
        self.kills = self.lives = self.users = self.young = self.filled = 0
        self.inside = []
        os.makedirs(f"{home}/temporary")
        self.mark = f"SPOT_KILLS={os.path.basename(home)}-{name}"
        self.command = WORLDS[name](home)
        since = time.monotonic()
        self.to_the_end()
        self.seconds = time.monotonic() - since
        self.whole = self.files()
        self.blocks = sum(len(b) + 4095 >> 12 for b in self.whole.values())

    def start(self, shard=0, shards=1, beside=False):
        out = f"{self.home}/run"
        if self.name == "embed":
            os.makedirs(out, exist_ok=True)
            out += "/rows.safetensors"
        words = [self.spotter, *self.command, "--out", out, "--threads", "1"] + ["--shard", f"{shard}/{shards}"] * (shards > 1)
        environment = dict(os.environ, TMPDIR=f"{self.home}/temporary", **dict([self.mark.split("=")]))
        with open(f"{self.home}/out", "w") as o, open(f"{self.home}/err", "w") as e:
            return subprocess.Popen(self.inside + words + ["--beside"] * beside, stdin=subprocess.DEVNULL, stdout=o, stderr=e,
                                    env=environment)

    def said(self):
        with open(f"{self.home}/err") as f:
            return f.read()[-400:]

    def to_the_end(self, **how):
        check(self.start(**how).wait() == 0, "a run to its end:", self.said())

    def files(self):
        """Path: bytes, of all that must come out the same; what is neither file nor folder is named."""
        tree, found = f"{self.home}/run", {}
        for folder, _, names in os.walk(tree):
            if folder.endswith("/logs"):
                names = [n for n in names if not n.endswith(".jsonl")]
            for path in (f"{folder}/{n}" for n in names if not n.endswith(UNEQUAL)):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    with open(path, "rb") as f:
                        found[os.path.relpath(path, tree)] = f.read()
                else:
                    found[os.path.relpath(path, tree)] = b"a socket, a pipe or a link"
        return found

    def processes(self):
        """Those that this life began and that still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    ours = self.mark.encode() in f.read().split(b"\0")
                with open(f"/proc/{pid}/stat") as f:
                    if ours and f.read().rsplit(")", 1)[1].split()[0] != "Z":
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def nobody_stays(self, what):
        until = time.monotonic() + 20
        while self.processes():
            check(time.monotonic() < until, what, "processes outlive the one that was killed:", self.processes())
            time.sleep(0.02)

    def put_users_files(self, mine):
        """A user's own files, each time into one folder of the run."""
        folders = [f for f, _, _ in os.walk(f"{self.home}/run")]
        if not folders:
            return
        path = f"{self.draw.choice(folders)}/{self.draw.choice(USERS)}"
        write(path, f"of a user {len(mine)}")
        os.utime(path, (1e9, 1e9))
        mine[os.path.relpath(path, f"{self.home}/run")] = f"of a user {len(mine)}".encode()

    def temporary(self):
        """Those of processes that ended. They are removed when they are an hour old, since a process on another host may still
        write to them."""
        here = re.compile(re.escape(f".{os.uname().nodename}-") + r"\d+-\d+\.tmp$")
        return {f"{folder}/{n}" for folder, _, names in os.walk(f"{self.home}/run") for n in names if here.search(n)}

    def life(self):
        shards = 1 if self.name in WITHOUT_SHARDS else self.draw.choice((1, 1, 2, 3))
        doubled = shards > 1 and self.draw.random() < 0.3
        what, mine = f"{self.name}, life {self.lives}, {shards} shards, doubled {doubled}:", {}
        self.lives += 1
        shutil.rmtree(f"{self.home}/run", ignore_errors=True)
        for _ in range(self.draw.randint(1, ROUNDS)):
            every = list(range(shards)) + [self.draw.randrange(shards)] * doubled
            running = [self.start(i, shards, doubled) for i in every]
            since = time.monotonic()
            for p in running:
                time.sleep(max(0, since + self.draw.random() * self.seconds - time.monotonic()))
                p.kill()
            for p in running:
                check(p.wait() in (0, -9), what, "exit code", p.returncode, self.said())
                self.kills += p.returncode == -9
            self.nobody_stays(what)
            self.put_users_files(mine)
        for i in range(shards):
            self.to_the_end(shard=i, shards=shards)
        young = self.temporary()
        self.same(what, mine, young)
        for path in young:
            os.utime(path, (1e9, 1e9))
        self.to_the_end()
        self.same(what + " an hour later,", mine)
        self.young += len(young)
        self.users += len(mine)

    # -- full disks --

    def disk(self):
        """Whether this process may mount a disk in a name space of its own."""
        return not subprocess.run(["unshare", "-rm", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def mount(self, size):
        shutil.rmtree(f"{self.home}/run", ignore_errors=True)
        os.makedirs(f"{self.home}/run")
        pause = subprocess.Popen(["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o "size=$0" none "$1" && echo && exec cat',
                                  str(size), f"{self.home}/run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        check(pause.stdout.readline(), "no disk of", size, "bytes")
        return pause

    def full(self):
        """One disk that is too small, and grows."""
        size = 4096 * self.draw.randint(1, self.blocks)
        what, pause = f"{self.name}, a disk of {size} bytes:", self.mount(size)
        self.inside = ["nsenter", "-U", "-m", "--preserve-credentials", "-t", str(pause.pid)]
        try:
            code = self.start().wait()
            if code:
                said = [line for line in self.said().splitlines() if re.match(r"spotter( \w+)?: ", line)]
                check(code == 4 and len(said) == 1 and ADVICE in said[0], what, "exit code", code, self.said())
                self.filled += 1
            subprocess.run([*self.inside, "mount", "-o", "remount,size=1g", f"{self.home}/run"], check=True)
            self.to_the_end()
            subprocess.run([*self.inside, "cp", "-a", f"{self.home}/run/.", f"{self.home}/copy"], check=True)
        finally:
            self.inside = []
            pause.stdin.close()
            pause.wait()
            self.nobody_stays(what)
        shutil.rmtree(f"{self.home}/run")
        os.rename(f"{self.home}/copy", f"{self.home}/run")
        self.same(what, {})

    def same(self, what, mine, young=()):
        run = self.files()
        for path in young:
            run.pop(os.path.relpath(path, f"{self.home}/run"))
        for path, text in mine.items():
            check(run.pop(path, None) == text, what, "a user's file is gone or another:", path)
        check(not run.keys() - self.whole.keys(), what, "left behind:", sorted(run.keys() - self.whole.keys())[:4])
        check(not self.whole.keys() - run.keys(), what, "is not there:", sorted(self.whole.keys() - run.keys())[:4])
        other = sorted(path for path in run if run[path] != self.whole[path])
        check(not other, what, "other bytes:", other[:4])
        check(not os.listdir(f"{self.home}/temporary"), what, "temporary:", os.listdir(f"{self.home}/temporary"))
        self.nobody_stays(what)


def study(build, home, name, kills, seed):
    failed, disks, lives = 0, 0, Lives(build, home, name, random.Random(f"{seed} {name}"))
    while (lives.kills < kills or disks < (kills + 1) // 2 and lives.disk()) and failed < 5:
        try:
            if lives.kills < kills:
                lives.life()
            else:
                disks += 1
                lives.full()
        except Failed as e:
            failed += 1
            print("FAILED:", e, flush=True)
    print(f"{name:10} {lives.kills} kills in {lives.lives} lives, {lives.users} files of a user, {lives.young} temporary "
          f"files, {lives.filled} full disks; {failed} failed; the undisturbed run took {lives.seconds:.1f} s", flush=True)
    return failed


def main(build, kills="60", seed="37", *names):
    failed = 0
    for name in names or WORLDS:
        home = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        try:
            failed += study(build, home, name, int(kills), seed)
        except Failed as e:
            print("FAILED:", name, e)
            failed += 1
        finally:
            shutil.rmtree(home)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
