/* test_cuda_plans.c - which plan of cuDNN is taken and kept (kernels/net/conv_plans.cu, conv_stored.cu). A library that stands
 * in for cuDNN (tests/emulator/conv_cudnn.cpp) has engines 1 to 6: 1 is wrong, 2 leaves other bits each time, 3 does not
 * run, all three are fast; 4, 5 and 6 are right and round differently. Only one of them is fast: the environment says which. */
#define _GNU_SOURCE   /* setenv */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_cuda.h"

#include "check_folder.h"
#include "emulator/calls.h"
#include "net/conv.h"
#include "store/store.h"
#include "study/workers.h"

static const spot_conv_shape train = { 2, 1, 16, 32, 3, 1, 4, true, false, false, false, SPOT_FP32 };
static const spot_conv_shape looks = { 2, 1, 16, 32, 3, 1, 4, false, true, false, true, SPOT_BF16 };

static struct { int searched, wrong, wavers, useless, damaged, foreign, cannot, alone; } seen;

static void watch(void *user, spot_log_level level, const char *text)
{
    (void)user, (void)level;
    seen.searched += strstr(text, " proposed, ") != NULL;
    seen.wrong += strstr(text, "gives a wrong answer") != NULL;
    seen.wavers += strstr(text, "leaves other bits each time") != NULL;
    seen.useless += strstr(text, "is of no use any more") != NULL;
    seen.damaged += strstr(text, "is damaged") != NULL;
    seen.foreign += strstr(text, "is no plan that Spotter kept") != NULL;
    seen.alone += strstr(text, "does not wait any longer") != NULL;
    seen.cannot += strstr(text, "SPOT_PLAN_DIR") != NULL;
}

/* A context on a device whose library is as `cudnn` says; the log is watched from now on. */
static spot_ctx device(const char *cudnn)
{
    spot_ctx c;

    setenv("SPOT_EMULATOR_CUDNN", cudnn, 1);
    open_cuda(&c, 0);
    c.on_log = watch;
    memset(&seen, 0, sizeof seen);
    return c;
}

/* Opens the shape there and says what it is made with. */
static uint64_t made_with(const char *cudnn, const spot_conv_shape *s)
{
    spot_ctx c = device(cudnn);
    spot_conv *plan;
    uint64_t hash;

    CHECK_OK(&c, spot_conv_open(&c, &plan, s));
    hash = spot_conv_made_with(&c, plan);
    spot_conv_close(&c, plan);
    spot_device_close(&c);
    return hash;
}

/* The path of the one plan in `root` whose name holds `name`; false when there is none. Others are counted, too. */
static int find(char *path, size_t size, const char *name)
{
    struct dirent *e;
    int count = 0;
    DIR *d;

    path[0] = 0;
    const char *folder = in_root("block-emulator-cudnn-91900");
    d = opendir(folder);
    while (d && (e = readdir(d))) {
        count += e->d_name[0] != '.';
        if (strstr(e->d_name, name)) snprintf(path, size, "%s/%s", folder, e->d_name);
    }
    if (d) closedir(d);
    return count;
}

