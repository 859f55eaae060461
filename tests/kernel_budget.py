"""kernel_budget.py BUILD [--write | --table]: registers, stack, spills and shared memory of every kernel, against its budget.

The build keeps what ptxas says (tools/ptxas_log). A kernel may take a fifth more than golden/kernel_budget.txt says, and a
fifth fewer blocks of it may fit. A kernel that the file lacks is held to a line whose own kernel is gone, of its name or of its
file, so that a rename breaks nothing. --write makes that file anew; --table prints the kernels of sm_90a. Blocks are those that
fit on a multiprocessor together, as far as the compiler knows: shared memory that a launch asks for is not in it. With another
release of nvcc than the file's, only fewer blocks and more spills count. Exit code 77: the build has no CUDA plugin."""
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUDGET = os.environ.get("SPOT_KERNEL_BUDGET") or os.path.join(ROOT, "tests/golden/kernel_budget.txt")
SHARED = {"sm_80": 167936, "sm_90a": 233472}       # bytes of a multiprocessor; 1 KiB of a block's is reserved
NUMBERS = "registers stack spills shared threads blocks".split()
Kernel = collections.namedtuple("Kernel", NUMBERS)


def blocks_of(arch, registers, shared, threads):
    """Registers are given to a warp by 256; 64 warps and 32 blocks are the most, on sm_80 and sm_90 alike."""
    warps = (threads + 31) // 32
    by_registers = 65536 // ((registers * 32 + 255) // 256 * 256 * warps)
    return min(32, 64 // warps, by_registers, SHARED[arch] // (shared + 1024))


def constants_of(text):
    """The enum constants of a file, as far as they are arithmetic."""
    found = {}
    for body in re.findall(r"enum \{([^}]*)\}", re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
        for name, value in re.findall(r"(\w+) = ([\w\s+*/()]+)", body):
            try:
                found[name] = int(eval(value.replace("/", "//"), {"__builtins__": {}}, dict(found)))
            except (NameError, SyntaxError, TypeError):
                pass
    return found


def read(path):
    with open(path) as f:
        return f.read()


def sources_of(path):
    """The text of a .cu file and of our headers that it includes, which come first, so that its constants win."""
    text = read(path)
    names = re.findall(r'#include "([\w/]+\.(?:cuh|h))"', text)
    return "".join(sources_of(p) for p in (os.path.join(ROOT, "kernels", n) for n in names) if os.path.exists(p)) + text


def threads_of(source, kernel):
    """What __launch_bounds__ says, which is what the kernel is launched with; 0 where there is none."""
    bound = re.search(r"__launch_bounds__\(([^,)]*)[^)]*\)\s+" + re.escape(kernel) + r"\(", source)
    return int(eval(bound[1], {"__builtins__": {}}, constants_of(source))) if bound else 0


def short(name):
    """A kernel's name with its template's arguments: "void fill_kernel<float>(float*, ...)" is fill_kernel<float>."""
    name, depth = re.sub(r"^void |\(anonymous namespace\)::|_INTERNAL_\w+::|\((int|bool|unsigned int)\)", "", name), 0
    for i, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and not depth:
            return name[:i].replace(" ", "")
    return name.replace(" ", "")


def kernels_of(build):
    """{(arch, "file kernel"): Kernel} from the logs of a build."""
    top = os.path.join(build, "CMakeFiles/spotter_cuda.dir")
    said = []
    for folder, _, names in os.walk(top):
        for log in (os.path.join(folder, n) for n in names if n.endswith(".ptxas")):
            source = os.path.relpath(log, top)[: -len(".o.ptxas")]
            if not os.path.exists(os.path.join(ROOT, source)):     # of an earlier build
                continue
            for part in re.split(r"Compiling entry function ", read(log))[1:]:
                name, arch = re.match(r"'(\w+)' for '(\w+)'", part).groups()
                said.append((source, name, arch, part))
    plain = subprocess.run(["c++filt"], input="\n".join(s[1] for s in said), text=True, capture_output=True, check=True)
    texts = {s[0]: sources_of(os.path.join(ROOT, s[0])) for s in said}
    found = {}
    for (source, _, arch, part), name in zip(said, plain.stdout.splitlines()):
        number = lambda words: sum(int(n) for n in re.findall(r"(\d+) " + words, part))
        name = short(name)
        threads = threads_of(texts[source], name.split("<")[0]) or 1024
        registers, shared = number("registers"), number("bytes smem")
        found[arch, f"{source} {name}"] = Kernel(registers, number("bytes stack"), number("bytes spill"), shared, threads,
                                                 blocks_of(arch, registers, shared, threads))
    return found


def read_budget():
    if not os.path.exists(BUDGET):
        return "", {}
    lines = read(BUDGET).splitlines()
    rows = (line.rsplit(None, len(NUMBERS)) for line in lines[1:])
    return lines[0], {tuple(row[0].split(" ", 1)): Kernel(*map(int, row[1:])) for row in rows}


def lines_of(now, budget):
    """{kernel: the line of the budget to which it is held}"""
    held, gone = {key: key for key in now if key in budget}, sorted(budget.keys() - now.keys())

    def alike(by):
        for key in sorted(now.keys() - held.keys()):
            line = next((g for g in gone if g[0] == key[0] and by(g[1]) == by(key[1])), None)
            if line:
                held[key] = line
                gone.remove(line)

    alike(lambda words: words.split(" ")[1])      # a kernel that moved to another file
    alike(lambda words: words.split(" ")[0])      # one that has another name
    return held, gone


def compare(now, budget, strict):
    """The sentences of all excesses, and of what is other than the file says, but no excess."""
    (held, gone), worse, other = lines_of(now, budget), [], []
    for key in sorted(now):
        what = " ".join(key)
        if key not in held:
            worse.append(f"{what}: is not in the budget")
            continue
        have, may = now[key], budget[held[key]]
        if held[key] != key:
            other.append(f"{what}: is held to the line of {held[key][1]}")
        counted = NUMBERS[:4] if strict else ["spills"]
        more = [f"{getattr(have, n)} {n}, not {getattr(may, n)}" for n in counted if 5 * getattr(have, n) > 6 * getattr(may, n)]
        if 5 * have.blocks < 4 * may.blocks:
            more.append(f"{have.blocks} blocks fit, not {may.blocks}")
        if more:
            worse.append(f"{what}: " + "; ".join(more))
        elif any(5 * getattr(have, n) < 4 * getattr(may, n) for n in counted):
            other.append(f"{what}: better than the budget: {have} where {may} is allowed")
    return worse, other + [" ".join(key) + ": is in the budget and not in the build" for key in gone]


def rows_of(kernels):
    return [f"{arch} {name} " + " ".join(f"{n:6}" for n in numbers) for (arch, name), numbers in sorted(kernels.items())]


def release_of(build):
    cache = read(os.path.join(build, "CMakeCache.txt"))
    nvcc = re.search(r"^SPOT_NVCC:\w+=(.*)$", cache, re.M)
    if not nvcc or not os.path.exists(nvcc[1]):
        return "of an unknown release"
    said = subprocess.run([nvcc[1], "--version"], text=True, capture_output=True, check=True).stdout
    return re.search(r"release ([\d.]+)", said)[1]


def main(build, how=""):
    now = kernels_of(build)
    if not now:
        print(f"skipped: {build} has no CUDA plugin, so there are no kernels to look at")
        return 77
    heading = f"nvcc {release_of(build)}: architecture, file, kernel, " + ", ".join(NUMBERS)
    if how == "--write":
        with open(BUDGET, "w") as f:
            f.write("\n".join([heading] + rows_of(now)) + "\n")
        return 0
    if how == "--table":
        print("\n".join([heading] + [row for row in rows_of(now) if row.startswith("sm_90a")]))
        return 0
    was, budget = read_budget()
    worse, other = compare(now, budget, was == heading)
    print("\n".join(other + worse))
    of, by = (line.split(":")[0] for line in (was, heading))
    print(f"{len(now)} kernels, {len(worse)} beyond their budget; the build is by {by}, the budget of {of}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
