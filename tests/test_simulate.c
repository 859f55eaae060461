/* test_simulate.c - many short lives of a sweep in one process: each seed draws ECs, shards, run directories and what befalls
 * them, and in the end the merged run must have the bytes of an undisturbed one, with nothing lost and nothing computed twice.
 *
 * A process (crash.h) runs the real spot_sweep_run or spot_merge with the stub model; before each of its own calls to the disk
 * another may take its turn. What can happen: kills and failures at any call, torn writes, power cuts, stops, full disks, wrong
 * clocks, pids that come again, duplicates, segments damaged, lost or copied late and half, machines with other results, merges
 * at any time, in any order and grouping.
 *
 *     test_simulate [--seeds N] [--jobs N]       seeds 1 to N
 *     test_simulate --seed N                     one, with its story
 *
 * ctest: heavy */
#define _GNU_SOURCE
#include <ftw.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "crash.h"
#include "spotter/work.h"
#include "spotter/sweep.h"
#include "stub_model.h"
#include "tiny_config.h"
#include "sweep/segment.h"

enum { ECS = 6, METHODS = 2, SHARDS = 16, DIRS = 3, PLACES = DIRS + 2, SICK = PLACES, TREES = 16, AT_ONCE = 4 };
enum { PATH = CRASH_PATH };

/* The files that an undisturbed run leaves. */
typedef struct { bool made; crash_file segment[ECS], sick[ECS], config, database; } reference;

typedef struct {
    crash_process run;             /* first, since its body gets it */
    volatile sig_atomic_t stop;
    char         said[512];
    int          place;            /* where it writes */
    int          shard;            /* -1: it merges */
    int          source[PLACES], sources;
    bool         known[ECS];       /* whole when it began: not to be computed, not to be lost */
    bool         disturbed;        /* by something that excuses a failure */
    spot_status  status;
} process;

/* The directories that processes write. */
typedef struct {
    process process[AT_ONCE];
    bool    kept[TREES][ECS];      /* said to be safe there */
    bool    spoilt[TREES][ECS];    /* by us, and not made anew since */
    char    wrong[1024];
} shared;

static struct {
    uint64_t seed, state;
    int      ecs, methods, shards, dirs;
    bool     pictures;
    int      place_of[SHARDS];
    bool     over[SHARDS];
    bool     full;                 /* the disk */
    stub_health sick;              /* a machine, at the end */
    long     steps;
} w;

static shared *all;
static process *me;                /* in a process */
static spot_config *config;
static reference references[ECS + 1][METHODS + 1];
static bool telling;

static uint32_t draw(uint32_t n)               /* splitmix64 */
{
    uint64_t z = (w.state += 0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ z >> 31) >> 32) % n;
}

static bool chance(int percent) { return (int)draw(100) < percent; }

static void tell(const char *fmt, ...)
{
    va_list args;

    if (!telling) return;
    va_start(args, fmt);
    printf("%5ld  ", w.steps);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
}

static void tell_line(const char *line) { tell("%s", line); }

static void wrong(const char *fmt, ...)
{
    va_list args;

    if (all->wrong[0]) return;
    va_start(args, fmt);
    vsnprintf(all->wrong, sizeof all->wrong, fmt, args);
    va_end(args);
    tell("WRONG: %s", all->wrong);
}

/* -- files ---------------------------------------------------------------------------------------------------------- */

static const char *place_name(int place)
{
    static const char *const name[TREES] = { "a", "b", "c", "merged", "merged2", "sick", "t6", "t7", "t8", "t9", "t10", "t11",
                                             "t12", "t13", "t14", "t15" };
    return name[place];
}

static char *place_path(char path[PATH], int place)
{
    snprintf(path, PATH, "%s/disk/%s", crash_home, place_name(place));
    return path;
}

static char *in_place(char path[PATH], int place, const char *name)
{
    snprintf(path, PATH, "%s/disk/%s/%s", crash_home, place_name(place), name);
    return path;
}

static char *segment_path(char path[PATH], int place, int ec)
{
    char dir[PATH];

    spot_segment_path(path, PATH, place_path(dir, place), ec);
    return path;
}

static bool is_file(const char *path, const crash_file *want, bool *found)
{
    crash_file b = crash_load(path);
    bool same = crash_equal(&b, want);

    if (found) *found = b.bytes != NULL;
    free(b.bytes);
    return same;
}

static const reference *whole(void) { return &references[w.ecs][w.methods]; }

