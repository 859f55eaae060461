#!/usr/bin/env bash
# test_claim.sh BUILD: spotter claim on the rows of findings, and suspect labels in their files.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1
/usr/bin/python3 - <<'PYTHON'
import csv
import numpy as np
r = np.random.default_rng(0)
n, names = 1600, ["actions", "apps", "devices", "places"]
truth, colour, px, bright = np.arange(n) % 4, r.integers(0, 3, n), r.choice([16, 22, 32, 48], n), r.random(n)
weak = (truth == 1) & (colour == 1)
e = r.normal(size=(n, 8)).astype("f4")
e[np.arange(n), truth] += 4
e[weak, 7] += 5
score = 0.8 * r.normal(size=(n, 4))
score[np.arange(n), np.where(weak & (r.random(n) < 0.7), 2, truth)] += 2
p = np.exp(2 * score)
flipped = (r.random(n) < 0.04) & ~weak
label = np.where(flipped, (truth + 1 + r.integers(0, 3, n)) % 4, truth)
np.save("e.npy", e)
np.save("p.npy", (p / p.sum(1, keepdims=True)).astype("f4"))
np.save("flipped.npy", flipped)
w = csv.writer(open("t.csv", "w"))
w.writerow("id label colour px brightness".split())
for i in range(n):
    w.writerow([f"r{i}", names[label[i]], ["red", "grey", "blue"][colour[i]], px[i], f"{bright[i]:.4f}"])
w = csv.writer(open("a.csv", "w"))
w.writerow("id colour px brightness".split())
for i in range(n):
    w.writerow([f"r{i}", ["red", "grey", "blue"][colour[i]], px[i], f"{bright[i]:.4f}"])
PYTHON
search=(discover -e e.npy -y t.csv:label -p p.npy -i t.csv:id --no-report)
run 0 "" "${search[@]}" --attributes a.csv:id --out found
run 0 "" "${search[@]}" --out plain

# A file of several arrays is reported once, and a short run is not said to take no time.
sed 's/,/;/g' t.csv > semicolons.csv
run 0 "" discover -e e.npy -y semicolons.csv:label -p p.npy -i semicolons.csv:id \
    --attributes semicolons.csv:id --no-report --out short
[ "$(grep -c "semicolons.csv: read with semicolons between cells" err)" -eq 1 ] || fail "$(cat err)"
grep -qE "this takes (less than a second|about [1-9][0-9.]* s) and at most" err || fail "$(cat err)"

run 0 "" claim found "apps & colour=grey"
grep -q '^claim: fails more often on "apps & colour=grey", class apps$' out || fail "$(cat out)"
grep -q "^confirmed: p = 0.0001, corrected for all 180 rules of at most two items (" out || fail "$(cat out)"
grep -q "test it on new rows" out && fail "a confirmed claim needs no new rows: $(cat out)"
run 0 "" claim found "apps & colour=grey & colour=grey"
grep -q "^confirmed: p = 0.0001, corrected for all 180 rules" out || fail "the same item twice: $(cat out)"
run 0 "" claim found "apps & px=low & brightness=low"
grep -q "^chance: p = " out || fail "$(cat out)"
run 0 "" claim found "apps & colour=grey & px=low & brightness=low"
grep -q "^suggested: p = .* (.* of this claim alone)$" out || fail "$(cat out)"
grep -q "^test it on new rows: spotter discover NEW.yaml --out new && spotter claim new 'apps & colour=grey & px=low & brightness=low' --new$" \
    out || fail "$(cat out)"