/* The second line of the file for a pass. */
static const char *kept(const char *pass)
{
    static char line[256];
    char path[512];
    FILE *f;

    find(path, sizeof path, pass);
    f = fopen(path, "r");
    if (!f) return "nothing";
    for (int i = 0; i < 2; i++) assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static int own_folder(void **state)
{
    int failed = set_up(state);

    setenv("SPOT_PLAN_DIR", root, 1);
    unsetenv("SPOT_PLANS");
    return failed;
}

static int as_before(void **state)
{
    unsetenv("SPOT_EMULATOR_CUDNN"), unsetenv("SPOT_PLAN_DIR");
    return tear_down(state);
}

/* Three passes: the fastest right engine is kept for each, and stays when another is faster later. */
TEST_WITH(the_fastest_right_one_is_kept, own_folder, as_before)
{
    uint64_t five, again, four;
    char path[512];
    five = made_with("fast=5", &train);
    assert_int_equal(seen.searched, 3);
    assert_int_equal(seen.wrong, 2 * 3);               /* 1 and 3 */
    assert_int_equal(seen.wavers, 3);
    assert_int_equal(find(path, sizeof path, "forward"), 3);
    assert_string_equal(kept("forward"), "plain 5 2=35 13=-1");
    assert_string_equal(kept("backward-data"), "plain 5 2=35 13=-1");
    assert_string_equal(kept("backward-weights"), "plain 5 2=35 13=-1");
    again = made_with("fast=6", &train);
    assert_int_equal(seen.searched + seen.wrong + seen.useless, 0);
    assert_true(again == five);
    tear_down(state), own_folder(state);                 /* an empty folder */
    four = made_with("fast=4", &train);
    assert_string_equal(kept("forward"), "plain 4 2=28 13=-1");
    assert_true(four && five && four != five);
}

/* Bias and ReLU in cuDNN, where that is faster; the gradient of weights in bf16, where there is no other. */
TEST_WITH(other_graphs_are_kept, own_folder, as_before)
{
    spot_conv_shape s = train;
    made_with("fast=4", &looks);
    assert_string_equal(kept("forward"), "fused 4");
    s = looks;
    s.add = true;
    made_with("fast=6", &s);
    assert_string_equal(kept("bias-add-relu"), "plain 6 2=42 13=-1");
    s = train;
    s.precision = SPOT_BF16;
    made_with("fast=6", &s);
    assert_string_equal(kept("backward-weights"), "narrow 6 2=42 13=-1");
}

/* A plan that was kept must be there, and leave the same bits. */
TEST_WITH(what_is_of_no_use_is_replaced, own_folder, as_before)
{
    spot_conv_shape one = looks;
    uint64_t five, six;
    one.precision = SPOT_FP32;                         /* whose bits show in what order a sum was made */
    five = made_with("fast=5", &one);
    assert_string_equal(kept("forward"), "plain 5 2=35 13=-1");
    six = made_with("fast=6 gone=5", &one);
    assert_int_equal(seen.useless, 1);
    assert_string_equal(kept("forward"), "plain 6 2=42 13=-1");
    assert_true(five != six);
    assert_true(made_with("fast=5", &one) == six);
    assert_true(made_with("fast=5 other=6", &one) == five);
    assert_int_equal(seen.useless, 1);
    assert_string_equal(kept("forward"), "plain 5 2=35 13=-1");
}

/* The kept file, with `n` letters of its first line, and `more`. */
static void spoil(size_t n, const char *more)
{
    char path[512], line[512];
    FILE *f;

    find(path, sizeof path, "forward");
    assert_non_null(f = fopen(path, "r"));
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_non_null(f = fopen(path, "w"));
    fprintf(f, "%.*s%s", (int)n, line, more);
    fclose(f);
}

/* A file whose first line is a plan's. */
TEST_WITH(what_is_damaged_is_replaced, own_folder, as_before)
{
    static const char *const damage[] = { "", "plain 6", "plain 6\ndigest\n" };
    uint64_t five = made_with("fast=5", &looks);
    char path[512];
    for (int i = 0; i < LEN(damage); i++) {
        spoil(500, damage[i]);
        assert_true(made_with("fast=5", &looks) == five);
        assert_int_equal(seen.damaged, 1);
        assert_int_equal(seen.searched, 1);
        assert_string_equal(kept("forward"), "plain 5 2=35 13=-1");
        assert_int_equal(find(path, sizeof path, "forward"), 1);       /* and no temporary file beside it */
    }
}

/* A file that this program did not make is neither trusted nor removed. */
TEST_WITH(what_is_foreign_stays, own_folder, as_before)
{
    static const char *const foreign[] = { "", "conv.forward", "conv.forward of another shape\nplain 6\ndigest 00000000\n\n" };
    char path[512], text[128] = "";
    uint64_t four;
    setenv("SPOT_PLANS", "heuristic", 1);
    four = made_with("fast=6", &looks);
    unsetenv("SPOT_PLANS");
    for (int i = 0; i < LEN(foreign); i++) {
        FILE *f;
        made_with("fast=5", &looks);
        spoil(0, foreign[i]);
        assert_true(made_with("fast=6", &looks) == four);
        assert_int_equal(seen.foreign, 1);
        assert_int_equal(seen.searched + seen.damaged, 0);
        assert_int_equal(find(path, sizeof path, "forward"), 1);
        assert_non_null(f = fopen(path, "r"));
        assert_int_equal(fread(text, 1, sizeof text, f), strlen(foreign[i]));
        assert_memory_equal(text, foreign[i], strlen(foreign[i]));
        fclose(f);
        tear_down(state), own_folder(state);
    }
}

/* Where nothing can be kept, and where nobody wants it, it is always the first right one. */
TEST_WITH(without_a_file_nothing_is_timed, own_folder, as_before)
{
    char path[512], nowhere[528];
    uint64_t four, kept_nowhere;
    setenv("SPOT_PLANS", "heuristic", 1);
    four = made_with("fast=6", &train);
    assert_int_equal(seen.searched + seen.wavers, 3);
    assert_int_equal(find(path, sizeof path, "forward"), 0);
    setenv("SPOT_PLANS", "timed", 1);
    snprintf(path, sizeof path, "%s/file", root);
    fclose(fopen(path, "w"));
    snprintf(nowhere, sizeof nowhere, "%s/beneath", path);
    setenv("SPOT_PLAN_DIR", nowhere, 1);
    kept_nowhere = made_with("fast=6", &train);
    assert_int_equal(seen.cannot, 3);
    assert_true(kept_nowhere == four);
    setenv("SPOT_PLAN_DIR", root, 1);
    assert_true(made_with("fast=6", &train) != four);
}

TEST_WITH(a_word_that_is_none_is_refused, own_folder, as_before)
{
    spot_ctx c = device("fast=4");
    spot_conv *plan;
    setenv("SPOT_PLANS", "guess", 1);
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &train), SPOT_USAGE, "plans.setting: \"guess\"");
    assert_null(plan);
    spot_device_close(&c);
}

