/* test_work.c - a second study, in which a unit sleeps a little and squares a number: cut, killed, resumed, merged, checked. */
#define _DEFAULT_SOURCE                /* mkdtemp, usleep */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "checks.h"
#include "check_folder.h"
#include "config/yaml.h"
#include "work/frame.h"

typedef struct { spot_memory *memory; int units, add; } config;
typedef struct { int index, numbers; char config[33]; double square; bool failed; } square;

static void describe(spot_json *j, void *result)
{
    square *s = result;
    spot_json_int(j, "index", &s->index), spot_json_int(j, "numbers", &s->numbers);
    spot_json_text(j, "config", s->config, sizeof s->config);
    spot_json_real(j, "square", &s->square);
    spot_json_bool(j, "failed", &s->failed);
}

static int failures(const void *result, spot_status *first, const char **what, const char **message)
{
    *first = SPOT_NUMERIC, *what = "squaring", *message = "the number is unlucky";
    return ((const square *)result)->failed;
}

static const spot_setting rows[] = {
    SPOT_ROW("units", INT, config, units, "numbers", SPOT_IN(0, 1000), .affects = SPOT_AFFECTS_EXTENT),
    SPOT_ROW("add", INT, config, add, "what is added to each square", SPOT_IN(0, 9), .affects = SPOT_AFFECTS_FINDING),
    SPOT_END
};
static const spot_config_kind kind = {
    .rows = rows, .size = sizeof(config), .key = SPOT_AFFECTS_FINDING, .run = SPOT_AFFECTS_FINDING,
};
static int count(const void *v) { return ((const config *)v)->units; }

static const spot_study squares = {
    .name = "squares", .unit = "number", .units = "numbers", .prefix = "n", .numbers = 1, .result = sizeof(square),
    .describe = describe, .failures = failures, .config = &kind, .units_of = count,
};

static volatile sig_atomic_t stop;
static int dies_at = -1, stops_at = -1, slow = 1000;   /* microseconds of a unit */
static bool let_both;

static spot_status compute(spot_ctx *c, spot_work *w, const int *unit, int n)
{
    for (int i = 0; i < n; i++) {
        square s = { unit[i], 1, "", unit[i] * unit[i] + ((const config *)w->config)->add, unit[i] == 13 };
        memcpy(s.config, w->key, sizeof s.config);
        if (usleep((useconds_t)slow) || unit[i] == dies_at) raise(SIGKILL);
        stop |= unit[i] == stops_at;
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(spot_work_keep(c, w, unit[i], &s));
    }
    return SPOT_OK;
}

static spot_status prepare(spot_ctx *c, spot_work *w) { (void)c; w->batch = 3; return SPOT_OK; }

static spot_status run(spot_ctx *c, spot_work *w, const char *dir, const config *g, int shard, int shards)
{
    static char path[200];
    spot_store store;
    snprintf(path, sizeof path, "%s/%s", root, dir);
    SPOT_TRY(spot_store_open(c, &store, path));
    *w = (spot_work){ .study = &squares, .dir = path, .config = g, .units = g->units, .shard = shard, .shards = shards,
                      .starts = 3, .beside = let_both, .prepare = prepare, .compute = compute };
    SPOT_TRY(spot_study_key(c, &squares, w->key, g));
    return spot_work_run(c, w);
}

/* A child that computes for long, and is killed; *log: its log. */
static pid_t start_child(const config *g, const char *dir, char *log, size_t size)
{
    char command[300];
    pid_t child = fork();
    FILE *found;
    if (!child) {
        spot_ctx c = check_ctx(1);
        spot_work w;
        slow = 200000;
        run(&c, &w, dir, g, 0, 1);
        _exit(0);
    }
    snprintf(command, sizeof command, "grep -ls start %s/%s/logs/*-%d.jsonl", root, dir, (int)child);
    for (*log = 0; !*log; pclose(found), usleep(10000))
        if ((found = popen(command, "r")) && fgets(log, (int)size, found)) log[strcspn(log, "\n")] = 0;
    return child;
}

