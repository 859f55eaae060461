/* cmd_status.c - spotter status: the state of a run's shards, and the command that continues the run. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quote.h"
#include "cli/cli.h"
#include "spotter/work.h"

enum { FEW = 40, SENTENCES = 5 };      /* shards that are all shown; error sentences of failed shards */

typedef struct {
    const char *dir;
    int lost_after;
    bool json, all;
    const spot_study *study;
} status_flags, cli_flags;

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_TEXT, CLI_AT(dir), .need = "runs/mini" },
    { "lost-after", 0,   "S",  CLI_INT, CLI_AT(lost_after), 1, 1000000, .preset = "120",
      .help = "seconds of silence after which a process counts as lost; a process writes to its log every 15 s" },
    { "all",        'a', NULL, CLI_ON, CLI_AT(all),
      .help = "all shards; otherwise, of more than 40, only failed and lost ones" },
    { "json",       'j', NULL, CLI_ON, CLI_AT(json), .help = "one JSON object on stdout" },
    { .kind = CLI_END }
};

/* ---- for programs ---- */

static void shard_json(spot_json *j, const spot_shard *k)
{
    spot_json_object(j, NULL);
    spot_json_put_int(j, "shard", k->shard);
    spot_json_put_int(j, "from", k->from);
    spot_json_put_int(j, "to", k->to);
    spot_json_put_text(j, "state", spot_shard_state_name(k->state));
    spot_json_put_int(j, "done", k->done);
    spot_json_put_int(j, "failed", k->failed);
    spot_json_put_int(j, "starts", k->starts);
    spot_json_put_text(j, "host", k->host);
    spot_json_put_text(j, "job", k->job);
    spot_json_put_number(j, "silent", "%.1f", k->silent);
    spot_json_put_number(j, "seconds_left", "%.1f", k->left);
    spot_json_put_text(j, "why", k->why);
    spot_json_end(j);
}

/* ---- for people ---- */

static void count_states(const spot_run_status *s, int count[SPOT_SHARD_STATES])
{
    memset(count, 0, SPOT_SHARD_STATES * sizeof *count);
    for (int i = 0; i < s->shards; i++) count[s->shard[i].state]++;
}

static void print_totals(const spot_run_status *s, const spot_study *study)
{
    static const spot_shard_state order[] = {
        SPOT_SHARD_DONE, SPOT_SHARD_RUNNING, SPOT_SHARD_WAITING, SPOT_SHARD_FAILED, SPOT_SHARD_LOST,
    };
    int count[SPOT_SHARD_STATES];
    const char *comma = "";
    char time[32];

    count_states(s, count);
    printf("%d of %d %s done", s->done, s->ecs, study->units);
    if (s->failed) printf(", %d of them failed", s->failed);
    if (s->damaged)
        printf("; %d %s damaged and will be made again", s->damaged, s->damaged == 1 ? "segment is" : "segments are");
    printf("\n%d shard%s: ", s->shards, s->shards == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!count[order[i]]) continue;
        printf("%s%d %s", comma, count[order[i]], spot_shard_state_name(order[i]));
        comma = ", ";
    }
    if (isfinite(s->left)) printf("; those that run need about %s", cli_duration(time, s->left));
    printf("\n");
}

static bool is_shown(const spot_run_status *s, const spot_shard *k, bool all)
{
    return all || s->shards <= FEW || k->state == SPOT_SHARD_LOST || k->state == SPOT_SHARD_FAILED;
}

/* "n1-4711 (12_3)" */
static const char *place_of(char text[136], const spot_shard *k)
{
    snprintf(text, 136, "%s%s%s%s", k->host, *k->job ? " (" : "", k->job, *k->job ? ")" : "");
    return text;
}

