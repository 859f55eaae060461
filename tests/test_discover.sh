#!/usr/bin/env bash
# spotter discover as a user meets it: what it writes, and what it refuses, with exit code and sentence. $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1

/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
n, d = 600, 16
k = r.integers(6, size=n)
y = (np.arange(n) % 2).astype(np.int64)
y[:8] = 2
e = 0.3 * r.standard_normal((n, d)).astype(np.float32)
e[:, 0] += 6 * np.cos(k * 1.0472)
e[:, 1] += 6 * np.sin(k * 1.0472)
wrong = np.where(k == 2, r.random(n) < 0.9, r.random(n) < 0.02)
p = np.where(wrong, 0.1, 0.9).astype(np.float32)
np.save("e.npy", e), np.save("y.npy", y), np.save("p.npy", p)
np.savez("all.npz", e=e, y=y, p=p)
np.save("short.npy", p[:-1])
np.save("e64.npy", e.astype(np.float64))
np.save("fortran.npy", np.asfortranarray(e))
np.save("big.npy", e.astype(">f4"))
np.save("losses.npy", -np.log(p))
np.save("object.npy", np.array([{}] * n, dtype=object), allow_pickle=True)
for name, row, value in (("nan", 17, np.nan), ("inf", 5, np.inf)):
    bad = e.copy()
    bad[row, 3] = value
    np.save(name + ".npy", bad)
bad = p.copy()
bad[41] = 1.5
np.save("above.npy", bad)
bad[41] = np.nan
np.save("pnan.npy", bad)
both = np.stack([1 - p, p, 0 * p], 1)
np.save("p3.npy", both)
both[23] = 0.9
np.save("sum.npy", both)
np.save("p2.npy", np.stack([1 - p, p], 1))
bad = y.copy()
bad[9] = -1
np.save("minus.npy", bad)
np.save("words.npy", np.array(["zebra", "ant", "cow"])[y])
np.save("right.npy", np.full(n, 0.9, np.float32))
with open("cut.npy", "wb") as f:
    f.write(open("e.npy", "rb").read()[:-100])
with open("ids.csv", "w") as f:
    f.write("name\n" + "".join('"a ""%d"", <b>"\n' % i for i in range(n)))
PYTHON

ok()
{
    "$spotter" discover "$@" --no-proof --threads 2 > out 2> err || fail "$* ended with $?: $(cat err)"
}

wrong()
{
    refused "$1" discover "${@:2}" --no-proof --threads 2
    [ "$(grep -c '^spotter' err)" = 1 ] || fail "$*: not one sentence: $(cat err)"
}
good=(--labels y.npy --probs p.npy --method planespot-pca)
all=(--embeddings e.npy "${good[@]}")

# --- what it writes, from every form of the same numbers
ok "${all[@]}" --ids ids.csv:name --out found
for file in slices.csv slices.json map.npy subject.safetensors config.yaml fit.safetensors report.html; do
    [ -s found/$file ] || fail "found/$file is not there"
done
grep -qF '"a ""' found/slices.csv || fail "ids are not in slices.csv"
/usr/bin/python3 - <<'PYTHON' || fail "the files do not hold what they should"
import csv, json
import numpy as np
j = json.load(open("found/slices.json"))
assert [f["class"] for f in j["findings"]] == ["0", "1"] and j["left_out"][0]["class"] == "2", j
top = j["findings"][0]["slices"][0]
assert top["error_rate"] > 0.8 and top["share_of_errors"] > 0.7, top
rows = list(csv.DictReader(open("found/slices.csv")))
assert sum(r["class"] == "0" and r["rank"] == "1" for r in rows) == top["size"]
assert top["nearest_correct"][0]["id"] == 'a "%d", <b>' % top["nearest_correct"][0]["row"]
m = np.load("found/map.npy")
assert m.shape == (600, 2) and np.isnan(m[:8]).all() and not np.isnan(m[8:]).any()
PYTHON
awk 'length > 100' out | grep -q . && fail "a line of the table is longer than 100 columns"
head -1 out | grep -Eq '^[0-9.]+ % of 600 rows are right' && grep -q '^Next: ' out || fail "no sentences on top: $(head -5 out)"
grep -Eq '^class +rows +wrong +rate ' out || fail "no table of classes: $(cat out)"
for e in e.npy all.npz:e e64.npy fortran.npy big.npy; do
    ok --embeddings $e "${good[@]}" --no-report --no-fit --out same
    cmp -s found/map.npy same/map.npy || fail "$e gives another map"
    [ -e same/fit.safetensors ] && fail "--no-fit wrote one"
    rm -r same