TEST_WITH(nothing_right_is_a_failure, own_folder, as_before)
{
    spot_ctx c = device("last=3");
    spot_conv *plan;
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &train), SPOT_UNSUPPORTED,
                "plans.none: conv.forward of (2,16,4,4) by (32,16,3,3), stride 1, fp32 | cuda:0");
    assert_null(plan);
    spot_device_close(&c);
}

/* Heuristics without a proposal: a sentence, nothing is kept, and a plan that was kept before is still taken. */
TEST_WITH(no_proposal_is_a_failure, own_folder, as_before)
{
    uint64_t five = made_with("fast=5", &train);
    spot_conv_shape other = train;
    spot_conv *plan;
    spot_ctx c;
    char path[512];

    assert_true(made_with("silent=1", &train) == five);
    other.stride = 2;
    c = device("silent=1");
    CHECK_FAILS(&c, spot_conv_open(&c, &plan, &other), SPOT_UNSUPPORTED,
                "plans.none: conv.forward of (2,16,4,4) by (32,16,3,3), stride 2, fp32 | cuda:0 | --device cpu");
    assert_null(plan);
    spot_device_close(&c);
    assert_int_equal(find(path, sizeof path, "stride-2"), 3);
    assert_string_equal(path, "");
}

/* Processes that find nothing kept at the same time: one searches, and whatever it finds fastest, all compute with it. */
TEST_WITH(processes_agree, own_folder, as_before)
{
    enum { PROCESSES = 6 };
    struct { uint64_t hash; int searched, tried; } by[PROCESSES];
    int pipes[2], status[PROCESSES], searched = 0, tried = 0;
    char cudnn[16], path[512];
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < PROCESSES; i++)
        if (!fork()) {
            snprintf(cudnn, sizeof cudnn, "fast=%d", 4 + i % 3);
            by[0].hash = made_with(cudnn, &train);
            by[0].searched = seen.searched, by[0].tried = seen.wrong;
            _exit(write(pipes[1], by, sizeof *by) != sizeof *by);
        }
    for (int i = 0; i < PROCESSES; i++) wait(&status[i]);
    for (int i = 0; i < PROCESSES; i++) {
        assert_int_equal(status[i], 0);
        assert_int_equal(read(pipes[0], &by[i], sizeof *by), sizeof *by);
        assert_true(by[i].hash == by[0].hash);
        searched += by[i].searched, tried += by[i].tried;
    }
    assert_int_equal(searched, 3);
    assert_int_equal(tried, 2 * 3);
    close(pipes[0]), close(pipes[1]);
    assert_int_equal(find(path, sizeof path, "forward"), 3);
}