static void print_shard(const spot_shard *k, int width, bool color)
{
    static const char *const colors[SPOT_SHARD_STATES] = { "2", "36", "31", "31", "32" };
    const char *state = spot_shard_state_name(k->state);
    char where[136], ecs[32] = "none", done[32], silent[32] = "", left[32] = "", line[400];
    bool open = k->state != SPOT_SHARD_DONE;
    int n;

    if (k->from + 1 == k->to) snprintf(ecs, sizeof ecs, "%d", k->from);
    else if (k->from < k->to) snprintf(ecs, sizeof ecs, "%d-%d", k->from, k->to - 1);
    snprintf(done, sizeof done, "%d/%d", k->done, k->to - k->from);
    if (open && isfinite(k->silent)) cli_duration(silent, k->silent);
    if (open && isfinite(k->left)) cli_duration(left, k->left);
    n = snprintf(line, sizeof line, "%*s  %6d  %-*s  %10s  %10s", (int)(7 - strlen(state)), "", k->starts, width,
                 place_of(where, k), silent, left);
    while (n && line[n - 1] == ' ') line[--n] = 0;
    printf("%5d  %-11s  %9s  %s%s%s%s%s%s\n", k->shard, ecs, done, color ? "\033[" : "", color ? colors[k->state] : "",
           color ? "m" : "", state, color ? "\033[0m" : "", line);
}

static void print_shards(const spot_run_status *s, const status_flags *o)
{
    bool color = cli_colorful(STDOUT_FILENO);
    int width = 5, left_out = 0;
    char where[136];
    bool any = false;

    for (int i = 0; i < s->shards; i++) {
        int n = (int)strlen(place_of(where, &s->shard[i]));
        if (!is_shown(s, &s->shard[i], o->all)) {
            left_out++;
            continue;
        }
        any = true;
        width = n > width ? n : width;
    }
    if (any)
        printf("\nshard  %-11s  %9s  %-7s  %6s  %-*s  %10s  %10s\n", o->study->units, "done", "state", "starts", width, "where",
               "silent for", "time left");
    for (int i = 0; i < s->shards; i++)
        if (is_shown(s, &s->shard[i], o->all)) print_shard(&s->shard[i], width, color);
    if (left_out) printf("%s%d %sshards run, wait or are done (--all shows them)\n", any ? "and " : "", left_out,
                         any ? "other " : "");
}

/* Prints "3 7 $(seq 9 12)": words of a shell's loop. */
static void print_numbers(const bool *wanted, int n)
{
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; wanted[i] && end < n && wanted[end]; end++) { }
        if (!wanted[i]) continue;
        if (end - i > 2) printf(" $(seq %d %d)", i, end - 1);
        else printf(end - i == 2 ? " %d %d" : " %d", i, i + 1);
    }
}

/* Prints the command that starts the wanted shards again. */
static void print_command(const spot_run_status *s, const status_flags *o, const bool *wanted)
{
    const char *study = o->study->name;
    char path[1200];
    spot_quoted config, out;
    int n = 0, one = 0;

    for (int i = 0; i < s->shards; i++)
        if (wanted[i]) { n++; one = i; }
    snprintf(path, sizeof path, "%s/config.yaml", o->dir);
    spot_quote(config, path);
    spot_quote(out, o->dir);
    snprintf(path, sizeof path, "%s/slurm/submitted.json", o->dir);
    if (o->study->by_words) {
        printf("    the command that began it, %s %s with --out %s", cli_program, study, out);
        if (s->shards > 1) printf(" --shard I/%d, I:", s->shards), print_numbers(wanted, s->shards);
        putchar('\n');
    } else if (!access(path, F_OK)) printf("    %s %s %s --out %s --submit\n", cli_program, study, config, out);
    else if (s->shards == 1) printf("    %s %s %s --out %s\n", cli_program, study, config, out);
    else if (n == 1) printf("    %s %s %s --out %s --shard %d/%d\n", cli_program, study, config, out, one, s->shards);
    else {
        printf("    for i in");
        print_numbers(wanted, s->shards);
        printf("; do %s %s %s --out %s --shard $i/%d; done\n", cli_program, study, config, out, s->shards);
    }
}

static void print_failures(const spot_run_status *s, int failed)
{
    int said = 0;

    printf("\n%d shard%s failed:\n", failed, failed == 1 ? "" : "s");
    for (int i = 0; i < s->shards; i++) {
        const spot_shard *k = &s->shard[i];
        if (k->state != SPOT_SHARD_FAILED) continue;
        if (said++ < SENTENCES) printf("    shard %d on %s: %s\n", k->shard, k->host, k->why);
    }
    if (said > SENTENCES) printf("    and %d more (--json has all sentences)\n", said - SENTENCES);
}