static bool has(int place, int ec)
{
    char path[PATH];

    return is_file(segment_path(path, place, ec), &whole()->segment[ec], NULL);
}

/* -- processes ------------------------------------------------------------------------------------------------------ */

static void run_sweep(process *p, spot_ctx *c)
{
    char out[PATH];
    spot_sweep_options o = { .place = { .out = place_path(out, p->place), .shard = p->shard, .shards = w.shards,
                                        .beside = true },
                             .pictures = w.pictures, .wave = 1 };      /* processes of a schedule meet in one directory */
    spot_sweep_report report;

    p->status = spot_sweep_run(c, config, &o, &report);
}

static void run_merge(process *p, spot_ctx *c)
{
    const spot_merge_options o = { .pictures = w.pictures, .cache = w.seed % 2, .partial = true };
    char out[PATH], text[PLACES][PATH];
    const char *dirs[PLACES];
    spot_merge_report report;

    for (int i = 0; i < p->sources; i++) dirs[i] = place_path(text[i], p->source[i]);
    p->status = spot_merge(c, dirs, p->sources, place_path(out, p->place), &o, &report);
    free(report.ec);
}

static int live(crash_process *run)
{
    spot_ctx c = { .stop = NULL };

    me = (process *)(void *)run;
    c.stop = &me->stop;
    me->status = spot_ctx_open(&c, "cpu", 1);
    if (me->status == SPOT_OK && me->shard < 0) run_merge(me, &c);
    else if (me->status == SPOT_OK) run_sweep(me, &c);
    snprintf(me->said, sizeof me->said, "%s", spot_message(&c, me->status));
    spot_ctx_close(&c);
    return 0;
}

static void computes(const spot_store *store, int ec, int stage)
{
    (void)store;
    if (me && ec >= 0 && stage == STUB_VIEW && me->known[ec] && !all->spoilt[me->place][ec])
        wrong("EC %d was whole in %s and is computed again", ec, place_name(me->place));
}

static void keeps(const char *dir, int ec)
{
    (void)dir;
    if (!me) return;
    all->kept[me->place][ec] = true;
    all->spoilt[me->place][ec] = false;
}

static void check_end(process *p);

/* Lets p make so many calls, or come to its end. */
static void advance(process *p, long calls)
{
    const bool waits = crash_advance(&p->run, calls);

    w.steps += calls - (p->run.calls > 0 ? p->run.calls : 0);
    if (waits && calls == CRASH_ENDLESS) wrong("a process does not come to its end");
    if (!waits) check_end(p);
}

static void describe(const process *p, char text[160])
{
    int n = snprintf(text, 160, "%d of n%d, ", p->run.plan.pid, p->run.plan.pid % 10);

    if (p->shard >= 0) snprintf(text + n, 160 - (size_t)n, "shard %d of %d in %s", p->shard, w.shards, place_name(p->place));
    else {
        n += snprintf(text + n, 160 - (size_t)n, "merging");
        for (int i = 0; i < p->sources; i++) n += snprintf(text + n, 160 - (size_t)n, " %s", place_name(p->source[i]));
        snprintf(text + n, 160 - (size_t)n, " into %s", place_name(p->place));
    }
}

static int free_pid(void)
{
    for (;;) {
        int pid = 10 * (1 + (int)draw(4)) + (int)draw(2);
        bool taken = false;
        for (int i = 0; i < AT_ONCE; i++) taken |= all->process[i].run.alive && all->process[i].run.plan.pid == pid;
        if (!taken) return pid;
    }
}

/* A process that has its place, and shard or sources. */
static process *begin(process *p)
{
    char text[160];

    p->run.plan = (fault_plan){ .pid = free_pid() };
    p->stop = 0;
    p->disturbed = w.full;
    for (int i = 0; i < AT_ONCE; i++) p->disturbed |= all->process[i].run.alive && all->process[i].run.plan.clock > 0;
    for (int ec = 0; ec < w.ecs; ec++) {
        p->known[ec] = p->shard >= 0 && has(p->place, ec);
        for (int i = 0; p->shard < 0 && i < p->sources; i++) p->known[ec] |= has(p->source[i], ec);
    }
    describe(p, text);
    tell("begins: %s", text);
    crash_begin(&p->run, live);
    return p;
}

static process *free_slot(void)
{
    for (int i = 0; i < AT_ONCE; i++)
        if (!all->process[i].run.alive) return &all->process[i];
    return NULL;
}

