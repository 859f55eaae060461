/* test_faults.c - every call to the disk and every allocation of a small sweep, of a merge, of tables and of a small study
 * of backgrounds fails once, or is where the process is killed or the power goes; the same command again must end in the
 * bytes of an undisturbed run, and nothing but what was in flight may be computed twice.
 *
 * A run is a fork of this process in which the program's own command runs. By default some of the calls, with --all each:
 *
 *     test_faults [--all] ["a_merge*"]
 *
 * ctest: heavy */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "cli/cli.h"
#include "crash.h"
#include "formats/png.h"
#include "spotter/model.h"
#include "stub_model.h"
#include "tiny_config.h"

enum { MOST_ECS = 8, PATH = CRASH_PATH, TEXT = 1 << 14 };

static const char sweep_config[] = TINY_CONFIG(2);

/* A run, and what it leaves for this process. */
typedef struct {
    crash_process process;
    int           computed[MOST_ECS + 1][STUB_STAGES];
    bool          kept[MOST_ECS];
} shared;

static shared *run;
static bool all;

/* -- files ---------------------------------------------------------------------------------------------------------- */

static void shell(const char *fmt, const char *a, const char *b)
{
    char command[3 * PATH];

    snprintf(command, sizeof command, fmt, a, b);
    assert_int_equal(system(command), 0);
}

static long read_text(char text[TEXT], const char *path)
{
    int fd = open(path, O_RDONLY);
    long n = fd < 0 ? -1 : read(fd, text, TEXT - 1);

    if (fd >= 0) close(fd);
    text[n < 0 ? 0 : n] = 0;
    return n;
}

static bool same_file(const char *a, const char *b)
{
    crash_file x = crash_load(a), y = crash_load(b);
    const bool same = crash_equal(&x, &y);

    free(x.bytes), free(y.bytes);
    return same;
}

