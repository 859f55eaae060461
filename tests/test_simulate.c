/* test_simulate.c - many short lives of a sweep in one process: each seed draws ECs, shards, run directories and what befalls
 * them, and in the end the merged run must have the bytes of an undisturbed one, with nothing lost and nothing computed twice.
 *
 * A simulated process is a coroutine that runs the real spot_sweep_run or spot_merge with the stub model; before each of its
 * own calls to the disk another may take its turn. One that dies runs on, but none of its calls does anything any more: so it
 * finds its way out and gives back what it holds. What can happen: kills and failures at any call, torn writes, power cuts,
 * stops, full disks, wrong clocks, pids that come again, duplicates, segments damaged, lost or copied late and half, machines
 * with other results, merges at any time, in any order and grouping.
 *
 *     test_simulate [--seeds N] [--jobs N]       seeds 1 to N
 *     test_simulate --seed N                     one, with its story
 *
 * ctest: heavy */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <malloc.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "faults.h"
#include "spotter/work.h"
#include "spotter/sweep.h"
#include "stub_model.h"
#include "tiny_config.h"
#include "sweep/segment.h"

enum { ECS = 6, METHODS = 2, SHARDS = 16, DIRS = 3, PLACES = DIRS + 2, SICK = PLACES, TREES = 16, AT_ONCE = 4 };
enum { PATH = 256, STACK = 1 << 19, ENDLESS = 1000000 };

typedef struct { unsigned char *bytes; size_t n; } blob;

/* What an undisturbed run leaves. */
typedef struct { bool made; blob segment[ECS], sick[ECS], config, database; } reference;

typedef struct {
    ucontext_t   at;
    char        *stack;
    bool         alive;
    fault_plan   plan;
    spot_ctx     c;
    volatile sig_atomic_t stop;
    int          place;            /* where it writes */
    int          shard;            /* -1: it merges */
    int          source[PLACES], sources;
    bool         known[ECS];       /* whole when it began: not to be computed, not to be lost */
    bool         disturbed;        /* by something that excuses a failure */
    spot_status  status;
    long         turn;             /* calls that it may make before another's turn */
} process;

static struct {
    uint64_t seed, state;
    int      ecs, methods, shards, dirs;
    bool     pictures;
    int      place_of[SHARDS];
    bool     kept[TREES][ECS];     /* said to be safe there */
    bool     spoilt[TREES][ECS];   /* by us, and not made anew since */
    bool     over[SHARDS];
    process  process[AT_ONCE];
    process *now;
    stub_health sick;              /* a machine, at the end */
    long     steps;
    char     wrong[1024];
} w;

static ucontext_t scheduler;
static spot_config *config;
static reference references[ECS + 1][METHODS + 1];
static char home[64];
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

    if (w.wrong[0]) return;
    va_start(args, fmt);
    vsnprintf(w.wrong, sizeof w.wrong, fmt, args);
    va_end(args);
    tell("WRONG: %s", w.wrong);
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
    snprintf(path, PATH, "%s/disk/%s", home, place_name(place));
    return path;
}

static char *in_place(char path[PATH], int place, const char *name)
{
    snprintf(path, PATH, "%s/disk/%s/%s", home, place_name(place), name);
    return path;
}

static char *segment_path(char path[PATH], int place, int ec)
{
    char dir[PATH];

    spot_segment_path(path, PATH, place_path(dir, place), ec);
    return path;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st, (void)flag, (void)f;
    return remove(path);
}

static void remove_tree(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

static blob load(const char *path)
{
    struct stat st;
    blob b = { NULL, 0 };
    int fd = open(path, O_RDONLY);

    if (fd < 0 || fstat(fd, &st)) return b;
    b.n = (size_t)st.st_size;
    b.bytes = malloc(b.n + 1);
    if (!b.bytes || read(fd, b.bytes, b.n) != (ssize_t)b.n) abort();
    close(fd);
    return b;
}

static void save(const char *path, const unsigned char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0) return;
    if (write(fd, bytes, n) != (ssize_t)n) abort();
    close(fd);
}