grep -q "^a third of these rows' numbers is another one of new rows" out || fail "thirds of new rows: $(cat out)"
run 0 "" claim found "apps & colour=grey & px=low & brightness=low" --new
grep -q "^confirmed: " out || fail "$(cat out)"
run 0 "" claim found "apps & colour=grey & brightness<0.5" --attributes a.csv:id --json
/usr/bin/python3 - <<'PYTHON' || fail "the JSON of a claim: $(cat out)"
import csv, json
k = json.load(open("out"))
rows = [r for r in csv.DictReader(open("t.csv")) if r["label"] == "apps" and r["colour"] == "grey" and float(r["brightness"]) < 0.5]
assert (k["verdict"], k["class"], k["rows"], k["corrected_p"]) == ("suggested", "apps", len(rows), None), k
assert k["p"] < 1e-6 and k["excess"] > 0.3
PYTHON
run 0 "" claim found "px>=32" --attributes a.csv:id
grep -q "^chance: " out || fail "$(cat out)"
run 0 "" claim plain "apps & colour=grey" --attributes a.csv:id
grep -q "^confirmed: p = 0.0001, corrected for all 180 rules" out || fail "$(cat out)"

# With groups the interval is that of groups, wider than that of rows that are alone.
(echo video; for i in $(seq 0 1599); do echo v$((i / 32)); done) >video.csv
run 0 "" "${search[@]}" --attributes a.csv:id --groups video.csv:video --out grouped
run 0 "" claim grouped "apps & colour=grey"
grep -qE "; 50 groups; excess \+[0-9.]+ % \(95 %: \+[0-9.]+ to \+[0-9.]+\)$" out || fail "no interval with groups: $(cat out)"
for which in grouped found; do
    run 0 "" claim $which "apps & colour=grey" --json
    cp out $which.json
done
/usr/bin/python3 - <<'PYTHON' || fail "the interval of groups: $(cat grouped.json)"
import json
a, b = (json.load(open(n)) for n in ("found.json", "grouped.json"))
assert a["excess"] == b["excess"] and b["groups"] == 50
assert b["excess_low"] <= a["excess_low"] < a["excess_high"] <= b["excess_high"] and b["excess_low"] > 0, (a, b)
PYTHON

refused 2 claim found "apps"
refused 2 claim found "apps & colour=green"
refused 2 claim found "apps & brightness<0.5"
refused 2 claim found "apps & weight<0.5" --attributes a.csv:id
refused 2 claim found "apps & devices & colour=red"
refused 3 claim found "colour=grey & colour=red"
refused 2 claim plain "apps & colour=grey"
refused 2 claim found
refused 2 claim found "a dark photo" --class apps
refused 3 claim nowhere "apps & colour=grey"

# Suspect labels: the same in the table of rows, in the list of slices and after reading.
/usr/bin/python3 - <<'PYTHON' || fail "suspect labels"
import csv, json
import numpy as np
flipped, found = np.load("flipped.npy"), json.load(open("found/slices.json"))
rows = list(csv.DictReader(open("found/slices.csv")))
seems = {r["id"]: r["seems"] for r in rows if r["seems"]}
assert len(seems) <= found["suspect_labels"] and found["suspect_labels"] > 20, found["suspect_labels"]
assert np.mean([flipped[int(i[1:])] for i in seems]) > 0.9
label = {r["id"]: r["label"] for r in csv.DictReader(open("t.csv"))}
assert all(r["seems"] != label[r["id"]] for r in rows)
for s in (s for f in found["findings"] for s in f["slices"]):
    mine = [r for r in rows if int(r["number"]) == s["number"]]
    assert s["labels"]["suspect"] == sum(bool(r["seems"]) for r in mine)
    left = s["size"] - s["labels"]["suspect"]
    rate = s["labels"]["error_rate_without"]
    assert rate is None if not left else abs(rate - (s["wrong"] - s["labels"]["suspect"]) / left) < 1e-12
PYTHON
run 0 "" gather found
grep -q "^      labels: [0-9]* of [0-9]* are suspect; [0-9]* % wrong without them$" out || fail "$(cat out)"