done
ok --embeddings e.npy --labels y.npy --losses losses.npy --method planespot-pca --no-report --json --out losses
grep -q 'losses.npy: the true class has exp(-loss); a row below 1/2 counts as wrong' err || fail "no rule for wrong rows"
/usr/bin/python3 -c 'import json, sys; assert json.load(open("out"))["findings"] == 2' || fail "--json is not one object"
ok --config found/config.yaml --embeddings e.npy --labels y.npy --probs p.npy --out again
cmp -s found/config.yaml again/config.yaml || fail "config.yaml does not give itself"
ok --embeddings e.npy --labels words.npy --probs p3.npy --method domino --no-report --no-fit --out words
grep -q 'p3.npy: its columns are taken as the words of words.npy sorted by name: "ant" first, "zebra" last' err ||
    fail "nothing says which column is which word"
grep -Eq 'at most [0-9]+\.[0-9] MB of memory' err || fail "a little memory is not told in MB: $(cat err)"
ok "${all[@]}" --class all --seed 1,2 --out seeds
tr '\n' ' ' < seeds/config.yaml | grep -q 'seeds:   - seed: 1   - seed: 2 prove: false' ||
    fail "config.yaml does not say the seeds"

# --- features of two sources: joined, with scales that assign uses again
ok --embeddings e.npy --embeddings all.npz:e "${good[@]}" --out joined
/usr/bin/python3 - <<'PYTHON' || fail "slices.json does not hold two sources"
import json
import numpy as np
j = json.load(open("joined/slices.json"))
e = np.load("e.npy").astype(np.float64)
one = 1 / np.sqrt(e.var(0).sum())
assert [s["features"] for s in j["subject"]["sources"]] == [e.shape[1]] * 2 and j["subject"]["features"] == 2 * e.shape[1], j
assert all(abs(s["scale"] / one - 1) < 1e-5 for s in j["subject"]["sources"]), j["subject"]["sources"]
assert j["features"]["rows"] == 600 and 0 <= j["features"]["wrong_told"] <= 1, j["features"]
PYTHON
run 0 "" assign joined -e e.npy -e e.npy --labels y.npy --probs p.npy --out joined.csv
refused 3 assign joined -e e.npy --labels y.npy --probs p.npy --out one.csv
printf 'embeddings: |\n  e.npy\n  all.npz:e\nlabels: y.npy\nprobs: p.npy\n' > two.yaml
ok two.yaml --method planespot-pca --out joined_file
cmp -s joined/slices.csv joined_file/slices.csv || fail "two sources in a file give other slices"

# --- a report of what was found before, of one model and of two
report() { "$spotter" report "$@" > out 2> err; }
report found -o one.html || fail "no report of found: $(cat err)"
cmp -s one.html found/report.html || fail "the report made later is another"
ok "${all[@]/planespot-pca/spotlight}" --ids ids.csv:name --budget 1 --full --out found_b
report found found_b -o two.html || fail "no report of two models: $(cat err)"
grep -qF '"name":"found_b"' two.html || fail "the page does not name the second model by its folder"
refused 3 report found losses -o x.html
cp -r found old && rm old/subject.safetensors
refused 3 report old -o x.html
head -c 5000 found/subject.safetensors > old/subject.safetensors
refused 3 report found old -o x.html
refused 2 report found . -o x.html
[ ! -e x.html ] || fail "a refused report is written"

# --- an --out that holds other things
mkdir taken && echo mine > taken/letter.txt && ok "${all[@]}" --out taken
[ "$(cat taken/letter.txt)" = mine ] || fail "a file that was there is gone"
ok "${all[@]/planespot-pca/spotlight}" --no-report --out taken            # another method on the same data
wrong 2 --embeddings e.npy --labels y.npy --losses \
    losses.npy --method planespot-pca --out taken
for mine in config.yaml report.html slices.csv map.npy; do
    mkdir -p own && echo mine > own/$mine
    wrong 2 "${all[@]}" --out own
    [ "$(cat own/$mine)" = mine ] && rm own/$mine || fail "own/$mine is another"
done
mkdir older && printf '# spotter discover --config config.yaml --seed 0\nbdms: []\n' > older/config.yaml
wrong 2 "${all[@]}" --out older
ok "${all[@]}" --replace --out older
cp e.npy own/map.npy
wrong 2 --embeddings own/map.npy "${good[@]}" --replace --out own
cmp -s e.npy own/map.npy || fail "the input is written over"
wrong 2 "${all[@]}" --out own
ok "${all[@]}" --replace --out own
rm own/slices.json own/subject.safetensors                               # killed while it wrote
ok "${all[@]}" --out own
cp taken/slices.csv before.csv
refused 2 assign own --embeddings e.npy --labels y.npy --probs p.npy --ids taken/slices.csv:id --out taken/slices.csv
cmp -s taken/slices.csv before.csv || fail "assign has written over its ids"
refused 2 assign own --embeddings e.npy --labels y.npy --probs p.npy --out own/slices.csv
mkdir -p run/segments && wrong 2 "${all[@]}" --out run
wrong 4 "${all[@]}" --out e.npy
echo mine > merges.csv
wrong 2 "${all[@]}" --merges merges.csv --out merged
[ "$(cat merges.csv)" = mine ] && [ ! -e merged ] || fail "--merges has written over a letter, or searched first"
rm merges.csv
for again in 1 2; do ok "${all[@]}" --merges merges.csv --no-report --out merged; done

