#!/usr/bin/env bash
# test_describe.sh BUILD: words and attributes of slices through spotter discover: every figure against numpy and exact
# fractions, with features of the phrases from an array and from a tiny CLIP; what it refuses.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
/usr/bin/python3 random_clip.py "$dir/clip" || exit 1
cd "$dir" || exit 1

# Rows in the snow and out of doors are wrong, in both classes; the table has them in another order.
/usr/bin/python3 - <<'PYTHON'
import csv
import numpy as np
r = np.random.default_rng(3)
n, d, W = 600, 16, 30
y = np.arange(n) % 2
snow, indoor, night = r.random(n) < 0.3, r.random(n) < 0.4, r.random(n) < 0.3
size = r.random(n).round(3)
text = r.standard_normal((W, d)).astype(np.float32)
words = [f"phrase {i}" for i in range(W)]
words[5], words[9] = "snow on the ground", "a living room"
unit = text / np.linalg.norm(text, axis=1, keepdims=True)
e = 0.3 * r.standard_normal((n, d)) + 2 * snow[:, None] * unit[5] + 2 * indoor[:, None] * unit[9]
wrong = r.random(n) < np.where(snow & ~indoor, 0.9, 0.04)
p = np.where(wrong, 0.1, 0.9)
np.savez("all.npz", e=e.astype(np.float32), y=y, p=np.where(y == 1, p, 1 - p).astype(np.float32), w=text)
np.save("short.npy", text[:-1])
open("words.txt", "w").write("\ufeff" + "\r\n".join(words) + "\n\n")
ids = [f"img{i:04d}" for i in range(n)]
open("ids.csv", "w").write("id\n" + "".join(i + "\n" for i in ids))
weather = np.where(snow, "snow", np.where(r.random(n) < 0.5, "rain", "sun"))
with open("table.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(["name", "indoor", "weather", "size", "night"])
    for i in r.permutation(n):
        w.writerow([ids[i], int(indoor[i]), weather[i], size[i], bool(night[i])])
has = np.stack([np.ones(n), snow, indoor, night], 1).astype(int)
prob = np.where(has == 1, 0.9, 0.1)
prob[:, 0] = p
np.savez("several.npz", has=has, prob=prob.astype(np.float32))
k = np.arange(60) % 6
photos = ["top.png", "cat/1.png", "cat/2.png", "dog/1.png", "dog/b.png", "dog/more/1.png"]
open("rows.csv", "w").write("path,label,p\n" + "".join(f"{photos[j]},thing,{0.2 if j < 2 else 0.8}\n" for j in k))
np.save("other.npy", (np.eye(6)[k] + 0.01 * r.standard_normal((60, 6))).astype(np.float32))
open("clip.txt", "w").write("a cat\na dog\nred\nblue square\n")
PYTHON

all=(discover --no-proof --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id --method planespot-pca,spotlight)
told=(--words words.txt --word-embeddings all.npz:w --attributes table.csv:name)
run 0 "" "${all[@]}" "${told[@]}" --threads 2 --out found
grep -qE '^ +words: snow on the ground \(0\.[0-9]{3}\), ' out || fail "no words below the slices: $(cat out)"
grep -qE '^ +is: not indoor and weather=snow  \(precision [0-9]+ %, recall [0-9]+ %\)$' out || fail "no attributes: $(cat out)"
awk 'length > 100' out | grep -q . && fail "a line of the table is longer than 100 columns"
run 0 "" "${all[@]}" "${told[@]}" --threads 1 --out one
cmp -s found/slices.json one/slices.json || fail "one thread gives other words"
run 0 "" report found -o again.html
cmp -s again.html found/report.html || fail "the report made later has other words"
cat > check.py <<'PYTHON'
import csv, json
from fractions import Fraction as F
import math, sys
import numpy as np

def rows_of(folder):
    out = {}
    for line in csv.DictReader(open(folder + "/slices.csv")):
        out.setdefault((line["class"], line["method"], int(line["rank"])), []).append(int(line["id"].lstrip("img")))
    return out

def check_words(s, rows, of, x, words, text, exact):
    """x (n, d): unit rows; of: the class's rows; rows: the slice's."""
    scores = text @ (x[rows].mean(0) - x[of].mean(0))
    order = np.argsort(-scores, kind="stable")[:len(s["words"])]
    for w, k in zip(s["words"], order):
        assert not exact or w["phrase"] == words[k], (w, words[k])
        assert abs(w["score"] - scores[k]) < 2e-6, (w, scores[k])
        dots, inside = x[of] @ text[k], np.isin(of, rows)
        if inside.all():
            assert w["auc"] is None
            continue
        more = dots[inside][:, None] - dots[~inside][None]
        assert abs(w["auc"] - ((more > 1e-7).mean() + 0.5 * (abs(more) <= 1e-7).mean())) < 2e-3, w
        assert 0.001 <= w["p"] <= 1

def check_match(m, rows, of, holds, wrong):
    """DivExplorer's t, with a sign, in exact fractions up to the root."""
    c, s = holds[of], np.isin(of, rows)
    inside, covered, k, n, every = int((c & s).sum()), int(c.sum()), int((wrong[of] & c).sum()), len(of), int(wrong[of].sum())
    assert (m["rows"], m["slice"], m["covered"], m["inside"], m["wrong"]) == (n, s.sum(), covered, inside, k), m
    assert abs(m["precision"] - F(inside, covered)) < 1e-12 and abs(m["recall"] - F(inside, int(s.sum()))) < 1e-12
    assert abs(m["lift"] - F(inside, covered) / F(int(s.sum()), n)) < 1e-12
    beta = lambda a, b: (F(a + 1, b + 2), F((a + 1) * (b - a + 1), (b + 2) ** 2 * (b + 3)))
    (m1, v1), (m2, v2) = beta(k, covered), beta(every, n)
    assert abs(m["t"] - float(m1 - m2) / math.sqrt(v1 + v2)) < 1e-9
    size = int(s.sum())
    tail = sum(F(math.comb(size, i) * math.comb(n - size, covered - i), math.comb(n, covered))
               for i in range(inside, min(size, covered) + 1))
    assert abs(m["p"] - float(tail)) <= 1e-9 * float(tail), (m["p"], float(tail))

def unit(a):
    return a / np.linalg.norm(a, axis=1, keepdims=True)
PYTHON
/usr/bin/python3 - <<'PYTHON' || fail "the figures are others than numpy's"
import csv
from check import *
z = np.load("all.npz")
x, text, y = unit(z["e"].astype(float)), unit(z["w"].astype(float)), z["y"]
words = open("words.txt", encoding="utf-8-sig").read().split("\n")[:-2]
words = [w.strip() for w in words]
table = {int(r["name"][3:]): r for r in csv.DictReader(open("table.csv"))}
size = np.array([float(table[i]["size"]) for i in range(600)])
low, middle = np.sort(size)[[199, 399]]
def holds(item):
    t = lambda f: np.array([f(table[i]) for i in range(600)])
    if item.startswith("not "): return ~holds(item[4:])
    if item in ("indoor", "night"): return t(lambda r: r[item] in ("1", "True"))
    name, value = item.split("=", 1)
    if name == "weather": return t(lambda r: r[name] == value)
    return {"l": size <= low, "m": (size > low) & (size <= middle), "h": size > middle}[value[0]]
p1 = z["p"]
wrong = np.where(y == 1, p1 < 0.5, p1 > 0.5)
rows, told, seen = rows_of("found"), 0, set()
for f in json.load(open("found/slices.json"))["findings"]:
    of = np.flatnonzero(y == f["class_number"])
    for s in f["slices"]:
        members = rows[f["class"], f["method"], s["rank"]]
        check_words(s, members, of, x, words, text, True)
        if "conjunction" not in s: continue
        k = s["conjunction"]
        check_match(k["all"], members, of, np.logical_and.reduce([holds(i) for i in k["items"]]), wrong)
        assert k["held_out"]["rows"] == 150 and k["held_out"]["inside"] <= k["all"]["inside"]
        told += 1
        seen |= {i.split("=")[0] for i in k["items"]}
    top = f["slices"][0]
    if f["method"].startswith("planespot"):
        assert top["words"][0]["phrase"] == "snow on the ground" and top["words"][0]["p"] == 0.001, top
        assert top["conjunction"]["items"] == ["not indoor", "weather=snow"], top
        assert top["conjunction"]["held_out"]["p"] < 1e-6 and top["conjunction"]["held_out"]["t"] > 3
assert told >= 8 and "size" in seen, (told, seen)
PYTHON

# --- methods that look at the table: the slices of itemsets and k-means are those of the same columns given as embeddings
/usr/bin/python3 - <<'PYTHON'
import csv
import numpy as np
ids = [line.strip() for line in open("ids.csv")][1:]
row = {r["name"]: r for r in csv.DictReader(open("table.csv"))}
row = [row[i] for i in ids]
indoor, night = (np.array([r[k].lower() in ("1", "true") for r in row]) for k in ("indoor", "night"))
words = [r["weather"] for r in row]
often = sorted(set(words), key=lambda w: (-words.count(w), w))
size = np.array([float(r["size"]) for r in row])
low, high = (np.sort(size)[(k * len(size) + 2) // 3 - 1] for k in (1, 2))       # rank and value as the thirds of attributes.c
thirds = [size <= low, (size > low) & (size <= high), size > high]
bits = [indoor, ~indoor] + [np.array(words) == w for w in often] + thirds + [night, ~night]
np.save("bits.npy", np.stack(bits, 1).astype(np.float32))
PYTHON
cat > tables.yaml <<'YAML'
seed: 0
bdms:
  - {method: itemsets, representation: attributes}
  - {method: kmeans, representation: attributes, clusters: 6}
  - {method: planespot, reduce: pca, representation: model}
YAML
sed 's/\(kmeans, representation: \)attributes/\1model/' tables.yaml > columns.yaml
rows=(--labels all.npz:y --probs all.npz:p --ids ids.csv:id)
run 0 "" discover --no-proof -e all.npz:e "${rows[@]}" --config tables.yaml --attributes table.csv:name --threads 2 --out by_table
grep -q 'itemsets-attributes looks at 10 attributes of 0 and 1' err || fail "$(cat err)"
run 0 "" discover --no-proof -e bits.npy "${rows[@]}" --config columns.yaml --out by_columns
run 0 "" discover --no-proof -e all.npz:e "${rows[@]}" --method planespot-pca --out by_features
for method in itemsets kmeans; do
    for folder in by_table by_columns; do
        awk -F, -v m=$method '$3 ~ "^" m { sub(/-attributes/, "", $3); print $1, $2, $3, $5, $6 }' \
            $folder/slices.csv > $folder.rows
    done
    [ "$(wc -l < by_table.rows)" -gt 50 ] || fail "few rows of $method: $(head -3 by_table.rows)"
    cmp -s by_table.rows by_columns.rows || fail "$method finds other slices in the table than in its columns"
done
rows_of() { grep planespot "$1/slices.csv" | sed 's/,[0-9]*,[0-9]*,[^,]*$//'; }    # without the numbers among all methods' slices
cmp -s <(rows_of by_table) <(rows_of by_features) || fail "the table changes other methods"
/usr/bin/python3 - <<'PYTHON' || fail "the conjunction of the first slice of itemsets is not that of the table"
import json
for f in json.load(open("by_table/slices.json"))["findings"]:
    if f["method"] != "itemsets-attributes":
        continue
    told = f["slices"][0]["conjunction"]
    assert told["items"] == ["not indoor", "weather=snow"], told
    assert told["all"]["precision"] == 1 and told["all"]["recall"] == 1, told
PYTHON
mv by_table first
run 0 "" discover --no-proof -e all.npz:e "${rows[@]}" --config tables.yaml --attributes table.csv:name --threads 1 --out by_table
cmp -s first/slices.json by_table/slices.json || fail "one thread finds other slices in the table"
refused 3 assign by_table --embeddings all.npz:e --labels all.npz:y --probs all.npz:p \
    --out new.csv
refused 2 \
    discover --no-proof -e all.npz:e "${rows[@]}" --method itemsets --out no_table
refused 2 \
    discover --no-proof -e bits.npy "${rows[@]}" --config tables.yaml --out no_table
cut -d, -f1,4 table.csv > numbers.csv
run 0 "" discover -e all.npz:e "${rows[@]}" --method itemsets --attributes numbers.csv:name --out numbers
grep -q 'itemsets-attributes looks at 3 attributes of 0 and 1' err || fail "$(cat err)"

# --- rules: by default they are searched beside the other methods; the slice's rows are all rows that have its attributes
run 0 "" discover -e all.npz:e "${rows[@]}" --attributes table.csv:name --out ruled
/usr/bin/python3 - <<'PYTHON' || fail "the rule of the first slice is not that of the table, or has other rows"
import csv, json
import numpy as np
row = {r["name"]: r for r in csv.DictReader(open("table.csv"))}
a = np.load("all.npz")
p = np.where(a["y"] == 1, a["p"], 1 - a["p"])
found = json.load(open("ruled/slices.json"))
assert found["entries"][0]["rule"] and found["entries"][0]["kind"] == "rule", found["entries"][0]
for f in found["findings"]:
    if f["class"] is None:                             # all rows
        continue
    s = f["slices"][0]
    assert s["proof"]["claim"] == "confirmed" and sorted(s["rule"]["items"]) == ["not indoor", "weather=snow"], s
    rows = [i for i in range(600) if a["y"][i] == f["class_number"] and row[f"img{i:04d}"]["indoor"] == "0"
            and row[f"img{i:04d}"]["weather"] == "snow"]
    assert s["size"] == len(rows) and s["wrong"] == sum(p[i] < 0.5 for i in rows), s
    with open("ruled/slices.csv") as lines:
        own = [r["id"] for r in csv.DictReader(lines) if r["number"] == str(s["number"])]
    assert own == [f"img{i:04d}" for i in rows]
PYTHON
cp out table
run 0 "" assign ruled --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id --attributes table.csv:name \
    --out again.csv
/usr/bin/python3 - <<'PYTHON' || fail "the rows of a rule are others when they are assigned"
import csv, json
rules = {s["number"] for f in json.load(open("ruled/slices.json"))["findings"] for s in f["slices"] if "rule" in s}
rows = [sorted((r["number"], r["id"]) for r in csv.DictReader(open(f)) if int(r["number"]) in rules)
        for f in ("ruled/slices.csv", "again.csv")]
assert rules and rows[0] == rows[1]
PYTHON
grep -q 'come without' err && fail "rules have attributes, and a warning says that they have none"
run 0 "slices are rules of attributes, and new rows come without" assign ruled --embeddings all.npz:e --labels all.npz:y \
    --probs all.npz:p --out again.csv
# --- rules of what pictures show: new rows have them by their own pictures. Dark ones are wrong, in features that say nothing.
/usr/bin/python3 - <<'PYTHON'
import os, struct, zlib
import numpy as np
def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
def png(path, grey):
    head = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
                           + chunk(b"IDAT", zlib.compress((b"\0" + bytes([grey] * 24)) * 8)) + chunk(b"IEND", b""))
r = np.random.default_rng(11)
for name, n, low in (("shown", 600, 10), ("later", 300, 60)):
    os.mkdir(name)
    grey = r.integers(low, 246, n)
    wrong = r.random(n) < np.where(grey < 85, 0.8, 0.05)
    for i in range(n):
        png(f"{name}/{i:03d}.png", int(grey[i]))
    e = r.standard_normal((n, 6)).astype(np.float32)
    y = np.arange(n) % 2
    p = np.where(wrong, 0.1, 0.9)
    np.savez(name + ".npz", e=e, y=y, p=np.where(y == 1, p, 1 - p).astype(np.float32), grey=grey)
    open(name + ".csv", "w").write("id\n" + "".join(f"{i:03d}.png\n" for i in range(n)))
PYTHON
run 0 "" discover -e shown.npz:e -y shown.npz:y -p shown.npz:p --ids shown.csv:id --images shown --no-report --out dark
later=(--embeddings later.npz:e --labels later.npz:y --probs later.npz:p --ids later.csv:id)
run 0 "" assign dark "${later[@]}" --images later --out later_rows.csv
grep -q 'come without' err && fail "the pictures are there, and a warning says that they are not"
/usr/bin/python3 - <<'PYTHON' || fail "rules of pictures have other new rows than the pictures say"
import csv, json, re
import numpy as np
a, found = np.load("later.npz"), json.load(open("dark/slices.json"))
rows, rules = list(csv.DictReader(open("later_rows.csv"))), 0
for f in found["findings"]:
    for s in f["slices"]:
        if "rule" not in s or len(s["rule"]["items"]) > 1:
            continue
        end = re.fullmatch(r"brightness: dark \(<= ([0-9.]+)\)", s["rule"]["items"][0])
        if not end:
            continue
        of = np.ones(300, bool) if f["class"] is None else a["y"] == f["class_number"]
        want = [f"{i:03d}.png" for i in np.flatnonzero(of & (a["grey"] <= float(end[1])))]
        assert [r["id"] for r in rows if int(r["number"]) == s["number"]] == want, s["rule"]
        rules += 1
assert rules >= 2, rules
PYTHON
run 0 "come without: they join by the vote of their neighbours" assign dark "${later[@]}" --out voted.csv
cmp -s voted.csv later_rows.csv && fail "without pictures the rules have the rows of pictures"
mkdir plain && for i in $(seq 0 599); do cp shown/$(printf %03d $i).png plain/img$(printf %04d $i); done
run 0 "are of a table, which is not given: new rows join the slices of such rules by the vote" assign ruled \
    --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id --images plain --out x.csv
run 0 "come without" assign ruled --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id --out again.csv
cmp -s again.csv x.csv || fail "rules of a table that is not given have other rows than those of the vote"
refused 2 assign dark --embeddings later.npz:e --labels later.npz:y --probs later.npz:p --images later --out x.csv
run 3 "" assign dark "${later[@]}" --images shown/.. --out x.csv
run 4 "" assign dark "${later[@]}" --images nowhere --out x.csv

cp table.csv mine.csv
refused 2 assign ruled --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id --attributes mine.csv:name \
    --out mine.csv
cmp -s table.csv mine.csv || fail "the table of attributes is written over"
run 0 "has no column of" assign ruled --embeddings all.npz:e --labels all.npz:y --probs all.npz:p --ids ids.csv:id \
    --attributes numbers.csv:name --out again.csv
/usr/bin/python3 -c "import numpy as np; a = np.load('all.npz'); np.save('second.npy', a['p'])"
run 0 "" compare ruled second.npy --attributes table.csv:name
grep -q 'rules of attributes are not compared' err && fail "rules are not compared, though there are attributes"
run 0 "rules of attributes are not compared" compare ruled second.npy
cp table out
grep -qE '^ +is: not indoor and weather=snow$' out || fail "no rule is said: $(cat out)"
grep -qE '^ +[0-9]+ of [0-9]+ wrong \(class [0-9]+ %\), on unseen rows' out || fail "no figures of a rule: $(cat out)"

# --- several classes a row: the other categories are attributes by themselves
run 0 "" discover --no-proof -e all.npz:e -y several.npz:has -p several.npz:prob --class 0 --method planespot-pca --no-report --out several
grep -qE '^ +is: 1 and not 2  \(' out || fail "categories do not describe: $(cat out)"

# --- a tiny CLIP: of its own features, and of pictures whose features are another network's
clip=clip/clip/model.safetensors
photos=(discover --no-proof --images clip/photos --ids rows.csv:path -y rows.csv:label -p rows.csv:p --method planespot-pca --no-report)
run 0 "" embed --model $clip --images clip/photos --out i.npy
run 0 "" embed --model $clip --texts clip.txt --out t.npy
by_clip=(--words clip.txt --phrases 3)
run 0 "encodes 60 pictures for the words" "${photos[@]}" -e other.npy --describe $clip "${by_clip[@]}" --out pictures
run 0 "" "${photos[@]}" --embed $clip "${by_clip[@]}" --out own
grep -q 'encodes 60 pictures for the words' err && fail "features of the same encoder are computed twice"
/usr/bin/python3 - <<'PYTHON' || fail "words by CLIP are others than numpy's"
from check import *
name = [r["id"] for r in csv.DictReader(open("i.csv"))]
paths = [r["path"] for r in csv.DictReader(open("rows.csv"))]
x, text = np.load("i.npy").astype(float)[[name.index(p) for p in paths]], np.load("t.npy").astype(float)
for folder in ("pictures", "own"):
    rows = {}
    for line in csv.DictReader(open(folder + "/slices.csv")):
        rows.setdefault(int(line["rank"]), set()).add(line["id"])
    for s in json.load(open(folder + "/slices.json"))["findings"][0]["slices"]:
        members = [i for i, p in enumerate(paths) if p in rows[s["rank"]]]
        assert len(members) == s["size"] and len(s["words"]) == 3
        check_words(s, members, np.arange(60), x, open("clip.txt").read().split("\n"), text, True)
PYTHON

# --- the cost that is stated counts the descriptions
bytes_of() { /usr/bin/python3 -c 'import json; print(json.load(open("out"))["memory_bytes"])'; }
run 0 "" "${all[@]}" --json --no-report --out plain
plain=$(bytes_of)
/usr/bin/python3 -c 'import numpy as np; np.save("many.npy", np.random.default_rng(1).random((5000, 16), "f4"))'
seq 5000 > many.txt
run 0 "" "${all[@]}" --words many.txt --word-embeddings many.npy --json --no-report --out costly
[ $(bytes_of) -gt $((plain + 5000 * 16 * 4)) ] || fail "the words take no memory: $plain and $(bytes_of) bytes"
grep -qE '^this takes (less than a second|about [1-9][0-9.]* s) and at most' err || fail "no time is stated: $(cat err)"
run 0 "" "${photos[@]}" -e other.npy --json --out plain2
plain=$(bytes_of)
run 0 "decoding the pictures of the words then takes at most" "${photos[@]}" -e other.npy --describe $clip "${by_clip[@]}" \
    --json --out costly2
[ $(bytes_of) -gt $((plain + $(stat -c %s $clip))) ] || fail "the encoder takes no memory: $plain and $(bytes_of) bytes"
dear=$(($(bytes_of) * 9 / 10))        # the process itself takes a little more or less from run to run
refused 6 "${photos[@]}" -e other.npy --describe $clip "${by_clip[@]}" --memory $dear \
    --out dear
[ ! -e dear/slices.json ] || fail "it has searched with too little memory"

# --- what it refuses, before it searches
bad() { refused "$1" "${all[@]}" "${@:2}" --out bad; [ ! -e bad/slices.json ] || fail "$*: it has searched"; }
printf 'a {} in the snow\n' > hole.txt
printf 'good\nb\xffd\n' > bytes.txt
printf 'a\0b\n' > nul.txt
printf '\n \n' > none.txt
bad 2 --words words.txt
bad 2 --word-embeddings all.npz:w
bad 3 --words hole.txt --word-embeddings all.npz:w
bad 3 --words bytes.txt --word-embeddings all.npz:w
printf 'good\nsalt &amp; oil\n' > entity.txt
bad 3 --words entity.txt --describe $clip
bad 3 --words nul.txt --word-embeddings all.npz:w
bad 3 --words none.txt --word-embeddings all.npz:w
bad 3 --words words.txt --word-embeddings short.npy
bad 3 --words clip.txt --describe $clip
bad 3 --attributes table.csv:id
refused 2 "${all[@]}" --attributes found/slices.csv --out found
printf 'a cat\none two three four five six\n' > long.txt
for file in gone.txt long.txt hole.txt; do
    refused $([ -e $file ] && echo 3 || echo 4) "${photos[@]}" --embed $clip --words $file --out early
    grep -q 'embedded by' err && fail "$file: pictures were embedded before the phrases were read"
done
refused 4 "${photos[@]}" --embed $clip --attributes gone.csv:id --out early
grep -q 'embedded by' err && fail "pictures were embedded before a table was looked for"
head -c 20000 found/subject.safetensors > cut && cp -r found old && mv cut old/subject.safetensors
refused 3 report old -o x.html
[ $failed = 0 ] && echo "slices are described as numpy describes them"
exit $((failed > 0))