static bool ends(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* Compares a tree with another: all of its files but temporary ones, those with times in them (logs, lessons) and `but`. */
static struct { size_t length; const char *other, *but; char why[2 * PATH + 40]; } comparison;

static int compare_file(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    char other[2 * PATH];

    (void)st, (void)f;
    if (flag != FTW_F || ends(path, ".tmp") || ends(path, "lesson") || strstr(path, "/logs/")) return 0;
    if (comparison.but && strstr(path, comparison.but)) return 0;
    snprintf(other, sizeof other, "%s%s", comparison.other, path + comparison.length);
    if (same_file(path, other)) return 0;
    snprintf(comparison.why, sizeof comparison.why, "%s is another in %s", path, comparison.other);
    return 1;
}

/* NULL, or in what a file of `tree` is not what `other` has. */
static const char *differs(const char *tree, const char *other, const char *but)
{
    comparison.length = strlen(tree);
    comparison.other = other;
    comparison.but = but;
    return nftw(tree, compare_file, 16, FTW_PHYS) > 0 ? comparison.why : NULL;
}

/* -- runs ----------------------------------------------------------------------------------------------------------- */

static void computes(const spot_store *store, int ec, int stage)
{
    (void)store;
    run->computed[ec + 1][stage]++;
}

static void keeps(const char *dir, int ec)
{
    (void)dir;
    run->kept[ec] = true;
}

/* A command of the program; "HOME/" in its words stands for crash_home. Returns its exit code. */
static int command(const cli_command *k, const char *const *words)
{
    char text[12][PATH], *argv[13];
    int argc = 0;

    for (; words[argc]; argc++) {
        bool ours = !strncmp(words[argc], "HOME/", 5);
        snprintf(text[argc], PATH, "%s%s%s", ours ? crash_home : "", ours ? "/" : "", words[argc] + (ours ? 5 : 0));
        argv[argc] = text[argc];
    }
    argv[argc] = NULL;
    return cli_run(k, argc, argv);
}

static void restore(int out, int err)
{
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
}

static void redirect(void)
{
    char path[PATH];
    int out = open(crash_path(path, "out"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(crash_path(path, "err"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
}

typedef struct {
    const char *name;
    bool        stub;
    void      (*prepare)(void);                /* what lies on the disk before */
    const cli_command *cli;
    const char *words[10];
    const char *result;                        /* below the disk: the tree that must come out */
    int         ecs;
} scenario;

/* The files that the scenario's undisturbed run left. */
static char *whole_of(char path[PATH], const scenario *s)
{
    snprintf(path, PATH, "%s/whole-%s", crash_home, s->name);
    return path;
}

static const scenario *now;

static int run_scenario(crash_process *p)
{
    (void)p;
    redirect();
    return command(now->cli, now->words);
}

static int run_tables(crash_process *p)
{
    static const char *const words[] = { "spotter tables", "HOME/disk/run", NULL };

    (void)p;
    redirect();
    return command(&cli_tables_command, words);
}

/* In a fork, whose plan is `plan`, or in which no call fails. The status that waitpid gives. */
static int run_once(const scenario *s, const fault_plan *plan)
{
    now = s;
    run->process.plan = plan ? *plan : (fault_plan){ 0 };
    return crash_run(&run->process, run_scenario);
}

/* The same command with no fault, and then the tables. */
static int run_again(const scenario *s)
{
    const int status = run_once(s, NULL);

    return status || s->cli == &cli_tables_command ? status : crash_run(&run->process, run_tables);
}

static void prepare(const scenario *s)
{
    crash_new_disk();
    if (s->prepare) s->prepare();
    memset(run, 0, sizeof *run);
}

/* -- what must hold ------------------------------------------------------------------------------------------------- */

/* library_*: how a run ended in which a library found no memory; any end will do that loses nothing. */
typedef struct { long runs, lost, differ, again, ugly, library_crashes, library_codes; int told; } tally;

static bool complain(tally *t, long *which, const scenario *s, bool cut, const char *fmt, ...)
{
    const fault_plan *p = &run->process.plan;
    va_list args;

    ++*which;
    if (t->told++ >= 8) return false;
    fprintf(stderr, "%s: call %ld: %s %s %s%s: ", s->name, p->at, fault_class_name(p->what), p->where,
            fault_kind_name(p->kind), cut ? ", power cut" : "");
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return false;
}

/* One sentence that says what, where and what to do; of memory, what for. */
static bool is_sentence(const char *said, int code)
{
    const char *line = strstr(said, "spotter: ");

    if (!line || strstr(line + 1, "spotter: ")) return false;
    if (code == 6) return strstr(line, "memory") != NULL;
    if (code == 3) return strstr(line, "is not whole") != NULL;            /* a merge: what to do stands above, by kind */
    return strstr(line, crash_home) && (strchr(line, ';') || strchr(line, '?'));
}

/* The end of the run that met the fault. */
static bool check_end(tally *t, const scenario *s, int status, bool cut)
{
    const fault_plan *p = &run->process.plan;
    bool kills = p->kind >= FAULT_DIE, library = p->what == FAULT_LIBRARY;
    char path[PATH], said[TEXT];
    int code;

    read_text(said, crash_path(path, "err"));
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kills) return true;
    if (library) {
        t->library_crashes += WIFSIGNALED(status);
        t->library_codes += WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) != 6;
        if (WIFEXITED(status) || WTERMSIG(status) != SIGALRM) return true;
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) return complain(t, &t->ugly, s, cut, "it hung: %s", said);
    if (WIFSIGNALED(status)) return complain(t, &t->ugly, s, cut, "signal %d: %s", WTERMSIG(status), said);
    code = WEXITSTATUS(status);
    if (code && (!(code == 4 || code == 6 || (code == 3 && s->cli == &cli_merge_command)) || !is_sentence(said, code)))
        return complain(t, &t->ugly, s, cut, "exit code %d: %s", code, said);
    if (run->process.leaked > 0) complain(t, &t->ugly, s, cut, "%ld allocations leaked", run->process.leaked);
    if (run->process.open_files) complain(t, &t->ugly, s, cut, "%d files left open", run->process.open_files);
    return true;
}

/* How often the logs of a tree say that a value of this kind was kept for the EC, or for all (-1). */
static int kept_by_logs(const char *tree, const char *kind, int ec)
{
    char path[PATH], text[TEXT], event[40], of[20];
    struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(event, sizeof event, "\"event\":\"%s\"", kind);
    snprintf(of, sizeof of, "\"ec\":%d,", ec);
    snprintf(path, sizeof path, "%.200s/logs", tree);
    d = opendir(path);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "%.100s/logs/%.100s", tree, e->d_name);
        if (read_text(text, path) < 0) continue;
        for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
            n += strstr(line, event) && (ec < 0 || strstr(line, of));
    }
    if (d) closedir(d);
    return n;
}

static const struct { const char *kind; bool of_all; } values[] = {
    { "base", true }, { "model", false }, { "view", false }, { "points", false }, { "found", false },
};

/* Stages that were computed more than once: by the stub's count, or where a log says oftener than the undisturbed run's that a
 * value was kept. */
static int computed_again(const scenario *s, const char *tree, const char *whole)
{
    int n = 0;

    for (int i = 0; !s->stub && i < LEN(values); i++)
        for (int ec = values[i].of_all ? -1 : 0; ec < (values[i].of_all ? 0 : s->ecs); ec++) {
            int more = kept_by_logs(tree, values[i].kind, ec) - kept_by_logs(whole, values[i].kind, ec);
            n += more > 0 ? more : 0;
        }
    for (int ec = -1; ec < s->ecs; ec++)
        for (int stage = 0; stage < STUB_STAGES; stage++) {
            int times = run->computed[ec + 1][stage];
            n += times > 1 ? times - 1 : 0;
        }
    return n;
}

static void check_nothing_lost(tally *t, const scenario *s, const char *tree, bool cut)
{
    char path[2 * PATH];

    for (int ec = 0; ec < s->ecs; ec++) {
        snprintf(path, sizeof path, "%s/segments/000/ec-%06d.json", tree, ec);
        if (run->kept[ec] && access(path, F_OK)) complain(t, &t->lost, s, cut, "the results of EC %d are gone", ec);
    }
}

/* One fault, of the class that *what is set to, and the same command again. */
static void strike(tally *t, const scenario *s, fault_plan plan, bool cut, fault_class *what)
{
    char tree[PATH], whole[PATH], path[PATH], said[TEXT], shown[TEXT], expected[TEXT];
    const char *why, *optional = s->cli == &cli_tables_command ? "results.sqlite"
                               : s->cli == &cli_background_command ? ".contents" : NULL;       /* hashes are made again */
    int status, again;

    prepare(s);
    crash_path(tree, s->result);
    whole_of(whole, s);
    t->runs++;
    status = run_once(s, &plan);
    *what = run->process.plan.what;
    if (cut) faults_power_cut((uint64_t)plan.at, NULL);
    if (!run->process.plan.hit) {
        complain(t, &t->ugly, s, cut, "there is no such call any more");
        return;
    }
    check_end(t, s, status, cut);
    check_nothing_lost(t, s, tree, cut);
    why = access(tree, F_OK) ? NULL : differs(tree, whole, "results.sqlite");
    if (why) complain(t, &t->differ, s, cut, "%s", why);
    if (WIFEXITED(status) && !WEXITSTATUS(status) && (why = differs(whole, tree, optional)))
        complain(t, &t->lost, s, cut, "it says that all is done, but %s", why);

    status = run_again(s);
    read_text(said, crash_path(path, "err"));
    if (status) complain(t, &t->lost, s, cut, "the same command again: %d, %s", status, said);
    why = differs(tree, whole, NULL);
    if (!why) why = differs(whole, tree, NULL);
    if (why) complain(t, &t->differ, s, cut, "%s", why);
    faults_power_cut(0, NULL);
    why = differs(whole, tree, optional);
    if (why) complain(t, &t->lost, s, cut, "done, and a power cut later %s", why);
    again = computed_again(s, tree, whole);
    if (again > 1) complain(t, &t->again, s, cut, "%d stages were computed again", again);
    read_text(shown, crash_path(path, "out"));
    strcat(whole, ".out");
    read_text(expected, whole);
    if (strcmp(shown, expected)) complain(t, &t->differ, s, cut, "other tables:\n%s", shown);
}

/* -- which points --------------------------------------------------------------------------------------------------- */

/* Once in this process, so that a fork finds done what libraries do but once, and frees all that it takes. */
static void warm_up(const scenario *s)
{
    int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), code;

    prepare(s);
    fflush(stdout);
    redirect();
    code = command(s->cli, s->words);
    restore(out, err);
    signal(SIGTERM, SIG_DFL);                  /* the command listens; this process is to end */
    signal(SIGINT, SIG_DFL);
    assert_int_equal(code, 0);
}