/* Prints failures and the command for shards that no process works on. Waiting shards count only if none runs: otherwise a
 * scheduler starts them. */
static void print_advice(const spot_run_status *s, const status_flags *o)
{
    bool *wanted = calloc((size_t)s->shards, sizeof *wanted);
    int count[SPOT_SHARD_STATES], waiting;

    if (!wanted) return;
    count_states(s, count);
    waiting = count[SPOT_SHARD_RUNNING] ? 0 : count[SPOT_SHARD_WAITING];
    for (int i = 0; i < s->shards; i++) {
        spot_shard_state k = s->shard[i].state;
        wanted[i] = k == SPOT_SHARD_LOST || k == SPOT_SHARD_FAILED || (k == SPOT_SHARD_WAITING && waiting);
    }
    if (count[SPOT_SHARD_FAILED]) print_failures(s, count[SPOT_SHARD_FAILED]);
    if (count[SPOT_SHARD_LOST])
        printf("\n%d shard%s lost: no end in the log, and no sign of life for %d s\n", count[SPOT_SHARD_LOST],
               count[SPOT_SHARD_LOST] == 1 ? " is" : "s are", o->lost_after);
    if (count[SPOT_SHARD_LOST] || count[SPOT_SHARD_FAILED] || waiting) {
        printf("\nto continue%s (finished %s are kept):\n", count[SPOT_SHARD_FAILED] ? ", after the cause is removed" : "",
               o->study->units);
        print_command(s, o, wanted);
    }
    free(wanted);
}

/* ---- a run and those that belong to it ---- */

/* `not_begun`: no process made its directory yet. */
typedef struct { char dir[1200]; spot_run_status *status; bool not_begun; } part;
typedef struct { part *part; int parts; spot_run_status sum; const spot_run_status *shown; } parts;

static spot_status read_part(spot_ctx *c, const status_flags *o, parts *all)
{
    part *p = &all->part[all->parts - 1];
    char path[1300];

    snprintf(path, sizeof path, "%s/config.yaml", p->dir);
    p->not_begun = all->parts > 1 && access(path, F_OK);
    if (!p->not_begun) return spot_work_status(c, o->study, &p->status, p->dir, o->lost_after);
    p->status = calloc(1, sizeof *p->status);
    if (!p->status) return spot_fail(c, SPOT_NOMEM, "no memory");
    p->status->ecs = all->part[0].status->ecs, p->status->left = NAN;
    return SPOT_OK;
}

/* Appends the run itself (k: -1) or its part k; false by *more: there is none. */
static spot_status add_part(spot_ctx *c, const status_flags *o, parts *all, const void *config, int k, bool *more)
{
    part *grown = realloc(all->part, ((size_t)all->parts + 1) * sizeof *grown), *p;

    if (!grown) return spot_fail(c, SPOT_NOMEM, "no memory");
    all->part = grown;
    p = &grown[all->parts];
    *p = (part){ .status = NULL };
    *more = k < 0 || o->study->part(p->dir, sizeof p->dir, o->dir, config, k);
    if (k < 0) snprintf(p->dir, sizeof p->dir, "%s", o->dir);
    if (!*more) return SPOT_OK;
    all->parts++;
    return read_part(c, o, all);
}

/* Sums the parts. Those that are done need no shards on the screen: the latest one that is not done is shown. */
static void sum_parts(parts *all)
{
    all->sum = *all->part[0].status, all->shown = all->part[0].status;
    for (int i = 1; i < all->parts; i++) {
        const spot_run_status *s = all->part[i].status;
        all->sum.ecs += s->ecs, all->sum.done += s->done, all->sum.failed += s->failed, all->sum.damaged += s->damaged;
        if (all->shown->done == all->shown->ecs && s->done < s->ecs && !all->part[i].not_begun) all->shown = s;
    }
    all->sum.shards = all->shown->shards, all->sum.shard = all->shown->shard;
    if (all->parts > 1) all->sum.left = NAN;
}

