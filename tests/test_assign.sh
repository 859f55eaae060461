#!/usr/bin/env bash
# spotter assign: rows that were examined come back as they were found, new rows follow them, and what does not fit is told.
# $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1

# Cats and dogs in six clusters, the third of which is wrong; 300 new rows of the same kind; one newt and one zebra.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
def rows(n):
    k = r.integers(6, size=n)
    e = 0.3 * r.standard_normal((n, 12)).astype(np.float32)
    e[:, 0] += 6 * np.cos(k * 1.0472)
    e[:, 1] += 6 * np.sin(k * 1.0472)
    wrong = np.where(k == 2, r.random(n) < 0.95, r.random(n) < 0.02)
    return k, e, np.where(wrong, 0.1, 0.9).astype(np.float32)
def words(path, y):
    open(path, "w").write("y\n" + "".join(w + "\n" for w in y))
y = ["cat", "dog"] * 300
y[5] = "newt"
k, e, p = rows(600)
np.save("e.npy", e), np.save("p.npy", p), words("y.csv", y)
k, e, p = rows(300)
np.save("k.npy", k), np.save("new.npy", e), np.save("newp.npy", p), words("newy.csv", ["dog", "cat"] * 150)
np.save("newloss.npy", -np.log(p))
np.save("narrow.npy", e[:, :7])
np.save("ones.npy", np.ones(300, np.int64))
np.save("nines.npy", np.full(300, 9))
words("zebra.csv", ["cat"] * 17 + ["zebra"] + ["dog"] * 282), words("newts.csv", ["newt"] * 300)
words("some.csv", ["newt"] * 10 + ["cat"] * 290)
PYTHON

found()
{
    "$spotter" discover "$@" --no-proof --no-report --threads 2 > out 2> err || fail "discover $* ended with $?: $(cat err)"
}

ok()
{
    "$spotter" assign "$@" --threads 2 > out 2> err || fail "assign $* ended with $?: $(cat err)"
}

# wrong CODE ARGS...: refused, and no file is made.
wrong()
{
    rm -f bad.csv
    refused "$1" assign "${@:2}" --out bad.csv --threads 2
    [ ! -e bad.csv ] || fail "assign $* left a file"
}

old=(--embeddings e.npy --labels y.csv --probs p.npy)
new=(--embeddings new.npy --labels newy.csv --probs newp.npy)
cat > methods.yaml <<'YAML'
seed: 0
bdms:
  - {method: planespot, reduce: [pca, tsne]}
  - {method: spotlight, steps: 200, lr: 0.02}
  - {method: domino, components: 8}
  - {method: barlow}
  - {method: multiaccuracy}
  - {method: george}
  - {method: confusion}
  - {method: confidence, rows: 60}
  - {method: kmeans, clusters: 6, weight: 0.3}
  - {method: ward, clusters: 6, weight: 0.3}
YAML

# --- every method, two classes, two seeds: the same rows, the same slices
found "${old[@]}" --config methods.yaml --seed 1,2 --out found
ok found "${old[@]}" --out again.csv
cut -d, -f1-5,7 found/slices.csv > before.csv
cmp -s before.csv again.csv || fail "rows that were found came back otherwise: $(diff before.csv again.csv | head -5)"
ok found "${old[@]}" --out one.csv --threads 1
cmp -s one.csv again.csv || fail "another number of threads gives other bytes"

# --- new rows: the planted ones in the first slice of each method that puts them first, and hardly another
ok found "${new[@]}" --json --out new.csv
/usr/bin/python3 - <<'PYTHON' || failed=$((failed + 1))
import csv, json, numpy as np
k = np.load("k.npy")
said = json.load(open("out"))
lines = list(csv.DictReader(open("new.csv")))
ok = said["status"] == "OK" and said["rows"] == 300 and said["members"] == len(lines)
if not ok:
    print("FAILED: --json says", said)
