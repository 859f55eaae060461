/* test_cluster.c - what a shard owns; how shards stand, by hand-made logs and segments; how often one was begun for nothing. */
#define _DEFAULT_SOURCE                /* mkdtemp, setenv, utime */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <utime.h>

#include "checks.h"
#include "check_folder.h"
#include "base/platform.h"
#include "spotter/work.h"
#include "study/run_log.h"
#include "sweep/segment.h"

/* Every EC has one owner, ranges are equal but for one, and parts of a shard are the shard. */
TEST(ranges_are_a_partition)
{
    for (int ecs = 0; ecs < 60; ecs++)
        for (int shards = 1; shards < 70; shards++) {
            int next = 0;
            for (int i = 0, from, to, first, last; i < shards; i++) {
                spot_shard_range(&from, &to, i, shards, ecs);
                assert_true(from == next && to - from >= ecs / shards && to - from <= (ecs + shards - 1) / shards);
                next = to;
                spot_shard_range(&first, &last, 3 * i, 3 * shards, ecs);
                assert_int_equal(first, from);
                spot_shard_range(&first, &last, 3 * i + 2, 3 * shards, ecs);
                assert_int_equal(last, to);
            }
            assert_int_equal(next, ecs);
        }
}

TEST(ranges_of_many_do_not_overflow)
{
    int from, to;
    spot_shard_range(&from, &to, 99999, 100000, 1000000);
    assert_true(from == 999990 && to == 1000000);
}

/* ---- standing ---- */

static char dir[160];                  /* root/run */
static double now;                     /* of the hand-made logs */

static void make(const char *name)
{
    char path[200];
    snprintf(dir, sizeof dir, "%s/%s", root, name);
    mkdir(dir, 0777);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, i == 0 ? "logs" : i == 1 ? "slurm" : "segments");
        mkdir(path, 0777);
    }
    now = (double)time(NULL);
}

static void put(const char *name, const char *text, double age)
{
    char path[240];
    struct utimbuf t = { (time_t)(now - age), (time_t)(now - age) };
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "a");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(utime(path, &t), 0);
}

static const char *at(double age)
{
    static char text[4][40];
    static int next;
    time_t t = (time_t)(now - age);
    char *s = text[next = (next + 1) % 4];
    strftime(s, sizeof *text, "%Y-%m-%dT%H:%M:%S.000Z", gmtime(&t));
    return s;
}

/* The log of a process that began `began` seconds ago and was heard of `heard` seconds ago. */
static void begin(int shard, int shards, int ecs, int pid, double began, double heard)
{
    char name[80], text[600];
    snprintf(name, sizeof name, "logs/%d-of-%d-n1-%d.jsonl", shard, shards, pid);
    snprintf(text, sizeof text, "{\"at\":\"%s\",\"event\":\"start\",\"shard\":%d,\"shards\":%d,\"from\":0,\"to\":0,\"ecs\":%d,"
             "\"pid\":%d,\"config\":\"abc\",\"host\":\"n1\",\"job\":\"12_%d\",\"build\":\"b\",\"device\":\"cpu\",\"unit\":\"\","
             "\"platform\":\"p\",\"text\":\"\"}\n", at(began), shard, shards, ecs, pid, shard);
    put(name, text, heard);
}

static void say(int shard, int shards, int pid, double age, const char *rest)
{
    char name[80], text[400];
    snprintf(name, sizeof name, "logs/%d-of-%d-n1-%d.jsonl", shard, shards, pid);
    snprintf(text, sizeof text, "{\"at\":\"%s\",%s}\n", at(age), rest);
    put(name, text, age);
}

static void finish(spot_ctx *c, int ec, const char *config, int status)
{
    spot_segment *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->index = ec;
    s->status = status;
    snprintf(s->config, sizeof s->config, "%s", config);
    CHECK_OK(c, spot_segment_write(c, dir, s));
    spot_segment_free(s);
}

static spot_run_status *standing(spot_ctx *c)
{
    spot_run_status *s;
    CHECK_OK(c, spot_run_status_read(c, &s, dir, 120));
    return s;
}