static process *someone(void)
{
    process *alive[AT_ONCE];
    uint32_t n = 0;

    for (int i = 0; i < AT_ONCE; i++)
        if (all->process[i].run.alive) alive[n++] = &all->process[i];
    return n ? alive[draw(n)] : NULL;
}

/* -- what must hold ------------------------------------------------------------------------------------------------- */

/* Nothing that was safe is gone, nothing but what we spoilt is another. */
static void check_places(void)
{
    char path[PATH];
    bool found;

    for (int place = 0; place < PLACES; place++)
        for (int ec = 0; ec < w.ecs; ec++) {
            bool same = is_file(segment_path(path, place, ec), &whole()->segment[ec], &found);
            if (all->spoilt[place][ec] || same) continue;
            if (found) wrong("EC %d in %s is neither whole nor known to be spoilt", ec, place_name(place));
            else if (all->kept[place][ec]) wrong("EC %d is gone from %s", ec, place_name(place));
        }
}

static bool owns(int shard, int ec)
{
    int from, to;

    spot_shard_range(&from, &to, shard, w.shards, w.ecs);
    return from <= ec && ec < to;
}

static void check_end(process *p)
{
    bool merges = p->shard < 0, done = p->status == SPOT_OK || (merges && p->status == SPOT_INPUT);
    char text[160];

    describe(p, text);
    if (p->run.plan.hit) tell("  (its %ld. call, %s %s, %s)", p->run.plan.at, fault_class_name(p->run.plan.what),
                              p->run.plan.where, fault_kind_name(p->run.plan.kind));
    if (WIFSIGNALED(p->run.end)) {
        if (WTERMSIG(p->run.end) != SIGKILL) wrong("%s: signal %d", text, WTERMSIG(p->run.end));
        tell("is dead: %s", text);
        return;
    }
    tell("ends: %s: %s: %s", text, spot_status_name(p->status), p->said);
    if (p->run.leaked > 0 || p->run.open_files)
        wrong("%s leaves %ld allocations and %d open files", text, p->run.leaked, p->run.open_files);
    if (!done && p->status != SPOT_IO && p->status != SPOT_NOMEM && p->status != SPOT_STOPPED)
        wrong("%s: %s: %s", text, spot_status_name(p->status), p->said);
    if (!done && !p->disturbed && !p->run.plan.hit && !p->stop) wrong("%s fails for no reason: %s", text, p->said);
    if (!done) return;
    for (int ec = 0; ec < w.ecs; ec++) {
        bool expected = merges ? p->known[ec] : owns(p->shard, ec);
        if (!expected || p->disturbed || w.sick == STUB_ERRS) continue;
        if (!has(p->place, ec)) wrong("%s says that it is done, but EC %d is not there", text, ec);
        all->kept[p->place][ec] = true;
        all->spoilt[p->place][ec] = false;
    }
    if (!merges && p->place == w.place_of[p->shard]) w.over[p->shard] = true;
}

/* -- what happens --------------------------------------------------------------------------------------------------- */

static void excuse_all(void)
{
    for (int i = 0; i < AT_ONCE; i++) all->process[i].disturbed = true;
}

static void die(process *p)
{
    crash_kill(&p->run);
    check_end(p);
}

/* One of its next calls of these classes will not be what it should be. */
static void strike(process *p, unsigned classes, uint32_t within)
{
    p->run.plan.classes = classes;
    p->run.plan.at = 1 + (long)draw(within);
    p->run.plan.kind = classes == FAULT_DISK ? (fault_kind)draw(FAULT_KINDS) : FAULT_FAIL;
    p->run.plan.error = (int)draw(3);
}

static void start_sweep(void)
{
    process *p = free_slot();

    if (!p) return;
    p->shard = (int)draw((uint32_t)w.shards);
    for (int i = 0; i < w.shards && w.over[p->shard] && !chance(20); i++) p->shard = (p->shard + 1) % w.shards;
    p->place = chance(85) ? w.place_of[p->shard] : (int)draw((uint32_t)w.dirs);
    begin(p);
    if (chance(32)) strike(p, FAULT_DISK, 300);
    else if (chance(10)) strike(p, 1u << FAULT_MEMORY, 60);
    if (chance(10)) {                          /* it may take young temporary files for old ones */
        p->run.plan.clock = chance(50) ? 7200 : -7200;
        tell("  (its clock is %ld h off)", p->run.plan.clock / 3600);
        excuse_all();
    }
}