for method in sorted({line["method"] for line in lines}):
    best = {int(line["id"]) for line in lines if line["method"] == method and line["rank"] == "1" and line["seed"] == "1"}
    share = np.mean([i in best for i in np.flatnonzero(k == 2)]) if best else 0
    purity = np.mean(k[list(best)] == 2) if best else 0
    if method not in ("multiaccuracy", "domino", "confidence", "confusion") and (share < 0.8 or purity < 0.8):
        print(f"FAILED: {method}: {share:.2f} of the planted rows, {purity:.2f} of the slice")
        ok = False
raise SystemExit(not ok)
PYTHON

# --- one method: losses, no labels, no probabilities
found "${old[@]}" --method planespot-pca --class all --out all
ok all --embeddings new.npy --probs newp.npy --out a.csv
ok all --embeddings new.npy --losses newloss.npy --labels newy.csv --out b.csv
cut -d, -f1,3- a.csv > a; cut -d, -f1,3- b.csv > b
cmp -s a b || fail "probabilities and their losses are assigned otherwise"
found "${old[@]}" --method barlow --class cat --out cats
ok cats --embeddings new.npy --out c.csv
grep -q '^[0-9]*,cat,barlow,0,1,1$' c.csv || fail "no row of a class that is the only one: $(head -3 c.csv)"
ok found --embeddings new.npy --probs newp.npy --labels ones.npy --out dogs.csv
grep -q ',cat,' dogs.csv && fail "class number 1 is dogs, and cats are there"
ok found --embeddings new.npy --probs newp.npy --labels some.csv --out some_found.csv
grep -q '10 rows have classes that were not examined, as class "newt"' err || fail "nobody was told of newts: $(cat err)"

# --- plain methods: those that put a row elsewhere, or have no rule for it
found "${old[@]}" --method mistakes --out mistakes
ok mistakes "${new[@]}" --out m.csv
grep -q ',mistakes,' m.csv || fail "no mistake among new rows: $(head -3 m.csv)"
found "${old[@]}" --method random --out random
wrong 5 random "${new[@]}"
/usr/bin/python3 -c 'import numpy as np; np.save("bits.npy", (np.load("e.npy") > 0).astype(np.float32))'
found --embeddings bits.npy --labels y.csv --probs p.npy --method itemsets --out sets
grep -q 'itemsets-attributes' sets/slices.csv || fail "no itemsets: $(head -3 sets/slices.csv)"

# --- what does not fit
wrong 3 found --embeddings narrow.npy --labels newy.csv \
    --probs newp.npy
wrong 3 found --embeddings new.npy --labels zebra.csv --probs newp.npy
wrong 3 found --embeddings new.npy --labels nines.npy --probs newp.npy
wrong 3 found --embeddings new.npy --labels newts.csv --probs newp.npy
wrong 3 all --embeddings new.npy
wrong 2 found --embeddings new.npy --probs newp.npy
wrong 3 found --embeddings new.npy --labels y.csv --probs newp.npy
wrong 2 found
wrong 2 --embeddings new.npy
wrong 4 nowhere --embeddings new.npy
found "${old[@]}" --method barlow --no-fit --out fitless
wrong 3 fitless "${new[@]}"

# --- damaged folders
cp -r cats broken
head -c 500 cats/fit.safetensors > broken/fit.safetensors
wrong 3 broken --embeddings new.npy
cp cats/fit.safetensors broken/ && sed 's/"class_number": 0/"class_number": 7/' cats/slices.json > broken/slices.json
wrong 3 broken --embeddings new.npy
head -c 300 cats/slices.json > broken/slices.json
wrong 3 broken --embeddings new.npy
cp cats/slices.json broken/ && printf 'bdms:\n  - {method: spotlight}\n' > broken/config.yaml
wrong 3 broken --embeddings new.npy
/usr/bin/python3 - <<'PYTHON'
import json
raw = open("cats/fit.safetensors", "rb").read()
n = int.from_bytes(raw[:8], "little")
head = json.loads(raw[8:8 + n])
at = head["0/tree.left"]["data_offsets"]
data = bytearray(raw[8 + n:])
data[at[0]:at[0] + 4] = bytes(4)
open("broken/fit.safetensors", "wb").write(raw[:8 + n] + data)
PYTHON
cp cats/config.yaml broken/
wrong 3 broken --embeddings new.npy

