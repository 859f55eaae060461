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
    w.writerows([r["picture"], r["group"], r["similarity"], int(r["group"] == bad), ""] for r in rows)
open("odd.csv", "w").write("group,wrong\ngathered,2\n")
PYTHON
run 0 "" gather --judge yes.csv
grep -q "^confirmed on new data: p = 3.7e-07" out || fail "$(cat out)"
run 0 "" gather --judge no.csv --json
grep -q '"verdict": "not confirmed on new data"' out || fail "$(cat out)"
run 0 "" gather --judge g/gathered.csv
grep -q "too few pictures" out || fail "$(cat out)"
refused 3 gather --judge odd.csv
refused 2 gather --text "a cat" --out g

# A slice of findings: its words, its class, and pictures that the search has not seen. Pictures 0 to 39 were searched.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(2)
rows = "".join(f"p{i:04d}.png,cat,{0.2 if r.random() < 0.4 else 0.9}\n" for i in range(40))
open("rows.csv", "w").write("id,label,p\n" + rows)
open("words.txt", "w").write("a cat\na dog\nred\nblue square\n")
PYTHON
search=(discover --images images --ids rows.csv:id -y rows.csv:label -p rows.csv:p --embed clip/clip/model.safetensors
        --method ward --no-report --no-fit)
new=(--images images --encoder clip/clip/model.safetensors)
run 0 "" "${search[@]}" --no-proof --words words.txt --out found
run 0 "" gather found
cp out listed
grep -q "words: " listed || fail "no words listed: $(cat listed)"
run 0 "40 pictures of images are left out" gather found --slice 1 "${new[@]}" --most 8 --out s
grep -q 'images has no folder "cat", so pictures of all classes are gathered' err || fail "a flat folder: $(cat err)"
run 0 "" gather found --slice 1 "${new[@]}" --label cat --most 8 --out labelled
grep -q 'has no folder' err && fail "--label says which class the pictures show: $(cat err)"
grep -q '^claim: fails more often on ".*", class cat (slice 1 of found, [0-9]* % wrong there, [0-9]* % of its class)$' out ||
    fail "$(cat out)"
/usr/bin/python3 - <<'PYTHON' || fail "the claim of a slice"
import csv, json
k = json.load(open("s/claim.json"))
word = next(l for l in open("listed") if "words:" in l).split("words: ")[1].split(" (")[0]
assert (k["claim"], k["class"], k["findings"], k["slice"], k["pictures"]) == (word, "cat", "found", 1, "images"), k
rows = list(csv.DictReader(open("s/gathered.csv")))
assert len(rows) == 16 and all(int(r["picture"][1:5]) >= 40 for r in rows)
text = open("s/gathered.csv").read().splitlines()
lines = [text[0]] + [l[:-2] + ("," + str(int("gathered" in l)) + ",") for l in text[1:]]
open("s/gathered.csv", "w").write("\n".join(lines) + "\n")
PYTHON
run 0 "" gather --judge s/gathered.csv
grep -q "^claim: .*class cat (slice 1 of found" out && grep -q "^confirmed on new data: p = 7.77e-05" out || fail "$(cat out)"
grep -q '"verdict": "confirmed on new data"' s/verdict.json || fail "$(cat s/verdict.json)"
grep -q '"given":16' s/gather.html || fail "the page has not the 16 pictures"