# --- what must not happen
wrong 3 --embeddings e.npy --labels y.npy --probs short.npy --out x
wrong 3 --embeddings nan.npy "${good[@]}" --out x
wrong 3 --embeddings inf.npy "${good[@]}" --out x
wrong 3 --embeddings e.npy --labels y.npy --probs above.npy --out x
wrong 3 --embeddings e.npy --labels y.npy --probs pnan.npy --out x
wrong 3 --embeddings e.npy --labels y.npy --probs sum.npy --out x
wrong 3 --embeddings e.npy --labels y.npy --probs p2.npy --out x
wrong 3 --embeddings e.npy --labels minus.npy --probs p.npy --out x
wrong 3 --embeddings object.npy "${good[@]}" --out x
wrong 3 --embeddings cut.npy "${good[@]}" --out x
wrong 4 --embeddings nowhere.npy "${good[@]}" --out x
wrong 3 "${all[@]}" --class 0 --least 900 --out x
wrong 2 "${all[@]}" --class cat --out x
wrong 6 "${all[@]}" --memory 150KB --out x
[ -e x/slices.json ] && fail "a refused run wrote findings"

# --- a classifier that has nothing wrong is a result, and so is one that has nothing right
for i in 1 2; do
    run 0 "" discover --embeddings e.npy --labels y.npy --probs right.npy --out perfect --threads 2
    [ "$(head -1 out)" = "nothing is wrong: 600 of 600 right" ] || fail "nothing wrong: $(cat out)"
done
grep -q "3 of 3 classes of perfect are done" err || fail "nothing wrong, a second time: $(cat err)"
/usr/bin/python3 -c '
import json, numpy as np
d = json.load(open("perfect/slices.json"))
assert [f["wrong"] + len(f["slices"]) for f in d["findings"]] == [0, 0, 0] and d["subject"]["accuracy"] == 1, d
assert np.isfinite(np.load("perfect/map.npy")).all()' || fail "nothing wrong: slices.json"
grep -q '"note":"nothing is wrong: 600 of 600 right"' perfect/report.html || fail "nothing wrong: the page"
run 1 "p is worse than perfect" compare perfect p.npy
run 0 "" report perfect --out perfect.html
/usr/bin/python3 -c 'import numpy as np; np.save("none.npy", np.full(600, 0.1, np.float32))'
run 0 "none of 600 rows is right" discover --embeddings e.npy --labels y.npy --probs none.npy --out none --threads 2
grep -q "nothing is right: all 600 are wrong" out || fail "nothing right: $(cat out)"

# --- the command line
wrong 2 --embedings e.npy --out x
wrong 2 --embeddings e.npy --labels y.npy --probs p.npy --method planespt --out x
wrong 2 --embeddings e.npy --labels y.npy --probs p.npy --method planespot-tnse --out x
wrong 2 --embeddings e.npy --labels y.npy --probs p.npy --method domino,planespot,domino --out x
wrong 2 "${all[@]}" --memory lots --out x
wrong 2 "${all[@]}" --seed 1,x --out x
wrong 2 "${all[@]}" --seed 3,1,3 --out x
wrong 2 --embeddings e.npy --out x
wrong 2 "${all[@]}"
wrong 2 --images . --out x
"$spotter" discover --help | grep '^  spotter discover --embeddings' >/dev/null || fail "--help lacks its example"

# --- asked to stop: what is computed is kept, and the same command goes on
slow=(--embeddings e.npy --labels y.npy --probs p.npy --method planespot-tsne,spotlight --seed 1,2,3,4,5,6,7,8 --out slow)
"$spotter" discover "${slow[@]}" --no-proof --threads 2 > out 2> err &
for _ in $(seq 100); do [ -n "$(find slow/cache -name '*.points' 2> /dev/null)" ] && break; sleep 0.1; done
kill -TERM $!
wait $!
code=$?
[ $code = 75 ] || fail "a stopped run ended with $code: $(cat err)"
[ -e slow/slices.json ] && fail "a stopped run wrote findings"
ok "${slow[@]}"
[ -s slow/slices.json ] || fail "the second run wrote nothing"

[ $failed = 0 ] && echo "discover holds"
exit $((failed > 0))
