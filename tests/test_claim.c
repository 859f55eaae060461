/* test_claim.c - two processes on the same units of a run, and on the units of each other. */
#define _DEFAULT_SOURCE                /* mkdtemp, usleep */
#include <sys/wait.h>
#include <time.h>

#include "study/unit_claim.h"
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
    siginfo_t dead;
    spot_work w;
    const pid_t child = start_child(&g, "a", log, sizeof log);
    snprintf(pid, sizeof pid, "run.claimed: process %d", (int)child);
    CHECK_FAILS(&c, run(&c, &w, "a", &g, 0, 1), SPOT_USAGE, pid);
    assert_int_equal(run(&c, &w, "a", &g, 1, 2), SPOT_OK);                     /* shards share a directory */
    let_both = true;
    assert_int_equal(run(&c, &w, "a", &few, 0, 1), SPOT_OK);
    let_both = false;
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &dead, WEXITED | WNOWAIT), 0); /* a killed process lives for a moment */
    assert_int_equal(run(&c, &w, "a", &g, 0, 1), SPOT_OK);                     /* a zombie still */
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

static int lines_with(const char *what, const char *files)
{
    char command[500];
    int n = -1;
    FILE *f;

    snprintf(command, sizeof command, "cat %s/%s | grep -c '%s'", root, files, what);
    f = popen(command, "r");
    assert_int_equal(fscanf(f, "%d", &n), 1);
    pclose(f);
    return n;
}

static void write_claim(const char *dir, int unit, int pid, const char *host)
{
    char command[400];

    snprintf(command, sizeof command, "mkdir -p %s/%s/claims && echo '%d %s %ld' >%s/%s/claims/n-%06d", root, dir, pid, host,
             (long)time(NULL), root, dir, unit);
    assert_int_equal(system(command), 0);
}

/* Shard 1 halts when it has claimed three units. Shard 0 takes the others, each is computed once, and the merged run is
 * the same. */
TEST_IN_FOLDER(a_shard_takes_the_units_of_a_slower_one)
{
    const config g = { NULL, 12, 1 };
    spot_ctx c = check_ctx(1);
    spot_work w;
    pid_t child;
    int how;

    shared = true;
    slow = 1000;
    child = fork();
    if (!child) {
        halts_at = 6;
        _exit(run(&c, &w, "s", &g, 1, 2) != SPOT_OK);
    }
    assert_true(waitpid(child, &how, WUNTRACED) == child && WIFSTOPPED(how));
    const spot_status s = run(&c, &w, "s", &g, 0, 2);
    kill(child, SIGCONT);                      /* before any check: a failed one would leave it there */
    waitpid(child, &how, 0);
    assert_true(s == SPOT_OK && w.planned == 6 && w.own == 6 && w.done == 9);
    assert_true(WIFEXITED(how) && !WEXITSTATUS(how));
    assert_int_equal(lines_with("\"event\":\"done\"", "s/logs/*"), 12);
    assert_int_equal(lines_with("\"event\":\"done\"", "s/logs/1-of-2*"), 3);
    assert_int_not_equal(access(in_root("s/claims"), F_OK), 0);
    assert_int_equal(run(&c, &w, "alone", &(config){ NULL, 12, 1 }, 0, 1), SPOT_OK);
    char command[400];
    snprintf(command, sizeof command, "diff -r %s/s/segments %s/alone/segments", root, root);
    assert_int_equal(system(command), 0);
    shared = false;
}

static void write_old(const char *dir, const char *name, const char *text)
{
    char command[400];

    snprintf(command, sizeof command, "cd %s/%s/claims && printf '%s' >%s && touch -d '-2 days' %s", root, dir, text, name, name);
    assert_int_equal(system(command), 0);
}

/* Units 1 and 8 are claimed by a process of this host that is gone and by one that lives; 9 by one of a host without a log. */
TEST_IN_FOLDER(a_claim_holds_as_long_as_its_process_lives)
{
    const config g = { NULL, 10, 1 };
    spot_ctx c = check_ctx(1);
    char host[64] = "";
    spot_work w;
    const pid_t gone = fork(), lives = gone ? fork() : 0;

    if (!gone) _exit(0);
    if (!lives) sleep(60), _exit(0);
    waitpid(gone, NULL, 0);
    gethostname(host, sizeof host - 1);
    shared = true;
    slow = 1000;
    write_claim("h", 1, gone, host);
    write_claim("h", 8, lives, host);
    write_claim("h", 9, 1, "far");
    write_old("h", "n-notes", "1 far 2\n");                                    /* no name of a claim */
    write_old("h", "n-000103", "of mine\n");                                   /* a claim's name with other contents */
    write_old("h", "n-000104", "");
    assert_int_equal(run(&c, &w, "h", &g, 0, 1), SPOT_OK);
    assert_int_equal(w.done, 9);
    assert_int_not_equal(access(in_root("h/segments/000/n-000008.json"), F_OK), 0);
    assert_int_equal(lines_with(host, "h/claims/*"), 1);
    kill(lives, SIGKILL);
    waitpid(lives, NULL, 0);
    assert_int_equal(run(&c, &w, "h", &g, 0, 1), SPOT_OK);
    assert_int_equal(w.already, 9);
    assert_int_equal(w.done, 1);
    assert_int_equal(lines_with("", "h/claims/n-notes"), 1);
    assert_int_equal(lines_with("", "h/claims/n-000103"), 1);
    assert_int_equal(lines_with("", "h/claims/*"), 2);                         /* the empty one is old, and gone */
    shared = false;
}

/* A process that ends removes the folder of claims before another one claims its next unit. */
TEST_IN_FOLDER(a_claim_makes_its_folder_where_it_is_gone)
{
    const config g = { NULL, 12, 1 };
    spot_ctx c = check_ctx(1);
    bool mine = false;
    spot_work w;

    shared = true;
    assert_int_equal(run(&c, &w, "g", &g, 0, 1), SPOT_OK);
    assert_int_not_equal(access(in_root("g/claims"), F_OK), 0);
    assert_int_equal(spot_unit_claim(&c, &w, 3, &mine), SPOT_OK);
    assert_true(mine && !access(in_root("g/claims/n-000003"), F_OK));
    spot_unit_release(&w, 3);
    spot_unit_claims_close(&c, &w);
    assert_int_not_equal(access(in_root("g/claims"), F_OK), 0);
    shared = false;
}
