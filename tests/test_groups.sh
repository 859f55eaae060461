#!/usr/bin/env bash
# test_groups.sh BUILD: rows in groups from the options to the files: discover, assign and compare; errors of chance that are
# shared within a video prove nothing in any of them; groups of one row change nothing.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(11)
n, video = 1000, np.arange(1000) // 25
y, place = np.arange(n) % 2, 3 * r.standard_normal((40, 8))
np.save("y.npy", y)
def features():
    return (place[video] + r.standard_normal((n, 8))).astype(np.float32)
def probs(bad):                                        # half of the rows of bad videos are wrong, a tenth of the others
    wrong = r.random(n) < np.where(bad[video], 0.5, 0.1)
    p = np.where(wrong, 0.2, 0.85)
    return np.where(y[:, None] == [0, 1], p[:, None], 1 - p[:, None]).astype(np.float32)
bad = r.random(40) < 0.25
for name, x in {"e": features(), "p": probs(bad), "e2": features(), "p2": probs(bad), "q": probs(r.random(40) < 0.25)}.items():
    np.save(name + ".npy", x)
with open("t.csv", "w") as f:
    f.write("id,video,some,one,own\n")
    f.writelines(f"r{i},ride {v},{'' if i < 3 else v},x,{i}\n" for i, v in enumerate(video))
PYTHON
rows=(-e e.npy -y y.npy -p p.npy -m ward --no-report --threads 2)

# --- discover: what is said, and what the files have
run 0 "t.csv:video: 1000 rows are in 40 groups, the largest, ride 0, has 25 rows" discover "${rows[@]}" --groups t.csv:video \
    --out found
run 0 "t.csv:some: 3 rows have no group; each is a group of its own" discover "${rows[@]}" --groups t.csv:some --out some
refused 3 discover "${rows[@]}" --groups t.csv:one --out one
refused 3 discover "${rows[@]}" --groups y.npy:3 --out one
refused 2 discover "${rows[@]}" --groups t.csv:some --out found
/usr/bin/python3 - <<'PYTHON' || fail "the files of findings"
import csv, json
k = json.load(open("found/slices.json"))
assert k["subject"]["groups"] == 40 and k["subject"]["largest_group"] == 25, k["subject"]
proofs = [s["proof"] for f in k["findings"] for s in f["slices"]]
assert proofs and all(1 <= p["judged_groups"] <= p["judged"] and p["corrected_p"] >= p["least_p"] > 0 for p in proofs), proofs
assert all(e["judged_groups"] >= 1 for p in proofs for e in p["pieces"])
for r in csv.DictReader(open("found/slices.csv")):
    assert r["group"] == f"ride {int(r['id']) // 25}", r
PYTHON

# --- groups of one row are none
run 0 "" discover "${rows[@]}" --out plain
for word in rows t.csv:own; do
    run 0 "" discover "${rows[@]}" --groups $word --out alone --replace
    for name in slices.csv slices.json config.yaml subject.safetensors map.npy; do
        cmp -s plain/$name alone/$name || fail "$name of --groups $word is another"
    done
done
! grep -q 'groups":' plain/slices.json || fail "groups where there are none"

# --- new rows: the same videos fail again, which says nothing about others
new=(-e e2.npy -y y.npy -p p2.npy)
run 0 "" assign plain "${new[@]}" --json --out a.csv
cp out alone.json
run 0 "1000 rows are in 40 groups" assign plain "${new[@]}" --groups t.csv:video --json --out a.csv
/usr/bin/python3 - <<'PYTHON' || fail "assign by groups"
import json
alone, k = ({(s["class_number"], s["rank"]): s for s in json.load(open(f))["slices"]} for f in ("alone.json", "out"))
assert min(s["corrected_p"] for s in alone.values()) < 0.05 < min(s["corrected_p"] for s in k.values())
for at, s in k.items():
    a = alone[at]
    assert (s["rows"], s["wrong"]) == (a["rows"], a["wrong"]) and "groups" not in a
    if s["rows"]:
        assert s["p"] >= 0.5 ** s["groups"] and 0 < s["groups"] <= s["rows"]
        assert s["excess"]["low"] <= a["excess"]["low"] and s["excess"]["high"] >= a["excess"]["high"]
PYTHON
run 0 "" assign plain "${new[@]}" --groups t.csv:own --json --out a.csv
cmp -s out alone.json || fail "groups of one row change what assign says"
run 0 "" assign plain "${new[@]}" --groups t.csv:video --out a.csv
grep -q 'm groups of a slice give no p below 2^-m' out || fail "the least p is not said: $(cat out)"

# --- two versions that fail in other videos
two=(-e e.npy -y y.npy -m ward --threads 2 --json)
"$spotter" compare p.npy q.npy "${two[@]}" >alone.json 2>err
run 0 "" compare p.npy q.npy "${two[@]}" --groups t.csv:video
cp out video.json
"$spotter" compare p.npy q.npy "${two[@]}" --groups t.csv:own >own.json 2>err
cmp -s own.json alone.json || fail "groups of one row change what compare says"
/usr/bin/python3 - <<'PYTHON' || fail "compare by groups"
import json
alone, k = (json.load(open(f)) for f in ("alone.json", "video.json"))
for a, b in zip(alone["classes"], k["classes"]):
    assert b["groups"] == 40 and (a["lost"], a["gained"]) == (b["lost"], b["gained"])
    assert b["change"]["low"] <= a["change"]["low"] and b["change"]["high"] >= a["change"]["high"]
PYTHON

# --- gathered pictures: 30 of 40 are wrong, of 8 videos; 10 of 40 controls. Of 4 videos nothing can be told.
/usr/bin/python3 - <<'PYTHON'
with open("g.csv", "w") as f:
    f.write("group,wrong,video,few,own\n")
    for i in range(80):
        f.write(f"{'control' if i >= 40 else 'gathered'},{int(i % 4 > 0 if i < 40 else i % 4 == 0)},v{i // 5},w{i // 10},{i}\n")
PYTHON
run 0 "" gather --judge g.csv --json
said_p() { /usr/bin/python3 -c "import json, sys; k = json.load(open('out')); assert $1, k" || fail "gather: $1"; }
said_p 'k["verdict"] == "confirmed on new data" and "groups" not in k'
run 0 "80 rows are in 16 groups" gather --judge g.csv --groups video --json
said_p 'k["verdict"] == "confirmed on new data" and k["groups"] == 8 and abs(k["p"] - 2 ** -8) < 1e-6'
run 0 "" gather --judge g.csv --groups few --json
said_p 'k["verdict"] == "too few pictures" and k["groups"] == 4'
run 0 "" gather --judge g.csv --groups video
grep -q 'signs of the sums of 8 groups' out || fail "the test is not named: $(cat out)"
refused 3 gather --judge g.csv --groups nothing
refused 2 gather found --slice 1 --images . --out none --groups video
[ $failed -eq 0 ] || exit 1
