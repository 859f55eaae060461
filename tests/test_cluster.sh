#!/usr/bin/env bash
# test_cluster.sh BUILD: one process of many: what schedulers' variables mean, time limits, signals, the cap on starts, status.
set -u
spotter=$(realpath "$1")/spotter
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
unset "${!SLURM_@}" JOB_COMPLETION_INDEX

fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
now()  { date +%s%N; }
ms()   { echo $(( ($(now) - $1) / 1000000 )); }

cat >"$dir/tiny.yaml" <<'END'
seed: 1
ecs: 12
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 8, val: 4, test: 8}}
model: {width: 16, epochs: 1, batch: 32, lr: 1.0e-3}
bdms: [{reduce: pca, mixture: {k_max: 4}}]
END
sed 's/epochs: 1/epochs: 200/; s/train: 8/train: 2000/' "$dir/tiny.yaml" >"$dir/long.yaml"

sweep() { "$spotter" sweep "$dir/tiny.yaml" --no-pictures --threads 1 --out "$@" >"$dir/out" 2>"$dir/err" </dev/null; }

# --- What schedulers' variables mean. "VARIABLES | ARGUMENTS | EXIT CODE | words on stderr"; A: SLURM_ARRAY_TASK_.
sweep "$dir/whole" || fail "the reference run: $(cat "$dir/err")"
while IFS='|' read -r set arguments code words; do
    set=${set//A_/SLURM_ARRAY_TASK_}
    words=$(sed 's/^ *//; s/ *$//' <<<"$words")
    # shellcheck disable=SC2086
    env $set "$spotter" sweep "$dir/tiny.yaml" --no-pictures --out "$dir/whole" $arguments >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    [ $got -eq $((code)) ] || fail "$set $arguments: exit code $got, not $code: $(cat "$dir/err")"
    if [ -n "$words" ]; then
        grep -qF -- "$words" "$dir/err" || fail "$set $arguments: stderr lacks '$words': $(cat "$dir/err")"
    elif grep -q '^shard' "$dir/err"; then fail "$set $arguments: took a shard: $(cat "$dir/err")"; fi
done <<'END'
                                                 |                  | 0 |
SLURM_NTASKS=4 SLURM_PROCID=0                    |                  | 0 |
SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0            |                  | 0 |
A_ID=                                            |                  | 0 |
A_ID=3 A_MIN=0 A_MAX=3 A_COUNT=4                 |                  | 0 | shard 3 of 4 (ECs 9-11), from SLURM_ARRAY_TASK_ID
A_ID=1 A_MIN=1 A_COUNT=4                         |                  | 0 | shard 0 of 4 (ECs 0-2), from SLURM_ARRAY_TASK_ID
A_ID=7 A_MIN=1 A_STEP=3 A_MAX=8 A_COUNT=3        |                  | 0 | shard 2 of 3 (ECs 8-11), from SLURM_ARRAY_TASK_ID
A_ID=19 A_MIN=0 A_COUNT=24                       | --limit 3        | 0 | shard 19 of 24 (no EC), from SLURM_ARRAY_TASK_ID
A_ID=3 A_MIN=0 A_COUNT=4                         | --shard 0/2      | 0 |
A_ID=3 A_MIN=3 A_MAX=7 A_COUNT=2                 | --shard auto/6   | 0 | shard 3 of 6 (ECs 6-7), from SLURM_ARRAY_TASK_ID
A_ID=3 A_MIN=3 A_MAX=7 A_COUNT=2                 |                  | 2 | an array with gaps
A_ID=5 A_MIN=0 A_COUNT=4                         |                  | 2 | an array with gaps
A_ID=0 A_MIN=1 A_COUNT=4                         |                  | 2 | an array with gaps
A_ID=2 A_MIN=1 A_STEP=2 A_COUNT=4                |                  | 2 | an array with gaps
A_ID=2 A_MIN=1 A_STEP=0 A_COUNT=4                |                  | 2 | an array with gaps
A_ID=2                                           |                  | 2 | nothing says of how many
A_ID=two A_MIN=0 A_COUNT=4                       |                  | 2 | SLURM_ARRAY_TASK_ID is "two", which is no number
A_ID=-1 A_MIN=0 A_COUNT=4                        |                  | 2 | which is no number
A_ID=1 A_MIN=0 A_COUNT=99999999999               |                  | 2 | which is no number
A_ID=6 A_MIN=0 A_COUNT=9                         | --shard auto/6   | 2 | has shards 0 to 5
SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1            |                  | 0 | shard 1 of 3 (ECs 4-7), from SLURM_PROCID
SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=3            |                  | 2 | SLURM_PROCID is not 0 to 2
SLURM_STEP_NUM_TASKS=3                           |                  | 2 | SLURM_PROCID is not 0 to 2
A_ID=1 A_MIN=0 A_COUNT=2 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2 | | 0 | shard 5 of 6 (ECs 10-11), from SLURM_ARRAY_TASK_ID and
JOB_COMPLETION_INDEX=2                           |                  | 2 | say --shard auto/N, N being the job's completions
JOB_COMPLETION_INDEX=2                           | --shard auto/3   | 0 | shard 2 of 3 (ECs 8-11), from JOB_COMPLETION_INDEX
JOB_COMPLETION_INDEX=3                           | --shard auto/3   | 2 | has shards 0 to 2
JOB_COMPLETION_INDEX=0 A_ID=0                    | --shard auto/3   | 2 | which is it?
                                                 | --shard auto/3   | 2 | neither is set
                                                 | --shard auto/0   | 2 | --shard takes auto/N
                                                 | --shard auto     | 2 | --shard takes I/N
END

# --- Time is up: 75 in time, whatever is going on, and not when everything fits.
start=$(now)
"$spotter" sweep "$dir/long.yaml" --no-pictures --threads 1 --max-seconds 2 --out "$dir/slow" >"$dir/out" 2>"$dir/err"
code=$?
[ $code -eq 75 ] && [ "$(ms "$start")" -lt 4000 ] || fail "--max-seconds: exit code $code after $(ms "$start") ms"
sweep "$dir/quick" --limit 2 --max-seconds 600 || fail "time for all: $(cat "$dir/err")"

# --- Begun five times for nothing: another code than 75. With --starts 0 never, and progress begins the count anew.
for try in 2 3 4 5 6; do
    extra=; want=75
    [ $try -ge 5 ] && want=5
    [ $try -eq 6 ] && { extra="--starts 0"; want=75; }
    # shellcheck disable=SC2086
    timeout -s USR1 --preserve-status 0.5 "$spotter" sweep "$dir/long.yaml" --no-pictures --threads 1 $extra \
        --out "$dir/slow" >"$dir/out" 2>"$dir/err"
    code=$?
    [ $code -eq $want ] || fail "start $try for nothing: exit code $code, not $want: $(cat "$dir/err")"
done
grep -q 'shard 0 of 1 was begun 5 times' "$dir"/slow/logs/* || fail "the logs do not say why it was given up"

[ $failed -eq 0 ] && echo "all well"
exit $failed
