#!/usr/bin/env bash
# test_claims.sh BUILD: bench/claims.py against a made program whose confirmed slices are known.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
need_packages numpy scipy sklearn
bench=$(realpath "$tests/../bench")

# Four ECs of ten rows: 0 with the blindspots 0 to 3 and 4 to 5, 1 with 0 to 3, 2 with none; 3 does not count. joinspot and Ward
# together confirm 0 to 3 and 6 to 7 in EC 0, half of the blindspot in EC 1; GEORGE covers a blindspot by two slices; k-means
# confirms a slice where no blindspot is. In shuffles and worlds a slice is confirmed where the seed is a multiple of three.
cat >"$dir/program" <<'END'
#!/usr/bin/env python3
import json, os, sys
sys.path.insert(0, os.environ["BENCH"])
import numpy as np
import tensors
words = sys.argv[1:]
option = lambda name: words[words.index(name) + 1]
if words[0] == "view":
    ec, new = int(option("--ec")), option("--split") == "val"
    bits = np.array([[1, 1, 1, 1, 2, 2, 0, 0, 0, 0], [1, 1, 1, 1] + [0] * 6, [0] * 10, [0] * 10][ec], "<u4")
    feature = np.full((10, 2), ec + 100 * new, "<f4")
    tensors.write(option("--out"), feature=feature, label=np.zeros(10, "<i4"), confidence=np.full(10, .2, "<f4"),
                  blindspots=bits)
    sys.exit()
e = np.load("new_e.npy" if words[0] == "assign" else "e.npy")
if words[0] == "assign":
    fresh = [{"class_number": 0, "rank": rank, "rows": 5, "excess": {"value": v}} for rank, v in enumerate((.3, .5))]
    print(json.dumps({"slices": fresh}))
    sys.exit()
methods, ec = option("-m"), int(e[0, 0]) if e.shape[1] == 2 else None
slices = {("joinspot,ward", 0): [range(4), (6, 7)], ("joinspot,ward", 1): [range(2)], ("george", 0): [(0, 1), (2, 3), (4, 5)],
          ("george", 1): [range(4)], ("kmeans", 2): [(8, 9)]}.get((methods, ec), [])
os.makedirs("found", exist_ok=True)
with open("found/slices.csv", "w") as f:
    f.write("id,class,method,seed,rank,score,claim,part,number,entry\n9,0,x,0,7,1,not confirmed,,,\n")
    f.writelines(f"{i},0,x,0,{rank},1,confirmed,,,\n" for rank, rows in enumerate(slices) for i in rows)
proof = lambda method, expected, claim="confirmed": {"claim": claim, "pieces": [{"method": method}], "to_expect": expected}
some = [{"rank": 0, "proof": proof("ward", .25)}, {"rank": 1, "proof": proof("kmeans", .5)},
        {"rank": 1, "proof": proof("ward", 9, "no")}]
confirmed = 2 * (int(option("--seed")) % 3 == 0)
json.dump({"proof": {"confirmed": confirmed, "tests": 6}, "findings": [{"class_number": 0, "merged": True, "slices": some},
                                                                        {"class_number": 0, "slices": some}]},
          open("found/slices.json", "w"))
END
chmod +x "$dir/program"
mkdir "$dir/run"
"$python" -c "
import sqlite3
with sqlite3.connect('$dir/run/results.sqlite') as base:
    base.execute('create table ecs (ec, learned)')
    base.executemany('insert into ecs values (?, ?)', [(0, 1), (1, 1), (2, 1), (3, 0)])"
sed -i "1s|.*|#!$python|" "$dir/program"
claims() { BENCH=$bench "$python" "$bench/claims.py" "$dir/program" "$@" machine=E load=null commit=null numbers=12 \
               date=2026-12-01 command=x; }
claims noise 4 >"$dir/noise" || fail "noise"
claims planted 10 5 >"$dir/planted" || fail "planted"
claims truth "$dir/run" hard >"$dir/truth" || fail "truth"
claims apart "$dir/run" 2 >"$dir/apart" || fail "apart"
claims truth "$dir" hard >"$dir/none" 2>"$dir/err" && fail "a folder without results"
grep -q "no results.sqlite: it is no finished sweep" "$dir/err" || fail "no results: $(cat "$dir/err")"
"$python" "$bench/claims.py" "$dir/program" noise 4 machine=E >"$dir/none" 2>"$dir/err" && fail "keys are missing"
"$python" - "$bench" "$dir" <<'EOF' || fail "other lines than the program's slices give"
import json, sys
sys.path.insert(0, sys.argv[1])
import results
lines = {}
for name in ("noise", "planted", "truth", "apart"):
    for text in open(f"{sys.argv[2]}/{name}"):
        row = json.loads(text)
        figures = json.loads(text, parse_float=results.Figure, parse_int=results.Figure)
        assert results.wrong_with(figures, {"E": ""}) is None, text
        lines[row["op"], row["case"].split(": ")[-1]] = row
def at(op, case, *keys):
    return [lines[op, case][k] for k in keys or ("value", "of")]
digits = "scikit-learn's digits, a perceptron, answers shuffled within each class, eleven methods"
default = "joinspot and Ward, the default"
assert at("a slice is confirmed", digits) == [2, 4]                          # seeds 0 and 3
assert at("worlds with a confirmed slice", default) == [1, 5]                # seed 12
covered, less = "blindspots that confirmed slices cover", "covered, the default minus it"
assert at(covered, default) == [.25, 2] and at(covered, default, "low", "high") == [0, .5]
assert at(covered, "GEORGE") == [1, 2] and at(covered, "Domino") == [0, 2]
assert at(less, "GEORGE", "value", "low", "high") == [-.75, -1, -.5] and (less, default) not in lines
assert at("confirmed slices in no blindspot", default) == [1, 3]
assert at("slices a found blindspot", "GEORGE", "value") == [1.3]            # four slices, three blindspots
assert at("slices a found blindspot", "Domino", "value") == [None]
assert at("slices confirmed", "every method", "value") == [1]
apart = "excess on images drawn apart over the expected"
assert at(apart, "all") == [round(.8 / .75, 3), 12] and at(apart, "Ward") == [1.2, 6] and at(apart, "k-means") == [1, 6]
assert (apart, "Domino") not in lines
EOF
printf "ok\n"
