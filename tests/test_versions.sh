#!/usr/bin/env bash
# spotter compare: a worsened, a mended and an equal version of a classifier; files and folders; what does not fit.
# $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1

# Cats and dogs in 8 blobs each. Blob 3 of the cats, 75 rows, is wrong in 90 % for `hole`, and as any other for `fine`.
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(5)
n = 1200
y, blob = np.arange(n) % 2, (np.arange(n) // 2) % 8
centre = 3 * r.standard_normal((2, 8, 6))
e = (centre[y, blob] + r.standard_normal((n, 6))).astype(np.float32)
in_hole = (y == 0) & (blob == 3)
u = r.random(n)
def probs(rate, u):                    # the same u: errors of one version are errors of the next
    wrong = u < rate
    p = np.where(wrong, 0.2, 0.85) + 0.1 * r.random(n)
    out = np.empty((n, 2), np.float32)
    out[np.arange(n), y], out[np.arange(n), 1 - y] = p, 1 - p
    return out
fine, hole = probs(0.08, u), probs(np.where(in_hole, 0.9, 0.08), u)
again = probs(0.08, np.where(r.random(n) < 0.5, u, r.random(n)))
order = r.permutation(n)
np.save("e.npy", e), np.save("y.npy", y), np.save("fine.npy", fine), np.save("hole.npy", hole), np.save("again.npy", again)
calm = fine.copy(); calm[y == 1] = [0.1, 0.9]; np.save("calm.npy", calm)
np.save("copy.npy", fine), np.save("mixed.npy", hole[order]), np.save("short.npy", hole[:-1])
np.save("loss.npy", -5 * np.log(hole))
np.save("column.npy", hole[:, 1])
bad = hole.copy(); bad[7] = np.nan; np.save("nan.npy", bad)
np.save("three.npy", np.repeat(hole, 2, axis=1)[:, :3] / 3)
other = y.copy(); other[3] = 1 - other[3]; np.save("other.npy", other)
# One class of 300 rows: 70 get worse in the second version, 70 others are mended.
r = np.random.default_rng(12)
m, group = 300, np.repeat([1, 2, 0], [70, 70, 160])
x = r.standard_normal((2 * m, 32)).astype(np.float32)
x[:m][group == 1, 0] += 7
x[:m][group == 2, 1] += 7
x[m:, 2] += 5
y2 = np.repeat([0, 1], m)
def answers(rate):
    wrong = r.random(2 * m) < np.concatenate([rate[group], np.full(m, 0.1)])
    p = np.where(wrong, 0.05, 0.55) + 0.4 * r.random(2 * m)
    return np.where(y2[:, None] == [0, 1], p[:, None], 1 - p[:, None]).astype(np.float32)
np.save("x2.npy", x), np.save("y2.npy", y2)
np.save("old.npy", answers(np.array([0.1, 0.1, 0.7]))), np.save("young.npy", answers(np.array([0.1, 0.6, 0.1])))
def ids(path, rows, word="row"):
    open(path, "w").write("id\n" + "".join(f"{word}{i}\n" for i in rows))
ids("ids.csv", range(n)), ids("mixed.csv", order), ids("strange.csv", order, "x"), ids("twice.csv", [0] * n)
PYTHON

rows=(--embeddings e.npy --labels y.npy)
search=(--method ward --threads 2)

# said CODE PYTHON...: the last --json is true of the expression, in which k is the object.
said() { /usr/bin/python3 -c "import json; k = json.load(open('$dir/out')); assert $1, k['slices']" || fail "$1"; }

# --- a new blindspot: exit code 1, and which rows
refused 1 compare fine.npy hole.npy "${rows[@]}" "${search[@]}" --json --out new
said 'k["before"] == "fine" and k["now"] == "hole" and k["status"] == "CHECK" and k["verdict"] == "failed"'
said 'k["slices"][0]["verdict"] == "new" and k["slices"][0]["class"] == "0" and not k["slices"][0]["confirmed_before"]'
said 'k["features"] == "version 1" and [l["level"] for l in k["levels"]] == ["all rows", "classes", "guards", "slices"]'
said 'sum(i // 2 % 8 == 3 and i % 2 == 0 for i in k["slices"][0]["rows"]) > 0.7 * len(k["slices"][0]["rows"]) > 10'
said 'k["slices"][0]["lost"] > k["slices"][0]["gained"] + 10 and k["slices"][0]["p_worse"] < 0.01'
/usr/bin/python3 - <<'PYTHON' || fail "versions.json or versions.csv"
import csv, json
k, said = json.load(open("new/versions.json")), json.load(open("out"))
assert k["schema"] == 2 and k["slices"] == said["slices"] and k["lost_outside"] == said["lost_outside"]
lines = list(csv.DictReader(open("new/versions.csv")))
first = [x for x in lines if x["slice"] == "1"]
assert [int(x["id"]) for x in first] == k["slices"][0]["rows"]
assert sum(x["compared"] == "1" and x["before"] == "right" and x["now"] == "wrong" for x in first) == k["slices"][0]["lost"]
assert sum(x["slice"] == "" for x in lines) == len(k["lost_outside"])
PYTHON
cp out first.json
run 1 "" compare fine.npy hole.npy "${rows[@]}" --method ward --threads 1 --json --out new
cmp -s out first.json || fail "another number of threads gives another result"
run 1 "" compare fine.npy hole.npy "${rows[@]}" "${search[@]}" --name "old one,new one" --data photos
grep -q '^old one -> new one, photos, 1200 rows: worse$' out || fail "no names: $(head -1 out)"
awk 'length > 100 { exit 1 }' out || fail "a line is longer than 100 columns"

# --- files of one name: the ends of their paths that differ
mkdir -p by/one by/two && cp fine.npy by/one/p.npy && cp hole.npy by/two/p.npy && cp hole.npy by/fine.dat
run 1 "" compare by/one/p.npy by/two/p.npy "${rows[@]}" "${search[@]}" --json
said '(k["before"], k["now"]) == ("one/p.npy", "two/p.npy")'
run 1 "" compare fine.npy ./by/fine.dat "${rows[@]}" "${search[@]}" --json
said '(k["before"], k["now"]) == ("fine.npy", "fine.dat")'
"$build/spotter" compare --help | tr -s ' \n' ' ' | grep -q "shortest ends of their paths that differ" || fail "help has no rule of names"

# --- mended and equal: exit code 0
run 0 "" compare hole.npy fine.npy "${rows[@]}" "${search[@]}" --json
said 'any(s["verdict"] in ("mended", "better") and s["confirmed_before"] for s in k["slices"]) and k["verdict"] == "passed"'
run 0 "" compare fine.npy copy.npy "${rows[@]}" "${search[@]}"
grep -q 'both versions have the same rows wrong' out || fail "a copy is not called equal: $(cat out)"
run 0 "" compare fine.npy again.npy "${rows[@]}" "${search[@]}"

# --- a class in which a weakness is new and another mended, with the methods that run when none is named
refused 1 compare old.npy young.npy -e x2.npy -y y2.npy --threads 2 --json
said '[s["verdict"] for s in k["slices"]] == ["new", "mended"] and k["verdict"] == "failed"'
said 'min(p["proof_p"] for p in k["slices"][0]["pieces"]) > 0.05'        # its change shows it, not its proof
said 'all(sum(i < 70 for i in s["rows"]) > 0.8 * s["size"] > 40 for s in k["slices"] if s["verdict"] == "new")'
cp out young.json
run 1 "" compare old.npy young.npy -e x2.npy -y y2.npy --method joinspot,ward --threads 2 --json
said 'k["slices"] == json.load(open("young.json"))["slices"]'

# --- folders, and rows in another order
run 0 "" discover "${rows[@]}" --probs fine.npy --ids ids.csv --method ward --no-report --out fine
run 0 "" discover "${rows[@]}" --probs hole.npy --ids ids.csv --method ward --no-report --out hole
run 1 "" compare fine hole.npy --embeddings e.npy --json
said 'k["slices"] == json.load(open("first.json"))["slices"] and k["before"] == "fine"'
run 1 "" compare fine hole --embeddings e.npy --json
said 'k["slices"] == json.load(open("first.json"))["slices"] and k["now"] == "hole"'
run 1 "" compare fine mixed.npy --ids-b mixed.csv --embeddings e.npy --json
said 'k["slices"] == json.load(open("first.json"))["slices"]'
run 1 "" compare fine hole.npy --json              # with the features that the folder keeps
said 'k["slices"] == json.load(open("first.json"))["slices"] and k["classes"] == json.load(open("first.json"))["classes"]'
run 1 "" compare fine hole --json
said 'k["slices"] == json.load(open("first.json"))["slices"]'
run 1 "" compare fine mixed.npy --ids-b mixed.csv --json
said 'k["slices"] == json.load(open("first.json"))["slices"]'
sed '2,$ s|^|./|' mixed.csv > dotted.csv && run 1 "" compare fine mixed.npy --ids-b dotted.csv --json
said 'k["slices"] == json.load(open("first.json"))["slices"]'
grep -q "1200 of 1200 ids are written otherwise in version 2" err || fail "nothing says how ids matched: $(cat err)"
run 1 "" compare fine column.npy --embeddings e.npy --json
said 'k["slices"][0]["verdict"] == "new"'

# --- a class without a slice, and one without an error, which is not examined: the folder keeps their features, too
run 0 "" discover "${rows[@]}" --probs calm.npy --ids ids.csv --method joinspot --no-report --out calm
/usr/bin/python3 - <<'PYTHON' || fail "the fit of findings without slices"
import json
k = json.load(open("calm/slices.json"))
assert [len(f["slices"]) for f in k["findings"]] == [0] and [c["class"] for c in k["left_out"]] == ["1"], k
raw = open("calm/fit.safetensors", "rb").read()
n = int.from_bytes(raw[:8], "little")
head = json.loads(raw[8:8 + n])
kept = "0/neighbours.feature", "0/left_out.feature"
assert {t: v["shape"] for t, v in head.items() if t[0] == "0"} == {t: [600, 6] for t in kept}
assert len(raw) - n - 8 == 4 * 6 * 1200                    # 4 bytes a number
def write(name, tensors):
    text = json.dumps(tensors).encode()
    open(name, "wb").write(len(text).to_bytes(8, "little") + text + raw[8 + n:])
write("part", {t.replace("left_out.feature", "other.feature"): v for t, v in head.items()})
PYTHON
run 1 "" compare calm hole.npy --method ward --embeddings e.npy --json
cp out calm.json
run 1 "" compare calm hole.npy --method ward --json
cmp -s out calm.json || fail "kept features give another result"
run 0 "" assign calm --embeddings e.npy --labels y.npy --out none.csv
[ "$(cat none.csv)" = "id,class,method,seed,rank,number" ] || fail "rows are in slices of a folder that has none"
cp -r calm older && cp part older/fit.safetensors
refused 2 compare older hole.npy
rm older/fit.safetensors                                   # as earlier versions left it where no class had a slice
refused 2 compare older hole.npy
run 1 "" compare older hole.npy --embeddings e.npy --method ward --json
said 'k["slices"] == json.load(open("calm.json"))["slices"]'
/usr/bin/python3 - <<'PYTHON'
import json
raw = open("hole/fit.safetensors", "rb").read()
n = int.from_bytes(raw[:8], "little")
head = raw[8:8 + n].replace(b"neighbours.member", b"neighbours.strang")
open("older/fit.safetensors", "wb").write(raw[:8] + head + raw[8 + n:])
PYTHON
cp hole/slices.json hole/config.yaml older
refused 3 assign older --embeddings e.npy --labels y.npy --out none.csv

# --- features of both versions, guards, further trainings, exit code 7
/usr/bin/python3 - <<'PYTHON'
import numpy as np
e, y, fine = np.load("e.npy"), np.load("y.npy"), np.load("fine.npy")
r = np.random.default_rng(8)
np.save("e2.npy", (e @ r.standard_normal((6, 9))).astype(np.float32))
part = np.where((y == 0) & ((np.arange(1200) // 2) % 8 == 3), "hole", "rest")
open("part.csv", "w").write("part\n" + "\n".join(part) + "\n")
for k in range(3):
    wrong = (r.random(1200) < 0.08)
    p = np.where(wrong, 0.2, 0.85)
    np.save(f"more{k}.npy", np.where(y[:, None] == [0, 1], p[:, None], 1 - p[:, None]).astype(np.float32))
PYTHON
refused 1 compare fine.npy hole.npy "${rows[@]}" -e e2.npy "${search[@]}" --attributes part.csv --guard '0 & part=hole@0.1' \
    --guard part=rest --json
said 'k["features"] == "both" and [g["verdict"] for g in k["guards"]] == ["worse", "same"]'
/usr/bin/python3 - <<'PYTHON' || fail "rows that turned"
import json, numpy as np
k, y, part = json.load(open("out")), np.load("y.npy"), [line.strip() for line in open("part.csv")][1:]
was, now = (np.load(f).argmax(1) != y for f in ("fine.npy", "hole.npy"))
hole = np.array(part) == "hole"
for g, rows in zip(k["guards"] + k["classes"], (hole, ~hole, y >= 0, y == 0, y == 1)):
    lost, gained = np.flatnonzero(rows & now & ~was), np.flatnonzero(rows & was & ~now)
    assert (g["lost_rows"], g["gained_rows"]) == (lost.tolist(), gained.tolist()) and g["lost"] == len(lost), g
assert len(k["guards"][0]["lost_rows"]) > 40
for s in k["slices"]:
    assert s["lost_rows"] == [i for i in s["compared_rows"] if now[i] and not was[i]], s
PYTHON
said '[g["margin"] for g in k["guards"]] == [0.1, 0.05] and k["guards"][0]["compared"] == 75 and k["levels"][2]["tests"] == 2'
refused 1 compare fine.npy hole.npy "${rows[@]}" -e e2.npy "${search[@]}" --json
cp out forth.json
run 0 "" compare hole.npy fine.npy "${rows[@]}" -e e2.npy "${search[@]}" --json
/usr/bin/python3 - <<'PYTHON' || fail "versions that change places have other slices"
import json
a, b = json.load(open("forth.json")), json.load(open("out"))
key = lambda k, sign: sorted((s["rows"], round(sign * s["change"]["value"], 12)) for s in k["slices"])
assert key(a, 1) == key(b, -1) and a["slices"]
PYTHON
refused 1 compare fine.npy hole.npy "${rows[@]}" "${search[@]}" --retrain more0.npy,more1.npy,more2.npy --json
said 'k["retrain"]["files"] == 3 and k["beyond"] == 0 and k["margin"] == 0.05 and k["slices"][0]["verdict"] in ("new", "worse")'
run 0 "further training tells little" compare fine.npy more0.npy "${rows[@]}" "${search[@]}" --retrain more1.npy
run 0 "" compare fine.npy more0.npy "${rows[@]}" "${search[@]}" --margin 0.001
refused 7 compare fine.npy more0.npy "${rows[@]}" "${search[@]}" --margin 0.001 --fail-on pending
run 0 "" compare fine.npy copy.npy "${rows[@]}" "${search[@]}" --fail-on pending
refused 2 compare fine.npy hole.npy "${rows[@]}" --guard "0 & part=hole"
refused 2 compare fine.npy hole.npy "${rows[@]}" --attributes part.csv --guard "0 & part=hole@2"
refused 2 compare fine.npy hole.npy "${rows[@]}" --margin much
refused 3 compare fine.npy hole.npy "${rows[@]}" --retrain short.npy
refused 2 compare fine hole.npy --embed neutral

# --- what does not fit
refused 2 compare fine.npy fine.npy "${rows[@]}"
refused 2 compare fine fine --embeddings e.npy
refused 2 compare fine.npy hole.npy --labels y.npy
run 0 "" discover "${rows[@]}" --probs fine.npy --ids ids.csv --method ward --no-report --no-fit --out unfit
refused 2 compare unfit hole.npy
run 0 "" discover "${rows[@]}" --probs fine.npy --ids ids.csv --method ward --no-report --class 1 --out dogs
refused 2 compare dogs hole.npy
run 0 "" discover "${rows[@]}" --probs fine.npy --ids ids.csv --method ward --no-report --no-proof --out unproved
refused 2 compare unproved hole.npy
refused 2 compare
refused 2 compare fine
refused 2 compare fine.npy hole.npy --embeddings e.npy
refused 2 compare fine hole.npy --labels y.npy --embeddings e.npy
refused 2 compare fine hole hole.npy
refused 2 compare fine hole rows.yaml again
refused 2 compare fine.npy hole.npy "${rows[@]}" --probs fine.npy
refused 2 compare fine.npy hole.npy "${rows[@]}" --name one --method ward
refused 3 compare fine.npy short.npy "${rows[@]}"
refused 3 compare fine.npy loss.npy "${rows[@]}"
refused 3 compare fine.npy nan.npy "${rows[@]}"
refused 3 compare fine.npy three.npy "${rows[@]}"
refused 2 compare fine.npy mixed.npy --ids-b mixed.csv "${rows[@]}"
echo mine > letter.html
refused 2 compare fine hole.npy --html letter.html
refused 2 report fine -o letter.html
[ "$(cat letter.html)" = mine ] || fail "a letter was overwritten"
for again in 1 2; do run 1 "" compare fine hole.npy --html letter.html --replace; done
run 1 "" compare fine hole.npy --html letter.html
for name in versions.csv versions.json report.html; do
    mkdir others && echo mine > others/$name
    refused 2 compare fine hole.npy --out others
    [ "$(cat others/*)" = mine ] || fail "$name of others was overwritten"
    for again in "--replace --full" --full; do run 1 "" compare fine hole.npy --out others $again; done
    rm -r others
done
refused 3 compare fine mixed.npy --ids-b strange.csv --embeddings e.npy
refused 3 compare fine.npy hole.npy "${rows[@]}" --ids twice.csv --ids-b twice.csv
refused 3 compare fine hole.npy --embeddings e.npy --ids mixed.csv
run 0 "" discover --embeddings e.npy --labels other.npy --probs hole.npy --ids ids.csv --method ward --no-report --out other
refused 3 compare fine other --embeddings e.npy

# --- folders with colons in their names: what is there counts
cp -r fine a:fine && cp hole.npy a:hole.npy
run 1 "" compare a:fine a:hole.npy --json
said 'k["slices"] == json.load(open("first.json"))["slices"] and k["before"] == "a:fine" and k["now"] == "a:hole"'

# --- the spelling that spotter check had: the same bytes, and a line that names the new one
new="two versions are compared by \`spotter compare A B\`"
run 1 "" compare fine.npy hole.npy "${rows[@]}" "${search[@]}" --json && cp out new.json
refused 1 check --against hole.npy "${rows[@]}" --probs fine.npy "${search[@]}" --json
cmp -s out new.json || fail "check --against is not compare"
run 1 "" compare fine mixed.npy --ids-b mixed.csv --json && cp out new.json
refused 1 check fine --against mixed.npy --against-ids mixed.csv --json
cmp -s out new.json || fail "check DIR --against is not compare"
refused 1 check fine hole --json
said 'k["slices"] == json.load(open("first.json"))["slices"] and k["now"] == "hole"'
refused 2 check --against hole.npy "${rows[@]}"
refused 2 check
refused 2 check fine
refused 2 check fine hole --against hole.npy --embeddings e.npy

[ $failed -eq 0 ] || exit 1
