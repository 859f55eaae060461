#!/usr/bin/env bash
# test_shards.sh BUILD: one process of many: what schedulers' variables mean, time limits, signals, the cap on starts, status.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" JOB_COMPLETION_INDEX

now()  { date +%s%N; }
ms()   { echo $(( ($(now) - $1) / 1000000 )); }

tiny 12 >"$dir/tiny.yaml"
sed 's/epochs: 1/epochs: 200/; s/train: 8/train: 2000/' "$dir/tiny.yaml" >"$dir/long.yaml"

sweep() { "$spotter" sweep "$dir/tiny.yaml" --no-pictures --threads 1 --out "$@" >"$dir/out" 2>"$dir/err" </dev/null; }

# --- What schedulers' variables mean. "VARIABLES | ARGUMENTS | EXIT CODE | words on stderr of code 0"; A: SLURM_ARRAY_TASK_.
sweep "$dir/whole" || fail "the reference run: $(cat "$dir/err")"
while IFS='|' read -r set arguments code words; do
    set=${set//A_/SLURM_ARRAY_TASK_}
    words=$(sed 's/^ *//; s/ *$//' <<<"$words")
    # shellcheck disable=SC2086
    env $set "$spotter" sweep "$dir/tiny.yaml" --no-pictures --out "$dir/whole" $arguments >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    [ $got -eq $((code)) ] || fail "$set $arguments: exit code $got, not $code: $(cat "$dir/err")"
    if [ $((code)) -ne 0 ]; then heard sweep "$arguments with $set"
    elif [ -n "$words" ]; then
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
A_ID=3 A_MIN=3 A_MAX=7 A_COUNT=2                 |                  | 2 |
A_ID=5 A_MIN=0 A_COUNT=4                         |                  | 2 |
A_ID=0 A_MIN=1 A_COUNT=4                         |                  | 2 |
A_ID=2 A_MIN=1 A_STEP=2 A_COUNT=4                |                  | 2 |
A_ID=2 A_MIN=1 A_STEP=0 A_COUNT=4                |                  | 2 |
A_ID=2                                           |                  | 2 |
A_ID=two A_MIN=0 A_COUNT=4                       |                  | 2 |
A_ID=-1 A_MIN=0 A_COUNT=4                        |                  | 2 |
A_ID=1 A_MIN=0 A_COUNT=99999999999               |                  | 2 |
A_ID=6 A_MIN=0 A_COUNT=9                         | --shard auto/6   | 2 |
SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=1            |                  | 0 | shard 1 of 3 (ECs 4-7), from SLURM_PROCID
SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=3            |                  | 2 |
SLURM_STEP_NUM_TASKS=3                           |                  | 2 |
A_ID=1 A_MIN=0 A_COUNT=2 SLURM_STEP_NUM_TASKS=3 SLURM_PROCID=2 | | 0 | shard 5 of 6 (ECs 10-11), from SLURM_ARRAY_TASK_ID and
JOB_COMPLETION_INDEX=2                           |                  | 2 |
JOB_COMPLETION_INDEX=2                           | --shard auto/3   | 0 | shard 2 of 3 (ECs 8-11), from JOB_COMPLETION_INDEX
JOB_COMPLETION_INDEX=3                           | --shard auto/3   | 2 |
JOB_COMPLETION_INDEX=0 A_ID=0                    | --shard auto/3   | 2 |
                                                 | --shard auto/3   | 2 |
                                                 | --shard auto/0   | 2 |
                                                 | --shard auto     | 2 |
END

# --- On a device the run's own folder has cuDNN's plans, which all its shards take; on the CPU there is none.
[ ! -e "$dir/whole/plans" ] || fail "a run on the CPU has plans"
SPOT_PLUGIN_DIR=$build/emulator SPOT_EMULATOR=identity sweep "$dir/device" --device cuda --max-seconds 1
[ -d "$dir/device/plans" ] || fail "a run on a device has no folder for plans: $(cat "$dir/err")"

# --- Two shards of a run that share its ECs and a base model: one trains it, a killed one leaves its ECs to the other.
sed 's/^model: *{/&base: {images: 64, epochs: 1}, /' "$dir/tiny.yaml" >"$dir/based.yaml"
"$spotter" sweep "$dir/based.yaml" --no-pictures --threads 1 --out "$dir/sole" >"$dir/out" 2>&1 </dev/null || fail "$(cat "$dir/out")"
both() { "$spotter" sweep "$dir/based.yaml" --no-pictures --threads 1 --out "$dir/both" --shared --shard "$1/2" >"$dir/both$1" 2>&1; }
both 1 </dev/null & other=$!
both 0 </dev/null || fail "shard 0 of a shared run: $(cat "$dir/both0")"
wait $other || fail "shard 1 of a shared run: $(cat "$dir/both1")"
[ "$(cat "$dir"/both/logs/* | grep -c '"event":"base"')" = 1 ] || fail "two processes trained the base model"
[ "$(cat "$dir"/both/logs/* | grep -c '"event":"done"')" = 12 ] || fail "an EC was computed twice, or never"
diff -r "$dir/sole/segments" "$dir/both/segments" || fail "a shared run has other segments"
[ ! -e "$dir/both/claims" ] || fail "claims stay: $(ls "$dir/both/claims")"
rm -r "$dir"/both/segments/000/ec-0000{01,07,08}.json
mkdir "$dir/both/claims"
echo "999999999 $(uname -n) $(date +%s)" >"$dir/both/claims/ec-000008"
both 0 </dev/null || fail "a shared run again: $(cat "$dir/both0")"
grep -q '^3 ECs done now in .*, of its own part or of others; 5 of its 6 were done before' "$dir/both0" || fail "$(cat "$dir/both0")"
diff -r "$dir/sole/segments" "$dir/both/segments" || fail "a shared run that continues has other segments"
[ ! -e "$dir/both/claims" ] || fail "claims stay: $(ls "$dir/both/claims")"

# --- Time is up: 75 in time, whatever is going on, and not when everything fits. Only beside much other work is it processor
# time that is compared; the training alone would take minutes.
TIMEFORMAT='%R %U %S'
{ time "$spotter" sweep "$dir/long.yaml" --no-pictures --threads 1 --max-seconds 2 --out "$dir/slow" >"$dir/out" 2>"$dir/err"
  code=$?; } 2>"$dir/spent"
[ $code -eq 75 ] && awk -v cores="$(nproc)" 'NR == 1 { load = $1; next } { exit !($1 < 4 || (load > 3 * cores && $2 + $3 < 4)) }' \
    /proc/loadavg "$dir/spent" || fail "--max-seconds: exit code $code after $(cat "$dir/spent") s: $(cat "$dir/err")"
sweep "$dir/quick" --limit 2 --max-seconds 600 || fail "time for all: $(cat "$dir/err")"

# A planted world counts: its models would train for hours.
printf 'study: background\nzoo: {models: 9, train: 6000, epochs: 33}\nontology: {excluded: flowers}\n' >"$dir/world.yaml"
timeout 60 "$spotter" background "$dir/world.yaml" --threads 1 --max-seconds 2 --out "$dir/world" >"$dir/out" 2>"$dir/err"
[ $? -eq 75 ] || fail "--max-seconds while a world is made: $(cat "$dir/err")"

# --- Begun five times for nothing, each time another signal in the midst of a training: another code than 75 in the end. With
# --starts 0 never. (Progress begins the count anew: below a run lives through more than five signals.)
planned() { cat "$1"/logs/* 2>/dev/null | grep -c '"event":"planned"'; }
# spent PID: a process's own time on the processor, in ticks of 10 ms; "" when it has ended.
spent() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }
# amid PID DIR N: waits until the N-th start in DIR has computed for 0.3 s of processor time; fails when it ends before.
amid()
{
    local from now

    until [ "$(planned "$2")" -ge "$3" ]; do kill -0 "$1" 2>/dev/null || return 1; sleep 0.02; done
    from=$(spent "$1")
    until now=$(spent "$1"); [ -n "$now" ] && [ "$now" -ge $((from + 30)) ]; do
        kill -0 "$1" 2>/dev/null || return 1
        sleep 0.02
    done
}
signals=(TERM HUP USR1 USR2 INT)
for try in 2 3 4 5 6; do
    want=75 starts=5
    [ $try -eq 5 ] && want=5
    [ $try -eq 6 ] && starts=0
    env --default-signal=HUP,INT "$spotter" sweep "$dir/long.yaml" --no-pictures --threads 1 --starts $starts \
        --out "$dir/slow" >"$dir/out" 2>"$dir/err" </dev/null &
    pid=$!
    amid $pid "$dir/slow" $try || fail "start $try for nothing: it ended by itself"
    kill -"${signals[try - 2]}" $pid
    wait $pid
    code=$?
    [ $code -eq $want ] || fail "start $try for nothing: exit code $code, not $want: $(cat "$dir/err")"
done
grep -q 'shard 0 of 1 was begun 5 times' "$dir"/slow/logs/* || fail "the logs do not say why it was given up"

# --- How it stands: 75 until every EC is done, and the command that goes on.
status() { "$spotter" status "$@" >"$dir/out" 2>"$dir/err"; code=$?; }
status "$dir/whole"
[ $code -eq 0 ] && grep -q '12 of 12 ECs done' "$dir/out" || fail "status of a whole run: $code $(cat "$dir/out" "$dir/err")"
sweep "$dir/part" --shard 1/4 || fail "a shard: $(cat "$dir/err")"
status "$dir/part"
[ $code -eq 75 ] && grep -q '^4 shards: 1 done, 3 waiting$' "$dir/out" || fail "status of a quarter: $code $(cat "$dir/out")"
eval "$(grep '^    for' "$dir/out" | sed "s#; done# --no-pictures; done#")" >"$dir/err" 2>&1
status "$dir/part" --json
[ $code -eq 0 ] && grep -q '"done": 12' "$dir/out" || fail "the command of status: $(cat "$dir/err" "$dir/out")"
refused 4 status "$dir"

# --- A signal, another one while it stops, a burst of all: 75, and nothing is lost. One thread, several, side by side.
same()
{
    diff -r -x '*.tmp' "$dir/whole/segments" "$dir/$1/segments" >"$dir/diff" || fail "$1: $(head -c 300 "$dir/diff")"
}
count() { find "$1/segments" -name '*.json' 2>/dev/null | wc -l; }
# stopped NAME "SIGNALS; SIGNALS" ARGUMENTS...: lives of one run, each stopped after an EC at least; then on to the end.
stopped()
{
    local name=$1 lives=$2 signals before pid start code stops=0
    shift 2
    while read -r -d ';' signals; do
        before=$(count "$dir/$name")
        env --default-signal=HUP "$spotter" sweep "$dir/tiny.yaml" --no-pictures --out "$dir/$name" "$@" >"$dir/out" \
            2>"$dir/err" </dev/null &
        pid=$!
        while [ "$(count "$dir/$name")" = "$before" ] && kill -0 $pid 2>/dev/null; do sleep 0.03; done
        start=$(now)
        for s in $signals; do kill -"$s" $pid 2>/dev/null; done
        wait $pid; code=$?
        [ $code -eq 75 ] && stops=$((stops + 1))
        [ $code -eq 75 ] || [ $code -eq 0 ] || fail "$signals, $*: exit code $code, not 75: $(cat "$dir/err")"
        [ "$(ms "$start")" -lt 20000 ] || fail "$signals, $*: more than 20 s until the exit"
    done <<<"$lives;"
    [ $stops -gt 0 ] || fail "$lives, $*: no signal came in time"
    "$spotter" sweep "$dir/tiny.yaml" --no-pictures --out "$dir/$name" "$@" >"$dir/out" 2>"$dir/err" </dev/null ||
        fail "$lives, $*: going on: $(cat "$dir/err")"
    same "$name"
}
stopped one "CONT TERM; INT; HUP; USR1; USR2; TERM USR1 CONT TERM INT HUP USR2 TERM" --threads 1
stopped crew "USR2 TERM; TERM TERM" --threads 3 --wave 3 --at-once 2

# --- A process a GPU (here of none): each has its part, they stop together, and none outlives its parent.
sweep "$dir/gpus" --device cpu --gpus 0,1,3 --json || fail "--gpus: $(cat "$dir/err")"
same gpus
grep -q '"done": 12' "$dir/out" || fail "--gpus: $(cat "$dir/out")"
grep -q '^\[gpu 3\] ' "$dir/err" || fail "--gpus: whose lines are these? $(cat "$dir/err")"
[ "$(find "$dir/gpus/logs" -name '*-of-3-*' | wc -l)" = 3 ] || fail "--gpus: no three shards"
[ -s "$dir/gpus/results.sqlite" ] || fail "--gpus: no database"
stopped two "TERM" --device cpu --gpus 0,1
"$spotter" sweep "$dir/long.yaml" --no-pictures --device cpu --gpus 0,1 --out "$dir/orphans" >"$dir/out" 2>&1 </dev/null &
pid=$!
until [ "$(find "$dir/orphans/logs" -name '*.jsonl' 2>/dev/null | wc -l)" = 2 ]; do sleep 0.05; done
kill -KILL $pid; wait $pid 2>/dev/null
start=$(now)
until [ "$(cat "$dir/orphans/logs/"* | grep -c '"status":"STOPPED"')" = 2 ]; do
    [ "$(ms "$start")" -lt 30000 ] || { fail "processes outlive the one that began them: $(tail -n 2 "$dir"/orphans/logs/* "$dir/out")"; break; }
    sleep 0.1
done
for gpus in 0,0 0,x 9; do
    CUDA_VISIBLE_DEVICES=4,5 refused 2 sweep "$dir/tiny.yaml" --out "$dir/none" --device cpu --gpus $gpus
done
[ ! -e "$dir/none" ] || fail "--gpus that cannot be left a run directory"

[ $failed -eq 0 ] && echo "all well"
exit $failed
