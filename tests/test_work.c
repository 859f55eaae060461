/* test_work.c - the study of squares: cut, killed, resumed, merged, checked. */
#define _DEFAULT_SOURCE                /* mkdtemp, usleep */
#include <sys/wait.h>

#include "study_of_squares.h"

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
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_NUMERIC, "unit.failed: number 13, squaring | unlucky");
    assert_true(w.planned == 40 && w.done == 40 && w.failed == 1);
    CHECK_FAILS(&c, run(&c, &w, "b", &g, 0, 2), SPOT_NUMERIC, "unit.failed: number 13");
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
    CHECK_FAILS(&c, run(&c, &w, "b", &other, 0, 1), SPOT_USAGE, "run.other_config: add | 1 | 2");
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
        CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), i < 3 ? SPOT_STOPPED : SPOT_DEVICE,
                    i < 3 ? "run.stopped" : "shard.given_up: begun 3");
        assert_true(w.already == (i ? 9 : 5) && w.done == (i ? 0 : 4));
    }
    stops_at = -1;
    CHECK_OK(&c, run(&c, &w, "a", &g, 0, 1));
    assert_true(w.planned == 12 && w.already == 9 && w.done == 3);
}

/* A study asks this before it makes anything. */
TEST_IN_FOLDER(a_place_is_a_directory_and_a_shard)
{
    const spot_run_place wrong[] = { { .shards = 1 }, { .out = root }, { .out = root, .shard = 2, .shards = 2 },
                                     { .out = root, .shard = -1, .shards = 1 } };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(wrong); i++)
        CHECK_FAILS(&c, spot_run_place_check(&c, &wrong[i]), SPOT_USAGE, i == 2 ? "run.place: 2 of 2" : "run.place");
    CHECK_OK(&c, spot_run_place_check(&c, &(spot_run_place){ .out = root, .shard = 1, .shards = 2 }));
}
