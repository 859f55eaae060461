#!/usr/bin/env bash
# test_program_known.sh BUILD: a program behind --predict is known by its answers: one that was trained again behind the same
# command is noticed by `examine` and `background`, the last bits are not; --identity; shards of several machines; variants.
# ctest: timeout 300
set -u
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy, PIL' 2>/dev/null || { echo "needs python3-numpy and python3-pil"; exit 77; }
/usr/bin/python3 examine_world.py "$dir/meshes" 3 || fail "no world"
/usr/bin/python3 backgrounds_world.py make "$dir/w" 4 >/dev/null || fail "no backgrounds"
cd "$dir" || exit 1

# The network is a file of two numbers: the weight of the corners, and a factor of all logits.
cat >program.py <<END
import sys
sys.path.insert(0, "$(realpath "$tests/../tools/python/examples")")
import numpy as np
from protocol import serve
corner, factor = map(float, open(sys.argv[1]).read().split())
def answer(rgb):
    x = rgb.astype(np.float64) / 255
    logits = factor * (x[:, 24:40, 24:40].mean((1, 2)) * 8 - corner * x[:, :8, :8].mean((1, 2)))
    return logits, logits[:, :2] + 9, np.zeros((len(x), 0))
serve(answer)
END
network() { echo "$1 ${2:-1}" >net.txt; }
predict="/usr/bin/python3 program.py net.txt"
differ="the program's answers differ from those of the run: its logits by up to"

# --- examine
examine=(examine --objects meshes --renders 60 --size 32 --predict "$predict")
network 1
run 0 "" "${examine[@]}" --out e
run 0 "nothing to do" "${examine[@]}" --out e
network 1 1.0000002
run 0 "nothing to do" "${examine[@]}" --out e
cp -r e e.old
network 1.2
run 0 "$differ" "${examine[@]}" --out e
grep -q "nothing to do" err && fail "examine: old numbers of a program that was trained again"
run 0 "" "${examine[@]}" --out e.new
cmp -s e/examine.json e.new/examine.json || fail "examine: old answers among the new"
cmp -s e/examine.json e.old/examine.json && fail "examine: the numbers are the old ones"
run 0 "nothing to do" "${examine[@]}" --out e
network 1
run 0 "" "${examine[@]}" --out e
grep -q "nothing to do" err && fail "examine: the numbers of another program"
cmp -s e/examine.json e.old/examine.json || fail "examine: the first program is not known again"

# Shards whose programs differ in the last bits, in a directory each, are one run; of different programs they are none.
run 0 "" "${examine[@]}" --out s0 --shard 0/2
network 1 1.0000002
run 0 "" "${examine[@]}" --out s1 --shard 1/2
run 0 "" merge s0 s1 --out merged
run 0 "nothing to do" "${examine[@]}" --out merged
network 1.2
run 0 "" "${examine[@]}" --out s2 --shard 1/2
run 3 "mixes results of different weights" merge s0 s2 --out mixed

# --- A name in place of the answers.
run 0 "" "${examine[@]}" --out named --identity "epoch 3"
network 2
run 0 "nothing to do" "${examine[@]}" --out named --identity "epoch 3"
run 0 "" "${examine[@]}" --out named --identity "epoch 4"
grep -q "nothing to do" err && fail "another name is another program"
ls named/programs/* >/dev/null 2>&1 && fail "answers of a program with a name are kept"
run 2 "--identity names the program of --predict" examine --objects meshes --model x --identity y --out x

# --- background, with a variant that takes the answers of the config's own run
sed -e '/^models:/,$d' w/alone.yaml >b.yaml
printf 'models:\n  - {name: mine, command: %s}\nvary: [{name: wide, measure: {kernel: 11}}]\n' "$predict" >>b.yaml
network 1
run 0 "" background b.yaml --out b
run 0 "nothing to do" background b.yaml --out b
cp b/background.json old.json
network 1.2
run 0 "mine: $differ" background b.yaml --out b
run 0 "" background b.yaml --out b.new
for of in . variants/wide; do
    cmp -s b/$of/background.json b.new/$of/background.json || fail "background: old answers among the new in $of"
done
cmp -s b/background.json old.json && fail "background: the numbers are the old ones"
run 0 "nothing to do" background b.yaml --out b
echo "raise SystemExit('no weights')" >program.py
run 3 "no weights" background b.yaml --out b
[ $failed = 0 ] || { echo "$failed failures"; exit 1; }
