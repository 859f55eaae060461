#!/usr/bin/env bash
# spotter discover as a run in parts: shards, a merge, a kill, a second process. $1: build folder.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "needs python3-numpy"; exit 77; }
cd "$dir" || exit 1

/usr/bin/python3 - <<'PYTHON'
import numpy as np
r = np.random.default_rng(3)
n, d, classes = 900, 12, 5
k = r.integers(6, size=n)
y = np.arange(n) % classes
e = 0.3 * r.standard_normal((n, d)).astype(np.float32)
e[:, 0] += 6 * np.cos(k * 1.0472)
e[:, 1] += 6 * np.sin(k * 1.0472)
wrong = np.where(k == 2, r.random(n) < 0.9, r.random(n) < 0.05)
p = np.full((n, classes), 0.02)
p[np.arange(n), np.where(wrong, (y + 1 + r.integers(classes - 1, size=n)) % classes, y)] = 0.9
p *= np.exp(0.2 * r.standard_normal(p.shape))
np.save("e.npy", e), np.save("y.npy", y), np.save("p.npy", (p / p.sum(1, keepdims=True)).astype(np.float32))
PYTHON

rows=(--embeddings e.npy --labels y.npy --probs p.npy --threads 2)
found() { "$spotter" discover "${rows[@]}" "$@" > out 2> err || fail "$* ended with $?: $(cat err)"; }

# same A B: both have the same findings and the same results of units.
same()
{
    for file in config.yaml slices.csv slices.json map.npy fit.safetensors subject.safetensors report.html; do
        cmp -s "$1/$file" "$2/$file" || fail "$file of $1 and of $2 differ"
    done
    diff -r -x '*.tmp' "$1/segments" "$2/segments" || fail "results of $1 and of $2 differ"
}

proof=(--method planespot-pca,ward --chance 19)
plain=(--method planespot-tsne,kmeans --no-proof)
found "${proof[@]}" --out proof
found "${plain[@]}" --out plain
[ "$(ls proof/segments/000 | wc -l)" = 6 ] || fail "a class has no result of its own: $(ls proof/segments/000)"
found "${proof[@]}" --out proof
grep -q '6 of 6 classes of proof are done; nothing to do' err || fail "done, and computed again: $(cat err)"

# --- shards in one folder, in any order; the last one makes the findings
for i in 2 0 1; do
    [ ! -e parts/slices.json ] || fail "findings before shard $i"
    found "${proof[@]}" --out parts --shard $i/3
done
same proof parts
"$spotter" status parts > out 2> err && grep -q '^6 of 6 classes done' out || fail "status: $(cat out err)"
SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=7 SLURM_ARRAY_TASK_STEP=4 \
    "$spotter" discover "${rows[@]}" "${plain[@]}" --out array > out 2> err || fail "an array: $(cat err)"
[ "$(ls array/segments/000 | wc -l)" = 3 ] || fail "the last task of two has not its part: $(ls array/segments/000)"
"$spotter" status array > out 2> err; grep -q 'spotter discover with --out array --shard I/2, I: 0$' out ||
    fail "status does not say how to go on: $(cat out err)"

# --- a folder for each shard, merged
for i in 0 1; do found "${plain[@]}" --out own$i --shard $i/2; done
refused 3 merge own0 --out none
grep -q 'missing: 2-4' err || fail "which classes are missing is not said: $(cat err)"
"$spotter" merge own0 own1 --cache --out merged > out 2> err || fail "merge ended with $?: $(cat err)"
found "${plain[@]}" --out merged
same plain merged
"$spotter" merge own0 own1 --out merged2 > out 2> err && found "${plain[@]}" --out merged2      # without the cache
same plain merged2

# --- other methods on the same rows are the same run; other rows are not
cp -r proof other && found --method kmeans --out other
found "${proof[@]}" --out other
same proof other
refused 2 discover --embeddings e.npy --labels y.npy --losses y.npy --method kmeans --out other

# --- killed at once, at a random moment, and by a stop: the same bytes
slow=(--method planespot-tsne,ward --class each --seed 1,2,3 --chance 19)
found "${slow[@]}" --out whole
for signal in KILL TERM; do
    "$spotter" discover "${rows[@]}" "${slow[@]}" --out cut$signal > out 2> err &
    child=$!
    for _ in $(seq 300); do [ -n "$(find cut$signal/cache -name '*.found' 2> /dev/null)" ] && break; sleep 0.02; done
    if [ $signal = KILL ]; then
        "$spotter" discover "${rows[@]}" "${slow[@]}" --out cut$signal > out2 2> err2
        [ $? = 2 ] && grep -q "process $child on .* computes these classes since" err2 || fail "a second process: $(cat err2)"
    fi
    kill -$signal $child && wait $child
    [ $? = $([ $signal = KILL ] && echo 137 || echo 75) ] || fail "$signal ended with another code: $(cat err)"
    [ ! -e cut$signal/slices.json ] || fail "findings of a run that was stopped by $signal"
    found "${slow[@]}" --out cut$signal
    same whole cut$signal
done

# --- a result that is damaged, or of other rows, is computed again
sed -i 's/"rank":1/"rank":2/' parts/segments/000/class-000002.json
found "${proof[@]}" --out parts
grep -q 'it is computed again' err || fail "a damaged result: $(cat err)"
same proof parts

[ $failed = 0 ] && echo "discover holds in parts"
exit $((failed > 0))
