/* emulator.cpp - the scheduler: which fibre runs next, and what a barrier or a warp operation waits for. */
#include "emulator.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "fibre.h"
#include "calls.h"
#include "guard.h"
#include "runtime.h"
#include "watch.h"

namespace emu {

enum state { READY, AT_BARRIER, AT_WARP, RETURNED };

struct block_state;

struct fibre {
    fibre_place place;
    block_state *block;
    dim3 index;
    unsigned thread;                 /* in the block, 0.. */
    state at;
    const char *op, *site;           /* what it waits in */
    unsigned mask;
    uint64_t value;                  /* what it brought */
    const uint64_t *lanes;           /* what a warp operation gave it */
    unsigned count;                  /* what a barrier gave it */
};

struct slot { const void *key; size_t start, bytes; };

struct block_state {
    dim3 index;
    std::vector<fibre> threads;
    std::vector<uint64_t> lanes;     /* (threads, WARP): what a warp operation gave lies in the row of its lowest lane */
    std::vector<void *> stacks;
    std::vector<slot> slots;         /* shared arrays, in the order of first use */
    size_t asked;                    /* their bytes */
    unsigned char *memory = nullptr; /* red zone wherever there is no slot */
    block_watch watch;

    ~block_state()
    {
        free(memory);
        for (void *stack : stacks) fibre_stack_give(stack);
    }
};

enum { ROOM = MAX_SHARED + 64 * 2 * GUARD };   /* bytes of a block's shared arrays and their red zones */

static struct {
    const char *name;
    dim3 grid, block;
    size_t dynamic_bytes;
    const std::function<void()> *kernel;
    fibre *running;
    std::vector<fibre *> ready, pass;    /* who can run, and who does in this pass */
    size_t next;                         /* of the pass */
    fibre_place scheduler;
    char report[1024];
    bool broken;
    enum { IDENTITY, REVERSED, SHUFFLED } order;
    uint64_t random;
} now;

/* This thread of the host runs the kernel. Asked at every access: by the model that needs no call. */
static thread_local bool launching __attribute__((tls_model("initial-exec")));

static std::vector<std::unique_ptr<block_state>> pool;   /* blocks that run at the same time */

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t draw()
{
    uint64_t z = now.random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

template <typename T> static void arrange(std::vector<T> &v)
{
    if (now.order == now.REVERSED) std::reverse(v.begin(), v.end());
    if (now.order == now.SHUFFLED)
        for (size_t i = v.size(); i > 1; i--) std::swap(v[i - 1], v[draw() % i]);
}

static void read_schedule()
{
    const char *text = getenv("SPOT_EMULATOR");

    now.order = now.IDENTITY;
    if (text && !strcmp(text, "reversed")) now.order = now.REVERSED;
    if (text && !strncmp(text, "shuffled:", 9)) {
        now.order = now.SHUFFLED;
        now.random = strtoull(text + 9, nullptr, 10);
    }
}

const dim3 &thread_index() { return now.running->index; }
const dim3 &block_index()  { return now.running->block->index; }
const dim3 &block_size()   { return now.block; }
const dim3 &grid_size()    { return now.grid; }
unsigned    lane()         { return now.running->thread % WARP; }

running_thread running()
{
    const fibre *f = launching ? now.running : nullptr;

    if (!f) return {};
    return { &f->block->watch, f->thread, (const char *)f->block->stacks[f->thread] };
}

/* Goes on with the next of the pass, behind the last one with the scheduler: a switch costs most of what a barrier does. */
static void yield()
{
    fibre *from = now.running;

    if (now.broken || now.next == now.pass.size()) return fibre_switch(&from->place, &now.scheduler);
    now.running = now.pass[now.next++];
    fibre_switch(&from->place, &now.running->place);
}

void fault(const char *fmt, ...)
{
    char what[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    if (!now.broken) {
        const fibre *f = now.running;
        int n = snprintf(now.report, sizeof now.report, "%s", now.name);
        if (f) n += snprintf(now.report + n, sizeof now.report - n, ", block (%u,%u,%u) thread %u", f->block->index.x,
                             f->block->index.y, f->block->index.z, f->thread);
        snprintf(now.report + n, sizeof now.report - n, ": %s", what);
    }
    now.broken = true;
    if (now.running) yield();        /* and is never resumed */
}

unsigned barrier(const char *site, bool predicate)
{
    fibre *f = now.running;

    f->at = AT_BARRIER;
    f->op = "__syncthreads";
    f->site = site;
    f->value = predicate;
    yield();
    return f->count;
}

const uint64_t *gather(const char *op, const char *site, unsigned mask, uint64_t value)
{
    fibre *f = now.running;
    size_t lanes = f->block->threads.size() - (f->thread - lane());
    unsigned absent = lanes < WARP ? mask >> lanes << lanes : 0;

    if (!(mask >> lane() & 1)) fault("%s at %s: its mask %08x leaves out the lane that calls", op, site, mask);
    if (absent)
        fault("%s at %s: its mask %08x names lane %d, which a block of %zu threads has not", op, site, mask,
              __builtin_ctz(absent), f->block->threads.size());
    f->at = AT_WARP;
    f->op = op;
    f->site = site;
    f->mask = mask;
    f->value = value;
    yield();
    return f->lanes;
}

void step() { yield(); }             /* still READY */

static void *take_shared(block_state *b, const void *key, size_t bytes)
{
    size_t used = b->slots.empty() ? 0 : b->slots.back().start + b->slots.back().bytes;
    size_t start = (used + GUARD + 31) / 32 * 32;

    for (const slot &s : b->slots)
        if (s.key == key) return b->memory + s.start;
    b->asked += bytes;
    if (b->asked > MAX_SHARED || start + bytes + GUARD > ROOM)
        fault("%zu bytes of shared memory, more than the %d that need no cudaFuncSetAttribute", b->asked, MAX_SHARED);
    guard_take_off(b->memory + start, bytes);
    memset(b->memory + start, POISON_BYTE, bytes);
    b->slots.push_back({ key, start, bytes });
    return b->memory + start;
}

/* A write outside the block's shared arrays; one that has none cannot even have the address. */
static void check_shared(block_state *b)
{
    size_t at = 0;

#ifdef SPOT_EMULATOR_ASAN
    return;                          /* the write ended the program */
#endif
    if (b->slots.empty()) return;
    for (const slot &s : b->slots) {
        if (guard_changed(b->memory + at, s.start - at))
            fault("block (%u,%u,%u) wrote outside its shared arrays, before the one of %zu bytes", b->index.x,
                  b->index.y, b->index.z, s.bytes);
        at = s.start + s.bytes;
    }
    if (guard_changed(b->memory + at, ROOM - at))
        fault("block (%u,%u,%u) wrote behind its last shared array, of %zu bytes", b->index.x, b->index.y, b->index.z,
              b->slots.back().bytes);
}

void *shared(const void *key, size_t bytes) { return take_shared(now.running->block, key, bytes); }
void *dynamic_shared()                      { return take_shared(now.running->block, &now, now.dynamic_bytes); }

static void run_thread()
{
    (*now.kernel)();
    now.running->at = RETURNED;
    yield();
}

static void start_block(block_state *b, size_t number)
{
    size_t count = (size_t)now.block.x * now.block.y * now.block.z;

    if (!b->memory && (b->memory = (unsigned char *)aligned_alloc(GUARD, ROOM))) guard_set(b->memory, ROOM);
    b->index = dim3(number % now.grid.x, number / now.grid.x % now.grid.y, number / now.grid.x / now.grid.y);
    for (const slot &s : b->slots) guard_set(b->memory + s.start, s.bytes);     /* of the block that had it before */
    b->slots.clear();
    b->asked = 0;
    b->threads.resize(count);
    b->lanes.resize(count * WARP);
    while (b->stacks.size() < count) b->stacks.push_back(fibre_stack());
    if (!b->memory || std::count(b->stacks.begin(), b->stacks.end(), nullptr)) return fault("no memory for a block");
    watch_block(&b->watch, b->index, number, count, b->memory, ROOM);
    for (size_t i = 0; i < count; i++) {
        fibre &f = b->threads[i];
        f.block = b;
        f.thread = (unsigned)i;
        f.index = dim3(i % now.block.x, i / now.block.x % now.block.y, i / now.block.x / now.block.y);
        f.at = READY;
        fibre_start(&f.place, b->stacks[i], run_thread);
    }
}

/* Sites and ops are literals: mostly the same one. */
static bool same(const char *a, const char *b) { return a == b || !strcmp(a, b); }

/* Opens the barrier when all threads of the block stand at it. A thread that stands elsewhere or has returned while
 * others wait is an error on the GPU, whatever it happens to do there. */
static void open_barrier(block_state *b)
{
    const fibre *first = nullptr, *other = nullptr;
    unsigned count = 0;

    for (const fibre &f : b->threads) {
        if (f.at == READY || f.at == AT_WARP) return;
        if (f.at == AT_BARRIER && !first) first = &f;
    }
    if (!first) return;
    for (const fibre &f : b->threads)
        if (f.at == RETURNED || !same(f.site, first->site)) other = &f;
    if (other) {
        bool gone = other->at == RETURNED;
        fault("barrier divergence in block (%u,%u,%u): thread %u waits at %s, thread %u %s%s", b->index.x, b->index.y,
              b->index.z, first->thread, first->site, other->thread, gone ? "has returned" : "at ",
              gone ? "" : other->site);
        return;
    }
    watch_barrier(&b->watch, first->site);
    for (const fibre &f : b->threads) count += f.value != 0;
    for (fibre &f : b->threads) {
        f.count = count;
        f.at = READY;
    }
}

/* Completes f's warp operation when every lane of its mask waits in the same one. Lanes that can run do so in one pass, and
 * so have all read what they were given before another operation of theirs can complete. */
static void meet(fibre *f)
{
    fibre *warp = f - f->thread % WARP;
    uint64_t *lanes = &f->block->lanes[(warp->thread + __builtin_ctz(f->mask)) * WARP];

    for (unsigned i = 0; i < WARP; i++) {
        if (!(f->mask >> i & 1)) continue;
        const fibre *g = warp + i;
        if (g->at != AT_WARP || g->mask != f->mask || !same(g->op, f->op) || !same(g->site, f->site)) return;
    }
    memset(lanes, POISON_BYTE, WARP * sizeof *lanes);
    watch_meet(&f->block->watch, warp->thread, f->mask, f->op, f->site);
    for (unsigned i = 0; i < WARP; i++) {
        if (!(f->mask >> i & 1)) continue;
        lanes[i] = warp[i].value;
        warp[i].lanes = lanes;
        warp[i].at = READY;
    }
}

/* Nobody can run: says who waits where. */
static void report_deadlock(const std::vector<block_state *> &blocks)
{
    for (const block_state *b : blocks)
        for (const fibre &f : b->threads)
            if (f.at == AT_WARP) {
                unsigned i = 0;
                const fibre *warp = &f - f.thread % WARP;
                while (!(f.mask >> i & 1) || (warp[i].at == AT_WARP && warp[i].mask == f.mask &&
                                              !strcmp(warp[i].site, f.site) && !strcmp(warp[i].op, f.op))) i++;
                return fault("deadlock in block (%u,%u,%u): thread %u waits in %s at %s for lane %u, which %s%s",
                             b->index.x, b->index.y, b->index.z, f.thread, f.op, f.site, i,
                             warp[i].at == RETURNED ? "has returned" : "waits at ",
                             warp[i].at == RETURNED ? "" : warp[i].site);
            }
}

/* Chooses the fibres that run in this pass, in the order of the schedule. Shuffled, half of the warps sit it out. */
static void choose_pass(const std::vector<block_state *> &blocks)
{
    now.ready.clear();
    now.pass.clear();
    for (block_state *b : blocks)
        for (size_t w = 0; w < b->threads.size(); w += WARP) {
            bool chance = now.order != now.SHUFFLED || draw() & 1;
            for (size_t i = w; i < std::min(w + WARP, b->threads.size()); i++)
                if (b->threads[i].at == READY) {
                    now.ready.push_back(&b->threads[i]);
                    if (chance) now.pass.push_back(&b->threads[i]);
                }
        }
    if (now.pass.empty()) now.pass = now.ready;
    arrange(now.pass);
}

static void run_blocks(const std::vector<block_state *> &blocks)
{
    for (;;) {
        choose_pass(blocks);
        if (now.pass.empty()) break;
        now.next = 1;
        now.running = now.pass[0];
        fibre_switch(&now.scheduler, &now.running->place);
        now.running = nullptr;
        if (now.broken) return;
        for (block_state *b : blocks) {
            for (fibre &f : b->threads)
                if (f.at == AT_WARP) meet(&f);
            open_barrier(b);
            if (now.broken) return;
        }
    }
    report_deadlock(blocks);
    for (block_state *b : blocks) watch_block_end(&b->watch);
    for (block_state *b : blocks) check_shared(b);
}

static bool can_launch()
{
    const dim3 &g = now.grid, &b = now.block;
    size_t threads = (size_t)b.x * b.y * b.z;

    if (g.x && g.y && g.z && threads && g.x <= 0x7fffffffu && g.y <= 65535 && g.z <= 65535 && threads <= MAX_THREADS &&
        b.z <= 64 && now.dynamic_bytes <= MAX_SHARED)
        return true;
    fault("a grid of (%u,%u,%u), blocks of (%u,%u,%u) threads and %zu bytes of shared memory are not to be had", g.x,
          g.y, g.z, b.x, b.y, b.z, now.dynamic_bytes);
    return false;
}

/* "stats_kernel<T>" of bf16 is "stats_kernel<bf16>": most templates are over the type of an activation. */
static const char *whole_name(kernel_name name)
{
    static char text[128];
    const char *from = name.words + (name.words[0] == '('), *type = strstr(from, "<T");
    int length = (int)strlen(from) - (from != name.words), before = type ? (int)(type - from) + 1 : 0;

    if (!type) snprintf(text, sizeof text, "%.*s", length, from);
    else snprintf(text, sizeof text, "%.*s%s%.*s", before, from, strstr(name.types, "bf16") ? "bf16" : "float",
                  length - before - 1, type + 2);
    return text;
}

void launch(kernel_name name, dim3 grid, dim3 block, size_t shared_bytes, const std::function<void()> &kernel)
{
    size_t at_once = 1;
    char text[128];

    now.name = whole_name(name);
    now.grid = grid;
    now.block = block;
    now.dynamic_bytes = shared_bytes;
    now.kernel = &kernel;
    now.running = nullptr;
    now.broken = false;
    read_schedule();
    if (!can_launch()) return emu_launch_failed(cudaErrorInvalidConfiguration, now.report);
    if (now.order == now.SHUFFLED) at_once = 1 + draw() % 4;

    std::vector<size_t> numbers((size_t)grid.x * grid.y * grid.z);
    std::iota(numbers.begin(), numbers.end(), 0);
    arrange(numbers);
    while (pool.size() < at_once) pool.push_back(std::make_unique<block_state>());
    emu_open_memory(true);
    watch_launch(now.name);
    emu_count_kernel(now.name);
    launching = true;
    for (size_t i = 0; i < numbers.size() && !now.broken; i += at_once) {
        std::vector<block_state *> blocks;
        for (size_t j = i; j < std::min(i + at_once, numbers.size()); j++) {
            start_block(pool[j - i].get(), numbers[j]);
            blocks.push_back(pool[j - i].get());
        }
        if (!now.broken) run_blocks(blocks);
    }
    launching = false;
    if (!now.broken && !emu_check_buffers(text, sizeof text)) fault("%s", text);
    emu_open_memory(false);
    if (now.broken) emu_launch_failed(cudaErrorLaunchFailure, now.report);
    if (now.broken) pool.clear();              /* with whatever it left there */
}

}
