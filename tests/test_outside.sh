#!/usr/bin/env bash
# test_outside.sh BUILD: bench/outside.py on a small SliceLine test, on cleanlab's examples and on a run with three ways of
# planting: the figures that are known, in lines that bench/results.py takes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages numpy sklearn
outside() { "$python" "$tests/../bench/outside.py" --spotter "$spotter" "$@" || fail "outside.py $*"; }

# 16 rows, two columns. Code 2 of the first has errors 1, the others 0.2: mean 0.4. Its score is 0.95 (1 / 0.4 - 1) - 0.05 * 3.
# Its rows have code 1 of the second column, which eight rows have: 0.95 (0.6 / 0.4 - 1) - 0.05.
"$python" - "$dir" <<'EOF'
import sys
x = [[2, 1]] * 4 + [[1, 1]] * 4 + [[1, 2]] * 4 + [[3, 2]] * 4
e = [[1.0]] * 4 + [[0.2]] * 12
words = lambda t: "{\n" + ",\n".join("{" + ", ".join(map(str, row)) + "}" for row in t) + "\n}"
best = [1.275, 4.0, 1.0, 4]
def test(name, expected):
    with open(f"{sys.argv[1]}/{name}.java", "w") as f:
        f.write(f"double[][] X = {words(x)};\ndouble[][] e = {words(e)};\ndouble[][] correctRes = {words(expected)};\n")
test("whole", [best, best, [0.425, 4.8, 1.0, 8]])      # code 2, code 2 and code 1, code 1
test("short", [[0.425, 4.8, 1.0, 8]])
test("false", [best, [0.5, 4.8, 1.0, 8]])
EOF
for name in whole short false; do outside sliceline "$dir/$name.java" >"$dir/$name.jsonl"; done
outside cleanlab >"$dir/cleanlab.jsonl"

tiny 2 | sed 's/rollable: \[4, 4\], blindspots: \[1, 1\]/rollable: [5, 5], induce: mixed, blindspots: [3, 3]/
              s/specificity: \[3, 3\]/specificity: [4, 4]/
              s/^bdms:.*/bdms: [{method: kmeans}, {method: confidence}]/' >"$dir/tiny.yaml"
printf 'variants: [{name: weak, scene: {rare: 0.5}}, {name: strong, scene: {rare: 0}}]\n' >>"$dir/tiny.yaml"
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --no-pictures 2>"$dir/err" || fail "no run: $(cat "$dir/err")"
outside scenes "$dir/run" >"$dir/scenes.jsonl"

"$python" - "$dir" "$tests/.." <<'EOF' || fail "figures of outside.py"
import glob, json, re, sys
at, root = sys.argv[1:]
sys.path.insert(0, root + "/bench")
import results
machines = json.load(open(root + "/bench/results/machines.json"))
def read(name):
    lines = [json.loads(l, parse_float=results.Figure, parse_int=results.Figure) for l in open(f"{at}/{name}.jsonl")]
    faults = [results.wrong_with(l, machines) for l in lines]
    assert lines and not any(faults), (name, faults)
    table = {(l["op"], re.sub("^(SliceLine: |cleanlab: |three ways, )", "", l["case"])): l for l in lines}
    assert len(table) == len(lines), name
    return table

whole, short, false = map(read, ("whole", "short", "false"))
figure = lambda table, op, case="input 1": table[op, case]["value"]
assert figure(whole, "expected") == whole["expected", "input 1"]["of"] == 3 and figure(whole, "lacked") == 0
assert figure(whole, "same rows, all") == 3 and figure(whole, "Jaccard, ten") == 1 and figure(whole, "rank of the first") == 1
assert figure(short, "expected") == 1 and figure(short, "lacked") == 2
assert figure(false, "expected") == 1 and false["expected", "input 1"]["of"] == 2
for t in (whole, short, false):       # wrong: the four rows; of all conjunctions the three above
    assert t["conjunctions", "input 1"]["of"] == figure(t, "conjunctions") == 3 and figure(t, "same rows, 0 and 1") == 3

c = read("cleanlab")
flagged = {case: line["value"] for (op, case), line in c.items() if op == "rows flagged"}
assert len(flagged) == 6 and flagged["four blobs, all right"] == 0 and flagged["four blobs, one wrong"] == 100, flagged
assert flagged["pull request 838"] == 50 and abs(figure(c, "ratio", "four blobs, one wrong") - 1 / 7) < 2e-4
assert figure(c, "confirmed slices", "pull request 838") > 0 and figure(c, "confirmed slices", "four blobs, all right") == 0
if ("rows that differ", "pull request 838") in c:       # where cleanlab is installed
    assert figure(c, "rows that differ", "four blobs, one wrong") == figure(c, "rows that differ", "pull request 838") == 0

s = read("scenes")
for path in glob.glob(f"{at}/run/segments/*/ec-*.json"):
    ec = json.load(open(path))["segment"]
    variant = ["weak", "strong"][ec["index"]]
    assert ec["ec"]["induce"] == "mixed" and len(ec["severity"]["inside"]) == 3
    for way, b in zip(("correlated", "rare", "noisy labels"), ec["severity"]["inside"]):
        share = b["wrong"] / b["rows"]
        assert abs(figure(s, "error inside", f"{variant}: {way}") - 100 * share) < 0.051
        assert figure(s, "blindspots made", f"{variant}: {way}") == (share >= 0.1)
        assert ((f"found, {way}", f"{variant}: kmeans") in s) == (share >= 0.1)
assert sum(op == "precision at 10" for op, _ in s) == 4
EOF