static void start_merge(void)
{
    process *p = free_slot();
    char path[PATH];

    if (!p) return;
    p->shard = -1;
    p->sources = 0;
    p->place = chance(70) ? DIRS + (int)draw(2) : (int)draw((uint32_t)w.dirs);
    for (int i = 0; i < PLACES; i++)
        if (chance(60) && !access(place_path(path, i), F_OK)) p->source[p->sources++] = i;
    if (!p->sources) return;
    begin(p);
    p->disturbed = true;                       /* by those that write what it reads, or where it writes */
    if (chance(30)) strike(p, FAULT_DISK, 150);
}

static void cut_power(void)
{
    tell("POWER CUT");
    for (int i = 0; i < AT_ONCE; i++)
        if (all->process[i].run.alive) die(&all->process[i]);
    faults_power_cut(w.seed ^ (uint64_t)w.steps, telling ? tell_line : NULL);
    check_places();
}

/* A value of a cache is not what it was. */
static int spoil_value(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    crash_file b;

    (void)f;
    if (flag != FTW_F || !st->st_size || strstr(path, ".tmp") || !chance(20)) return 0;
    b = crash_load(path);
    b.bytes[draw((uint32_t)b.n)] ^= 1;
    crash_save(path, b.bytes, b.n - (chance(30) ? draw((uint32_t)b.n) : 0));
    free(b.bytes);
    tell("%s is damaged", path + strlen(crash_home) + 6);
    return 1;
}

/* A digit of a number in the middle of a segment. */
static unsigned char *digit_in(const crash_file *b)
{
    for (size_t i = b->n / 2; i < b->n; i++)
        if (b->bytes[i] >= '0' && b->bytes[i] <= '9') return &b->bytes[i];
    return NULL;
}

/* A segment is gone, or another's copy lies over it, or it is not what it was. */
static void spoil(void)
{
    int place = (int)draw(PLACES), ec = (int)draw((uint32_t)w.ecs), from = (int)draw(PLACES);
    char path[PATH], other[PATH];
    crash_file b = crash_load(segment_path(path, place, ec)), copy = crash_load(segment_path(other, from, ec));

    switch (draw(6)) {
    case 0: if (b.bytes) unlink(path); break;
    case 1: if (b.bytes) crash_save(path, b.bytes, draw((uint32_t)b.n + 1)); break;
    case 2: if (b.n) b.bytes[draw((uint32_t)b.n)] ^= (unsigned char)(1 + draw(255)), crash_save(path, b.bytes, b.n); break;
    case 3: if (b.n && digit_in(&b)) *digit_in(&b) ^= 1, crash_save(path, b.bytes, b.n); break;      /* still JSON */
    case 4: if (b.n && copy.n) crash_save(path, copy.bytes, draw((uint32_t)copy.n + 1)); break;
    case 5: if (b.n && copy.n) crash_save(path, copy.bytes, copy.n); break;
    }
    if (b.bytes) {
        all->spoilt[place][ec] = true;
        tell("EC %d in %s is damaged, lost or copied over", ec, place_name(place));
        excuse_all();
    }
    free(b.bytes);
    free(copy.bytes);
}

static void happen(void)
{
    process *p = someone();
    char path[PATH];

    switch (draw(10)) {
    case 0: case 1: cut_power(); break;
    case 2: spoil(); break;
    case 3: spoil(), nftw(in_place(path, (int)draw((uint32_t)w.dirs), "cache"), spoil_value, 16, FTW_PHYS); break;
    case 4: start_merge(); break;
    case 5:
        if (p) p->stop = 1, tell("%d is told to stop", p->run.plan.pid);
        break;
    case 6: case 7:
        faults_fill(w.full = !w.full);
        tell(w.full ? "the disk is full" : "there is room again");
        excuse_all();
        break;
    default:
        if (p) tell("%d is killed", p->run.plan.pid), die(p);
    }
}

/* -- the end -------------------------------------------------------------------------------------------------------- */

/* One process, with nobody beside it and nothing in its way. */
static process *run_alone(process p)
{
    process *slot = &all->process[0];

    *slot = p;
    begin(slot);
    advance(slot, CRASH_ENDLESS);
    return slot;
}

static void heal(void)
{
    char path[PATH];

    faults_fill(w.full = false);
    for (process *p; (p = someone()) && !all->wrong[0];) {
        p->run.plan.at = 0;
        p->disturbed = true;
        advance(p, 1 + draw(100));
    }
    check_places();
    tell("-- all is well from here on");
    for (int shard = 0; shard < w.shards && !all->wrong[0]; shard++) {
        int from, to;
        spot_shard_range(&from, &to, shard, w.shards, w.ecs);
        if (from < to || chance(10)) run_alone((process){ .shard = shard, .place = w.place_of[shard] });
    }
    check_places();
    if (w.dirs == 1 && !is_file(in_place(path, 0, "results.sqlite"), &whole()->database, NULL))
        wrong("results.sqlite in a is old");
}