/* A process that holds the lock and does not go on, as a stopped one, is not waited for without end; a stop is heard. */
TEST_WITH(one_that_hangs_is_left, own_folder, as_before)
{
    static volatile sig_atomic_t stop = 1;
    char path[512];
    spot_conv *plan;
    spot_ctx c;
    int lock;

    made_with("fast=5", &looks);
    assert_int_equal(find(path, sizeof path, "forward"), 1);
    unlink(path);
    lock = open(in_root("block-emulator-cudnn-91900/.search"), O_RDWR);
    assert_true(lock >= 0 && !flock(lock, LOCK_EX));
    setenv("SPOT_PLANS_SECONDS", "0", 1);
    made_with("fast=6", &looks);
    unsetenv("SPOT_PLANS_SECONDS");
    assert_int_equal(seen.alone, 1);
    assert_int_equal(seen.searched, 1);
    find(path, sizeof path, "forward");
    unlink(path);
    c = device("fast=4");
    c.stop = &stop;
    assert_int_equal(spot_conv_open(&c, &plan, &looks), SPOT_STOPPED);
    close(lock);
    spot_device_close(&c);
}

/* Two contexts of one process, each with its library and its plans, each on a thread of its own. */
typedef struct { uint64_t hash, all; } caller;

static void *call(void *p)
{
    spot_conv_shape other = train;
    caller *a = p;
    spot_conv *plan, *again, *second;
    spot_ctx c = { .threads = 1 };

    CHECK_OK(&c, spot_device_open(&c, "cuda"));
    CHECK_OK(&c, spot_conv_open(&c, &plan, &train));
    CHECK_OK(&c, spot_conv_open(&c, &again, &train));
    assert_ptr_equal(again, plan);                     /* nets of one shape share their plans */
    other.stride = 2;
    CHECK_OK(&c, spot_conv_open(&c, &second, &other));
    a->hash = spot_conv_made_with(&c, plan);
    a->all = spot_conv_made_with(&c, NULL);
    assert_true(a->all == a->hash + spot_conv_made_with(&c, second) && a->all != a->hash);
    spot_device_close(&c);
    return NULL;
}

TEST_WITH(contexts_agree, own_folder, as_before)
{
    caller by[3];
    pthread_t thread[LEN(by)];
    setenv("SPOT_EMULATOR_CUDNN", "fast=5", 1);
    for (int i = 0; i < LEN(by); i++) assert_int_equal(pthread_create(&thread[i], NULL, call, &by[i]), 0);
    for (int i = 0; i < LEN(by); i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < LEN(by); i++) assert_true(by[i].hash && by[i].hash == by[0].hash && by[i].all == by[0].all);
}

/* Each of two workers opens a plan, at the same time as the other. */
typedef struct { spot_conv *plan[2]; pthread_barrier_t both; } opened;

static spot_status open_by_worker(spot_ctx *c, spot_arena *a, void *user, int task)
{
    opened *o = user;

    (void)a;
    pthread_barrier_wait(&o->both);
    return spot_conv_open(c, &o->plan[task], &train);
}

