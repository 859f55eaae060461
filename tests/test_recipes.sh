#!/usr/bin/env bash
# test_recipes.sh BUILD: does what the pages say, in one copy of the tree, which is built once. .github/CONTRIBUTING.md: writes
# the files of its ```c blocks and adds the + lines of its ```diff blocks behind the lines before them. host/bdm/README.md, a
# method in one file and one row with a setting of its own: the file from the page's first block of C, the row from its second,
# the setting's member from its third and the setting's table from its fourth. Then runs the result.
# ctest: long
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
page=host/bdm/README.md
block()   # N: the page's Nth block of C
{
    awk -v want="$1" '/^```/ { if (inside) inside = 0; else if ($0 == "```c") inside = ++n; next } inside == want' "$page"
}

block 1 > "$dir/islands.c"
cmp -s "$dir/islands.c" tests/example_method.c || fail "$page and tests/example_method.c differ: $(diff "$dir/islands.c" \
    tests/example_method.c | head -5)"
[ "$(wc -l < tests/example_method.c)" -lt 80 ] || fail "the example has 80 lines or more"

mkdir "$dir/tree"
cp -r CMakeLists.txt configs kernels host include bench tools tests "$dir/tree"
{ grep -v '^const spot_method' "$dir/islands.c"; block 4; } > "$dir/tree/host/bdm/islands.c"
header=$dir/tree/include/spotter/bdm.h last=$(block 2 | head -1 | sed 's/ *\\$//')
grep -qF "$last" "$header" || fail "$page: \"$last\" is no row of $header"
row=$last block=$(block 2) member=$(block 3) awk 'index($0, ENVIRON["row"]) == 1 { print ENVIRON["block"]; next }
    /^} spot_bdm_config;/ { print ENVIRON["member"] } { print }' "$header" > "$dir/new.h"
mv "$dir/new.h" "$header"
python3 - .github/CONTRIBUTING.md "$dir/tree" <<'PY'
import re, sys
page, tree = open(sys.argv[1]).read(), sys.argv[2]
for path, text in re.findall(r"^```c (\S+)\n(.*?)^```$", page, re.M | re.S):
    open(f"{tree}/{path}", "w").write(text)
for diff in re.findall(r"^```diff\n(.*?)^```$", page, re.M | re.S):
    before = []
    for line in diff.splitlines():
        if line.startswith("+++ b/"):
            path, before = f"{tree}/{line[6:]}", []
        elif line.startswith("+"):
            lines, n = open(path).read().split("\n"), len(before)
            at = [i for i in range(len(lines)) if n and all(l.startswith(p) for p, l in zip(before, lines[i:i + n]))]
            if len(at) != 1:
                sys.exit(f"FAILED: {path} has {len(at)} places like {before}")
            lines.insert(at[0] + n, line[1:])
            before.append(line[1:])
            open(path, "w").write("\n".join(lines))
        elif line == "@@":
            before = []
        elif not line.startswith("---"):
            before.append(line[1:])
PY

cmake -S "$dir/tree" -B "$dir/build" -G "$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$build/CMakeCache.txt")" \
    -DSPOT_TESTS=ON -DSPOT_WERROR=ON -DSPOT_NVCC= -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -march=native" \
    > "$dir/log" 2>&1 || fail "$(tail -5 "$dir/log")"
cmake --build "$dir/build" --target spotter test_cuda_clamp --parallel 2 > "$dir/log" 2>&1 ||
    fail "$(grep -m5 -E "error:|Error" "$dir/log")"

# The op: its cases pass on the CPU.
(cd "$dir/tree/tests" && "$dir/build/test_cuda_clamp") > "$dir/log" 2>&1 || [ $? -eq 77 ] || fail "$(tail -5 "$dir/log")"
grep -q 'clamp_is_right' "$dir/log" || fail "the op has no case: $(cat "$dir/log")"

# The setting: help, a config, a refusal.
spotter=$dir/build/spotter
"$spotter" help config > "$dir/log"
grep -q 'metric.least = 0  (an integer from 0 to 1000000)' "$dir/log" || fail "no help of the setting"
printf 'metric: {least: -1}\n' > "$dir/bad.yaml"
if "$spotter" plan "$dir/bad.yaml" --quick > "$dir/log" 2>&1; then fail "a setting out of its range is taken"; fi
grep -q 'metric.least is -1' "$dir/log" || grep -q 'metric.least takes' "$dir/log" || fail "$(cat "$dir/log")"

# The flag: help with its default, and the Slurm array gets it.
"$spotter" sweep --help > "$dir/log"
grep -qE -- '--nice=N .*' "$dir/log" || fail "no help of the flag"
cat > "$dir/my.yaml" <<'YAML'
ecs: 1
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{method: islands, reduce: [pca, none], share: 0.1}]
YAML
"$spotter" sweep "$dir/my.yaml" --out "$dir/array" --submit --shards 1 --dry-run --nice 7 > "$dir/log" 2>&1 ||
    fail "$(cat "$dir/log")"
grep -qE -- "--nice '?7" "$dir/log" || fail "the array does not get --nice: $(cat "$dir/log")"

# The method: a sweep, its tables, its setting in the run and out of its range.
"$spotter" sweep "$dir/my.yaml" --out "$dir/run" 2> "$dir/log" || fail "$(tail -3 "$dir/log")"
"$spotter" tables "$dir/run" --format csv > "$dir/tables"
grep -q '^"islands",0,dr,' "$dir/tables" || grep -q '^"islands-pca",0,dr,' "$dir/tables" || fail "$(cat "$dir/tables")"
grep -q '^    share: 0.1$' "$dir/run/config.yaml" || fail "the run's config lacks the setting: $(tail "$dir/run/config.yaml")"
sed 's/share: 0.1/share: 0.6/' "$dir/my.yaml" > "$dir/bad.yaml"
if "$spotter" plan "$dir/bad.yaml" --quick > "$dir/log" 2>&1; then fail "a share of 0.6 is taken"; fi
grep -q "share is 0.6; it takes a number from 0.001 to 0.5" "$dir/log" || fail "$(tail -3 "$dir/log")"