TEST_IN_FOLDER(every_state_is_told_from_the_others)
{
    spot_ctx c = check_ctx(1);
    spot_run_status *s;
    make("states");
    for (int i = 0; i < 7; i++) finish(&c, i, "abc", i == 1 ? SPOT_NUMERIC : SPOT_OK);
    finish(&c, 10, "of another config", SPOT_OK);
    put("segments/000/ec-000009.json", "torn", 0);
    begin(0, 8, 30, 100, 900, 500);                                        /* 0-2: done */
    say(0, 8, 100, 500, "\"event\":\"end\",\"status\":\"NUMERIC\",\"text\":\"a verdict\"");
    begin(1, 8, 30, 101, 400, 3);                                          /* 3-6: done though nobody said so */
    begin(2, 8, 30, 102, 400, 200);                                        /* 7-10: lost */
    say(2, 8, 102, 200, "\"event\":\"model\",\"kept\":true,\"ec\":7,\"seconds\":3");
    begin(3, 8, 30, 103, 400, 10);                                         /* 11-14: runs, 100 s an EC, 40 s of it over */
    say(3, 8, 103, 40, "\"event\":\"done\",\"kept\":true,\"ec\":11,\"seconds\":100");
    put("logs/3-of-8-n1-103.jsonl", "{\"at\":\"2026-", 5);                 /* ... and a line that is being written */
    begin(4, 8, 30, 104, 400, 200);                                        /* 15-17: stopped */
    say(4, 8, 104, 200, "\"event\":\"end\",\"status\":\"STOPPED\",\"text\":\"stopped\"");
    begin(5, 8, 30, 105, 400, 200);                                        /* 18-21: failed, and begun before */
    say(5, 8, 105, 300, "\"event\":\"end\",\"status\":\"STOPPED\"");
    begin(5, 8, 30, 106, 250, 200);
    say(5, 8, 106, 200, "\"event\":\"end\",\"status\":\"IO\",\"text\":\"no space\"");
    begin(6, 8, 30, 107, 900, 600);                                        /* 22-25: lost once, runs again */
    begin(6, 8, 30, 108, 300, 1);                                          /* 7: nobody yet */
    s = standing(&c);
    assert_true(s->shards == 8 && s->ecs == 30 && s->done == 7 && s->failed == 1 && s->damaged == 1);
    static const spot_shard_state want[] = {
        SPOT_SHARD_DONE, SPOT_SHARD_DONE, SPOT_SHARD_LOST, SPOT_SHARD_RUNNING, SPOT_SHARD_WAITING, SPOT_SHARD_FAILED,
        SPOT_SHARD_RUNNING, SPOT_SHARD_WAITING,
    };
    for (int i = 0; i < 8; i++)
        if (s->shard[i].state != want[i])
            fail_msg("shard %d is %s, not %s", i, spot_shard_state_name(s->shard[i].state), spot_shard_state_name(want[i]));
    assert_true(s->shard[0].done == 3 && s->shard[0].failed == 1 && s->shard[2].from == 7 && s->shard[2].to == 11);
    assert_true(s->shard[2].done == 0 && s->shard[2].silent >= 200 && s->shard[2].silent < 210);
    assert_true(s->shard[3].left > 340 && s->shard[3].left <= 360 && s->left >= s->shard[3].left);
    assert_true(s->shard[5].starts == 2 && !strcmp(s->shard[5].why, "no space") && s->shard[6].starts == 2);
    assert_string_equal(s->shard[6].host, "n1-108");
    assert_string_equal(s->shard[6].job, "12_6");
    assert_true(isnan(s->shard[7].silent) && !s->shard[7].starts);
    spot_run_status_free(s);
}