/* The undisturbed run, which the others are compared with, in its own folder; what it called into seen. */
static void undisturbed(const scenario *s, long seen[FAULT_CLASSES])
{
    char tree[PATH], whole[PATH], path[PATH], said[TEXT];
    int status;

    warm_up(s);
    prepare(s);
    status = run_once(s, &(fault_plan){ .classes = ~0u });
    read_text(said, crash_path(path, "err"));
    if (status) fail_msg("%s, undisturbed: %d: %s", s->name, status, said);
    assert_int_equal(run->process.leaked, 0);
    assert_int_equal(run->process.open_files, 0);
    memcpy(seen, run->process.plan.seen, sizeof run->process.plan.seen);
    whole_of(whole, s);
    crash_remove(whole);
    shell("cp -r %s %s", crash_path(tree, s->result), whole);
    assert_int_equal(run_again(s), 0);
    assert_null(differs(whole, tree, NULL));
    for (int i = 0; !s->stub && i < LEN(values); i++)
        assert_in_range(kept_by_logs(whole, values[i].kind, values[i].of_all ? -1 : 0), 1, 2);
    strcat(whole, ".out");
    shell("cp %s/out %s", crash_home, whole);
}

static void print_points(const scenario *s, const long seen[FAULT_CLASSES], const tally *t)
{
    printf("%s:", s->name);
    for (int k = 0; k < FAULT_CLASSES; k++)
        if (seen[k]) printf(" %s %ld,", fault_class_name((fault_class)k), seen[k]);
    printf(" %ld runs: %ld lost, %ld differ, %ld computed again, %ld ugly ends\n", t->runs, t->lost, t->differ, t->again,
           t->ugly);
    if (seen[FAULT_LIBRARY])
        printf("%s: where libraries found no memory %ld runs crashed and %ld named another reason\n", s->name,
               t->library_crashes, t->library_codes);
}