static bool equal(const blob *a, const blob *b)
{
    return a->bytes && b->bytes && a->n == b->n && !memcmp(a->bytes, b->bytes, a->n);
}

static bool is_file(const char *path, const blob *want, bool *there)
{
    blob b = load(path);
    bool same = equal(&b, want);

    if (there) *there = b.bytes != NULL;
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

static void run_sweep(process *p)
{
    char out[PATH];
    spot_sweep_options o = { .out = place_path(out, p->place), .shard = p->shard, .shards = w.shards, .pictures = w.pictures,
                             .wave = 1 };
    spot_sweep_report report;

    p->status = spot_sweep_run(&p->c, config, &o, &report);
}

static void run_merge(process *p)
{
    const spot_merge_options o = { .pictures = w.pictures, .cache = w.seed % 2, .partial = true };
    char out[PATH], text[PLACES][PATH];
    const char *dirs[PLACES];
    spot_merge_report report;

    for (int i = 0; i < p->sources; i++) dirs[i] = place_path(text[i], p->source[i]);
    p->status = spot_merge(&p->c, dirs, p->sources, place_path(out, p->place), &o, &report);
    free(report.ec);
}

static void live(void)
{
    process *p = w.now;

    memset(&p->c, 0, sizeof p->c);
    p->c.stop = &p->stop;
    p->status = spot_ctx_open(&p->c, "cpu", 1);
    if (p->status == SPOT_OK && p->shard < 0) run_merge(p);
    else if (p->status == SPOT_OK) run_sweep(p);
    p->alive = false;
}

/* Called before each call of a process to the disk. */
static void take_turns(fault_class k, const char *path)
{
    process *p = w.now;

    (void)k, (void)path;
    w.steps++;
    if (p && !p->plan.dead && --p->turn <= 0) swapcontext(&p->at, &scheduler);
}

static void computes(const spot_store *store, int ec, int stage)
{
    (void)store;
    if (w.now && ec >= 0 && stage == STUB_VIEW && w.now->known[ec] && !w.now->plan.dead && !w.spoilt[w.now->place][ec])
        wrong("EC %d was whole in %s and is computed again", ec, place_name(w.now->place));
}

static void keeps(const char *dir, int ec)
{
    (void)dir;
    if (!w.now) return;
    w.kept[w.now->place][ec] = true;
    w.spoilt[w.now->place][ec] = false;
}

static void check_end(process *p);

/* Lets p make so many calls, or come to its end. */
static void advance(process *p, long calls)
{
    w.now = p;
    p->turn = calls;
    faults_now = &p->plan;
    swapcontext(&scheduler, &p->at);
    faults_now = NULL;
    w.now = NULL;
    if (p->alive && calls == ENDLESS) wrong("a process does not come to its end");
    if (!p->alive) check_end(p);
}

static void describe(const process *p, char text[160])
{
    int n = snprintf(text, 160, "%d of n%d, ", p->plan.pid, p->plan.pid % 10);

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
        for (int i = 0; i < AT_ONCE; i++) taken |= w.process[i].alive && w.process[i].plan.pid == pid;
        if (!taken) return pid;
    }
}

/* A process that has its place, and shard or sources. */
static process *begin(process *p)
{
    char text[160];

    p->alive = true;
    p->plan = (fault_plan){ .pid = free_pid() };
    p->stop = 0;
    p->disturbed = faults_full;
    for (int i = 0; i < AT_ONCE; i++) p->disturbed |= w.process[i].alive && w.process[i].plan.clock > 0;
    for (int ec = 0; ec < w.ecs; ec++) {
        p->known[ec] = p->shard >= 0 && has(p->place, ec);
        for (int i = 0; p->shard < 0 && i < p->sources; i++) p->known[ec] |= has(p->source[i], ec);
    }
    getcontext(&p->at);
    p->at.uc_stack.ss_sp = p->stack;
    p->at.uc_stack.ss_size = STACK;
    p->at.uc_link = &scheduler;
    makecontext(&p->at, live, 0);
    describe(p, text);
    tell("begins: %s", text);
    return p;
}

