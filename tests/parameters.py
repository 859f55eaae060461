#!/usr/bin/python3
"""parameters.py - how long lists of parameters are in host, kernels and include: no function and no function pointer has more
than MOST, at most FEW have more than MANY, and no call has two literal booleans side by side. Prints what breaks this, and
counts."""
import glob
import re
import sys

MOST, MANY, FEW = 9, 7, 120


def bare(text):
    """Comments and literals of text are blank, so that brackets match."""
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
                  lambda m: re.sub(r"[^\n]", "_" if m[0][0] in "\"'" else " ", m[0]), text, flags=re.S)


def list_at(text, begin):
    """What a bracket holds, cut at commas outside brackets, and the index behind it."""
    parts, depth = [""], 0
    for i in range(begin, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if not depth:
            return [p.strip() for p in parts if p.strip() not in ("", "void")], i + 1
        if text[i] == "," and depth == 1:
            parts.append("")
        elif i > begin:
            parts[-1] += text[i]
    return [], len(text)


def main():
    long, booleans, count = [], [], 0
    for path in sorted(p for top in ("host", "kernels", "include") for p in glob.glob(top + "/**/*.[ch]*", recursive=True)):
        with open(path) as f:
            text = bare(f.read()) if re.search(r"\.(c|h|cu|cuh)$", path) else ""
        for m in re.finditer(r"(?:([\w*&>])\s*)?(?:\b(\w+)\s*(?:<[^<>;()]*>)?|\(\s*\*\s*\w*\s*\)\s*)\(", text):
            if m[2] in ("if", "for", "while", "switch", "return", "sizeof"):
                continue
            parts, end = list_at(text, m.end() - 1)
            where = f"{path}:{text.count(chr(10), 0, m.end()) + 1}: {m[2] or 'a function pointer'}"
            if any({a, b} <= {"true", "false"} for a, b in zip(parts, parts[1:])):
                booleans.append(where + " gets two literal booleans side by side")
            if m[1] and (not m[2] or re.match(r"\s*\{", text[end:])) and "else" not in text[max(0, m.start() - 4):m.start(2)]:
                count += 1
                if len(parts) > MANY:
                    long.append((len(parts), where))
    faults = booleans + [f"{where} has {n} parameters" for n, where in long if n > MOST]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"parameters: of {count} functions {len(long)} have more than {MANY}, at most {FEW}; {len(faults)} faults")
    return bool(faults) or len(long) > FEW


if __name__ == "__main__":
    sys.exit(main())