TEST_IN_FOLDER(the_latest_cut_counts)
{
    spot_ctx c = check_ctx(1);
    spot_run_status *s;
    make("cuts");
    for (int i = 0; i < 10; i++) finish(&c, i, "abc", SPOT_OK);
    begin(0, 2, 20, 100, 900, 300);
    say(0, 2, 100, 300, "\"event\":\"end\",\"status\":\"OK\"");
    begin(0, 5, 20, 101, 200, 1);
    s = standing(&c);
    assert_true(s->shards == 5 && s->shard[0].state == SPOT_SHARD_DONE && s->shard[1].state == SPOT_SHARD_DONE);
    assert_true(s->shard[2].state == SPOT_SHARD_WAITING && s->shard[2].done == 2 && s->done == 10);
    spot_run_status_free(s);
    put("slurm/submitted.json", "{\"shards\":4,\"job\":\"77\"}", 100);    /* an array that nothing has begun of */
    s = standing(&c);
    assert_true(s->shards == 4 && s->ecs == 20 && s->shard[3].state == SPOT_SHARD_WAITING && s->shard[3].from == 15);
    spot_run_status_free(s);
    begin(1, 5, 20, 102, 20, 1);                                            /* ... and somebody who began after it */
    s = standing(&c);
    assert_int_equal(s->shards, 5);
    spot_run_status_free(s);
}

TEST_IN_FOLDER(an_empty_run_stands_too)
{
    spot_ctx c = check_ctx(1);
    spot_run_status *s;
    make("empty");
    CHECK_FAILS(&c, spot_run_status_read(&c, &s, dir, 120), SPOT_IO, "run.missing");
    spot_run_status_free(s);
    put("slurm/submitted.json", "{\"shards\":4,\"ecs\":9}", 0);
    s = standing(&c);
    assert_true(s->shards == 4 && s->ecs == 9 && s->shard[0].state == SPOT_SHARD_WAITING && isnan(s->left));
    spot_run_status_free(s);
    put("config.yaml", "seed: 1\necs: 5\nbdms: [{reduce: pca}]\n", 0);
    remove(strcat(strcpy((char[200]){ 0 }, dir), "/slurm/submitted.json"));
    s = standing(&c);
    assert_true(s->shards == 1 && s->ecs == 5 && s->shard[0].state == SPOT_SHARD_WAITING);
    spot_run_status_free(s);
}

/* Starts count from the last thing that was kept; those of another shard do not. */
TEST_IN_FOLDER(starts_for_nothing_are_counted)
{
    spot_ctx c = check_ctx(1);
    make("starts");
    assert_int_equal(spot_run_log_starts(&c, dir, 3, 8), 0);
    begin(3, 8, 30, 100, 900, 800);
    begin(3, 8, 30, 101, 800, 700);
    begin(13, 8, 30, 100, 800, 700);
    begin(3, 80, 30, 100, 800, 700);
    assert_int_equal(spot_run_log_starts(&c, dir, 3, 8), 2);
    say(3, 8, 101, 750, "\"event\":\"view\",\"kept\":true,\"ec\":7,\"seconds\":3");
    assert_int_equal(spot_run_log_starts(&c, dir, 3, 8), 0);
    begin(3, 8, 30, 99, 600, 500);
    say(3, 8, 99, 500, "\"event\":\"end\",\"status\":\"STOPPED\"");
    begin(3, 8, 30, 98, 400, 300);
    assert_int_equal(spot_run_log_starts(&c, dir, 3, 8), 2);
}

/* ---- logs of another platform, of strangers ---- */

static char warned[1200];

static void keep_warning(void *user, spot_log_level level, const char *text)
{
    (void)user;
    if (level == SPOT_LOG_WARN) snprintf(warned, sizeof warned, "%s", text);
}