/* A second process on the same units is told who is there. A killed one stops nobody, here or on another host. */
TEST_IN_FOLDER(a_second_process_is_named)
{
    const config g = { NULL, 12, 1 }, few = { NULL, 3, 1 };
    spot_ctx c = check_ctx(1);
    char log[300], command[900], pid[32];
    spot_work w;
    const pid_t child = start_child(&g, "a", log, sizeof log);
    snprintf(pid, sizeof pid, "process %d on ", (int)child);
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_USAGE, pid);
    assert_int_equal(run(&c, &w, "a", &g, 1, 2), SPOT_OK);                     /* shards share a directory */
    let_both = true;
    assert_int_equal(run(&c, &w, "a", &few, 0, 1), SPOT_OK);
    let_both = false;
    kill(child, SIGKILL);
    assert_int_equal(run(&c, &w, "a", &g, 0, 1), SPOT_OK);                     /* not waited for yet: a zombie */
    waitpid(child, NULL, 0);
    /* the same log, from another host: silent for long, silent for a little more, and one that is touched again */
    snprintf(command, sizeof command, "cd %s/a/logs && mv %s x && sed 's/\"host\":\"[^\"]*\"/\"host\":\"far\"/' x >far.jsonl "
             "&& rm x && touch -d '-3 hours' far.jsonl", root, log);
    assert_int_equal(system(command), 0);
    assert_int_equal(run(&c, &w, "a", &g, 0, 1), SPOT_OK);
    snprintf(command, sizeof command, "touch -d '-43 seconds' %s/a/logs/far.jsonl", root);
    assert_int_equal(system(command), 0);
    assert_int_equal(run(&c, &w, "a", &g, 0, 1), SPOT_OK);
    snprintf(command, sizeof command, "cd %s/a/logs; touch -d '-30 seconds' far.jsonl; (sleep 1.5; touch far.jsonl) &", root);
    assert_int_equal(system(command), 0);
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_USAGE, "on far computes these numbers since");
}

/* Two shards, one of which is killed and resumed, end in the bytes of one process. */
TEST_IN_FOLDER(killed_shards_end_in_the_same_bytes)
{
    const config g = { NULL, 40, 1 }, other = { NULL, 40, 2 };
    const spot_merge_options o = { .pictures = true };
    spot_ctx c = check_ctx(1);
    char a[100], b[100], out[100];
    spot_run_status *status;
    spot_merge_report r;
    int how;
    spot_work w;
    snprintf(a, sizeof a, "%s/a", root), snprintf(b, sizeof b, "%s/b", root), snprintf(out, sizeof out, "%s/out", root);
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_NUMERIC, "number 13, squaring: the number is unlucky");
    assert_true(w.planned == 40 && w.done == 40 && w.failed == 1);
    CHECK_FAILS(&c, run(&c, &w, "b", &g, 0, 2), SPOT_NUMERIC, "number 13");
    dies_at = 31;
    if (!fork()) _exit(run(&c, &w, "b", &g, 1, 2));
    assert_true(wait(&how) > 0 && WIFSIGNALED(how));
    CHECK_OK(&c, spot_work_status(&c, &squares, &status, b, -1));
    assert_true(status->ecs == 40 && status->done == 31 && status->failed == 1);
    assert_true(status->shard[0].state == SPOT_SHARD_DONE && status->shard[1].state == SPOT_SHARD_LOST);
    spot_run_status_free(status);
    dies_at = -1;
    CHECK_OK(&c, run(&c, &w, "b", &g, 1, 2));
    assert_true(w.planned == 20 && w.already == 11 && w.done == 9);
    CHECK_OK(&c, spot_work_merge(&c, &squares, (const char *[]){ a, b }, 2, out, &o, &r));
    assert_true(r.merged == 40 && r.duplicates == 40 && !r.conflicts && !r.missing);       /* equal bits */
    free(r.ec);
    CHECK_FAILS(&c, run(&c, &w, "b", &other, 0, 1), SPOT_USAGE, "add is 1 there and 2 here");
}

/* A run grows; a stopped one goes on; one that never comes to a result is given up. */
TEST_IN_FOLDER(stopped_runs_go_on)
{
    const config few = { NULL, 5, 1 }, g = { NULL, 12, 1 };
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1, .stop = &stop };
    spot_work w;
    CHECK_OK(&c, run(&c, &w, "a", &few, 0, 1));
    stops_at = 9;
    for (int i = 0; i < 4; i++, stop = 0) {
        CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), i < 3 ? SPOT_STOPPED : SPOT_DEVICE, i < 3 ? "" : "was begun 3 times");
        assert_true(w.already == (i ? 9 : 5) && w.done == (i ? 0 : 4));
    }
    stops_at = -1;
    CHECK_OK(&c, run(&c, &w, "a", &g, 0, 1));
    assert_true(w.planned == 12 && w.already == 9 && w.done == 3);
}