static spot_status read_parts(spot_ctx *c, const status_flags *o, parts *all)
{
    char path[1300];
    void *config = NULL;
    bool more = true;
    spot_status s = add_part(c, o, all, NULL, -1, &more);

    snprintf(path, sizeof path, "%s/config.yaml", o->dir);
    more = s == SPOT_OK && o->study->part && !access(path, F_OK);
    if (more) s = spot_study_load(c, o->study, &config, path);
    for (int k = 0; more && s == SPOT_OK; k++) s = add_part(c, o, all, config, k, &more);
    spot_study_close(config);
    if (s == SPOT_OK) sum_parts(all);
    return s;
}

static spot_status print_json(spot_ctx *c, const parts *all, const spot_study *study)
{
    const spot_run_status *s = &all->sum;
    spot_json j;

    SPOT_TRY(spot_json_open(c, &j));
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "study", study->name);
    spot_json_put_int(&j, "ecs", s->ecs);
    spot_json_put_int(&j, "done", s->done);
    spot_json_put_int(&j, "failed", s->failed);
    spot_json_put_int(&j, "damaged", s->damaged);
    spot_json_put_number(&j, "seconds_left", "%.1f", s->left);
    spot_json_array(&j, "shards", s->shards, s->shards);
    for (int i = 0; i < s->shards; i++) shard_json(&j, &s->shard[i]);
    spot_json_end(&j);
    if (all->parts > 1) spot_json_array(&j, "parts", all->parts, all->parts);
    for (int i = 0; i < all->parts && all->parts > 1; i++) {
        spot_json_object(&j, NULL);
        spot_json_put_text(&j, "dir", all->part[i].dir);
        spot_json_put_int(&j, "ecs", all->part[i].status->ecs);
        spot_json_put_int(&j, "done", all->part[i].status->done);
        spot_json_end(&j);
    }
    if (all->parts > 1) spot_json_end(&j);
    spot_json_print(&j, stdout);
    return SPOT_OK;
}

static void print_parts(const parts *all, const status_flags *o)
{
    for (int i = 0; i < all->parts && all->parts > 1; i++) {
        const spot_run_status *s = all->part[i].status;
        printf("%s%s: %d of %d %s%s\n", i ? "" : "\n", all->part[i].dir, s->done, s->ecs, o->study->units,
               s->done == s->ecs ? "" : all->part[i].not_begun ? ", not begun" : ", not done");
    }
}

static void print_text(const parts *all, const status_flags *o)
{
    bool *every = NULL;

    print_totals(&all->sum, o->study);
    print_parts(all, o);
    print_shards(&all->sum, o);
    print_advice(&all->sum, o);
    if (all->sum.done == all->sum.ecs || all->shown->done < all->shown->ecs) return;
    every = malloc((size_t)all->sum.shards + 1);               /* what has begun is done, and more is to be begun */
    if (!every) return;
    memset(every, 1, (size_t)all->sum.shards);
    printf("\nto continue:\n");
    print_command(&all->sum, o, every);
    free(every);
}

static int run_status(int argc, char **argv)
{
    status_flags o = { .dir = NULL };
    parts all = { .part = NULL };
    bool done = false;
    spot_ctx c;
    spot_status s;
    int code;

    cli_parse(&cli_status_command, argc, argv, &o, NULL);
    s = cli_open(&c, &(cli_machine){ .device = "cpu", .threads = 1 });
    if (s == SPOT_OK) s = cli_study_of(&c, &o.study, o.dir);
    if (s == SPOT_OK) s = read_parts(&c, &o, &all);
    if (s == SPOT_OK) {
        done = all.sum.done == all.sum.ecs;
        if (o.json) s = print_json(&c, &all, o.study);
        else print_text(&all, &o);
    }
    for (int i = 0; i < all.parts; i++) spot_run_status_free(all.part[i].status);
    free(all.part);
    code = cli_close(&c, s);
    return s == SPOT_OK && !done ? spot_exit_code(SPOT_STOPPED) : code;
}

const cli_command cli_status_command = {
    "status", "state of a run's shards, and how to continue", "DIR",
    "  spotter status runs/mini\n"
    "  spotter status runs/mini --json\n"
    "  until spotter status runs/mini >runs/mini.txt; do sleep 600; done",
    "Shows the state of a run's shards from its logs and segments: done, running, waiting for a start, failed, or lost (no "
    "sign of life). Prints the command that continues the run. Asks no scheduler and changes nothing. Exit code 0: every unit "
    "is done; 75: not yet.", table, .run = run_status
};