# A sentence: the rows of a class that are nearest to it by a CLIP of random weights, as numpy finds them.
mkdir clip && /usr/bin/python3 "$tests/random_clip.py" clip/world || exit 1
clip=clip/world/clip/model.safetensors
/usr/bin/python3 - <<'PYTHON'
import struct, zlib
import numpy as np
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
import os
os.mkdir("photos")
r = np.random.default_rng(3)
for i in range(120):
    lines = b"".join(b"\0" + r.integers(0, 256, 60, "uint8").tobytes() for _ in range(20))
    head = struct.pack(">IIBBBBB", 20, 20, 8, 2, 0, 0, 0)
    open(f"photos/{i:03d}.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines))
                                            + chunk(b"IEND", b""))
open("text.txt", "w").write("a cat\n")
PYTHON
run 0 "" embed --model $clip --images photos --out v.safetensors
run 0 "" embed --model $clip --images photos --out v2.npy
run 0 "" embed --model $clip --texts text.txt --out w.npy
# The 15 cats that are nearest to "a cat" are wrong in 12 cases, the others in 6 of 45.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
v, w = np.load("v2.npy").astype(float), np.load("w.npy").astype(float)[0]
near = v @ w / np.linalg.norm(v, axis=1)
cat = np.arange(120) % 2 == 0
order = np.flatnonzero(cat)[np.argsort(-near[cat], kind="stable")]
p = np.full(120, 0.9)
p[order[:12]] = p[order[15:21]] = 0.2
np.save("wrong.npy", p < 0.5)
p[cat] = 1 - p[cat]                                        # of class 1, the dogs
open("s.csv", "w").write("id,label,p\n" + "".join(f"{i:03d}.png,{'cat' if cat[i] else 'dog'},{p[i]:.1f}\n" for i in range(120)))
PYTHON
run 0 "" discover -e v.safetensors -y s.csv:label -p s.csv:p -i s.csv:id --no-report --out sentences
run 0 "" claim sentences "a cat" --encoder $clip --class cat --most 15
grep -q '^claim: fails more often on "a cat", the 15 nearest rows, class cat$' out || fail "$(cat out)"
grep -q "^12 of 15 rows wrong, 80.0 %; their class: 30.0 %; " out || fail "$(cat out)"
grep -q "^suggested: p = " out || fail "$(cat out)"
grep -q "^test it on new rows: .* spotter claim new 'a cat' --encoder '$clip' --class 'cat' --most 15 --new$" out ||
    fail "$(cat out)"
run 0 "" claim sentences "a cat" --encoder $clip --class cat --most 15 --new
grep -q "^confirmed: p = " out || fail "$(cat out)"
run 0 "" claim sentences "a cat" --encoder $clip --most 20 --json
/usr/bin/python3 - <<'PYTHON' || fail "a sentence about all rows: $(cat out)"
import json
import numpy as np
k = json.load(open("out"))
v, w = np.load("v2.npy").astype(float), np.load("w.npy").astype(float)[0]
wrong = np.load("wrong.npy")
nearest = np.argsort(-(v @ w / np.linalg.norm(v, axis=1)), kind="stable")[:20]
assert (k["claim"], k["class"], k["rows"], k["wrong"]) == ("a cat", None, 20, int(wrong[nearest].sum())), k
assert k["verdict"] != "confirmed" and k["corrected_p"] is None
PYTHON
refused 2 claim found "a cat" --encoder $clip
refused 2 claim sentences "a cat" --encoder $clip --class horse
refused 2 claim sentences "a cat" --encoder $clip --attributes a.csv:id
refused 4 claim sentences "a cat" --encoder nothing.safetensors

# A name with & in it stands between quotes.
sed 's/grey/R\&D/; 1s/colour/"red \& blue"/' a.csv >ampersand.csv
run 0 "" claim plain 'apps & "red & blue=R&D"' --attributes ampersand.csv:id
grep -q "^confirmed: p = 0.0001, corrected for all 180 rules" out || fail "$(cat out)"
run 0 "" claim plain 'class="apps" & "px" <= 22' --attributes ampersand.csv:id
refused 2 claim plain 'apps & red & blue=R&D' --attributes ampersand.csv:id
refused 2 claim plain 'apps & "red & blue=R&D' --attributes ampersand.csv:id
echo "claims are judged, and suspect labels counted"