# --- slices of a proof: new rows join by their features alone, and are judged
"$spotter" discover "${old[@]}" --method ward,kmeans --threads 2 --out proved > out 2> err || fail "a proof: $(cat err)"
grep -q '^ *1  confirmed  ' out && grep -Eq '^[0-9]+ confirmed of [0-9]+ tests at level 0.05' out ||
    fail "no claims: $(cat out)"
"$spotter" discover "${old[@]}" --method ward,kmeans --level 1e-6 --threads 2 --no-report --out strict > strict.out 2> err ||
    fail "--level: $(cat err)"
[ "$(grep -c '^ *[0-9]*  confirmed  ' strict.out)" -lt "$(grep -c '^ *[0-9]*  confirmed  ' out)" ] &&
    grep -q 'tests at level 1e-06' strict.out && grep -q '^  level: 1e-06$' strict/config.yaml ||
    fail "a stricter level confirms as much: $(cat strict.out)"
refused 2 discover "${old[@]}" --level 0.01 --no-proof --out strict
grep -q '^id,class,method,seed,rank,score,claim,part,number,entry$' proved/slices.csv || fail "no column of claims"
grep -Eq ',confirmed,(found|judged|both),[0-9]+,[0-9]+$' proved/slices.csv ||
    fail "no claims in slices.csv: $(head -3 proved/slices.csv)"
[ -s proved/report.html ] || fail "no report of a proof"
"$spotter" report proved -o later.html 2> err && cmp -s later.html proved/report.html ||
    fail "the report made later is another: $(cat err)"
ok proved "${new[@]}" --out judged.csv
grep -Eq '^[0-9]+ of [0-9]+ slices are confirmed on these rows' out && grep -q ' confirmed$' out ||
    fail "no verdict: $(cat out)"
ok proved "${new[@]}" --json --out judged.csv
/usr/bin/python3 - <<'PYTHON' || fail "the figures of new rows are others"
import csv, json
import numpy as np
said = json.load(open("out"))["slices"]
labels = np.array(["dog", "cat"] * 150)
wrong = np.load("newp.npy") < 0.5
names = json.load(open("proved/slices.json"))["subject"]["class_names"]
rows = list(csv.DictReader(open("judged.csv")))
assert said and json.load(open("proved/slices.json"))["schema"] == 2
every = {s["number"]: (f["class"], s["rank"]) for f in json.load(open("proved/slices.json"))["findings"] for s in f["slices"]}
assert sorted(every) == list(range(1, len(every) + 1)) == sorted(v["number"] for v in said)
for v in said:
    name = names[v["class_number"]] if v["class"] else ""              # all rows
    own = labels == name if name else np.ones(len(labels), bool)
    mine = [int(r["id"]) for r in rows if r["number"] == str(v["number"])]
    assert all(r["class"] == (v["class"] or "") == name and r["rank"] == str(v["rank"]) and r["method"] == v["method"] != ""
               for r in rows if r["number"] == str(v["number"])), v
    assert every[v["number"]] == (v["class"], v["rank"]), v
    assert v["rows"] == len(mine) and v["wrong"] == wrong[mine].sum(), v
    assert v["class_rows"] == own.sum() and v["class_wrong"] == wrong[own].sum(), v
    if mine:
        assert abs(v["excess"]["value"] - (wrong[mine].mean() - v["expected_wrong"] / len(mine))) < 1e-9, v
    if mine and name:
        assert abs(v["expected_wrong"] / len(mine) - wrong[own].mean()) < 1e-9, v
assert min(v["corrected_p"] for v in said) < 0.01, said
PYTHON
ok proved --embeddings new.npy --labels newy.csv --out blind.csv
cmp -s blind.csv judged.csv || fail "probabilities of new rows change who belongs"
ok found "${new[@]}" --out plain.csv
grep -q 'these rates test nothing' err || fail "no warning: $(cat err)"

"$spotter" assign --help | grep '^  spotter assign found .* --out slices2.csv$' >/dev/null || fail "--help breaks its example"

[ $failed = 0 ] && echo "all of assign's checks passed"
exit $((failed > 0))