/* The waves of a sweep share contexts, so that plans live as long as the run. */
TEST_WITH(plans_outlive_a_wave, own_folder, as_before)
{
    spot_ctx c = device("fast=5");
    static spot_workers w;
    opened wave[2];
    spot_arena a;
    CHECK_OK(&c, spot_arena_open(&c, &a, 1024));
    for (int i = 0; i < 2; i++) {
        pthread_barrier_init(&wave[i].both, NULL, 2);
        CHECK_OK(&c, spot_workers_run(&c, &a, &w, 2, 1024, 2, open_by_worker, &wave[i]));
        pthread_barrier_destroy(&wave[i].both);
        assert_ptr_not_equal(wave[i].plan[0], wave[i].plan[1]);
    }
    assert_true(wave[1].plan[0] == wave[0].plan[0] || wave[1].plan[0] == wave[0].plan[1]);
    assert_true(wave[1].plan[1] == wave[0].plan[0] || wave[1].plan[1] == wave[0].plan[1]);
    assert_int_equal(seen.searched, 3);                /* three passes, by the first of the two */
    spot_workers_close(&w);
    spot_arena_close(&a);
    spot_device_close(&c);
}

/* On any device: a plan is searched once, and made again from what was kept. */
TEST_WITH(a_plan_is_searched_once, own_folder, as_before)
{
    uint64_t first = made_with("fast=5", &train);
    assert_int_equal(seen.searched, 3);
    assert_true(first && made_with("fast=6", &train) == first);
    assert_int_equal(seen.searched + seen.useless + seen.cannot, 0);
}

/* Engines with a note that nobody knows yet serve where no other is right, and only if their numbers do. */
TEST_WITH(engines_with_unknown_notes_are_tried_last, own_folder, as_before)
{
    made_with("new=5 fast=5", &train);
    assert_string_equal(kept("forward"), "plain 4 2=28 13=-1");
    tear_down(state), own_folder(state);
    made_with("new=1 fast=5", &train);
    assert_string_equal(kept("forward"), "plain 5 2=35 13=-1");
    assert_int_equal(seen.wrong, 2 * 3);
    assert_int_equal(seen.wavers, 3);
    made_with("new=1 fast=6", &train);                   /* a kept one is taken again */
    assert_int_equal(seen.searched + seen.useless, 0);
}

/* A search that takes too long is content with the right plan that it has. */
TEST_WITH(a_search_has_an_end, own_folder, as_before)
{
    setenv("SPOT_PLANS_SECONDS", "0", 1);
    made_with("fast=6", &train);
    unsetenv("SPOT_PLANS_SECONDS");
    assert_string_equal(kept("forward"), "plain 4 2=28 13=-1");
}

/* ---- a run's own folder ---- */

/* A folder of the test, which is there. */
static const char *folder(const char *name)
{
    const char *path = in_root("%s", name);

    mkdir(path, 0777);
    return path;
}

/* Without SPOT_PLAN_DIR, and with a user's folder of its own, which is empty. */
static int own_cache(void **state)
{
    int failed = own_folder(state);

    unsetenv("SPOT_PLAN_DIR");
    setenv("XDG_CACHE_HOME", folder("cache"), 1);
    return failed;
}

static int cache_as_before(void **state)
{
    unsetenv("XDG_CACHE_HOME");
    return as_before(state);
}

/* made_with in a run, on a machine with this folder of the user. */
static uint64_t made_in(const char *run, const char *cache, const char *cudnn, const spot_conv_shape *s)
{
    spot_conv *plan;
    uint64_t hash;
    spot_ctx c;

    setenv("XDG_CACHE_HOME", folder(cache), 1);
    c = device(cudnn);
    CHECK_OK(&c, spot_conv_keep_in(&c, folder(run)));
    assert_string_equal(spot_conv_kept_in(&c), in_root("%s", run));
    CHECK_OK(&c, spot_conv_open(&c, &plan, s));
    hash = spot_conv_made_with(&c, plan);
    spot_conv_close(&c, plan);
    spot_device_close(&c);
    return hash;
}

