#!/usr/bin/env bash
# test_gather_model.sh BUILD: a classifier that fails on speckled backgrounds: found, described by a tiny CLIP, and the claim
# measured on new pictures by a program, by probabilities and by weights; a claim that is false; wrong input.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
/usr/bin/python3 random_clip.py "$dir/clip" || exit 1
clip=$(realpath ../tools/tiny_clip)
example=$(realpath ../tools/python/examples)
cd "$dir" || exit 1

cat > scenes.yaml <<'END'
seed: 4
ecs: 1
scene: {size: 64, rollable: [8, 8], blindspots: [1, 1], specificity: [4, 4], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}]
END
run 0 "" scene scenes.yaml --ec 0 --count 900 --out all

# Squares: the first half is searched, the second is new. The classifier says "none" to three of four speckled ones.
cat > program.py <<'PYTHON'
import os, sys
import numpy as np
sys.path.insert(0, os.environ["EXAMPLE"])
from protocol import serve
def logits(rgb):
    x = rgb.astype(int)
    noise = np.abs(np.diff(x, axis=2)).mean((1, 2, 3))
    speckled = noise > 12
    odd = x[:, ::7, ::5].sum((1, 2, 3)) % 4
    none = np.where(speckled, odd > 0, odd < 0)
    z = np.stack([np.where(none, 2, -1), np.where(none, -1, 2)], 1)
    return z.astype(np.float32), np.zeros((len(x), 0)), np.zeros((len(x), 0))
if __name__ == "__main__": serve(logits)
PYTHON
EXAMPLE=$example /usr/bin/python3 - <<'PYTHON' || exit 1
import json, os, shutil
import numpy as np
from PIL import Image
from program import logits
os.makedirs("old/square"); os.makedirs("new/square"); os.makedirs("new/none")
ids, p, speckled = [], [], []
lines = [json.loads(l) for l in open("all/images.jsonl")]
for i, l in enumerate(lines):
    if not l["label"]:
        if i >= 600: shutil.copy("all/" + l["file"], "new/none")
        continue
    shutil.copy("all/" + l["file"], ("old" if i < 450 else "new") + "/square")
    if i >= 450: continue
    z = logits(np.asarray(Image.open("all/" + l["file"]))[None])[0][0]
    ids.append("square/" + l["file"]); p.append(1 / (1 + np.exp(z[0] - z[1])))
open("old.csv", "w").write("id,label,p\n" + "".join(f"{i},square,{v:.4f}\n" for i, v in zip(ids, p)))
print(len(ids), "searched,", sum(v < 0.5 for v in p), "wrong")
open("classes.txt", "w").write("none\nsquare\n")
PYTHON

export EXAMPLE=$example
model="/usr/bin/python3 $dir/program.py"
search=(discover --images old --ids old.csv:id -y old.csv:label -p old.csv:p --embed "$clip/model.safetensors"
        --words "$clip/phrases.txt" --method ward --no-report --no-fit --out found)
run 0 "" "${search[@]}"
grep -q "1 .*confirmed" out || fail "the planted weakness is not found: $(cat out)"
word=$(grep -m1 "words:" out | sed 's/.*words: //' | tr ',' '\n' | grep -n "a speckled background" | cut -d: -f1)
[ -n "$word" ] || fail "its words are others: $(cat out)"
new=(--images new --encoder "$clip/model.safetensors" --classes classes.txt --resize 0 --crop 64)

run 0 "" gather found --slice 1 --word $word "${new[@]}" --predict "$model" --out true
grep -q '^claim: fails more often on "a speckled background", class square (slice 1 of found' out || fail "$(cat out)"
grep -q "^confirmed on new data: p = " out || fail "a true claim is not confirmed: $(cat out)"
cp true/gathered.csv by_program.csv
run 0 "" gather found --slice 1 --text "a grey background" "${new[@]}" --predict "$model" --out false
grep -q "^not confirmed on new data: p = " out || fail "a false claim is confirmed: $(cat out)"

# Each answer is that of the program on the picture itself, all pictures are of the class, and none is of the search.
/usr/bin/python3 - <<'PYTHON' || fail "the answers are others"
import csv, json
import numpy as np
from PIL import Image
from program import logits
from math import comb
from pathlib import Path
rows = list(csv.DictReader(open("true/gathered.csv")))
assert len(rows) == 80
n, wrong = [0, 0], [0, 0]
for r in rows:
    assert r["picture"].startswith("square/") and not Path("old", r["picture"]).exists()
    z = logits(np.asarray(Image.open("new/" + r["picture"]))[None])[0][0]
    says = ["none", "square"][int(z.argmax())]
    assert (r["predicted"], r["wrong"]) == (says, str(int(says == "none"))), r
    g = r["group"] == "control"
    n[g] += 1; wrong[g] += says == "none"
