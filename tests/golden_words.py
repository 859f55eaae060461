#!/usr/bin/env python3
"""golden_words.py SCRIPT RECORD PATH=NAME...: what commands said in SCRIPT, against tests/golden/words/COMMAND.txt.

RECORD has one case after another: a line of the case's arguments that begins with "$ spotter", then what it said. PATHs become
NAMEs, hashes HASH and sizes in bytes N, also that of --memory: what a network takes depends on the CPU's instructions. A golden
file has a section for each script. Any difference is printed and fails; SPOT_WORDS=write writes the sections of SCRIPT anew instead."""
import difflib
import fcntl
import os
import re
import sys
from pathlib import Path

tests = Path(__file__).resolve().parent
golden = tests / "golden" / "words"
script = sys.argv[1]


def normal(text):
    for pair in sys.argv[3:]:
        path, name = pair.rsplit("=", 1)
        text = text.replace(path, name)
    text = re.sub(r"\b([0-9a-f]{2}/)?[0-9a-f]{16}([0-9a-f]{16})?\b", "HASH", text)
    text = re.sub(r"(--memory) \d+\b", r"\1 N", text)
    return re.sub(r"\d+(\.\d+)? (bytes|[kMG]B)\b", r"N \2", text)


def command_of(case):
    word = case.split("\n", 1)[0].split()[2:3]
    return word[0] if word and (tests.parent / "host" / "cli" / f"cmd_{word[0]}.c").exists() else "spotter"


def sections_of(path):
    text = path.read_text() if path.exists() else ""
    return {part.split("\n", 1)[0]: part.split("\n", 1)[1] for part in re.split(r"(?m)^=== ", text)[1:]}


said = {}
record = normal(Path(sys.argv[2]).read_text(errors="replace"))
for case in re.split(r"(?m)^(?=\$ spotter)", record)[1:]:
    said.setdefault(command_of(case), []).append(case.rstrip() + "\n")

differs = False
golden.mkdir(exist_ok=True)
with open(golden / "README.md") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)           # scripts of one command may run at the same time
    for command in sorted(set(said) | {p.stem for p in golden.glob("*.txt")}):
        path = golden / f"{command}.txt"
        sections = sections_of(path)
        was, now = sections.pop(script, ""), "\n".join(said.get(command, []))
        if was.strip() == now.strip():
            continue
        if os.environ.get("SPOT_WORDS") == "write":
            if now:
                sections[script] = "\n" + now + "\n"
            path.write_text("".join(f"=== {name}\n{text}" for name, text in sorted(sections.items())))
        else:
            differs = True
            print(*difflib.unified_diff(was.strip().splitlines(), now.strip().splitlines(), f"tests/golden/words/{command}.txt",
                                        script, n=1, lineterm=""), sep="\n")
sys.exit(differs)