static long points(const long seen[FAULT_CLASSES], unsigned classes)
{
    long n = 0;

    for (int k = 0; k < FAULT_CLASSES; k++) n += classes >> k & 1 ? seen[k] : 0;
    return n;
}

/* Only a write can be short or cut off, and to die after a call is to die before the next, but where the power goes. A real
 * model is dear: it meets what differs most. */
static bool is_worth_it(const scenario *s, fault_class what, fault_kind kind, bool cut)
{
    if (kind == FAULT_DIE_AFTER && !cut) return false;
    if ((kind == FAULT_SHORT || kind == FAULT_DIE_HALFWAY) && what != FAULT_WRITE) return false;
    if (s->stub) return true;
    return kind == FAULT_FAIL || (kind == FAULT_DIE && !cut) || (kind == FAULT_DIE_HALFWAY && !cut) || kind == FAULT_DIE_AFTER;
}

/* Every `step`-th call to the disk: with all that can happen there, or each with the next of it. */
static void strike_disk(tally *t, const scenario *s, const long seen[FAULT_CLASSES], int step)
{
    enum { WAYS = FAULT_KINDS + 3 };           /* the last three: with a power cut after the death */
    long n = points(seen, FAULT_DISK), turn = 0;

    for (long at = 1; at <= n; at += step, turn++) {
        fault_class what = FAULT_WRITE;
        for (int way = 0; way < WAYS; way++) {
            bool cut = way >= FAULT_KINDS;
            fault_kind kind = (fault_kind)(cut ? way - 3 : way);
            if (all ? !is_worth_it(s, what, kind, cut) : way != turn % WAYS) continue;
            strike(t, s, (fault_plan){ .classes = FAULT_DISK, .at = at, .kind = kind, .error = (int)at }, cut, &what);
        }
    }
}

