/* cli_shard.c - the shard of a process: from the command line, else from the scheduler's variables.
 *
 *     Slurm, array of jobs    SLURM_ARRAY_TASK_ID of an array without gaps; _MIN, _MAX, _STEP and _COUNT give the number of
 *                             shards
 *     Slurm, step of a job    SLURM_PROCID of SLURM_STEP_NUM_TASKS: each task takes a part of the above. (Not SLURM_NTASKS: a
 *                             batch script that starts one process has it, too, and no process would do most ECs.)
 *     Kubernetes              JOB_COMPLETION_INDEX; no variable has the number of shards: --shard auto/N
 *
 * With auto/N the index is the shard, so that single tasks of an array can be submitted again. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MOST = 1000000 };

/* Whether the variable is set. A wrong value ends the program: with a guessed shard, no process would do some ECs. */
static bool read_variable(const struct argp_state *state, const char *name, int *v)
{
    const char *text = getenv(name);
    char *end;
    long n;

    if (!text || !*text) return false;
    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || *end || n < 0 || n > MOST)
        argp_error(state, "%s is \"%s\", which is no number from 0 to %d; unset it, or give --shard I/N", name, text, MOST);
    *v = (int)n;
    return true;
}

static int place_in_array(const struct argp_state *state, int id, int *count)
{
    int least = 0, most, step = 1;

    if (!read_variable(state, "SLURM_ARRAY_TASK_COUNT", count) || !read_variable(state, "SLURM_ARRAY_TASK_MIN", &least))
        argp_error(state, "SLURM_ARRAY_TASK_ID is %d, but nothing says of how many (SLURM_ARRAY_TASK_COUNT, _MIN); "
                   "say --shard auto/N", id);
    read_variable(state, "SLURM_ARRAY_TASK_STEP", &step);
    if ((long)*count * step > MOST) step = 0;                  /* too long for an array without gaps */
    most = least + (*count - 1) * step;
    read_variable(state, "SLURM_ARRAY_TASK_MAX", &most);
    if (step < 1 || id < least || id > most || (id - least) % step || (most - least) / step + 1 != *count)
        argp_error(state, "SLURM_ARRAY_TASK_ID %d is of an array with gaps (%d tasks, %d to %d in steps of %d), which does not "
                   "say how many shards there are; say --shard auto/N", id, *count, least, most, step);
    return (id - least) / step;
}

/* *shards: N of auto/N, or 0. Returns the name of the used variable, "" for none. */
static const char *place_among_jobs(const struct argp_state *state, int *shard, int *shards)
{
    int id, index;
    bool slurm = read_variable(state, "SLURM_ARRAY_TASK_ID", &id), pod = read_variable(state, "JOB_COMPLETION_INDEX", &index);

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
    if (!read_variable(state, "SLURM_STEP_NUM_TASKS", &tasks) || tasks < 1) tasks = 1;
    if (tasks > 1 && (!read_variable(state, "SLURM_PROCID", &task) || task >= tasks))
        argp_error(state, "SLURM_STEP_NUM_TASKS is %d, and SLURM_PROCID is not 0 to %d; say --shard I/N", tasks, tasks - 1);
    if ((long)*shards * tasks > MOST) argp_error(state, "%d shards for %d tasks each are too many", *shards, tasks);
    *shard = *shard * tasks + task;
    *shards *= tasks;
    snprintf(from, 64, "%s%s%s", jobs, *jobs && tasks > 1 ? " and " : "", tasks > 1 ? "SLURM_PROCID" : "");
}
