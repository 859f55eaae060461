#!/usr/bin/env bash
# cluster.sh: a Slurm of one's own in a folder: munged, slurmctld and four nodes n0 to n3 of one CPU each, all on this machine.
# To be sourced:
#
#   cluster_missing            the sentence that says what this machine lacks for it; none, and it fails, if nothing
#   cluster_start DIR          returns when all nodes are idle; sets SLURM_CONF, which Slurm's commands need
#   cluster_node N             the daemon of node nN, again after it was killed; cluster_node_pid N is its process
#   cluster_stop DIR           kills every process of it, jobs and what jobs left behind included
#
# Partition low (the default) is preempted by partition high: SIGTERM, GRACE (10) seconds, SIGKILL, queued again. Root or not,
# all runs as the user who calls it. When that shell dies, in whatever way, a guard kills the Slurm and removes DIR.

cluster_missing()
{
    local program
    for program in munged slurmctld slurmd sbatch srun; do
        PATH=$PATH:/usr/sbin command -v $program >/dev/null ||
            { echo "no $program here: tools/setup --tests installs slurmctld, slurmd, slurm-client and munge"; return 0; }
    done
    [ -r /proc/self/environ ] || { echo "no /proc, by which the processes of a Slurm are found"; return 0; }
    return 1
}

# As many ports in a row that nobody listens on; two shells begin to look at different places.
cluster_ports()
{
    local n=$1 i base
    base=$((10000 + $$ * n % 20000))
    while :; do
        for ((i = 0; i < n; i++)); do
            ! (exec 3<>"/dev/tcp/127.0.0.1/$((base + i))") 2>/dev/null || break
        done
        [ $i -lt $n ] || { echo $base; return; }
        base=$((10000 + (base - 10000 + 37 * n) % 20000))
    done
}

cluster_config()
{
    local dir=$1 port=$2 host user
    host=$(hostname -s)
    user=$(id -un)
    # cred_expire: what is queued again starts after so many seconds (120 unless said). config_overrides: nodes have the CPUs
    # that stand here. The scheduler looks at once, and once a second.
    cat <<END
ClusterName=spotter
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=${EXPIRE:-5}
StateSaveLocation=$dir/state
SlurmctldPidFile=$dir/slurmctld.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdSpoolDir=$dir/spool-%n
SlurmdPidFile=$dir/%n.pid
SlurmdLogFile=$dir/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
PropagateResourceLimits=NONE
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
MaxArraySize=16
KillWait=3
SlurmdTimeout=10
ReturnToService=2
NodeName=n[0-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 4))] CPUs=1 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE GraceTime=${GRACE:-10}
PartitionName=high Nodes=ALL PriorityTier=10 PreemptMode=OFF
END
}

# Every process of it has SLURM_CONF in its environment.
cluster_pids() { (unset SLURM_CONF; grep -lzxF "SLURM_CONF=$1/slurm.conf" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); }

cluster_stop()
{
    local pids
    while pids=$(cluster_pids "$1") && [ -n "$pids" ]; do
        kill -KILL $pids 2>/dev/null
        sleep 0.1
    done
}

cluster_guard()
{
    tail --pid="$1" -f /dev/null
    cluster_stop "$2"
    rm -rf "$2"
}

cluster_node()     { slurmd -N "n$1"; }
cluster_node_pid() { cat "${SLURM_CONF%/*}/n$1.pid"; }

cluster_start()
{
    local dir=$1 end=$((SECONDS + 60))
    mkdir -p "$dir"/state
    chmod 755 "$dir"
    env -u SLURM_CONF setsid -f bash -c '. "$1"; cluster_guard "$2" "$3"' guard "${BASH_SOURCE[0]}" $$ "$dir" \
        >/dev/null 2>&1 </dev/null
    export SLURM_CONF=$dir/slurm.conf PATH=$PATH:/usr/sbin
    cluster_config "$dir" "$(cluster_ports 5)" >"$SLURM_CONF"
    (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
        --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" 2>"$dir/munge.err" </dev/null || return
    slurmctld 2>"$dir/slurmctld.err" </dev/null || return
    for node in 0 1 2 3; do cluster_node $node 2>"$dir/n$node.err" </dev/null || return; done
    until [ "$(sinfo -h -p low -t idle -o %D 2>/dev/null)" = 4 ]; do
        [ $SECONDS -lt $end ] || { echo "after a minute not all nodes are idle"; sinfo; return 1; }
        sleep 0.3
    done
}
