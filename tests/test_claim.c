/* test_claim.c - two processes on the same units of a run. */
#define _DEFAULT_SOURCE                /* mkdtemp, usleep */
#include <sys/wait.h>

#include "study_of_squares.h"

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
    snprintf(pid, sizeof pid, "run.claimed: process %d", (int)child);
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
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_USAGE, "run.claimed: far | numbers");
}
