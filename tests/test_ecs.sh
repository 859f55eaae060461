#!/usr/bin/env bash
# test_ecs.sh BUILD: bench/ecs.py keeps the ECs of a run once, and its means are those of `spotter tables`.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages numpy
ecs() { "$python" "$tests/../bench/ecs.py" --folder "$dir/ecs" "$@"; }

# Every EC counts, and with low thresholds some blindspots are found.
tiny 4 | sed 's/blindspots: \[1, 1\]/blindspots: [1, 2]/; s/lr: 1.0e-3}/lr: 1.0e-3, learned_outside: 0, learned_inside: 1}/
              s/^bdms:.*/bdms: [{method: kmeans, clusters: [4, 8]}, {method: confidence}]/' >"$dir/tiny.yaml"
echo 'metric: {lambda_p: 0.3, lambda_r: 0.3}' >>"$dir/tiny.yaml"
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --limit 3 --no-pictures 2>"$dir/err" || fail "no run: $(cat "$dir/err")"
[ "$(ecs keep "$dir/run" tiny here L)" = "3 of 3 ECs added" ] || fail "three ECs were not kept"
[ "$(ecs missing tiny 4)" = 3 ] || fail "EC 3 is missing: $(ecs missing tiny 4)"
"$spotter" sweep "$dir/tiny.yaml" --out "$dir/run" --no-pictures 2>"$dir/err" || fail "no second run: $(cat "$dir/err")"
[ "$(ecs keep "$dir/run" tiny here L)" = "1 of 4 ECs added" ] || fail "an EC was kept twice"
"$spotter" tables "$dir/run" --format json >"$dir/tables.json"
ecs lines tiny confidence >"$dir/lines"
ecs leaderboard >"$dir/leaderboard.csv"
ecs best tiny >"$dir/best"
"$python" - "$dir" <<'EOF' || fail "other figures than those of spotter tables"
import csv, json, sys
at = sys.argv[1]
told = json.load(open(f"{at}/tables.json"))
lines = {(d["op"], d["case"]): d for d in map(json.loads, open(f"{at}/lines"))}
name = f'tiny, numbers {next(iter(lines.values()))["numbers"]}: '
board = {row["method"]: row for row in csv.DictReader(open(f"{at}/leaderboard.csv"))}
assert lines["ECs learned", name + "all"]["value"] == lines["ECs learned", name + "all"]["of"] == 4
counted = [ec for ec in told["ecs"] if ec["learned"]]
assert len(counted) == 4 and len(board) == len(told["methods"]) == 3
assert any(0 < float(row["dr"]) for row in board.values()), board
for i, m in enumerate(told["methods"]):
    shown = m["name"].replace("kmeans", "k-means")
    dr = sum(ec["methods"][i]["dr"] for ec in counted) / 4
    assert abs(lines["DR", name + shown]["value"] - dr) < 5e-4 and abs(float(board[shown]["dr"]) - dr) < 5e-4
    assert float(board[shown]["seconds"]) >= 0
    found = [d["value"] * d["of"] for (op, case), d in lines.items() if op.startswith("found at ") and case.endswith(shown)
             and "of" in d]
    missed = lines.get(("missed: impure", name + shown), {"of": 0})["of"]
    assert abs(sum(found) + missed - sum(len(json.loads(l)["blindspots"]) for l in open(f"{at}/ecs/tiny.jsonl"))) < .02
other = lines["DR, confidence minus it", name + "k-means clusters=4"]
assert other["low"] <= other["value"] <= other["high"] and "Holm's p over 2 methods" in other["note"]
best = [line.split("  ", 2)[2].strip() for line in open(f"{at}/best") if line.count("  ") >= 2]
assert sorted(best) == sorted(m["name"] for m in told["methods"]) and sum(w.startswith("kmeans") for w in best) == 2
EOF

"$spotter" --version | grep -q " $("$python" -c 'import json, sys; print(json.loads(sys.stdin.readline())["commit"])' \
    <"$dir/ecs/tiny.jsonl")" || fail "the lines name another commit than that of the program"

# With --strict the paper's rule decides, whatever the config says: here two of the four ECs, one of which the config drops.
ecs lines tiny confidence --strict >"$dir/none" 2>"$dir/err" && fail "ECs that learned nothing count strictly"
grep -q "no EC of tiny" "$dir/err" || fail "strict: $(cat "$dir/err")"
"$python" - "$dir/ecs/tiny.jsonl" <<'EOF'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
for row, (outside, right, learned) in zip(rows, [(.99, .05, False), (1, 0, True), (.98, 0, True), (1, .06, True)]):
    row["outside"], row["learned"] = outside, learned
    row["blindspots"][-1]["right_val"] = right
    for spot in row["blindspots"][:-1]:
        spot["right_val"] = 0
open(sys.argv[1], "w").writelines(json.dumps(row) + "\n" for row in rows)
EOF
ecs lines tiny confidence >"$dir/loose" && ecs lines tiny confidence --strict >"$dir/strict" || fail "no lines of ECs"
"$python" - "$dir/loose" "$dir/strict" <<'EOF' || fail "ECs that count strictly"
import json, sys
loose, strict = (json.loads(next(open(f))) for f in sys.argv[1:])
assert (loose["value"], strict["value"], strict["of"]) == (3, 2, 4), (loose, strict)
assert strict["case"].startswith("tiny, strictly learned, numbers ") and strict["command"].endswith("--strict")
EOF

# With --end N only the first ECs count; a method that one of them lacks is named and left out.
sed -i '4s/"kmeans clusters=8"/"ward"/' "$dir/ecs/tiny.jsonl"
ecs lines tiny confidence --end 3 >"$dir/first" 2>"$dir/err" && [ ! -s "$dir/err" ] || fail "three ECs: $(cat "$dir/err")"
head -n 1 "$dir/first" | grep -q '"tiny, ECs 0 to 2, numbers .*"value": 2, "unit": "ECs", "of": 3' ||
    fail "the first three: $(head -n 1 "$dir/first")"
grep -q '"command": "bench/ecs.py lines tiny confidence --end 3"' "$dir/first" || fail "the command"
ecs lines tiny confidence 2>"$dir/err" | grep -c "clusters=8" >"$dir/count" && fail "a method that an EC lacks"
grep -qx "ecs: not all ECs of tiny have kmeans clusters=8, ward" "$dir/err" || fail "left out: $(cat "$dir/err")"

# The leaderboard is that of the studies which are kept.
"$python" "$tests/../bench/ecs.py" leaderboard | diff - "$tests/../bench/leaderboard.csv" >"$dir/diff" ||
    fail "bench/leaderboard.csv is old; bench/ecs.py leaderboard >bench/leaderboard.csv: $(head -n 4 "$dir/diff")"
