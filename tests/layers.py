"""layers.py BUILD - who uses whom, read from the object files of a build, and which files include each other in a circle.

A folder may use the folders that stand before it in ORDER. Siblings (joined by |) never use each other. A use is an undefined
symbol of an object file that another source file defines, or an #include. Prints every violation, then the counts."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

ORDER = """include
kernels/core kernels/net|kernels/image|kernels/map kernels/fit kernels
host/base host/formats host/scene host/model host/embed host/fit host/bdm host/metric host/config host/store host/steps
host/work host/sweep|host/discover host/report/table host/report/figure host/report/page host/check host/cli|bench"""
STUDIES = {"host/sweep", "host/discover"}
REPORT = {"host/report/table", "host/report/figure", "host/report/page"}
# The emulator's stand-ins for what needs a vendor's library define the symbols of the files that they replace.
STAND_INS = {"tests/emulator/conv_cudnn.cpp": "kernels/net/conv_cudnn.cu",
             "tests/emulator/matmul_cublas.cpp": "kernels/core/cublas.cu"}


class Order:
    def __init__(self, text):
        self.rank = {place: i for i, level in enumerate(text.split()) for place in level.split("|")}

    def place(self, path):
        """The folder of ORDER that a file lies in; "" where there is none."""
        folder = os.path.dirname(path)
        while folder and folder not in self.rank:
            folder = os.path.dirname(folder)
        return folder

    def allows(self, user, used):
        if user == used or {user, used} == {"host/cli", "bench"}:
            return True
        if user == "kernels/fit" and used in ("kernels/net", "kernels/image"):
            return False
        return self.rank[used] < self.rank[user]


def sources(root):
    found = []
    for top in ("include", "kernels", "host", "bench"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".c", ".h", ".cu", ".cuh"))]
    return sorted(found)


def objects(root, build):
    """source -> object file, for what the library, the commands, the plugin and the emulated plugin are made of."""
    kernels = {os.path.basename(f): f for f in sources(root) if f.endswith(".cu")}
    made = {}
    with open(os.path.join(build, "compile_commands.json")) as f:
        commands = json.load(f)
    for command in commands:
        output = re.search(r" -o (\S+)", command["command"]).group(1)
        path, out = os.path.join(build, output), os.path.relpath(command["file"], root)
        target = re.search(r"CMakeFiles/(\w+)\.dir/", output).group(1)
        emulated = re.fullmatch(r".*/emulated_(\w+\.cu)\.cpp", command["file"])
        if target not in ("libspotter", "commands", "spotter", "spotter_cuda", "spotter_emulated"):
            continue
        source = kernels.get(emulated.group(1)) if emulated else STAND_INS.get(out, out)
        if not source or not source.startswith(("kernels/", "host/", "bench/")):
            continue
        if not os.path.exists(path):
            if target in ("libspotter", "commands"):
                sys.exit(f"{path} is not there: build first")
            continue
        made.setdefault(source, path)
    return made


def symbols(made):
    """(source -> undefined symbols, symbol -> the sources that define it)"""
    source_of = {path: source for source, path in made.items()}
    uses, defines = collections.defaultdict(set), collections.defaultdict(set)
    text = subprocess.run(["nm", "-A", "-P", "-g", *source_of], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        where, name, kind = line.split()[:3]
        source = source_of[where.rstrip(":")]
        (uses[source] if kind in "Uwv" else defines[name]).add(source if kind not in "Uwv" else name)
    return uses, defines


def upward_symbols(order, made):
    uses, defines = symbols(made)
    found = []
    for user in sorted(uses):
        for name in sorted(uses[user]):
            owners = defines.get(name)
            if owners and not any(order.allows(order.place(user), order.place(o)) for o in owners):
                found.append(f"{user} uses {name} of {', '.join(sorted(owners))}")
    return found


def includes(root, file, known):
    with open(os.path.join(root, file)) as f:
        for name in re.findall(r'^ *# *include +"([^"]+)"', f.read(), re.M):
            for folder in (os.path.dirname(file), "include", "kernels", "host", "bench"):
                path = os.path.normpath(os.path.join(folder, name))
                if path in known:
                    yield path
                    break


def upward_includes(order, graph):
    found = []
    for user in sorted(graph):
        for used in graph[user]:
            a, b = order.place(user), order.place(used)
            if not order.allows(a, b):
                found.append(f"{user} includes {used}")
            elif a in REPORT and b in STUDIES:
                found.append(f"{user} includes {used}, which is no public header")
    return found


def circles(graph):
    """Groups of files that include each other; x.c, x.h and x.cu count as one."""
    edges = collections.defaultdict(set)
    for user in graph:
        for used in graph[user]:
            edges[stem(user)].add(stem(used))
    reach = {}
    for start in list(edges):
        seen, todo = set(), [start]
        while todo:
            for next_one in edges.get(todo.pop(), ()):
                if next_one not in seen:
                    seen.add(next_one)
                    todo.append(next_one)
        reach[start] = seen
    groups = {tuple(sorted(b for b in reach[a] if a in reach.get(b, ()))) for a in reach if a in reach[a]}
    return sorted(g for g in groups if len(g) > 1)


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    build = os.path.abspath(sys.argv[1])
    order = Order(ORDER)
    known = set(sources(root))
    graph = {f: list(includes(root, f, known)) for f in known}
    homeless = [f for f in known if not order.place(f)]
    symbol_uses = upward_symbols(order, objects(root, build))
    include_uses = upward_includes(order, graph)
    rings = circles(graph)
    for f in homeless:
        print(f"{f}: its folder has no place in the order")
    for line in symbol_uses + include_uses:
        print("upward:", line)
    for ring in rings:
        print("circle:", " ".join(ring))
    print(f"upward uses: {len(symbol_uses)} by symbols, {len(include_uses)} by includes")
    print(f"include circles: {len(rings)}")
    return bool(homeless or symbol_uses or include_uses or rings)


if __name__ == "__main__":
    sys.exit(main())