/* The bytes that an EC must have in the end: the least, where a machine had other results. */
static const crash_file *expected(int ec)
{
    const crash_file *a = &whole()->segment[ec], *b = &whole()->sick[ec];

    if (w.sick != STUB_ERRS) return a;
    return memcmp(b->bytes, a->bytes, a->n < b->n ? a->n : b->n) < 0 ? b : a;
}

static int merge_alone(const int *source, int n, int place)
{
    process p = { .shard = -1, .place = place, .sources = n };

    memcpy(p.source, source, (size_t)n * sizeof *source);
    return (int)run_alone(p)->status;
}

/* All places in one, by merges of two or three in drawn order. The last tree. */
static int merge_all(const int *places, int n, int next)
{
    int left[PLACES + 1];
    char path[PATH];

    memcpy(left, places, (size_t)n * sizeof *left);
    do {
        int k = n == 1 ? 1 : 2 + (n > 2 && chance(30)), chosen[3];
        for (int i = 0; i < k; i++) {
            int at = (int)draw((uint32_t)n);
            chosen[i] = left[at];
            left[at] = left[--n];
        }
        merge_alone(chosen, k, next);
        if (!access(place_path(path, next), F_OK)) left[n++] = next;       /* of directories without results nothing is made */
        next++;
    } while (n > 1 && !all->wrong[0]);
    return left[0];
}

static void check_tree(int tree, const crash_file *database)
{
    char path[PATH];

    for (int ec = 0; ec < w.ecs; ec++)
        if (!is_file(segment_path(path, tree, ec), expected(ec), NULL)) wrong("EC %d is another in the merged run", ec);
    if (!is_file(in_place(path, tree, "config.yaml"), &whole()->config, NULL)) wrong("the merged config.yaml is another");
    if (!is_file(in_place(path, tree, "results.sqlite"), database, NULL)) wrong("the merged results.sqlite is another");
}

/* A run of all ECs on a machine that is not well. */
static void run_sick(void)
{
    char dir[PATH];
    spot_sweep_options o = { .place = { .out = place_path(dir, SICK), .shards = 1 } };
    spot_sweep_report report;
    spot_ctx c = { 0 };

    stub_is = w.sick;
    if (spot_ctx_open(&c, "cpu", 1) || (spot_sweep_run(&c, config, &o, &report) && w.sick != STUB_GIVES_UP))
        wrong("the sick machine: %s", c.message);
    spot_ctx_close(&c);
    stub_is = STUB_WELL;
    tell("a machine %s for all ECs, in sick", w.sick == STUB_ERRS ? "had other results" : "gave up");
}

static void finish(void)
{
    int places[PLACES + 1], n = 0, tree;
    char path[PATH];
    crash_file database;

    for (int i = 0; i < PLACES; i++)
        if (!access(place_path(path, i), F_OK)) places[n++] = i;
    w.sick = chance(30) ? 1 + draw(2) : STUB_WELL;
    if (w.sick) {
        run_sick();
        places[n++] = SICK;
    }
    tree = merge_all(places, n, SICK + 1);
    if (all->wrong[0]) return;
    database = crash_load(in_place(path, tree, "results.sqlite"));
    check_tree(tree, w.sick == STUB_ERRS ? &database : &whole()->database);
    if (chance(30)) check_tree(merge_all(places, n, tree + 1), &database);
    free(database.bytes);
}

/* -- a seed --------------------------------------------------------------------------------------------------------- */

static int ecs_in(const char *database)
{
    sqlite3_stmt *rows = NULL;
    sqlite3 *db = NULL;
    int n = -1;

    if (!sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) &&
        !sqlite3_prepare_v2(db, "SELECT count(*) FROM ecs", -1, &rows, NULL) && sqlite3_step(rows) == SQLITE_ROW)
        n = sqlite3_column_int(rows, 0);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return n;
}