static void strike_memory(tally *t, const scenario *s, const long seen[FAULT_CLASSES], fault_class k, int step)
{
    for (long at = 1; at <= seen[k]; at += step)
        strike(t, s, (fault_plan){ .classes = 1u << k, .at = at, .kind = FAULT_FAIL }, false, &(fault_class){ k });
}

static void check(const scenario *s, int disk_step, int memory_step, int library_step)
{
    long seen[FAULT_CLASSES];
    tally t = { 0 };

    stub_on = s->stub;
    undisturbed(s, seen);
    if (disk_step) strike_disk(&t, s, seen, all ? 1 : disk_step);
    if (memory_step) strike_memory(&t, s, seen, FAULT_MEMORY, all ? 1 : memory_step);
    if (library_step) strike_memory(&t, s, seen, FAULT_LIBRARY, library_step);
    print_points(s, seen, &t);
    assert_int_equal(t.lost + t.differ + t.again + t.ugly, 0);
}

/* -- the scenarios -------------------------------------------------------------------------------------------------- */

#define SWEEP "spotter sweep", "HOME/sweep.yaml", "--threads", "1", "--device", "cpu"
#define INTO_RUN SWEEP, "--out", "HOME/disk/run", NULL

/* Made once: a run of the first EC, one directory a shard, and a whole run. */
static void prepare_half(void)   { shell("cp -r %s/half %s/disk/run", crash_home, crash_home); }
static void prepare_shards(void) { shell("cp -r %s/a %s/b %1$s/disk", crash_home, crash_home); }
static void prepare_done(void)
{
    shell("cp -r %s/done %s/disk/run && rm %1$s/disk/run/results.sqlite", crash_home, crash_home);
}

static const scenario sweep  = { "sweep",  true,  NULL, &cli_sweep_command, { INTO_RUN }, "disk/run", 2 };
static const scenario resume = { "resume", true,  prepare_half, &cli_sweep_command, { INTO_RUN }, "disk/run", 2 };
static const scenario merge  = { "merge",  true,  prepare_shards, &cli_merge_command,
                                 { "spotter merge", "HOME/disk/a", "HOME/disk/b", "--out", "HOME/disk/run", "--cache", NULL },
                                 "disk/run", 2 };
static const scenario tables = { "tables", true,  prepare_done, &cli_tables_command,
                                 { "spotter tables", "HOME/disk/run", NULL }, "disk/run", 2 };
static const scenario real   = { "real-sweep", false, NULL, &cli_sweep_command, { INTO_RUN }, "disk/run", 2 };

static const scenario backgrounds = { "background", true, NULL, &cli_background_command,
                                      { "spotter background", "HOME/background.yaml", "--out", "HOME/disk/run",
                                        "--threads", "1", "--device", "cpu", NULL }, "disk/run", 0 };

TEST(a_sweep_survives_every_call)      { check(&sweep, 3, 7, all ? 1 : 499); }
TEST(a_resumed_one_does)               { check(&resume, 7, 17, all ? 97 : 0); }
TEST(a_merge_survives_every_call)      { check(&merge, 5, 5, all ? 97 : 0); }
TEST(tables_do)                        { check(&tables, 5, 5, all ? 97 : 0); }
TEST(a_real_sweep_survives_every_call) { check(&real, 97, 97, all ? 499 : 0); }
TEST(backgrounds_survive_every_call)   { check(&backgrounds, 19, 61, all ? 199 : 0); }