# A stranger's table names pictures of its reader: none is shown, unless the reader names their folder.
mkdir -p theirs priv/in
cp s/gathered.csv s/claim.json theirs
for f in images/*.png; do cp images/p0000.png "priv/in/${f#images/}"; done
sed -i 's#"pictures": "images"#"pictures": "priv/in"#' theirs/claim.json
run 0 "--images FOLDER says where they are" gather --judge theirs/gathered.csv
grep -q '"given":0' theirs/gather.html || fail "a page shows pictures that its table was not written of"
run 0 "" gather --judge theirs/gathered.csv --images priv/in
grep -q '"given":16' theirs/gather.html || fail "--images does not show them"
sed -i 's#^p0#../in/p0#' theirs/gathered.csv
run 0 "--images FOLDER says where they are" gather --judge theirs/gathered.csv
grep -q '"given":0' theirs/gather.html || fail "a page shows what lies outside its folder"
refused 3 gather --judge theirs/gathered.csv --images priv/in
refused 2 gather found --slice 99 "${new[@]}" --out t
refused 2 gather found --slice 1 --word 5 "${new[@]}" --out t
refused 2 gather found --images images --out t
refused 2 gather found --slice 1 --label dog "${new[@]}" --out t
run 0 "" "${search[@]}" --no-proof --out wordless
refused 3 gather wordless --slice 1 "${new[@]}" --out t
refused 3 gather images --slice 1 "${new[@]}" --out t
# Words that are terms of a text column are no phrase for pictures: --text says what is seen.
/usr/bin/python3 - <<'PYTHON'
import csv
from collections import Counter
rows = list(csv.DictReader(open("wordless/slices.csv")))
number, _ = Counter(r["number"] for r in rows).most_common(1)[0]
own = {r["id"] for r in rows if r["number"] == number}
with open("notes.csv", "w") as f:
    f.write("id,note\n")
    for i in range(40):
        f.write(f"p{i:04d}.png,{'invoice' if f'p{i:04d}.png' in own else 'letter'} number {i} of box {i % 7} seen\n")
open("largest", "w").write(number)
PYTHON
run 0 "" "${search[@]}" --no-proof --attributes notes.csv:id --out termed
grep -q "words: .*invoice" out || fail "no terms: $(cat out)"
run 3 "are terms of a column of text" gather termed --slice "$(cat largest)" "${new[@]}" --out t
[ ! -e t ] || fail "a term is taken for a phrase"
run 0 "" gather termed --slice "$(cat largest)" --text "a cat" "${new[@]}" --most 8 --out termed_text
run 0 "" "${search[@]}" --no-proof --words words.txt --attributes notes.csv:id --out both
run 0 "" gather both --slice 1 "${new[@]}" --most 8 --out both_words

# Groups without a classifier: gathered.csv keeps them, and --judge takes them.
mkdir rides && for i in $(seq 0 59); do mkdir -p rides/r$((i / 4)); cp images/p00$(printf %02d $i).png rides/r$((i / 4)); done
run 0 "" gather --text "a cat" --images rides --encoder clip/clip/model.safetensors --most 25 --groups folders --out ridden
/usr/bin/python3 - <<'PYTHON' || fail "the groups of gathered.csv"
import csv
rows = list(csv.DictReader(open("ridden/gathered.csv")))
assert all(r["groups"] == r["picture"].split("/")[0] for r in rows) and len(rows) == 50, rows[0]
w = csv.writer(open("filled.csv", "w"))
w.writerow(rows[0])
w.writerows([*list(r.values())[:3], int(r["group"] == "gathered"), "", r["groups"]] for r in rows)
w = csv.writer(open("alone.csv", "w"))
w.writerow(list(rows[0])[:-1])
w.writerows([*list(r.values())[:3], int(r["group"] == "gathered"), ""] for r in rows)
PYTHON
run 0 "" gather --judge filled.csv
grep -q "(signs of the sums of [0-9]* groups, one-sided" out || fail "the column of groups is passed over: $(cat out)"
cp out grouped
run 0 "" gather --judge filled.csv --groups groups
cmp -s grouped out || fail "its own column gives another verdict: $(cat out)"
run 0 "" gather --judge alone.csv
grep -q "(Fisher's exact test, one-sided)" out || fail "a table without groups: $(cat out)"

# Fewer pictures than asked, and unreadable ones.
mkdir few few/cat few/dog; cp images/p005[0-6].png few/cat; cp images/p004[0-9].png few/dog; echo x > few/cat/broken.png
run 0 "7 readable new pictures are fewer than twice 40; 3 are gathered" gather found --slice 1 --images few \
    --encoder clip/clip/model.safetensors --out t
grep -q "broken.png" err && grep -q "1 pictures of few cannot be read" err || fail "$(cat err)"
grep -q dog/ t/gathered.csv && fail "pictures of another class are gathered"
mkdir none; echo x > none/a.png; echo x > none/b.png
refused 3 gather --text cat --images none --encoder clip/clip/model.safetensors --out t
[ $failed -eq 0 ]
