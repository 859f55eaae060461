#!/usr/bin/env python3
"""quoted.py ROOT commits|readme: what README.md and bench/ quote. Prints the faults and exits with 1; 77: cannot tell.

commits: each commit that is quoted is in the history of HEAD, or its line (in prose: its paragraph) says that it cannot be
checked out ("is gone"); and what is said to be gone is not there.
readme: each measured figure of README.md stands in bench/RESULTS.md; those of its samples and tables are figures of
bench/results/*.jsonl, which have percentages as shares or as they are."""
import glob
import json
import os
import re
import subprocess
import sys

COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,12}\b|\bcommits?(?: |\": \")([0-9a-f]{7,12})\b")
GONE = re.compile(r"cannot be checked out|\(gone\)")
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
FIGURE = re.compile(rf"""(?<![\w.])(?:
    (?P<minutes>\d+)\smin(?:\s(?P<seconds>\d+)\ss)?\b | (?P<least>{NUMBER})\s+to\s+(?P<most>{NUMBER})\s+times\b |
    (?P<ratio>{NUMBER})\s+times\b | (?P<percent>{NUMBER})\s% | (?P<count>{NUMBER})\sof\s{NUMBER}\b |
    (?P<plain>\d[\d,]*\.\d+(?:e-?\d+)?))""", re.X)


def history(root):
    """the commits of HEAD's history, or None where git cannot tell"""
    def git(*words):
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None
    try:
        if git("rev-parse", "--is-shallow-repository") != "false\n" or git("rev-parse", "--show-prefix") != "\n":
            return None
        return sorted((git("rev-list", "HEAD") or "").split()) or None
    except FileNotFoundError:
        return None


def passages(root):
    """(place, text): a line of data or of a table, a paragraph of prose"""
    for path in sorted(glob.glob(os.path.join(root, "bench", "**", "*"), recursive=True)) + [os.path.join(root, "README.md")]:
        if not path.endswith((".md", ".jsonl")):
            continue
        with open(path) as file:
            lines = file.read().split("\n")
        start = 0
        for i, line in enumerate(lines):
            if path.endswith(".jsonl") or line.startswith("|") or not line.strip() or re.match(r"\s*- ", line):
                yield f"{os.path.relpath(path, root)}:{start + 1}", "\n".join(lines[start:i])
                start = i
        yield f"{os.path.relpath(path, root)}:{start + 1}", "\n".join(lines[start:])


def commit_faults(root):
    known = history(root)
    if known is None:
        print("quoted.py: not checked whether the quoted commits exist: no git here, or a shallow clone")
        sys.exit(77)
    starts = {k[:n] for k in known for n in range(7, 13)}
    for place, text in passages(root):
        quoted = {m[1] or m[0] for m in COMMIT.finditer(text)}
        missing = sorted(q for q in quoted if q not in starts)
        if missing and not GONE.search(text):
            yield f"{place}: {', '.join(missing)}: not in this history; say that it cannot be checked out, or measure again"
        if GONE.search(text) and quoted and not missing:
            yield f"{place}: {', '.join(sorted(quoted))}: can be checked out"


def numbers_of(text):
    return {float(x.replace(",", "")) for x in re.findall(rf"(?<![\w.]){NUMBER}", text)}


def measured(row):
    for key, x in row.items():
        for y in x if isinstance(x, list) else [x]:
            if key not in ("numbers", "date") and isinstance(y, (int, float)):
                yield abs(float(y))


def seconds_of(text):
    return {60 * float(m[1]) + float(m[2] or 0) for m in re.finditer(r"(\d+) min(?: (\d+) s)?", text)}


def wanted(m):
    """(value, kind) of each number of a figure"""
    for kind, text in m.groupdict().items():
        if text and kind != "seconds":
            value = float(text.replace(",", ""))
            if kind == "minutes":
                yield 60 * value + float(m["seconds"] or 0), "plain"
            else:
                yield value, {"least": "ratio", "most": "ratio"}.get(kind, kind)


def readme_faults(root):
    with open(os.path.join(root, "bench", "RESULTS.md")) as file:
        page = file.read()
    shown, data = numbers_of(page) | seconds_of(page), set()
    ratios = set().union(*(numbers_of(r) for r in re.findall(r"\*\*([^*|]*)\*\* times", page)))
    for path in glob.glob(os.path.join(root, "bench", "results", "*.jsonl")):
        with open(path) as file:
            for line in file:
                data.update(measured(json.loads(line)))
    with open(os.path.join(root, "README.md")) as file:
        text = re.sub(r"`[^`\n]*`|\]\([^)\n]*\)", "", file.read())
    for m in FIGURE.finditer(text):
        before = text[:m.start()]
        sample = before.rpartition("\n")[2].startswith(("    ", "|"))
        for value, kind in wanted(m):
            among = data if sample else ratios if kind == "ratio" else shown
            if value not in among and not (kind == "percent" and value / 100 in among):
                where = "no figure of bench/results" if sample else "not in bench/RESULTS.md"
                yield f"README.md:{before.count(chr(10)) + 1}: {' '.join(m[0].split())}: {where}"


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("commits", "readme"):
        sys.exit(__doc__)
    faults = list((commit_faults if sys.argv[2] == "commits" else readme_faults)(sys.argv[1]))
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