/* Files that the scenarios begin with. */
static void make_sources(void)
{
    static const char *const half[] = { SWEEP, "--limit", "1", "--out", "HOME/half", NULL };
    static const char *const done[] = { SWEEP, "--out", "HOME/done", NULL };
    static const char *const a[] = { SWEEP, "--shard", "0/2", "--out", "HOME/a", NULL };
    static const char *const b[] = { SWEEP, "--shard", "1/2", "--out", "HOME/b", NULL };
    const cli_command *k = &cli_sweep_command;
    int code, out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);

    stub_on = true;
    redirect();
    code = command(k, half) + command(k, done) + command(k, a) + command(k, b);
    restore(out, err);
    assert_int_equal(code, 0);
}

enum { SIDE = 32 };

/* A disc on waves, its mask, or waves alone. */
static void write_square(const char *name, int kind, int number)
{
    uint8_t rgb[3 * SIDE * SIDE];
    spot_ctx c = check_ctx(1);
    unsigned char *png;
    char path[PATH];
    size_t n;

    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        const int x = i / 3 % SIDE - SIDE / 2, y = i / 3 / SIDE - SIDE / 2;
        const bool disc = kind < 2 && x * x + y * y < 64;
        rgb[i] = (uint8_t)(kind == 1 ? 255 * disc : disc ? 40 * (i % 3) : (x * (number + 1) + y * 3) & 127);
    }
    CHECK_OK(&c, spot_png_encode(&c, &png, &n, rgb, SIDE, SIDE));
    FILE *f = fopen(crash_path(path, name), "w");
    assert_true(f && fwrite(png, 1, n, f) == n && !fclose(f));
    free(png);
}

static void write_network(const char *name, uint64_t seed)
{
    spot_ctx c = check_ctx(1);
    char path[PATH];
    spot_arena a;
    spot_model m;

    CHECK_OK(&c, spot_arena_open(&c, &a, 1 << 23));
    CHECK_OK(&c, spot_model_init(&c, &a, &m, SPOT_ARCH_RESNET18, 16, 2, seed, 0));
    CHECK_OK(&c, spot_model_save(&c, crash_path(path, name), &m));
    spot_arena_close(&a);
}

/* Four pictures of two classes, four backgrounds and two networks: they lie on a disk that does not fail. */
static void make_world(void)
{
    static const char *const class_of[] = { "a", "b" };
    char name[64], path[PATH];
    FILE *f;

    shell("mkdir -p %s/images/a %1$s/images/b %1$s/masks/a %1$s/masks/b %1$s/back%s", crash_home, "");
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "images/%s/%d.png", class_of[i / 2], i), write_square(name, 0, i);
        snprintf(name, sizeof name, "masks/%s/%d.png", class_of[i / 2], i), write_square(name, 1, i);
        snprintf(name, sizeof name, "back/%d.png", i), write_square(name, 2, 9 + i);
    }
    write_network("one.safetensors", 1), write_network("two.safetensors", 2);
    f = fopen(crash_path(path, "background.yaml"), "w");
    assert_non_null(f);
    fprintf(f, "study: background\ndata: {images: %s/images, masks: %s/masks, backgrounds: %s/back, size: 32}\n"
            "suite: {n: 2}\nmeasure: {levels: 2, grid: 8, kernel: 4, sigma: 1, neighbours: 4}\n"
            "models: [{name: one, weights: %s/one.safetensors}, {name: two, weights: %s/two.safetensors}]\n", crash_home,
            crash_home, crash_home, crash_home, crash_home);
    assert_int_equal(fclose(f), 0);
}

static int open_home(void **state)
{
    char path[PATH];
    FILE *f;

    (void)state;
    crash_open("faults");
    run = crash_share(sizeof *run);
    stub_computes = computes;
    stub_keeps = keeps;
    f = fopen(crash_path(path, "sweep.yaml"), "w");
    if (!f) return -1;
    fputs(sweep_config, f);
    if (fclose(f)) return -1;
    make_sources();
    make_world();
    return 0;
}

static int close_home(void **state)
{
    (void)state;
    crash_close();
    return 0;
}

int main(int argc, char **argv)
{
    crash_one_thread(argv);
    all = argc > 1 && !strcmp(argv[1], "--all");
    if (argc > 1 + all) cmocka_set_test_filter(argv[1 + all]);
    return run_all_tests_in(open_home, close_home);
}
