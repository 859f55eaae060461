#!/usr/bin/python3
"""kernel_loads.py NVCC GENERATED [--write]: 4-byte loads from global memory in the PTX of kernels that are to be bound by
memory, against golden/kernel_loads.txt.

A kernel that reads its constants (of a channel, of a step) one by one beside each vector of numbers keeps the load units busy
before the memory is. Loops are unrolled in PTX, so the count is that of a thread's turn. A kernel may have a fifth more than
the file says. Fewer are told, for --write to lower the budget.

An integer of 64 bits is added to shared memory in a loop, a lane at a time: no kernel of SUMS may do so. No kernel of SINGLE
may compute in double: what it needs of a power or a root is the same in all its blocks, and the host's. No kernel of ROWS may
divide numbers of 64 bits, each of which is a call of 70 instructions: its block knows its row."""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUDGET = os.environ.get("SPOT_LOADS_BUDGET") or os.path.join(ROOT, "tests/golden/kernel_loads.txt")
FILES = ["net/norm.cu", "net/norm_back.cu", "net/conv_finish.cu", "net/layernorm.cu", "net/optim.cu"]
SUMS = ["image/render.cu"]
SINGLE = [("net/optim.cu", "step_kernel")]
ROWS = [("net/tokens.cu", kernel + "_kernel") for kernel in ("patches", "join", "words", "pick", "mean")]
WIDE_DIVISION = re.compile(r"\b(?:div|rem)\.[us]64\s")
WIDE_SUM = re.compile(r"\b(?:atom|red)\.shared\S*\.add\.[us]64\s")
SCALAR = re.compile(r"^\s*(?:@\S+ )?ld\.global(?:\.(?!v\d)\w+)*\.[fsub]32\s", re.M)


def bodies_of(ptx):
    """{mangled kernel: its instructions} of a text in PTX."""
    parts = re.split(r"^(?:\.visible |\.weak )?\.entry (\w+)", ptx, flags=re.M)
    return {name: body.split("\n}\n")[0] for name, body in zip(parts[1::2], parts[2::2])}


def loads_of(ptx):
    """{mangled kernel: its scalar loads}"""
    return {name: len(SCALAR.findall(body)) for name, body in bodies_of(ptx).items()}


def dear_of(file, ptx):
    """The sentences of what the kernels of SUMS, SINGLE and ROWS do and should not."""
    wide = len(WIDE_SUM.findall(ptx)) if file in SUMS else 0
    said = [f"kernels/{file}: {wide} additions of 64 bits to shared memory; sum in the warp first"] if wide else []
    for name, body in bodies_of(ptx).items():
        among = lambda kernels: any(file == f and kernel in name for f, kernel in kernels)
        if among(SINGLE) and ".f64" in body:
            said.append(f"kernels/{file} {name}: computes in double")
        if among(ROWS) and WIDE_DIVISION.search(body):
            said.append(f"kernels/{file} {name}: divides numbers of 64 bits")
    return said


def ptx_of(nvcc, generated, file):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "x.ptx")
        include = ["-I" + path for path in (os.path.join(ROOT, "include"), os.path.join(ROOT, "kernels"), generated)]
        subprocess.run([nvcc, "-std=c++17", "-arch=sm_90", "-fmad=false", "-ptx", *include,
                        os.path.join(ROOT, "kernels", file), "-o", out], check=True)
        with open(out) as f:
            return f.read()


def plain(names):
    out = subprocess.run(["c++filt"], input="\n".join(names), text=True, capture_output=True, check=True).stdout.split("\n")
    return [re.sub(r"\(.*", "", re.sub(r"^void ", "", name)).replace(" ", "") for name in out]


def read_budget():
    rows = (line.split() for line in open(BUDGET)) if os.path.exists(BUDGET) else []
    return {" ".join(row[:2]): int(row[2]) for row in rows}


def compare(now, budget):
    """The sentences of excesses, and of what is below its budget."""
    worse = [f"{what}: {n} scalar loads, not {budget[what]}" for what, n in sorted(now.items())
             if what in budget and 5 * n > 6 * budget[what]]
    worse += [f"{what}: is not in the budget" for what in sorted(now.keys() - budget.keys())]
    fewer = [f"{what}: {n} scalar loads, {budget[what]} are allowed" for what, n in sorted(now.items())
             if what in budget and n < budget[what]]
    return worse, fewer + [f"{what}: is in the budget and not in its file" for what in sorted(budget.keys() - now.keys())]


def main(nvcc, generated, *how):
    now, ptx = {}, {file: ptx_of(nvcc, generated, file) for file in FILES + SUMS + ["net/tokens.cu"]}
    for file in FILES:
        loads = loads_of(ptx[file])
        now.update({f"kernels/{file} {name}": n for name, n in zip(plain(loads), loads.values())})
    if "--write" in how:
        with open(BUDGET, "w") as f:
            f.writelines(f"{what} {n}\n" for what, n in sorted(now.items()))
    worse, fewer = compare(now, read_budget())
    worse += [said for file in ptx for said in dear_of(file, ptx[file])]
    print(*worse, *fewer, sep="\n")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