# A number of a model's backgrounds: terminal, CSV, JSON, Markdown, page.
/usr/bin/python3 "$dir/tree/tests/backgrounds_world.py" make "$dir/w" || fail "the world was not made"
"$spotter" background "$dir/w/run.yaml" --out "$dir/back" > "$dir/text" 2> "$dir/log" || fail "$(tail -3 "$dir/log")"
grep -qE '^model .* known' "$dir/text" || fail "the terminal lacks the number: $(head -9 "$dir/text")"
head -1 "$dir/back/models.csv" > "$dir/head"
grep -q ',known_objects,' "$dir/head" || fail "models.csv lacks the number: $(cat "$dir/head")"
"$spotter" tables "$dir/back" --format md > "$dir/md" 2> "$dir/log" || fail "$(tail -3 "$dir/log")"
grep -qE '^\| model .* known ' "$dir/md" || fail "Markdown lacks the number: $(head -9 "$dir/md")"
"$spotter" report "$dir/back" -o "$dir/back.html" > "$dir/log" 2>&1 || fail "$(tail -3 "$dir/log")"
python3 - "$dir/back/background.json" "$dir/back.html" <<'PY' || fail "the page or background.json lacks the number"
import base64, json, re, sys, zlib
found, page = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
assert all(m["known_objects"] == m["sets"]["original"]["right"] for m in found["models"])
what = json.loads(re.search(r'id="what">(.*?)</script>', page, re.S).group(1))
block = re.search(rf'id="b{what["study"]}">(.*?)</script>', page, re.S).group(1)
assert json.loads(zlib.decompress(base64.b64decode(block))) == found
assert {"known": "count"}.items() <= {c["title"]: c["unit"] for c in what["columns"]}.items()
PY

# A number of a sweep's method: text, Markdown, CSV, JSON, page.
for format in text md csv json; do "$spotter" tables "$dir/run" --format $format > "$dir/tables.$format" || fail "$format"; done
grep -qE '^method .* all found' "$dir/tables.text" || fail "the terminal lacks the number: $(cat "$dir/tables.text")"
grep -qE '^\| method .* all found ' "$dir/tables.md" || fail "Markdown lacks the number: $(cat "$dir/tables.md")"
grep -qE '^"islands(-pca)?",,all_found,[01],,,$' "$dir/tables.csv" || fail "CSV lacks the number: $(cat "$dir/tables.csv")"
"$spotter" report "$dir/run" -o "$dir/run.html" > "$dir/log" 2>&1 || fail "$(tail -3 "$dir/log")"
what() { sed -n 's/.*id="what">\(.*\)<\/script>.*/\1/p' "$1"; }
what "$dir/run.html" > "$dir/what"
python3 - "$dir/tables.json" "$dir/what" <<'PY' || fail "JSON or the page lacks the number"
import json, sys
found, page = (json.load(open(path)) for path in sys.argv[1:])
assert found["methods"] and all(m["all_found"] in (0, 1) for m in found["methods"])
assert [m["all_found"] for m in page["methods"]] == [m["all_found"] for m in found["methods"]]
assert any(c["title"] == "all found" and c["direction"] == "higher is better" for c in page["columns"])
PY

# A number of a slice: terminal, JSON, page.
python3 - "$dir" <<'PY'
import random, sys
random.seed(3)
with open(sys.argv[1] + "/rows.csv", "w") as f:
    f.write("x,y,label,prob\n")
    for i in range(240):
        group = i % 4
        wrong = random.random() < (0.9 if group == 3 else 0.05)
        f.write(f"{4 * group + random.gauss(0, 0.3):.4f},{random.gauss(0, 0.3):.4f},{i % 2},"
                f"{0.9 if (i % 2 == 1) != wrong else 0.1}\n")
PY
"$spotter" discover --embeddings "$dir/rows.csv:x,y" --labels "$dir/rows.csv:label" --probs "$dir/rows.csv:prob" --no-proof \
    --out "$dir/found" > "$dir/text" 2> "$dir/log" || fail "$(tail -3 "$dir/log")"
grep -qE '^ *# .* right ' "$dir/text" || fail "the terminal lacks the number: $(head -5 "$dir/text")"
"$spotter" report "$dir/found" -o "$dir/found.html" > "$dir/log" 2>&1 || fail "$(tail -3 "$dir/log")"
what "$dir/found.html" > "$dir/what"
python3 - "$dir/found/slices.json" "$dir/what" <<'PY' || fail "slices.json or the page lacks the number"
import json, sys
found, page = ([s for f in json.load(open(path))["findings"] for s in f["slices"]] for path in sys.argv[1:])
assert found and all(s["right_rows"] == s["size"] - s["wrong"] for s in found)
assert [s["right_rows"] for s in page] == [s["right_rows"] for s in found]
assert any(c["name"] == "right_rows" for c in json.load(open(sys.argv[2]))["slice_columns"])
PY

# The study: what its recipe names is there.
for file in include/spotter/work.h host/cli/cli.h tests/layers.py tests/test_work.c; do
    [ -e "$file" ] || fail "the recipe of a study names $file"
done
[ "$(wc -l < tests/study_of_squares.h)" -le 90 ] || fail "tests/study_of_squares.h has more than 90 lines"
echo "the recipes hold: an op, a setting, a flag, a number in a result, a study; a method is one file and one row," \
    "its setting a member and a row"