TEST_IN_FOLDER(other_platforms_are_named_and_nothing_hangs)
{
    static const char stranger[] = "{\"at\":\"%s\",\"event\":\"start\",\"shard\":1,\"shards\":2,\"from\":2,\"to\":4,\"ecs\":4,"
        "\"pid\":7,\"config\":\"abc\",\"host\":\"n2\\u001b[2J\\n\",\"job\":\"\",\"build\":\"b\",\"device\":\"cpu\","
        "\"unit\":\"\",\"platform\":\"q\",\"text\":\"\"}\n";
    spot_ctx c = check_ctx(1);
    char text[600], path[240];
    spot_run_status *s;
    c.on_log = keep_warning;
    make("mixed");
    begin(0, 2, 4, 100, 900, 800);
    say(0, 2, 100, 850, "\"event\":\"done\",\"kept\":true,\"ec\":0,\"seconds\":3");
    spot_run_status_free(standing(&c));
    spot_run_makers_look(&c, dir, "p");
    assert_string_equal(warned, "");
    spot_run_makers_look(&c, dir, "here");
    assert_non_null(strstr(warned, "on another platform (p; here here)"));
    snprintf(text, sizeof text, stranger, at(700));
    put("logs/1-of-2-n1-7.jsonl", text, 600);
    say(1, 2, 7, 650, "\"event\":\"view\",\"kept\":true,\"ec\":2,\"seconds\":3");
    snprintf(path, sizeof path, "%s/logs/1-of-2-n1-8.jsonl", dir);
    assert_int_equal(mkfifo(path, 0666), 0);
    s = standing(&c);
    assert_string_equal(s->shard[1].host, "n2?[2J?-7");
    assert_non_null(strstr(warned, "on different platforms (p; and q)"));
    spot_run_status_free(s);
}

/* ---- the log of a real run_log ---- */

typedef struct { int lines, starts; double alive; spot_run_log_line last, start, found; } heard;

static void hear(void *user, int file, double alive, const spot_run_log_line *l)
{
    heard *h = user;
    (void)file;
    h->lines++;
    h->alive = alive;
    h->last = *l;
    if (!strcmp(l->event, "found")) h->found = *l;
    if (strcmp(l->event, "start")) return;
    h->starts++;
    h->start = *l;
}

TEST_IN_FOLDER(what_is_written_is_read)
{
    spot_ctx c = { 0 };
    spot_run_log d;
    spot_run_log_start s = { .shard = 1, .shards = 4, .from = 5, .to = 10, .ecs = 20, .config = "0123" };
    heard h = { 0 };
    char platform[512];
    double before = (double)time(NULL);
    make("run_log");
    setenv("SLURM_ARRAY_JOB_ID", "812", 1);
    setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    CHECK_OK(&c, spot_ctx_open(&c, "cpu", 1));
    spot_run_log_open(&c, &d, dir, 1, 4);
    spot_run_log_begin(&c, &d, &s, "a \"text\"");
    spot_run_log_kept(&d, "found", 7, 1.25, "planespot-pca");
    spot_run_log_end(&d, SPOT_STOPPED, 3, "why");
    spot_run_log_close(&d);
    CHECK_OK(&c, spot_run_log_read(&c, dir, "1-of-4-", hear, &h));
    assert_true(h.lines == 3 && h.starts == 1 && fabs(h.alive - before) < 60);
    assert_true(h.start.at >= before && h.start.at < before + 60 && h.start.start.to == 10 && h.start.start.ecs == 20);
    assert_string_equal(h.start.text, "a \"text\"");
    assert_true(h.found.kept && h.found.ec == 7 && h.found.seconds == 1.25);
    assert_string_equal(h.found.text, "planespot-pca");
    assert_string_equal(h.start.start.job, "812_3");
    assert_string_equal(h.start.start.platform, spot_platform(&c, platform, sizeof platform));
    assert_non_null(strstr(platform, "cpu "));
    assert_non_null(strstr(platform, "; oneDNN "));
    assert_non_null(strstr(platform, ", OpenBLAS "));
    assert_true(strlen(h.start.start.build) >= strlen(SPOT_VERSION) + 1 + 32);
    assert_string_equal(h.last.status, "STOPPED");
    assert_true(!h.last.kept && h.last.seconds == 3 && h.last.ec == -1);
    CHECK_OK(&c, spot_run_log_read(&c, dir, "1-of-5-", hear, &h));
    assert_int_equal(h.lines, 3);
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    spot_ctx_close(&c);
}