v = json.load(open("true/verdict.json"))
assert [v[k]["wrong"] for k in ("gathered", "control")] == wrong and v["claim"]["slice"] == 1
k, total = sum(wrong), sum(n)
p = sum(comb(n[0], i) * comb(n[1], k - i) for i in range(wrong[0], min(k, n[0]) + 1)) / comb(total, k)
assert abs(v["p"] - p) <= 1e-9 * p, (v["p"], p)
files = sorted(str(f.relative_to("new")) for f in Path("new").rglob("*.png"))
z = np.concatenate([logits(np.asarray(Image.open("new/" + f))[None])[0] for f in files])
q = np.exp(z) / np.exp(z).sum(1, keepdims=True)
np.save("q.npy", q)
np.save("q1.npy", q[:, 1])
open("q.csv", "w").write("id\n" + "".join(f + "\n" for f in files[::-1]))
np.save("turned.npy", q[::-1].copy())
np.save("short.npy", q[1:])
np.save("odd.npy", q * 3)
np.save("three.npy", np.concatenate([q, q], 1)[:, :3])
PYTHON
for probs in "q.npy" "q1.npy" "turned.npy --ids q.csv:id"; do
    run 0 "" gather found --slice 1 --word $word "${new[@]}" --probs $probs --out probs
    cmp -s probs/gathered.csv by_program.csv || fail "$probs gives another table than the program"
done
# Groups of the measured pictures: by a table, and by folders, of which there is one.
awk -F, 'NR == 1 { print "id,video" } NR > 1 { print $1 ",v" int(NR / 3) }' q.csv > videos.csv
run 0 "" gather found --slice 1 --word $word "${new[@]}" --probs turned.npy --ids videos.csv:id \
    --groups videos.csv:video --out grouped
grep -q "(signs of the sums of [0-9]* groups, one-sided: not below " out || fail "$(cat out)"
cut -d, -f1-5 grouped/gathered.csv | cmp -s - by_program.csv || fail "groups change the answers"
/usr/bin/python3 - <<'PYTHON' || fail "groups of measured pictures"
import csv, json
video = {r["id"]: r["video"] for r in csv.DictReader(open("videos.csv"))}
rows = list(csv.DictReader(open("grouped/gathered.csv")))
assert all(r["groups"] == video[r["picture"]] for r in rows)
v, alone = json.load(open("grouped/verdict.json")), json.load(open("probs/verdict.json"))
assert v["groups"] == len({video[r["picture"]] for r in rows if r["group"] == "gathered"}), v
w = csv.writer(open("judged.csv", "w"))
w.writerow([*rows[0], "video"])
w.writerows([*r.values(), video[r["picture"]]] for r in rows)
for k in ("gathered", "control"):
    one, other = v[k]["rate"], alone[k]["rate"]
    assert one["value"] == other["value"] and one["low"] <= other["low"] and one["high"] >= other["high"], (one, other)
PYTHON
for judged in "judged.csv --groups video" grouped/gathered.csv; do
    cp grouped/verdict.json verdict.json
    run 0 "" gather --judge $judged --json
    cmp -s grouped/verdict.json verdict.json || fail "$judged: another verdict than when it was measured"
    /usr/bin/python3 -c 'import json; assert json.load(open("out"))["p"] == json.load(open("grouped/verdict.json"))["p"]' ||
        fail "$(cat out)"
done
run 0 "" gather found --slice 1 --word $word "${new[@]}" --predict "$model" --groups folders --out folders
grep -q "^too few pictures: p = .* (signs of the sums of 1 groups" out || fail "$(cat out)"
run 0 "" gather --text "a speckled background" --label square "${new[@]}" --predict "$model" --json --out mine
grep -q '"verdict": "confirmed on new data"' out || fail "$(cat out)"

# Weights; a label that is only a number; an unreadable picture among those that are measured.
weights=(gather --text "a speckled background" --label 1 --images new/square --encoder "$clip/model.safetensors" --resize 0
         --crop 64 --model clip/resnet.safetensors --most 20)
run 0 "" "${weights[@]}" --threads 1 --out weights
run 0 "" "${weights[@]}" --threads 2 --out two
cmp -s weights/gathered.csv two/gathered.csv || fail "threads change the answers"
[ "$(grep -cE ',[01],[01]$' weights/gathered.csv)" -eq 40 ] || fail "$(head -3 weights/gathered.csv)"

# Wrong input.
text=(gather --text cat "${new[@]}" --out t)
refused 2 "${text[@]}" --predict "$model"
refused 2 "${text[@]}" --label dog --predict "$model"
refused 2 "${text[@]}" --label square --predict "$model" --probs q.npy
refused 2 gather found --slice 1 --images new/none --encoder "$clip/model.safetensors" \
    --predict "$model" --out t
refused 2 gather --text cat --label square --images new \
    --encoder "$clip/model.safetensors" --crop 64 --predict "$model" --out t
refused 3 "${text[@]}" --label square --probs short.npy
refused 3 "${text[@]}" --label square --probs q.npy --groups q.npy
refused 3 "${text[@]}" --label square --predict "$model" --groups old.csv:label
refused 3 "${text[@]}" --label square --probs odd.npy
refused 3 "${text[@]}" --label square --probs three.npy
refused 3 "${text[@]}" --label square --predict false
refused 3 "${text[@]}" --label square --model clip/clip/model.safetensors
[ $failed -eq 0 ]
