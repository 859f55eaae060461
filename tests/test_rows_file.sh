#!/usr/bin/env bash
# The options that say how rows are read, in a file: discover, assign and compare; paths, priority, what is refused.
# $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1
mkdir data
/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
n = 600
y, blob = np.arange(n) % 2, (np.arange(n) // 2) % 6
e = (4 * r.standard_normal((2, 6, 8))[y, blob] + r.standard_normal((n, 8))).astype(np.float32)
def probs(hole):
    wrong = r.random(n) < np.where((y == 0) & (blob == hole), 0.9, 0.05)
    p = np.where(wrong, 0.2, 0.85)
    return np.where(y[:, None] == [0, 1], p[:, None], 1 - p[:, None]).astype(np.float32)
for name, x in {"e": e, "y": y, "p": probs(2), "p2": probs(4), "other": y[::-1]}.items():
    np.save(f"data/{name}.npy", x)
open("data/ids.csv", "w").write("id\n" + "".join(f"row{i}\n" for i in range(n)))
PYTHON
printf 'embeddings: e.npy\nlabels: y.npy\nprobs: p.npy\nids: ids.csv:id\n' >data/rows.yaml
words=(--embeddings data/e.npy --labels data/y.npy --probs data/p.npy --ids data/ids.csv:id)
search=(--method ward --threads 2 --no-report)

# --- the same as the options, from another folder, from its own, and by an absolute path
run 0 "" discover "${words[@]}" "${search[@]}" --out words
run 0 "" discover data/rows.yaml "${search[@]}" --out file
cmp -s words/slices.json file/slices.json || fail "a file of rows gives another result"
run 0 "" discover "$dir/data/rows.yaml" "${search[@]}" --out absolute
cmp -s words/slices.csv absolute/slices.csv || fail "an absolute path gives another result"
(cd data && run 0 "" discover rows.yaml "${search[@]}" --out ../own; exit $failed) || failed=1
cmp -s words/slices.csv own/slices.csv || fail "the file's own folder gives another result"
sed "s|: \(.*npy\)|: $dir/data/\1|; s|ids.csv|$dir/data/ids.csv|" data/rows.yaml >far.yaml
run 0 "" discover far.yaml "${search[@]}" --out far
cmp -s words/slices.csv far/slices.csv || fail "absolute paths in the file give another result"

# --- the command line has priority; its paths begin at the current directory
run 0 "" discover data/rows.yaml --probs data/p2.npy "${search[@]}" --out second
run 0 "" discover "${words[@]:0:4}" --probs data/p2.npy "${words[@]:6}" "${search[@]}" --out second_words
cmp -s second/slices.json second_words/slices.json || fail "an option does not beat the file"
/usr/bin/python3 -c "print('video\n' + '\n'.join(str(i % 60) for i in range(600)))" >data/groups.csv
printf 'groups: groups.csv:video\n' >>data/rows.yaml
run 0 "600 rows are in 60 groups" discover data/rows.yaml "${search[@]}" --out grouped
run 0 "" discover "${words[@]}" --groups data/groups.csv:video "${search[@]}" --out grouped_words
cmp -s grouped/config.yaml grouped_words/config.yaml || fail "groups of a file of rows are other groups"
cmp -s grouped/config.yaml words/config.yaml && fail "findings of other groups are the same findings"
refused 2 discover "${words[@]}" "${search[@]}" --out grouped
sed -i 's/^groups: .*/groups: rows/' data/rows.yaml
run 0 "" discover data/rows.yaml "${search[@]}" --out alone
cmp -s alone/slices.json words/slices.json || fail "rows that are alone give another result"
sed -i '/^groups: /d' data/rows.yaml
printf 'crop: 64\nresize: 0\nskip-unreadable: true\nrows: misses\niou: 0.4\n' >>data/rows.yaml
refused 2 discover data/rows.yaml "${search[@]}" --out none
sed -i '/^rows: /d; /^iou: /d' data/rows.yaml

# --- assign and compare read what they know
run 0 "" assign words "${words[@]}" --out words.csv
run 0 "" assign words data/rows.yaml --out file.csv
cmp -s words.csv file.csv || fail "assign gives another result"
refused 2 assign words --out none.csv
run 1 "" compare data/p.npy data/p2.npy "${words[@]:0:4}" "${words[@]:6}" --method ward --json
cp out compare.json
run 1 "" compare data/p.npy data/p2.npy data/rows.yaml --method ward --json
cmp -s out compare.json || fail "compare gives another result"
run 1 "" compare words data/p2.npy data/rows.yaml --json
/usr/bin/python3 -c "import json; a, b = (json.load(open(f))['slices'] for f in ('out', 'compare.json')); assert a == b, a" ||
    fail "compare of findings with a file of rows gives another result"
refused 2 compare "$dir" "$dir" data/rows.yaml

# --- what is refused names file and line
bad() { printf "embeddings: e.npy\n%b\n" "$1" >data/bad.yaml; refused "${2:-2}" discover data/bad.yaml --out none; }
bad 'lables: y.npy'
bad 'out: found'
bad 'labels: y.npy\nlabels: y.npy'
bad 'crop: 0'
bad 'skip-unreadable: 3'
bad 'rows: miss'
bad 'labels: [y.npy]'
bad 'labels: {'
bad ''
bad 'labels: nowhere.npy\nprobs: p.npy' 4
: >data/empty.yaml
refused 2 discover data/empty.yaml --out none
refused 2 discover data/nothing.yaml --out none
refused 2 discover data/rows.yaml data/rows.yaml --out none
[ ! -e none ] || fail "a refused file left a folder"
[ $failed -eq 0 ] || exit 1
