#!/usr/bin/env bash
# test_gather.sh BUILD: spotter gather from a folder and a phrase to a verdict, with a CLIP of random weights.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
/usr/bin/python3 random_clip.py "$dir/clip" || exit 1
/usr/bin/python3 detector_data.py "$dir" 60 || exit 1
cd "$dir" || exit 1

run 0 "" gather --text "a cat" --images images --encoder clip/clip/model.safetensors --most 12 --out g
/usr/bin/python3 - <<'PYTHON' || fail "gathered.csv"
import csv
rows = list(csv.DictReader(open("g/gathered.csv")))
assert [r["group"] for r in rows] == ["gathered"] * 12 + ["control"] * 12
assert len({r["picture"] for r in rows}) == 24 and all(r["wrong"] == "" for r in rows)
s = [float(r["similarity"]) for r in rows]
assert s[:12] == sorted(s[:12], reverse=True) and max(s[12:]) <= s[11]
for name, bad in (("yes", "gathered"), ("no", "control")):
    w = csv.writer(open(name + ".csv", "w"))
    w.writerow(rows[0])
    w.writerows([r["picture"], r["group"], r["similarity"], int(r["group"] == bad)] for r in rows)
open("odd.csv", "w").write("group,wrong\ngathered,2\n")
PYTHON
run 0 "" gather --judge yes.csv
grep -q "^confirmed: p = 3.7e-07" out || fail "$(cat out)"
run 0 "" gather --judge no.csv --json
grep -q '"verdict": "not confirmed"' out || fail "$(cat out)"
run 0 "" gather --judge g/gathered.csv
grep -q "too few pictures" out || fail "$(cat out)"
run 3 "line 2: wrong is \"2\"" gather --judge odd.csv
run 2 "give --text" gather --text "a cat" --out g
[ $failed -eq 0 ]
