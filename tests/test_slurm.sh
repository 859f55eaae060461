#!/usr/bin/env bash
# test_slurm.sh BUILD [long]: a sweep under a real Slurm of four nodes. Tasks are queued again, cancelled and preempted, a node
# dies under its task, a program is killed. In the end all is there, the same to the byte as of a single process. `long` adds
# what waits for Slurm's clocks: a program that does not stop when it should, the time limit, a node that falls silent.
# ctest: long
set -u
spotter=$(realpath "$1")/spotter
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
scripts=$(realpath ../tools/slurm)
. slurm/cluster.sh
if why=$(cluster_missing); then echo "skipped: $why"; exit 77; fi

dir=$(mktemp -d)
trap 'cluster_stop "$dir"; rm -rf "$dir"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=$((failed + 1)); }
give_up()
{
    echo "FAILED: $*"
    squeue -r -o '%i %P %t %r %N'
    tail -n 20 "$dir"/*/slurm/*.log "$dir"/hand-*.log "$dir"/slurmctld.log
    exit 1
} 2>/dev/null

# within SECONDS WHAT COMMAND...: looks until the command succeeds.
within()
{
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@"; do
        [ $SECONDS -lt $end ] || give_up "$what: not in time"
        sleep 0.1
    done
}

cat >"$dir/tiny.yaml" <<'END'
seed: 3
ecs: 24
scene: {size: 32, rollable: [4, 4], blindspots: [1, 1], specificity: [3, 3], per_bucket: {train: 10, val: 4, test: 20}}
model: {width: 16, epochs: 2, batch: 32, lr: 1.0e-3, base: {images: 64, epochs: 1}}
bdms:
  - {method: planespot, reduce: pca, mixture: {k_max: 6}}
END
sweep=("$spotter" sweep "$dir/tiny.yaml" --no-pictures --threads 1 --out)

# equal NAME: the directory has the segments and the database of the undisturbed run.
equal()
{
    diff -rq -x '*.tmp' "$dir/whole/segments" "$dir/$1/segments" || fail "$1: other segments"
    cmp "$dir/whole/results.sqlite" "$dir/$1/results.sqlite" || fail "$1: another database"
}

# submit: the sweep in dir/array, as job and merge_job.
submit()
{
    "${sweep[@]}" "$dir/array" --submit --shards 6 "$@" >"$dir/out" 2>&1 || give_up "submit: $(cat "$dir/out")"
    job=$(sed -E 's/.*"job":"([0-9]+)".*/\1/' "$dir/array/slurm/submitted.json")
    merge_job=$(sed -E 's/.*"merge_job":"([0-9]+)".*/\1/' "$dir/array/slurm/submitted.json")
}

# Slurm's answer about a job: field JOB NAME, such as JobState.
field() { scontrol -o show job "$1" 2>/dev/null | tr " " "\n" | sed -n "s/^$2=//p"; }
is()    { [ "$(field "$1" "$2")" = "$3" ]; }
over()  { ! squeue -h -o %i -j "$1" 2>/dev/null | grep -q .; }

