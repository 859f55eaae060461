#!/usr/bin/env bash
# test_kill.sh BUILD: sweeps killed at random moments, stopped, sharded and threaded all end in the same bytes.
# ctest: serial, because its kills are timed
set -u
. "$(dirname "$0")/lib.sh"
KILLS=16
RANDOM=20                                  # the moments are drawn from this seed

cat >"$dir/tiny.yaml" <<'EOF'
seed: 3
ecs: 3
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 16, val: 4, test: 20}}
model: {width: 16, epochs: 2, batch: 32, lr: 1.0e-3, base: {images: 256, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 6}}
  - {method: planespot, reduce: tsne, tsne: {iterations: 300}, mixture: {k_max: 6}}
EOF

sweep() { "$spotter" sweep "$dir/tiny.yaml" --no-pictures --out "$@" >"$dir/out" 2>"$dir/err" </dev/null; }
# begin OUT: in the background, as pid.
begin()
{
    "$spotter" sweep "$dir/tiny.yaml" --no-pictures --threads 1 --out "$1" >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
}
now()   { date +%s%N; }

# same NAME WHAT: the run has the reference's segments and tables, and no others (a kill may leave temp files).
same()
{
    diff -r -x '*.tmp' "$dir/whole/segments" "$dir/$1/segments" >"$dir/diff" ||
        fail "$2: other segments: $(head -c 300 "$dir/diff")"
    (cd "$dir/$1" && "$spotter" tables . 2>&1) | diff - "$dir/whole.txt" >"$dir/diff" ||
        fail "$2: other tables: $(head -c 300 "$dir/diff")"
}

start=$(now)
sweep "$dir/whole" --threads 1 || fail "the reference run: $(cat "$dir/err")"
ms=$(( ($(now) - start) / 1000000 ))
(cd "$dir/whole" && "$spotter" tables . >"$dir/whole.txt" 2>&1) || fail "its tables: $(cat "$dir/whole.txt")"

# --- Again: nothing is done, and it says so.
sweep "$dir/whole" --threads 1 --json || fail "the second run: $(cat "$dir/err")"
grep -q 'nothing to do' "$dir/err" || fail "the second run does not say that there was nothing to do: $(cat "$dir/err")"
grep -qE '"done": *0' "$dir/out" && grep -qE '"already": *3' "$dir/out" || fail "the second run: $(cat "$dir/out")"

# --- Two threads; two shards at once into one directory.
sweep "$dir/threads" --threads 2 || fail "with two threads: $(cat "$dir/err")"
same threads "two threads"
(sweep "$dir/shards" --threads 1 --shard 0/2) & first=$!
(sweep "$dir/shards" --threads 1 --shard 1/2) & second=$!
wait $first || fail "shard 0 of 2"
wait $second || fail "shard 1 of 2"
same shards "two shards"

# --- SIGTERM: 75 within 20 s, then to the end.
code=0
for part in 2 3 5 9; do                    # a machine in a hurry may be done before the signal comes
    rm -rf "$dir/term"
    begin "$dir/term"
    sleep "$(printf '%d.%03d' $((ms / part / 1000)) $((ms / part % 1000)))"
    kill -TERM $pid 2>/dev/null
    start=$(now)
    wait $pid; code=$?
    [ $code -eq 0 ] || break
done
[ $code -eq 75 ] || fail "SIGTERM: exit code $code, not 75: $(cat "$dir/err")"
[ $(( ($(now) - start) / 1000000000 )) -lt 20 ] || fail "SIGTERM: more than 20 s until the exit"
sweep "$dir/term" --threads 1 || fail "after SIGTERM: $(cat "$dir/err")"
same term "stopped by SIGTERM and resumed"

# --- SIGKILL at random moments, several in the life of one directory, which is then run to its end.
kills=0 lives=0
while [ $kills -lt $KILLS ] && [ $lives -lt 40 ]; do
    lives=$((lives + 1))
    rm -rf "$dir/killed"
    for _ in 1 2 3 4; do
        begin "$dir/killed"
        at=$((RANDOM % ms * 2 / 3))
        sleep "$(printf '%d.%03d' $((at / 1000)) $((at % 1000)))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        case $? in
        137) kills=$((kills + 1)) ;;
        0)   break ;;                      # it was done before the signal came
        *)   fail "killed run: $(cat "$dir/err")" ;;
        esac
    done
    sweep "$dir/killed" --threads 1 || fail "after $kills kills: $(cat "$dir/err")"
    same killed "killed and resumed, life $lives"
done
[ $kills -ge $KILLS ] || fail "only $kills of $KILLS kills hit a run"

[ $failed -eq 0 ] && echo "$kills kills in $lives lives, reference run $ms ms: all equal"
exit $failed
