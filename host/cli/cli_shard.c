/* cli_shard.c - which part of the ECs a process of many is to do: as its command line says, else as its scheduler says.
 *
 *     Slurm, array of jobs    SLURM_ARRAY_TASK_ID, of an array that is whole: _MIN, _MAX, _STEP and _COUNT say of how many
 *     Slurm, step of a job    SLURM_PROCID of SLURM_STEP_NUM_TASKS, each a part of the above. (SLURM_NTASKS says nothing: a
 *                             batch script that starts one process has it, too, and most ECs would belong to nobody.)
 *     Kubernetes              JOB_COMPLETION_INDEX; of how many, nothing says: --shard auto/N
 *
 * With auto/N the index counts as it stands, so that single tasks of an array can be submitted again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST = 1000000 };

/* Is it set? Nonsense ends the program: a shard that is guessed leaves ECs to nobody. */
static bool variable(const struct argp_state *state, const char *name, int *v)
{
    const char *text = getenv(name);
    char *end;
    long n;

    if (!text || !*text) return false;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || *end || n < 0 || n > MOST)
        argp_error(state, "%s is \"%s\", which is no number from 0 to %d; unset it, or say --shard I/N", name, text, MOST);
    *v = (int)n;
    return true;
}

static int place_in_array(const struct argp_state *state, int id, int *count)
{
    int least = 0, most, step = 1;

    if (!variable(state, "SLURM_ARRAY_TASK_COUNT", count) || !variable(state, "SLURM_ARRAY_TASK_MIN", &least))
        argp_error(state, "SLURM_ARRAY_TASK_ID is %d, but nothing says of how many (SLURM_ARRAY_TASK_COUNT, _MIN); "
                   "say --shard auto/N", id);
    variable(state, "SLURM_ARRAY_TASK_STEP", &step);
    if ((long)*count * step > MOST) step = 0;                  /* none that is whole is so long */
    most = least + (*count - 1) * step;
    variable(state, "SLURM_ARRAY_TASK_MAX", &most);
    if (step < 1 || id < least || id > most || (id - least) % step || (most - least) / step + 1 != *count)
        argp_error(state, "SLURM_ARRAY_TASK_ID %d is of an array with gaps (%d tasks, %d to %d in steps of %d), which does not "
                   "say how many shards there are; say --shard auto/N", id, *count, least, most, step);
    return (id - least) / step;
}

/* `shards` is that of auto/N, or 0. Which variable said it; "" when none did. */
static const char *place_among_jobs(const struct argp_state *state, int *shard, int *shards)
{
    int id, index;
    bool slurm = variable(state, "SLURM_ARRAY_TASK_ID", &id), pod = variable(state, "JOB_COMPLETION_INDEX", &index);

    if (slurm && pod)
        argp_error(state, "SLURM_ARRAY_TASK_ID is %d and JOB_COMPLETION_INDEX is %d: which is it? unset one, or say "
                   "--shard I/N", id, index);
    if (!slurm && !pod) {
        if (*shards)
            argp_error(state, "--shard auto/%d needs SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX, and neither is set", *shards);
        *shards = 1;
        return "";
    }
    if (pod && !*shards)
        argp_error(state, "JOB_COMPLETION_INDEX is %d, but nothing says of how many; say --shard auto/N, N being the job's "
                   "completions", index);
    *shard = pod ? index : *shards ? id : place_in_array(state, id, shards);
    if (*shard >= *shards)
        argp_error(state, "%s is %d, and --shard auto/%d has shards 0 to %d", pod ? "JOB_COMPLETION_INDEX"
                   : "SLURM_ARRAY_TASK_ID", *shard, *shards, *shards - 1);
    return pod ? "JOB_COMPLETION_INDEX" : "SLURM_ARRAY_TASK_ID";
}

void cli_shard(const struct argp_state *state, const char *text, int *shard, int *shards)
{
    char rest;

    if (sscanf(text, "%d/%d%c", shard, shards, &rest) != 2 || *shard < 0 || *shard >= *shards || *shards > MOST)
        argp_error(state, "--shard takes I/N with 0 <= I < N, N at most a million, such as 0/4, not \"%s\"", text);
}

void cli_pick_shard(const struct argp_state *state, const char *text, int *shard, int *shards, char from[64])
{
    const char *jobs;
    int tasks = 1, task = 0;
    char rest;

    from[0] = 0;
    *shard = *shards = 0;
    if (text && strncmp(text, "auto/", 5)) {
        cli_shard(state, text, shard, shards);
        return;
    }
    if (text && (sscanf(text + 5, "%d%c", shards, &rest) != 1 || *shards < 1 || *shards > MOST))
        argp_error(state, "--shard takes auto/N with N from 1 to %d, not \"%s\"", MOST, text);
    jobs = place_among_jobs(state, shard, shards);
    if (!variable(state, "SLURM_STEP_NUM_TASKS", &tasks) || tasks < 1) tasks = 1;
    if (tasks > 1 && (!variable(state, "SLURM_PROCID", &task) || task >= tasks))
        argp_error(state, "SLURM_STEP_NUM_TASKS is %d, and SLURM_PROCID is not 0 to %d; say --shard I/N", tasks, tasks - 1);
    if ((long)*shards * tasks > MOST) argp_error(state, "%d shards for %d tasks each are too many", *shards, tasks);
    *shard = *shard * tasks + task;
    *shards *= tasks;
    snprintf(from, 64, "%s%s%s", jobs, *jobs && tasks > 1 ? " and " : "", tasks > 1 ? "SLURM_PROCID" : "");
}