# process DIR SHARD: the latest that has begun; its log's name says which.
process()
{
    local log latest=
    for log in "$dir/$1/logs/$2-of-"*; do [ -s "$log" ] && [ "$log" -nt "$latest" ] && latest=$log; done
    latest=${latest##*-}
    echo "${latest%.jsonl}"
}
# Halts the shard's process in the midst of its work, until someone says SIGCONT.
halt()    { local pid; pid=$(process "$1" "$2"); [ -n "$pid" ] && kill -STOP "$pid" 2>/dev/null; }
gone()    { ! kill -0 "$1" 2>/dev/null; }

# stands WHAT SILENCE STATES: what spotter status says of the six shards of dir/array.
stands()
{
    local states
    states=$("$spotter" status --json --lost-after $2 "$dir/array" | sed -nE 's/.*"state": "(.*)",/\1/p' | tr '\n' ' ')
    [ "$states" = "$3 " ] || fail "$1, spotter status says $states, not $3"
}

cluster_start "$dir" >"$dir/out" 2>&1 || give_up "no Slurm: $(cat "$dir/out" "$dir"/*.err)"
start=$SECONDS
"${sweep[@]}" "$dir/whole" >"$dir/out" 2>&1 || give_up "the undisturbed run: $(cat "$dir/out")"

# --- Jobs that always fail are not begun for ever: one that is always stopped, and one that finds no disk.
sed 's/most=20/most=1/' "$scripts/sweep.sbatch" >"$dir/hasty.sbatch"
by_hand=(sbatch --parsable --cpus-per-task=1 --output="$dir/hand-%j.log")
stopped=$("${by_hand[@]}" "$dir/hasty.sbatch" sh -c 'echo begun; exit 75')
ill=$("${by_hand[@]}" "$scripts/sweep.sbatch" sh -c 'echo begun; exit 4')
refused=$("${by_hand[@]}" "$scripts/sweep.sbatch" sh -c 'echo begun; exit 3')

# --- What is submitted is what is in tools/slurm, of as many tasks as there should be; without Slurm it says so.
array="$dir/dry/slurm/array.sbatch"
"${sweep[@]}" "$dir/dry" --submit --shards 3 --gpus-per-task 2 --throttle 1 --dry-run >"$dir/out" 2>&1 || fail "a dry run"
line="--array=0-2%1 .*--ntasks=2 --gpus-per-task=1 .*--shard auto/3 .*--device cuda"
grep -q -- "$line" "$dir/out" || fail "a dry run: $(cat "$dir/out")"
cmp "$scripts/sweep.sbatch" "$array" && cmp "$scripts/merge.sbatch" "${array/array/merge}" || fail "other scripts"
"${sweep[@]}" "$dir/dry" --submit --shards 24 --dry-run >"$dir/out" 2>&1
grep -q -- '--array=0-15 ' "$dir/out" || fail "an array of more tasks than MaxArraySize: $(cat "$dir/out")"
"${sweep[@]}" "$dir/dry" --submit --task-minutes 7 --dry-run >"$dir/out" 2>&1
grep -q 'in all on this machine: tasks of' "$dir/out" && grep -q -- '--array=0 .*--time=21 ' "$dir/out" ||
    fail "a number of tasks that is reckoned: $(cat "$dir/out")"
body() { sed '1,/^# --- From here/d' "$1"; }
for other in sweep_gpu nightly; do
    diff <(body "$scripts/sweep.sbatch") <(body "$scripts/$other.sbatch") || fail "sweep.sbatch and $other.sbatch differ"
done
[ -n "$(body "$scripts/sweep.sbatch")" ] || fail "nothing of sweep.sbatch was compared"
PATH=/nowhere "${sweep[@]}" "$dir/none" --submit >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q 'there is no sbatch here' "$dir/out" && [ ! -e "$dir/none" ] || fail "without sbatch: $(cat "$dir/out")"

# --- With programs that play Slurm: a container without scontrol; a forgotten copy of a task; the present one.
copy() { PATH=$dir/played SLURM_JOB_ID=9 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 SLURM_RESTART_COUNT=$1 \
         /bin/bash "$scripts/sweep.sbatch" >"$dir/out" 2>&1; }
mkdir "$dir/played"
ln -s "$(command -v grep)" "$dir/played/grep"
printf '#!/bin/sh\nexit 75\n' >"$dir/played/srun"
chmod +x "$dir/played/srun"
copy 1; [ $? -eq 75 ] && grep -q 'no scontrol here' "$dir/out" || fail "without scontrol: $(cat "$dir/out")"
printf '#!/bin/sh\n[ $1 = requeue ] && echo queued $2 || echo "JobId=9 JobState=RUNNING Reason=None Restarts=1 BatchFlag=1"\n' \
    >"$dir/played/scontrol"
chmod +x "$dir/played/scontrol"
copy 0; [ $? -eq 75 ] && [ ! -s "$dir/out" ] || fail "a forgotten copy: $(cat "$dir/out")"
copy 1; [ $? -eq 75 ] && grep -q '^queued 7_2$' "$dir/out" || fail "the task that was stopped: $(cat "$dir/out")"

# --- A sweep of six shards on four nodes. Four are halted, and something happens to each.
submit --sbatch --hold
stands "submitted" 1 "waiting waiting waiting waiting waiting waiting"
"${sweep[@]}" "$dir/array" --submit >"$dir/out" 2>&1
[ $? -eq 2 ] && grep -q 'still in the queue' "$dir/out" || fail "submitted twice at once: $(cat "$dir/out")"
mv "$dir/tiny.yaml" "$dir/gone.yaml"       # the jobs have a copy
scontrol release "$job" "$merge_job"
for shard in 0 1 2 3; do within 60 "shard $shard begins" halt array $shard; done
orphan=$(process array 3)
for shard in 0 1 2 3; do
    is "${job}_$shard" JobState RUNNING || give_up "shard $shard was through before anything could happen to it"
    node[shard]=$(field "${job}_$shard" NodeList)
done
stands "halted" 100 "running running running running waiting waiting"
kill -KILL "$(cluster_node_pid "${node[3]#n}")"
scontrol update nodename="${node[3]}" state=down reason=test
scontrol requeue "${job}_0"
scancel "${job}_1"
sbatch -p high -w "${node[2]}" --output=/dev/null --wrap 'sleep 1' >/dev/null || give_up "no job that preempts"
within 60 "the preempted task is queued again" is "${job}_2" Restarts 1
grep -q 'STOPPED' "$dir/array/logs/2-of-6-"* || fail "the preempted task was killed: it had time to stop"
within 60 "the task of the dead node is queued again" is "${job}_3" Restarts 1
kill -0 "$orphan" || fail "nobody is left of the dead node's task: nothing is tried here"

# --- The program of another is killed: it is not begun again, since it would come out the same.
within 60 "shard 4 begins" halt array 4
kill -KILL "$(process array 4)"

# --- A SIGTERM for all of a task, its script included, as some sites send it.
within 60 "shard 5 begins" halt array 5
scancel --full --signal=TERM "${job}_5"
kill -CONT "$(process array 5)"

within 120 "the array ends" over "$job"
within 60 "the merge ends" over "$merge_job"
is "$merge_job" ExitCode 3:0 || fail "the merge found nothing missing: $(cat "$dir/array/slurm/$merge_job.log")"
is "${job}_0" JobState COMPLETED || fail "the task that was queued again: $(field "${job}_0" JobState)"
is "${job}_1" JobState CANCELLED || fail "the task that was cancelled: $(field "${job}_1" JobState)"
is "${job}_2" JobState COMPLETED || fail "the task that was preempted: $(field "${job}_2" JobState)"
is "${job}_3" JobState COMPLETED || fail "the task whose node died: $(field "${job}_3" JobState)"
is "${job}_4" JobState FAILED || fail "the task whose program was killed: $(field "${job}_4" JobState)"
is "${job}_5" JobState COMPLETED || fail "the task that got SIGTERM: $(field "${job}_5" JobState)"
stands "with the array over" 1 "done waiting done done lost done"

# --- Submitted again: the two shards of which something is missing. On the way the copy that was forgotten comes to life.
kill -CONT "$orphan"
mv "$dir/gone.yaml" "$dir/tiny.yaml"
submit
grep -q '2 of 6 shards' "$dir/out" || fail "submitted again: $(cat "$dir/out")"
within 60 "the second array ends" over "$job"
within 60 "the second merge ends" over "$merge_job"
is "$merge_job" ExitCode 0:0 || fail "something is missing: $(cat "$dir/array/slurm/$merge_job.log")"
within 60 "the forgotten copy ends" gone "$orphan"
equal array
stands "in the end" 1 "done done done done done done"
submit
grep -q 'nothing to submit' "$dir/out" || fail "submitted when all was done: $(cat "$dir/out")"

# --- A night as a job: one that is preempted goes on with the night that it began; one that is cancelled stays away.
night()
{
    NIGHT=$1 "${by_hand[@]}" --chdir="$(realpath ..)" "$scripts/nightly.sbatch" --place "$dir/$2" \
        --config "$dir/tiny.yaml" --baseline "$dir/base.json" --build "${spotter%/*}" -- --threads 1
}
"$spotter" accept "$dir/whole" -o "$dir/base.json" --reason "the first" >"$dir/out" 2>&1 || fail "accept: $(cat "$dir/out")"
stopped_night=$(night "" nights)
cancelled_night=$(night then others)
tonight() { local of; of=$(echo "$dir/nights/nights/"2*); halt "${of#"$dir"/}" 0; }
within 60 "the night begins" tonight
within 60 "the other night begins" halt others/nights/then 0
on=$(field "$stopped_night" NodeList)
sbatch -p high -w "$on" --output=/dev/null --wrap 'sleep 1' >/dev/null || give_up "no job that preempts"
scancel "$cancelled_night"
within 60 "the preempted night is queued again" is "$stopped_night" Restarts 1
within 60 "the night ends" over "$stopped_night"
within 60 "the cancelled night ends" over "$cancelled_night"
is "$stopped_night" ExitCode 0:0 || fail "the night: $(cat "$dir/hand-$stopped_night.log")"
is "$cancelled_night" JobState CANCELLED || fail "the cancelled night: $(field "$cancelled_night" JobState)"
[ "$(ls "$dir/nights/nights")" = "$(basename "$dir/nights/nights/"2*)" ] && [ "$(wc -l <"$dir/nights/history.jsonl")" -eq 1 ] ||
    fail "a night that was begun twice is $(ls "$dir/nights/nights")"
grep -q STOPPED "$dir/nights/nights/"2*/logs/* || fail "the preempted night was killed: it had time to stop"
diff -rq -x '*.tmp' "$dir/whole/segments" "$dir/nights/nights/"2*/segments || fail "the night has other segments"

# --- They were begun as often as they should.
while read -r job times code; do
    within 120 "job $job ends" over "$job"
    log=$dir/hand-$job.log
    [ "$(grep -c begun "$log")" = "$times" ] || fail "job $job was begun, but not $times times: $(cat "$log")"
    is "$job" ExitCode "$code:0" || fail "job $job ended with $(field "$job" ExitCode), not $code"
done <<END
$stopped 2 75
$ill 4 4
$refused 1 3
END

# --- Slurm's clocks, which look every 10 to 30 s. One task is preempted, but its program hears no SIGTERM and is slow: it is
# killed, and begun again. One is told a minute before the limit (of a minute) that time is up. Of one the node falls silent.
if [ "${2:-}" = long ]; then
    task() { "${by_hand[@]}" "$@" "${sweep[@]}" "$dir/hand" --shard auto/3; }
    scontrol update nodename="${node[3]}" state=resume
    cluster_node "${node[3]#n}"
    scontrol update partitionname=low gracetime=1
    deaf=$(task --array=0 "$scripts/sweep.sbatch" env --block-signal=TERM)
    late=$(task --array=1 --time=1 --signal=TERM@50 "$scripts/sweep.sbatch")
    lost=$(task --array=2 "$scripts/sweep.sbatch")
    for shard in 0 1 2; do within 60 "task $shard of three begins" halt hand $shard; done
    pids=("$(process hand 0)" "$(process hand 1)" "$(process hand 2)")
    silent=$(field "$lost" NodeList)
    kill -KILL "$(cluster_node_pid "${silent#n}")"
    sbatch -p high -w "$(field "$deaf" NodeList)" --output=/dev/null --wrap true >/dev/null || give_up "no job that preempts"
    mkfifo "$dir/nothing"                      # a rest from it takes no program that has to start
    end=$((SECONDS + 90))
    while kill -STOP "${pids[0]}" 2>/dev/null && [ $SECONDS -lt $end ]; do read -rt 0.01 <>"$dir/nothing"; done
    ! grep -q '"end"' "$dir/hand/logs/"*"-${pids[0]}.jsonl" || fail "the deaf program was not killed"
    within 90 "the program is told that time is nearly up" gone "${pids[1]}"       # and Slurm says SIGCONT before SIGTERM
    within 90 "the silent node is missed" is "$lost" Restarts 1
    kill -0 "${pids[2]}" || fail "nobody is left on the silent node: nothing is tried here"
    cluster_node "${silent#n}"
    kill -CONT "${pids[2]}"
    for job in $deaf $late $lost; do
        within 120 "job $job ends" over "$job"
        is "$job" JobState COMPLETED || fail "job $job ended as $(field "$job" JobState)"
        is "$job" Restarts 1 || fail "job $job was begun again $(field "$job" Restarts) times"
    done
    within 60 "the forgotten copy ends" gone "${pids[2]}"
    equal hand

    # As in sweep_gpu.sbatch two processes a task, but on two nodes and on CPUs.
    job=$("${by_hand[@]}" --array=0-1 --nodes=2 --ntasks=2 "$scripts/sweep.sbatch" "${sweep[@]}" "$dir/pairs")
    within 120 "the pairs end" over "$job"
    ls "$dir/pairs/logs/"[0-3]-of-4-* >"$dir/out"
    [ "$(wc -l <"$dir/out")" -eq 4 ] || fail "two tasks of two processes have other shards: $(cat "$dir/out")"
    equal pairs
fi

[ $failed -eq 0 ] && echo "all equal after $((SECONDS - start)) s"
exit $failed