static process *free_slot(void)
{
    for (int i = 0; i < AT_ONCE; i++)
        if (!w.process[i].alive) return &w.process[i];
    return NULL;
}

static process *someone(void)
{
    process *alive[AT_ONCE];
    uint32_t n = 0;

    for (int i = 0; i < AT_ONCE; i++)
        if (w.process[i].alive) alive[n++] = &w.process[i];
    return n ? alive[draw(n)] : NULL;
}

/* -- what must hold ------------------------------------------------------------------------------------------------- */

/* Nothing that was safe is gone, nothing but what we spoilt is another. */
static void check_places(void)
{
    char path[PATH];
    bool there;

    for (int place = 0; place < PLACES; place++)
        for (int ec = 0; ec < w.ecs; ec++) {
            bool same = is_file(segment_path(path, place, ec), &whole()->segment[ec], &there);
            if (w.spoilt[place][ec] || same) continue;
            if (there) wrong("EC %d in %s is neither whole nor known to be spoilt", ec, place_name(place));
            else if (w.kept[place][ec]) wrong("EC %d is gone from %s", ec, place_name(place));
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
    spot_ctx_close(&p->c);
    if (p->plan.hit) tell("  (its %ld. call, %s %s, %s)", p->plan.at, fault_class_name(p->plan.what), p->plan.where,
                          fault_kind_name(p->plan.kind));
    if (p->plan.dead) {
        tell("is dead: %s", text);
        return;
    }
    tell("ends: %s: %s: %s", text, spot_status_name(p->status), spot_message(&p->c, p->status));
    if (!done && p->status != SPOT_IO && p->status != SPOT_NOMEM && p->status != SPOT_STOPPED)
        wrong("%s: %s: %s", text, spot_status_name(p->status), spot_message(&p->c, p->status));
    if (!done && !p->disturbed && !p->plan.hit && !p->stop)
        wrong("%s fails for no reason: %s", text, spot_message(&p->c, p->status));
    if (!done) return;
    for (int ec = 0; ec < w.ecs; ec++) {
        bool expected = merges ? p->known[ec] : owns(p->shard, ec);
        if (!expected || p->disturbed || w.sick == STUB_ERRS) continue;
        if (!has(p->place, ec)) wrong("%s says that it is done, but EC %d is not there", text, ec);
        w.kept[p->place][ec] = true;
        w.spoilt[p->place][ec] = false;
    }
    if (!merges && p->place == w.place_of[p->shard]) w.over[p->shard] = true;
}

/* -- what happens --------------------------------------------------------------------------------------------------- */

static void excuse_all(void)
{
    for (int i = 0; i < AT_ONCE; i++) w.process[i].disturbed = true;
}

static void die(process *p)
{
    p->plan.dead = true;
    advance(p, ENDLESS);
}

/* One of its next calls of these classes will not be what it should be. */
static void strike(process *p, unsigned classes, uint32_t within)
{
    p->plan.classes = classes;
    p->plan.at = 1 + (long)draw(within);
    p->plan.kind = classes == FAULT_DISK ? (fault_kind)draw(FAULT_KINDS) : FAULT_FAIL;
    p->plan.error = (int)draw(3);
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
        p->plan.clock = chance(50) ? 7200 : -7200;
        tell("  (its clock is %ld h off)", p->plan.clock / 3600);
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
        if (w.process[i].alive) die(&w.process[i]);
    faults_power_cut(w.seed ^ (uint64_t)w.steps, telling ? tell_line : NULL);
    check_places();
}

/* A value of a cache is not what it was. */
static int spoil_value(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    blob b;

    (void)f;
    if (flag != FTW_F || !st->st_size || strstr(path, ".tmp") || !chance(20)) return 0;
    b = load(path);
    b.bytes[draw((uint32_t)b.n)] ^= 1;
    save(path, b.bytes, b.n - (chance(30) ? draw((uint32_t)b.n) : 0));
    free(b.bytes);
    tell("%s is damaged", path + strlen(home) + 6);
    return 1;
}

/* A digit of a number in the middle of a segment. */
static unsigned char *digit_in(const blob *b)
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
    blob b = load(segment_path(path, place, ec)), copy = load(segment_path(other, from, ec));

    switch (draw(6)) {
    case 0: if (b.bytes) unlink(path); break;
    case 1: if (b.bytes) save(path, b.bytes, draw((uint32_t)b.n + 1)); break;
    case 2: if (b.n) b.bytes[draw((uint32_t)b.n)] ^= (unsigned char)(1 + draw(255)), save(path, b.bytes, b.n); break;
    case 3: if (b.n && digit_in(&b)) *digit_in(&b) ^= 1, save(path, b.bytes, b.n); break;      /* still JSON */
    case 4: if (b.n && copy.n) save(path, copy.bytes, draw((uint32_t)copy.n + 1)); break;
    case 5: if (b.n && copy.n) save(path, copy.bytes, copy.n); break;
    }
    if (b.bytes) {
        w.spoilt[place][ec] = true;
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
        if (p) p->stop = 1, tell("%d is told to stop", p->plan.pid);
        break;
    case 6: case 7:
        faults_full = !faults_full;
        tell(faults_full ? "the disk is full" : "there is room again");
        excuse_all();
        break;
    default:
        if (p) tell("%d is killed", p->plan.pid), die(p);
    }
}

