/* study_command.c - a study's command: its config, its run, its end. */
#define _POSIX_C_SOURCE 200809L
#include "cli/study_command.h"

#include <stdio.h>
#include <unistd.h>

#include "base/room.h"

void cli_study_check(const struct argp_state *state, void *flags)
{
    cli_study_flags *f = flags;

    cli_pick_shard(state, f->shard, &f->place.shard, &f->place.shards, f->shard_from);
}

spot_status cli_study_run(spot_ctx *c, const spot_study *y, cli_study_step *fill, cli_study_step *run, void *flags)
{
    const cli_study_flags *f = flags;
    void *config;
    spot_status s;

    cli_limit_time(f->max_seconds);          /* a planted world is a part of the run */
    cli_log_device(c, &f->machine);
    s = spot_study_load(c, y, &config, f->config);
    if (s == SPOT_OK && !f->config) s = fill(c, config, flags);
    if (s == SPOT_OK) s = run(c, config, flags);
    spot_study_close(config);
    return s;
}

spot_run_place cli_study_place(const cli_study_flags *f)
{
    spot_run_place place = f->place;

    place.seconds = cli_limit_time(f->max_seconds);
    return place;
}

/* Measured with 1, 2 and 4 threads: addresses that libraries map while networks run, beside the memory that is stated. oneDNN
 * ends the process by a signal where it gets none. */
#define MAPPED ((size_t)180 << 20)

spot_status cli_study_room(spot_ctx *c, size_t memory)
{
    const size_t now = spot_resident_now(), more = memory > now ? memory - now : 0;
    const char *whose;
    const size_t left = spot_room_of_all(&whose), addresses = spot_room_of_addresses();
    const size_t mapped = more + MAPPED;
    char takes[32], leaves[32];

    if (more <= left && mapped > addresses)
        return spot_fail(c, SPOT_NOMEM, "{study.addresses} this run takes %s of addresses, and the limit (ulimit -v) leaves "
                         "%s; give a higher limit or fewer --threads", cli_memory(takes, (double)mapped),
                         cli_memory(leaves, (double)addresses));
    if (more <= left) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "{study.memory} this run takes %s more memory, and %s leaves %s; give more memory, smaller "
                     "pictures or fewer --threads", cli_memory(takes, (double)more), whose, cli_memory(leaves, (double)left));
}

size_t cli_study_states(size_t memory)
{
    const size_t most = spot_resident_most(), bytes = memory > most ? memory : most;
    const size_t digit = bytes < 100000000 ? 100000 : 10000000;          /* the last one that cli_memory prints */

    return (bytes + digit - 1) / digit * digit;
}

spot_status cli_study_world(spot_ctx *c, size_t memory, const char *out, const char *file)
{
    char path[1200];

    snprintf(path, sizeof path, "%s/%s", out, file);
    return access(path, F_OK) ? cli_study_room(c, memory) : SPOT_OK;
}

spot_status cli_study_end(spot_ctx *c, spot_status s, const cli_study_flags *f, const spot_run_report *r, const cli_count *more,
                          int n)
{
    spot_json j;

    cli_log_close();
    if (!f->json) return s;
    SPOT_TRY(cli_json_open(c, &j, s, f->place.out));
    spot_json_put_int(&j, "planned", r->planned);
    spot_json_put_int(&j, "already", r->already);
    spot_json_put_int(&j, "done", r->done);
    for (int i = 0; i < n; i++) spot_json_put_number(&j, more[i].name, "%.0f", more[i].value);
    spot_json_put_real(&j, "seconds", r->seconds);
    spot_json_print(&j, stdout);
    return s;
}