static void make_reference(void)
{
    reference *r = &references[w.ecs][w.methods];
    char path[PATH], dir[PATH];

    if (r->made) return;
    for (int sick = 0; sick < 2; sick++) {
        spot_sweep_options o = { .place = { .out = place_path(dir, SICK), .shards = 1 } };
        spot_sweep_report report;
        spot_ctx c = { 0 };
        stub_is = sick ? STUB_ERRS : STUB_WELL;
        if (spot_ctx_open(&c, "cpu", 1) || spot_sweep_run(&c, config, &o, &report)) wrong("undisturbed: %s", c.message);
        spot_ctx_close(&c);
        for (int ec = 0; ec < w.ecs; ec++) (sick ? r->sick : r->segment)[ec] = crash_load(segment_path(path, SICK, ec));
        if (!sick) r->config = crash_load(in_place(path, SICK, "config.yaml"));
        if (!sick) r->database = crash_load(in_place(path, SICK, "results.sqlite"));
        if (ecs_in(in_place(path, SICK, "results.sqlite")) != w.ecs) wrong("undisturbed: ECs are not in results.sqlite");
        crash_remove(dir);
    }
    stub_is = STUB_WELL;
    r->made = true;
}

static void draw_plan(uint64_t seed)
{
    static const int cuts[] = { 1, 1, 2, 2, 3, 4, 8, 16 };

    memset(&w, 0, sizeof w);
    memset(all, 0, sizeof *all);
    w.seed = w.state = seed;
    w.ecs = 1 + (int)draw(ECS);
    w.methods = 1 + (int)draw(METHODS);
    w.shards = cuts[draw(8)];
    w.dirs = 1 + (int)draw(DIRS);
    w.pictures = chance(30);
    for (int i = 0; i < w.shards; i++) w.place_of[i] = (int)draw((uint32_t)w.dirs);
    config->ecs = w.ecs;
    config->bdms = w.methods;
    crash_new_disk();
    make_reference();
    tell("%d ECs, %d methods, %d shards in %d directories", w.ecs, w.methods, w.shards, w.dirs);
}

static bool simulate(uint64_t seed)
{
    int turns, disasters;

    draw_plan(seed);
    turns = 10 + (int)draw(60);
    disasters = (int)draw(7);
    for (int i = 0; i < turns && !all->wrong[0]; i++) {
        process *p;
        if (chance(30)) start_sweep();
        if ((int)draw((uint32_t)turns) < disasters) happen();
        p = someone();
        if (p && !all->wrong[0]) advance(p, 1 + draw(chance(50) ? 10 : 200));
    }
    if (!all->wrong[0]) heal();
    if (!all->wrong[0]) finish();
    for (int i = 0; i < AT_ONCE; i++)
        if (all->process[i].run.alive) die(&all->process[i]);
    if (all->wrong[0])
        printf("seed %llu: %s\n    test_simulate --seed %llu tells its story\n", (unsigned long long)seed, all->wrong,
               (unsigned long long)seed);
    return !all->wrong[0];
}

static void open_world(void)
{
    static const char text[] = TINY_CONFIG(6);
    spot_ctx c = { 0 };

    crash_open("simulate");
    all = crash_share(sizeof *all);
    config = malloc(sizeof *config);
    if (!config || spot_config_parse(&c, config, text, sizeof text - 1, "sweep.yaml")) abort();
}

/* Seeds first, first + step, ... up to last. How many went wrong. */
static int simulate_all(uint64_t first, uint64_t last, uint64_t step)
{
    int failed = 0;

    open_world();
    for (uint64_t seed = first; seed <= last; seed += step) failed += !simulate(seed);
    crash_close();
    return failed;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, last = 120, jobs = 1;
    struct timespec begun, over;
    int failed = 0, status;

    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t n = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--seed")) first = last = n, telling = true;
        if (!strcmp(argv[i], "--seeds")) last = n;
        if (!strcmp(argv[i], "--jobs")) jobs = n;
    }
    crash_one_thread(argv);
    stub_on = true;
    stub_computes = computes;
    stub_keeps = keeps;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    fflush(stdout);
    for (uint64_t job = 1; job < jobs; job++)
        if (!fork()) {
            failed = simulate_all(first + job, last, jobs);
            fflush(stdout);
            _exit(failed > 99 ? 99 : failed);
        }
    failed = simulate_all(first, last, jobs);
    for (uint64_t job = 1; job < jobs; job++) {
        wait(&status);
        failed += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &over);
    printf("%llu seeds in %.1f s, %d went wrong\n", (unsigned long long)(last - first + 1),
           (double)(over.tv_sec - begun.tv_sec) + 1e-9 * (double)(over.tv_nsec - begun.tv_nsec), failed);
    return failed > 0;
}
