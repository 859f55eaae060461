"""layers.py BUILD - who uses whom, read from the object files of a build, and names that have two meanings.

A folder may use the folders that stand before it in ORDER; siblings (joined by |) never use each other. A use is an undefined
symbol of an object file that another source file defines, a call of a function that a header has whole (static inline), or an
#include. Neither headers include nor files use each other in a circle. Prints every violation, then the counts."""
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ORDER = """include
kernels/core kernels/net|kernels/image|kernels/map kernels/fit kernels
host/base host/formats host/stats host/worlds host/models host/bdm host/metric host/store host/study host/result
host/sweep|host/discover|host/examine|host/background|host/shifts host/versions host/claims
host/report/table host/report/grid host/report/figure host/report/page host/check host/cli|bench"""
STUDIES = {"host/sweep", "host/discover", "host/examine", "host/background", "host/shifts"}
# The emulator's stand-ins for what needs a vendor's library define the symbols of the files that they replace.
STAND_INS = {"tests/emulator/conv_cudnn.cpp": "kernels/net/conv_cudnn.cu",
             "tests/emulator/linear_cublas.cpp": "kernels/net/linear_cublas.cu",
             "tests/emulator/matmul_cublas.cpp": "kernels/core/cublas.cu"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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
        a, b = self.place(user), self.place(used)
        if a == b or {a, b} == {"host/cli", "bench"}:
            return True
        if a == "kernels/fit" and b in ("kernels/net", "kernels/image"):
            return False
        return self.rank[b] < self.rank[a]


def sources(root):
    found = []
    for top in ("include", "kernels", "host", "bench"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            found += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith((".c", ".h", ".cu", ".cuh"))]
    return sorted(found)


def commands(build):
    with open(os.path.join(build, "compile_commands.json")) as f:
        return json.load(f)


def objects(root, build):
    """source -> object file, for what the library, the commands, the plugin and the emulated plugin are made of."""
    kernels = {os.path.basename(f): f for f in sources(root) if f.endswith(".cu")}
    made = {}
    for command in commands(build):
        output = re.search(r" -o (\S+)", command["command"]).group(1)
        source = os.path.relpath(command["file"], root)
        target = re.search(r"CMakeFiles/([\w-]+)\.dir/", output).group(1)
        emulated = re.fullmatch(r".*/emulated_(\w+\.cu)\.cpp", source)
        if target not in ("libspotter", "commands", "spotter", "spotter_cuda", "spotter_emulated"):
            continue
        source = kernels.get(emulated.group(1)) if emulated else STAND_INS.get(source, source)
        path = os.path.join(build, output)
        if not source or not source.startswith(("kernels/", "host/", "bench/")):
            continue
        if os.path.exists(path):
            made.setdefault(source, path)
        elif target == "libspotter":
            sys.exit(f"{path} is not there: build first")
    return made


def symbols(made):
    """(source -> symbols that it uses, symbol -> the sources that define it)"""
    source_of = {path: source for source, path in made.items()}
    uses, defines = collections.defaultdict(set), collections.defaultdict(set)
    text = subprocess.run(["nm", "-A", "-P", "-g", *source_of], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        where, name, kind = line.split()[:3]
        source = source_of[where.rstrip(":")]
        if kind in "Uwv":
            uses[source].add(name)
        else:
            defines[name].add(source)
    return uses, defines


def add_inline(root, uses, defines):
    """The functions that headers have whole leave no symbols: who names one calls it."""
    texts, has = {}, collections.defaultdict(set)
    for file in sources(root):
        with open(os.path.join(root, file)) as f:
            texts[file] = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", " ", f.read(), flags=re.S)
        if file.endswith((".h", ".cuh")):
            for name in re.findall(r"^(?:static )?inline [^;{}=]*?\b(spot_\w+)\s*\(", texts[file], re.M):
                has[name].add(file)
    for name, owners in has.items():
        defines[name] |= owners
    for file, text in texts.items():
        for name in set(re.findall(r"\b(spot_\w+)\s*\(", text)) & set(has):
            if file not in has[name]:
                uses[file].add(name)


def plain(name):
    """A C++ name as it is written."""
    found = re.match(r"_Z(\d+)", name)
    return name[found.end():found.end() + int(found.group(1))] if found else name


def upward_symbols(order, uses, defines):
    return [f"{user} uses {plain(name)} of {', '.join(sorted(defines[name]))}"
            for user in sorted(uses) for name in sorted(uses[user])
            if name in defines and not any(order.allows(user, owner) for owner in defines[name])]


def included(file, name, known):
    """The path of what a file includes by this name; the name itself where it is none of ours."""
    paths = (os.path.normpath(os.path.join(d, name)) for d in (os.path.dirname(file), "include", "kernels", "host", "bench"))
    return next((path for path in paths if path in known), name)


def includes(root, file, known):
    with open(os.path.join(root, file)) as f:
        for name in re.findall(r'^ *# *include +"([^"]+)"', f.read(), re.M):
            path = included(file, name, known)
            if path in known or "/" in name:
                yield path


def upward_includes(order, root):
    known, found = set(sources(root)), []
    for user in sorted(known):
        for used in includes(root, user, known):
            if used not in known:
                found.append(f"{user} includes {used}, which is not there")
            elif not order.allows(user, used):
                found.append(f"{user} includes {used}")
            elif user.startswith("host/report/") and order.place(used) in STUDIES:
                found.append(f"{user} includes {used}, which is no public header")
    return found


def circles(uses, defines):
    """Groups of files whose functions use each other in a circle; x.c, x.h and x.cu count as one."""
    def stem(path):
        return os.path.splitext(path)[0]
    edges = collections.defaultdict(set)
    for user in uses:
        for name in uses[user]:
            edges[stem(user)] |= {stem(owner) for owner in defines.get(name, ()) if stem(owner) != stem(user)}
    reach = {}
    for start in list(edges):
        seen, todo = set(), [start]
        while todo:
            for used in edges.get(todo.pop(), set()) - seen:
                seen.add(used)
                todo.append(used)
        reach[start] = seen
    return sorted({tuple(sorted(b for b in reach[a] if a in reach.get(b, ()))) for a in reach if a in reach[a]})


def header_circles(root):
    """Headers that include each other, or themselves, in a circle."""
    known = set(sources(root))
    edges = {f: {u for u in includes(root, f, known) if u in known} for f in known if f.endswith((".h", ".cuh"))}
    found = set()
    for start in edges:
        todo, seen = [start], set()
        while todo:
            for used in edges.get(todo.pop(), set()) - seen:
                seen.add(used)
                todo.append(used)
        if start in seen:
            found.add(start)
    return sorted(found)


def declared(text):
    """The spot_ names that a header declares: functions, types and data."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^ *#ifdef __cplusplus\n.*?#endif", "", text, flags=re.S | re.M)
    text = re.sub(r"^ *#(.*\\\n)*.*$", "", text, flags=re.M)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", "@", text)                # bodies, from the innermost
    for statement in re.split(r"[;]|(?<=\))\s*@", re.sub(r"__attribute__ *\(\(.*?\)\)\)?", "", text)):
        statement = " ".join(statement.split())
        if statement.startswith("typedef"):
            name = (re.search(r"\(\* ?(spot_\w+)\) ?\(", statement)          # a pointer to a function
                    or re.search(r"\b(spot_\w+)(?:\[.*\])?$", statement) or re.search(r"\b(spot_\w+) ?\(", statement))
            if name and not re.fullmatch(r"typedef (struct|union) (spot_\w+) \2", statement):
                yield name.group(1)
        elif statement.startswith("extern"):
            yield from re.findall(r"\b(spot_\w+)(?=$|\[|, *\*?spot_)", statement)
        elif name := re.match(r"[\w*& ]*?\b(spot_\w+) ?\(", statement):
            yield name.group(1)


def second_meanings(root):
    where = collections.defaultdict(list)
    for header in (f for f in sources(root) if f.endswith((".h", ".cuh"))):
        with open(os.path.join(root, header)) as f:
            for name in set(declared(f.read())):           # C++ may declare a name for several types, side by side
                where[name].append(header)
    return [f"{name}: {', '.join(places)}" for name, places in sorted(where.items()) if len(places) > 1]


def repeated_files(root):
    files = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True).stdout.split()
    count = collections.Counter(os.path.basename(f) for f in files or sources(root)
                                if f.endswith((".c", ".h", ".cu", ".cuh", ".cpp", ".py", ".sh", ".js", ".cmake")))
    return [f"{name} is there {n} times" for name, n in sorted(count.items()) if n > 1]


def begun_with(root, made):
    """The headers that a C file with an object includes before it says anything else: they compile alone."""
    known, found = set(sources(root)), set()
    for file in (f for f in made if f.endswith(".c")):
        with open(os.path.join(root, file)) as f:
            first = re.match(r'\s*#include "([^"]+)"', re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S))
        found |= {included(file, first[1], known)} if first else set()
    return found


def headers_that_fail(root, build, made):
    """Every header alone, and all of them in one file. Those of device code need nvcc and are left out."""
    command = next(c for c in commands(build) if c["file"].endswith("/kernels/open.c"))["command"]
    kept = ("-I", "-isystem", "-D", "-std", "-f", "-m", "-W", "/usr/include")
    flags = [w for w in shlex.split(command) if w.startswith(kept)]
    headers = [f for f in sources(root) if f.endswith(".h")]
    unknown = sorted(set(headers) - begun_with(root, made))
    compiler = os.environ.get("CC", "cc")

    def fails(names):
        with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
            f.writelines(f'#include "{os.path.join(root, name)}"\n' for name in names)
            f.write("extern int spot_nothing;\n")
            f.flush()
            run = subprocess.run([compiler, *flags, "-I" + os.path.join(root, "bench"), "-fsyntax-only", f.name],
                                 capture_output=True, text=True)
        return run.stderr.strip().splitlines()[:3] if run.returncode else []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        alone = zip(unknown, pool.map(lambda h: fails([h]), unknown))
    return [f"{h} alone: {' '.join(said)}" for h, said in alone if said] + [f"all headers together: {' '.join(said)}"
                                                                          for said in [fails(headers)] if said]


def main():
    build, order = os.path.abspath(sys.argv[1]), Order(ORDER)
    made = objects(ROOT, build)
    uses, defines = symbols(made)
    add_inline(ROOT, uses, defines)
    rings = circles(uses, defines)
    by_symbols, by_includes = upward_symbols(order, uses, defines), upward_includes(order, ROOT)
    found = {
        "has no place in the order": [f for f in sources(ROOT) if not order.place(f)],
        "upward": by_symbols + by_includes,
        "circle": [" ".join(os.path.basename(f) for f in ring) for ring in rings],
        "in a circle of #include": header_circles(ROOT),
        "declared twice": second_meanings(ROOT),
        "a file name exists once": repeated_files(ROOT),
        "does not compile": headers_that_fail(ROOT, build, made),
    }
    for what, lines in found.items():
        for line in lines:
            print(f"{what}: {line}")
    print(f"upward uses: {len(by_symbols)} by symbols, {len(by_includes)} by includes; circles: {len(rings)}; "
          f"{len(uses)} objects")
    return any(found.values())


if __name__ == "__main__":
    sys.exit(main())