/* -- the end -------------------------------------------------------------------------------------------------------- */

/* One process, with nobody beside it and nothing in its way. */
static process *run_alone(process p)
{
    process *slot = &w.process[0];
    char *stack = slot->stack;

    *slot = p;
    slot->stack = stack;
    begin(slot);
    advance(slot, ENDLESS);
    return slot;
}

static void heal(void)
{
    char path[PATH];

    faults_full = false;
    for (process *p; (p = someone()) && !w.wrong[0];) {
        p->plan.at = 0;
        p->disturbed = true;
        advance(p, 1 + draw(100));
    }
    check_places();
    tell("-- all is well from here on");
    for (int shard = 0; shard < w.shards && !w.wrong[0]; shard++) {
        int from, to;
        spot_shard_range(&from, &to, shard, w.shards, w.ecs);
        if (from < to || chance(10)) run_alone((process){ .shard = shard, .place = w.place_of[shard] });
    }
    check_places();
    if (w.dirs == 1 && !is_file(in_place(path, 0, "results.sqlite"), &whole()->database, NULL))
        wrong("results.sqlite in a is old");
}

/* The bytes that an EC must have in the end: the least, where a machine had other results. */
static const blob *expected(int ec)
{
    const blob *a = &whole()->segment[ec], *b = &whole()->sick[ec];

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
    } while (n > 1 && !w.wrong[0]);
    return left[0];
}

static void check_tree(int tree, const blob *database)
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
    spot_sweep_options o = { .out = place_path(dir, SICK), .shards = 1 };
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
    blob database;

    for (int i = 0; i < PLACES; i++)
        if (!access(place_path(path, i), F_OK)) places[n++] = i;
    w.sick = chance(30) ? 1 + draw(2) : STUB_WELL;
    if (w.sick) {
        run_sick();
        places[n++] = SICK;
    }
    tree = merge_all(places, n, SICK + 1);
    if (w.wrong[0]) return;
    database = load(in_place(path, tree, "results.sqlite"));
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
        spot_sweep_options o = { .out = place_path(dir, SICK), .shards = 1 };
        spot_sweep_report report;
        spot_ctx c = { 0 };
        stub_is = sick ? STUB_ERRS : STUB_WELL;
        if (spot_ctx_open(&c, "cpu", 1) || spot_sweep_run(&c, config, &o, &report)) wrong("undisturbed: %s", c.message);
        spot_ctx_close(&c);
        for (int ec = 0; ec < w.ecs; ec++) (sick ? r->sick : r->segment)[ec] = load(segment_path(path, SICK, ec));
        if (!sick) r->config = load(in_place(path, SICK, "config.yaml"));
        if (!sick) r->database = load(in_place(path, SICK, "results.sqlite"));
        if (ecs_in(in_place(path, SICK, "results.sqlite")) != w.ecs) wrong("undisturbed: ECs are not in results.sqlite");
        remove_tree(dir);
    }
    stub_is = STUB_WELL;
    r->made = true;
}