#define DEVICE "/block-emulator-cudnn-91900"
#define USERS "/spotter/plans" DEVICE

/* How many plans are in a folder of the test; -1: it is not there. */
static int plans_in(const char *name)
{
    struct dirent *e;
    int n = 0;
    DIR *d = opendir(in_root("%s", name));

    if (!d) return -1;
    while ((e = readdir(d))) {
        assert_null(strstr(e->d_name, ".tmp"));
        n += strstr(e->d_name, ".plan") != NULL;
    }
    closedir(d);
    return n;
}

/* The one plan of a run in the shape `looks`. */
static const char *plan_of(const char *run)
{
    static char path[512];
    const char *of = in_root("%s" DEVICE, run);
    struct dirent *e;
    DIR *d = opendir(of);

    path[0] = 0;
    while (d && (e = readdir(d)))
        if (strstr(e->d_name, ".plan")) snprintf(path, sizeof path, "%s/%s", of, e->d_name);
    if (d) closedir(d);
    return path;
}

/* Nodes that share no folder of their user round alike, because they share the run: the second one searches nothing. */
TEST_WITH(a_run_has_its_own_plans, own_cache, cache_as_before)
{
    uint64_t five = made_in("run", "cache", "fast=5", &train);

    assert_int_equal(seen.searched, 3);
    assert_int_equal(plans_in("run" DEVICE), 3);
    assert_int_equal(plans_in("cache" USERS), 3);
    assert_true(made_in("run", "other", "fast=6", &train) == five);
    assert_int_equal(seen.searched + seen.wrong + seen.cannot, 0);
    assert_int_equal(plans_in("other" USERS), -1);

    /* the next run on the first node takes what its user keeps; one on the second searches */
    assert_true(made_in("next", "cache", "fast=6", &train) == five);
    assert_int_equal(seen.searched + seen.cannot, 0);
    assert_int_equal(plans_in("next" DEVICE), 3);
    assert_true(made_in("third", "other", "fast=6", &train) != five);
    assert_int_equal(seen.searched, 3);
    assert_true(made_in("third", "cache", "fast=5", &train) != five);
    assert_true(made_in("run", "other", "fast=4", &train) == five);

    /* SPOT_PLAN_DIR decides alone */
    setenv("SPOT_PLAN_DIR", folder("own"), 1);
    assert_true(made_in("fourth", "cache", "fast=6", &train) != five);
    assert_int_equal(seen.searched, 3);
    assert_int_equal(plans_in("own" DEVICE), 3);
    assert_int_equal(plans_in("fourth" DEVICE), -1);
}

/* The same when they begin at once: one of them searches. */
TEST_WITH(processes_of_a_run_agree, own_cache, cache_as_before)
{
    enum { PROCESSES = 5 };
    struct { uint64_t hash; int searched; } by[PROCESSES];
    int pipes[2], status, searched = 0;
    char cudnn[16], cache[16];

    folder("run");
    assert_int_equal(pipe(pipes), 0);
    for (int i = 0; i < PROCESSES; i++)
        if (!fork()) {
            snprintf(cudnn, sizeof cudnn, "fast=%d", 4 + i % 3);
            snprintf(cache, sizeof cache, "cache%d", i);
            by[0].hash = made_in("run", cache, cudnn, &train);
            by[0].searched = seen.searched;
            _exit(write(pipes[1], by, sizeof *by) != sizeof *by);
        }
    for (int i = 0; i < PROCESSES; i++) {
        wait(&status);
        assert_int_equal(status, 0);
        assert_int_equal(read(pipes[0], &by[i], sizeof *by), sizeof *by);
        assert_true(by[i].hash && by[i].hash == by[0].hash);
        searched += by[i].searched;
    }
    assert_int_equal(searched, 3);
    close(pipes[0]), close(pipes[1]);
    assert_int_equal(plans_in("run" DEVICE), 3);
}

/* In a run, too, a damaged plan is replaced, and a foreign file stays. */
TEST_WITH(a_run_keeps_foreign_files, own_cache, cache_as_before)
{
    uint64_t five = made_in("run", "cache", "fast=5", &looks), four;
    char line[512];
    FILE *f;

    assert_non_null(f = fopen(plan_of("run"), "r"));
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    put_bytes(plan_of("run"), line, strlen(line));
    assert_true(made_in("run", "cache", "fast=6", &looks) == five);    /* what the user keeps is taken again */
    assert_int_equal(seen.damaged, 1);
    assert_int_equal(seen.searched, 0);
    put_bytes(plan_of("run"), line, strlen(line));
    assert_true(made_in("run", "fresh", "fast=6", &looks) != five);
    assert_int_equal(seen.searched, 1);

    put_bytes(plan_of("run"), "mine\n", 5);
    four = made_in("run", "cache", "fast=6", &looks);
    assert_true(four != five);
    assert_int_equal(seen.foreign, 1);
    assert_int_equal(seen.searched, 0);
    assert_non_null(f = fopen(plan_of("run"), "r"));
    assert_non_null(fgets(line, sizeof line, f));
    assert_string_equal(line, "mine\n");
    fclose(f);

    /* of the user's folder a foreign file is passed over: the run keeps what is found */
    assert_int_equal(unlink(plan_of("run")), 0);
    put_bytes(plan_of("cache/spotter/plans"), "mine\n", 5);
    assert_true(made_in("run", "cache", "fast=5", &looks) == five);
    assert_int_equal(seen.foreign, 1);
    assert_int_equal(seen.searched, 1);
    assert_int_equal(plans_in("run" DEVICE), 1);
}

/* A link may lead out of the run: neither the file nor the folder behind it is read or written. */
TEST_WITH(no_link_leads_out_of_a_run, own_cache, cache_as_before)
{
    char out[512], before[512] = "", after[512] = "";
    uint64_t five = made_in("first", "cache", "fast=5", &looks);
    FILE *f;

    snprintf(out, sizeof out, "%s", plan_of("first"));
    assert_non_null(f = fopen(out, "r"));
    assert_true(fread(before, 1, sizeof before - 1, f) > 0);
    fclose(f);
    made_in("run", "cache", "fast=5", &looks);
    snprintf(after, sizeof after, "%s", plan_of("run"));
    assert_int_equal(unlink(after), 0);
    assert_int_equal(symlink(out, after), 0);
    made_in("run", "cache", "fast=6", &looks);
    assert_int_equal(seen.foreign, 1);
    memset(after, 0, sizeof after);
    assert_non_null(f = fopen(out, "r"));
    assert_true(fread(after, 1, sizeof after - 1, f) > 0);
    fclose(f);
    assert_string_equal(after, before);

    folder("outside"), folder("linked");
    assert_int_equal(symlink(in_root("outside"), in_root("linked" DEVICE)), 0);
    assert_true(made_in("linked", "cache", "fast=6", &looks) == five);     /* by the user's folder */
    assert_int_equal(plans_in("outside"), 0);
    assert_int_equal(seen.cannot, 0);
}

/* The run makes its folder, which is no link, and removes what a killed process left there. */
TEST_WITH(a_run_makes_the_folder, own_cache, cache_as_before)
{
    const char *temp = "run/plans" DEVICE "/conv.plan.node1-77-0.tmp";
    const struct timespec old[2] = { { .tv_sec = time(NULL) - 7200 }, { .tv_sec = time(NULL) - 7200 } };
    spot_ctx cpu = check_ctx(1), c = device("fast=5");
    spot_store store;

    CHECK_OK(&c, spot_store_open_to_read(&c, &store, folder("run")));
    CHECK_OK(&cpu, spot_store_plans(&cpu, &store));
    assert_int_equal(plans_in("run/plans"), -1);
    assert_int_equal(symlink(folder("outside"), in_root("run/plans")), 0);
    CHECK_FAILS(&c, spot_store_plans(&c, &store), SPOT_INPUT, "run.link: run/plans");
    assert_string_equal(spot_conv_kept_in(&c), "");
    assert_int_equal(unlink(in_root("run/plans")), 0);
    put_bytes(temp, "half", 4);
    assert_int_equal(utimensat(AT_FDCWD, in_root("%s", temp), old, 0), 0);
    spot_forget(&c);
    CHECK_OK(&c, spot_store_plans(&c, &store));
    assert_string_equal(spot_conv_kept_in(&c), in_root("run/plans"));
    assert_int_not_equal(access(in_root("%s", temp), F_OK), 0);
    spot_device_close(&c);
}