static void draw_plan(uint64_t seed)
{
    static const int cuts[] = { 1, 1, 2, 2, 3, 4, 8, 16 };
    char *stack[AT_ONCE];
    char path[PATH];

    for (int i = 0; i < AT_ONCE; i++) stack[i] = w.process[i].stack;
    memset(&w, 0, sizeof w);
    for (int i = 0; i < AT_ONCE; i++) w.process[i].stack = stack[i] ? stack[i] : malloc(STACK);
    w.seed = w.state = seed;
    faults_full = false;
    w.ecs = 1 + (int)draw(ECS);
    w.methods = 1 + (int)draw(METHODS);
    w.shards = cuts[draw(8)];
    w.dirs = 1 + (int)draw(DIRS);
    w.pictures = chance(30);
    for (int i = 0; i < w.shards; i++) w.place_of[i] = (int)draw((uint32_t)w.dirs);
    config->ecs = w.ecs;
    config->bdms = w.methods;
    snprintf(path, sizeof path, "%s/disk", home);
    remove_tree(path);
    faults_disk(path);
    if (mkdir(path, 0777)) abort();
    make_reference();
    tell("%d ECs, %d methods, %d shards in %d directories", w.ecs, w.methods, w.shards, w.dirs);
}

static bool simulate(uint64_t seed)
{
    int turns, disasters;

    draw_plan(seed);
    turns = 10 + (int)draw(60);
    disasters = (int)draw(7);
    for (int i = 0; i < turns && !w.wrong[0]; i++) {
        process *p;
        if (chance(30)) start_sweep();
        if ((int)draw((uint32_t)turns) < disasters) happen();
        p = someone();
        if (p && !w.wrong[0]) advance(p, 1 + draw(chance(50) ? 10 : 200));
    }
    if (!w.wrong[0]) heal();
    if (!w.wrong[0]) finish();
    for (int i = 0; i < AT_ONCE; i++)
        if (w.process[i].alive) die(&w.process[i]);
    if (!w.wrong[0] && faults_open_files()) wrong("%d files are left open", faults_open_files());
    if (w.wrong[0]) printf("seed %llu: %s\n    test_simulate --seed %llu tells its story\n", (unsigned long long)seed, w.wrong,
                           (unsigned long long)seed);
    return !w.wrong[0];
}

static void open_home(void)
{
    static const char text[] = TINY_CONFIG(6);
    spot_ctx c = { 0 };

    snprintf(home, sizeof home, "%s/spot_simulate_XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    config = malloc(sizeof *config);
    if (!mkdtemp(home) || !config || spot_config_parse(&c, config, text, sizeof text - 1, "sweep.yaml")) abort();
}

/* Seeds first, first + step, ... up to last. How many went wrong. */
static int simulate_all(uint64_t first, uint64_t last, uint64_t step)
{
    int failed = 0;

    open_home();
    for (uint64_t seed = first; seed <= last; seed += step) failed += !simulate(seed);
    remove_tree(home);
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
    mallopt(M_MMAP_THRESHOLD, 1 << 30);        /* a segment's room is large and asked for often */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    stub_on = true;
    stub_computes = computes;
    stub_keeps = keeps;
    faults_pause = take_turns;
    faults_die = NULL;
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