/* Nets of another run in the same process, and workers, take the plans of the run that is open. A run that is gone is not made
 * again. */
TEST_WITH(a_run_is_left_for_the_next, own_cache, cache_as_before)
{
    spot_ctx c = device("fast=5");
    spot_conv *first, *second, *third;
    static spot_workers w;
    opened wave = { 0 };
    spot_arena a;

    CHECK_OK(&c, spot_conv_open(&c, &first, &train));
    CHECK_OK(&c, spot_conv_keep_in(&c, folder("run")));
    CHECK_OK(&c, spot_conv_open(&c, &second, &train));
    assert_ptr_not_equal(first, second);
    assert_int_equal(plans_in("run" DEVICE), 3);
    CHECK_OK(&c, spot_conv_keep_in(&c, in_root("run")));
    CHECK_OK(&c, spot_conv_open(&c, &third, &train));
    assert_ptr_equal(second, third);
    assert_int_equal(seen.searched, 3);

    CHECK_OK(&c, spot_conv_keep_in(&c, folder("next")));
    CHECK_OK(&c, spot_arena_open(&c, &a, 1024));
    pthread_barrier_init(&wave.both, NULL, 2);
    CHECK_OK(&c, spot_workers_run(&c, &a, &w, 2, 1024, 2, open_by_worker, &wave));
    pthread_barrier_destroy(&wave.both);
    assert_int_equal(plans_in("next" DEVICE), 3);
    spot_workers_close(&w);
    spot_arena_close(&a);

    CHECK_OK(&c, spot_conv_keep_in(&c, in_root("gone")));
    CHECK_OK(&c, spot_conv_open(&c, &third, &train));
    assert_int_equal(plans_in("gone"), -1);
    assert_int_equal(seen.searched, 3);
    assert_int_equal(seen.cannot, 0);
    CHECK_OK(&c, spot_conv_keep_in(&c, ""));
    assert_string_equal(spot_conv_kept_in(&c), "");
    spot_device_close(&c);
}

/* Six plans are tried for each pass. Arrays and one workspace are taken for all of them: to take and give back a workspace for
 * each would cost more on a GPU than to run it. */
TEST_WITH(a_search_has_one_workspace, own_folder, as_before)
{
    enum { PASSES = 3, ARRAYS = 7, WORKSPACE = 1 };
    spot_ctx c = device("fast=5");
    const spot_emulator_calls *calls = dlsym(((const spot_device *)c.device)->library, "spot_emulator_calls");
    spot_conv *plan;

    calls->reset();
    CHECK_OK(&c, spot_conv_open(&c, &plan, &train));
    assert_in_range(calls->count(NULL, "takes"), PASSES, PASSES * (ARRAYS + WORKSPACE));
    spot_conv_close(&c, plan);
    spot_device_close(&c);
}

TEST_WITH(a_search_hears_a_stop, own_folder, as_before)
{
    static volatile sig_atomic_t stop = 1;
    spot_ctx c = device("fast=4");
    spot_conv *plan;

    c.stop = &stop;
    assert_int_equal(spot_conv_open(&c, &plan, &train), SPOT_STOPPED);
    assert_null(plan);
    assert_string_equal(kept("forward"), "nothing");
    spot_device_close(&c);
}

int main(void)
{
    if (!getenv("SPOT_EMULATOR")) cmocka_set_test_filter("a_plan_is_searched_once");  /* the stand-in is the emulator's */
    return run_cuda_tests();
}
