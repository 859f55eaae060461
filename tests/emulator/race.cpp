/* race.cpp - two accesses to the same byte, at least one of them a write, that nothing orders. It is reported under any
 * schedule, because what is compared is not when the accesses happened but what lies between them:
 *
 *     __syncthreads    orders all threads of a block
 *     __syncwarp       orders the lanes of its mask. Shuffles and votes do not: CUDA promises no order of memory for them
 *     a launch's end   orders everything
 *     atomics          are no race among each other; against plain accesses they are a race
 *     __threadfence    what a thread did before one, then a barrier, then an atomic by any thread of the block, is ordered
 *                      before what another block does behind an atomic on the same address, then a barrier, then a
 *                      __threadfence. The barriers may be left out where one thread does both
 *
 * Nothing else orders blocks of a launch. Writes of equal values are a race, too. The clocks are those of Mattern (1989), the
 * last write and the last reads are kept as in FastTrack (Flanagan and Freund 2009), but only two reads. */
#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "runtime.h"
#include "watch.h"

namespace emu {

enum { CACHED = 256 };

/* A page of device memory; nullptr: the page belongs to the host. */
typedef std::unique_ptr<line[]> page;

static std::unordered_map<uintptr_t, page> pages;
static struct { uintptr_t number; line *lines; } cached[CACHED];       /* pages that were asked for last */

static std::vector<dim3> index_of;                /* [m - first_moment]: the block whose moment m was */
static std::vector<uint64_t> number_of;
static uint32_t last_moment, first_moment;        /* first: of this launch */
static std::unordered_map<uintptr_t, knowledge> left;      /* by address: what blocks left there by fences and atomics */

void race_launch()
{
    first_moment = last_moment + 1;
    index_of.clear();
    number_of.clear();
    left.clear();
}

static void next_moment(block_watch *b)
{
    if (last_moment == UINT32_MAX) return fault("the race detector has no more numbers: run fewer cases in one process");
    b->moment = ++last_moment;
    index_of.push_back(b->index);
    number_of.push_back(b->number);
}

/* A lane's own clock begins with 1, so that nobody knows of what it does before a __syncwarp. */
static void reset_clocks(block_watch *b, size_t first)
{
    size_t end = std::min(first + WARP, b->threads);

    std::fill(b->clock.begin() + first * WARP, b->clock.begin() + end * WARP, 0);
    for (size_t t = first; t < end; t++) b->clock[t * WARP + t % WARP] = 1;
}

void race_block(block_watch *b)
{
    b->lines.resize(b->room / LINE + 1);
    b->clock.resize(b->threads * WARP);
    b->met.assign(b->threads / WARP + 1, false);
    b->fenced.assign(b->threads, {});
    b->meetings.clear();
    for (size_t t = 0; t < b->threads; t += WARP) reset_clocks(b, t);
    next_moment(b);
}

void race_barrier(block_watch *b)
{
    next_moment(b);
    for (size_t w = 0; w < b->met.size(); w++)
        if (b->met[w]) reset_clocks(b, w * WARP);
    b->met.assign(b->met.size(), false);
}

/* Begins a new step of the thread's own clock. */
static void advance_clock(block_watch *b, unsigned thread)
{
    b->met[thread / WARP] = true;
    if (++b->clock[(size_t)thread * WARP + thread % WARP] >> 21)
        fault("the race detector counts 2 million __syncwarp and __threadfence between barriers");
}

void race_fence(block_watch *b, unsigned thread)
{
    b->fenced[thread] = { b->moment, b->clock[(size_t)thread * WARP + thread % WARP] };
    advance_clock(b, thread);
    for (meeting &m : b->meetings)
        if (!m.known && (m.thread == thread || m.moment < b->moment)) m.known = b->moment;
}

/* Whether the thread has a fence behind the meeting, or a barrier behind one. */
static bool knows(const block_watch *b, unsigned thread, const meeting *m)
{
    return m->known && (m->known < b->moment || (b->fenced[thread].moment == m->known &&
                                                 (m->thread == thread || m->moment < m->known)));
}

static void add_fences(knowledge *to, uint64_t block, const std::vector<fence> &fences)
{
    std::vector<fence> &known = (*to)[block];

    known.resize(fences.size());
    for (size_t t = 0; t < fences.size(); t++)
        if (fences[t].moment > known[t].moment || (fences[t].moment == known[t].moment && fences[t].clock > known[t].clock))
            known[t] = fences[t];
}

/* An atomic: the block meets those who left something here, and leaves what it knows. */
static void meet_at(block_watch *b, unsigned thread, uintptr_t p)
{
    knowledge *here = &left[p];
    std::vector<fence> own = b->fenced;

    if (!here->empty()) b->meetings.push_back({ b->moment, 0, thread, *here });
    for (size_t t = 0; t < own.size(); t++)
        if (t != thread && own[t].moment == b->moment) own[t] = {};       /* no barrier behind that fence */
    if (std::any_of(own.begin(), own.end(), [](const fence &f) { return f.moment; })) add_fences(here, b->number, own);
    for (const meeting &m : b->meetings)
        for (auto &[block, fences] : m.of)
            if (knows(b, thread, &m)) add_fences(here, block, fences);
}

/* Whether the thread knows of the access of another block. */
static bool knows_access(const block_watch *b, unsigned thread, uint64_t block, const record *r)
{
    for (const meeting &m : b->meetings) {
        auto at = m.of.find(block);
        if (at == m.of.end() || !knows(b, thread, &m)) continue;
        const fence *f = &at->second[r->thread];
        if (r->moment < f->moment || (r->moment == f->moment && r->clock <= f->clock)) return true;
    }
    return false;
}

void race_syncwarp(block_watch *b, unsigned first, unsigned mask)
{
    uint32_t known[WARP] = { 0 };

    for (unsigned i = 0; i < WARP; i++)
        for (unsigned j = 0; mask >> i & 1 && j < WARP; j++)
            known[j] = std::max(known[j], b->clock[(first + i) * WARP + j]);
    for (unsigned i = 0; i < WARP; i++) {
        if (!(mask >> i & 1)) continue;
        std::copy(known, known + WARP, b->clock.begin() + (first + i) * WARP);
        advance_clock(b, first + i);
    }
}

/* Buffers came or went: what was said of their pages no longer holds. */
void race_memory()
{
    for (auto &c : cached) c = {};
    std::erase_if(pages, [](const auto &p) { return !p.second || !emu_is_device((void *)(p.first * PAGE)); });
}

/* The lines of the page that p lies in; nullptr on the host. */
static line *lines_of(uintptr_t p)
{
    uintptr_t number = p / PAGE;
    auto &hit = cached[number % CACHED];

    if (hit.number == number) return hit.lines;
    auto [at, is_new] = pages.try_emplace(number);
    if (is_new && emu_is_device((void *)(number * PAGE))) at->second = std::make_unique<line[]>(PAGE / LINE);
    hit = { number, at->second.get() };
    return hit.lines;
}

static void divide(line *l, unsigned shift)
{
    unsigned parts = 1u << (l->shift - shift), count = LINE >> shift;
    auto finer = std::make_unique<granule[]>(count);

    for (unsigned i = 0; l->of && i < count; i++) finer[i] = l->of[i / parts];
    l->of = std::move(finer);
    l->shift = (uint8_t)shift;
}

/* Who accesses what. */
struct watched {
    block_watch *b;
    bool shared;
    const void *p;
    record own;
};

/* Whether r comes before this access in every schedule. */
static bool ordered(const watched *a, const record *r)
{
    if (!r->moment || r->moment < first_moment) return true;
    if (r->moment != a->b->moment) {
        uint64_t block = number_of[r->moment - first_moment];
        return a->shared || block == a->b->number || knows_access(a->b, a->own.thread, block, r);
    }
    return r->thread == a->own.thread || (r->thread / WARP == a->own.thread / WARP &&
                                          r->clock <= a->b->clock[(size_t)a->own.thread * WARP + r->thread % WARP]);
}

static const char *verb(bool atomic, bool write, bool past)
{
    if (atomic) return past ? "changed it by an atomic" : "changes by an atomic";
    if (write)  return past ? "wrote it" : "writes";
    return past ? "read it" : "reads";
}

static void report(const watched *a, access_kind kind, const record *r, bool write)
{
    dim3 other = index_of[r->moment - first_moment];
    bool same_block = number_of[r->moment - first_moment] == a->b->number;
    bool same_warp = same_block && r->thread / WARP == a->own.thread / WARP;
    char here[256], there[256], memory[128] = "shared memory";

    if (!a->shared) emu_words_of_memory(a->p, memory, sizeof memory);
    words_of_site(a->own.site, here, sizeof here);
    words_of_site(r->site, there, sizeof there);
    fault("race: it %s %s in %s; block (%u,%u,%u) thread %u %s in %s, and %s",
          verb(kind == ATOMIC, kind == WRITE, false), memory, here, other.x, other.y, other.z, r->thread,
          verb(r->atomic, write, true), there,
          !same_block ? "no __threadfence and atomic order these blocks"
          : same_warp ? "no __syncwarp or __syncthreads lies between" : "no __syncthreads lies between");
}

/* How far apart two accesses are that nothing orders. */
static int distance(const record *a, const record *b)
{
    return a->moment != b->moment ? 3 : a->thread / WARP != b->thread / WARP ? 2 : a->thread != b->thread;
}

static void keep(const watched *a, granule *g)
{
    record *s = g->seen;

    if (ordered(a, &s[0]) && (s[0].atomic || !a->own.atomic)) {
        s[0] = a->own;
        if (ordered(a, &s[1])) s[1] = {};
    } else if (ordered(a, &s[1]) || distance(&s[0], &a->own) > distance(&s[0], &s[1])) {
        s[1] = a->own;
    }
}

static void access_granule(const watched *a, access_kind kind, granule *g)
{
    if (!ordered(a, &g->written)) return report(a, kind, &g->written, true);
    for (const record &r : g->seen) {
        bool excused = kind == READ ? !r.atomic : kind == ATOMIC && r.atomic;
        if (!excused && !ordered(a, &r)) return report(a, kind, &r, false);
    }
    if (kind == WRITE) *g = { a->own, {} };
    else keep(a, g);
}

void race_access(block_watch *b, unsigned thread, const void *p, size_t bytes, access_kind kind, uint32_t site)
{
    uintptr_t at = (uintptr_t)p, end = at + bytes, memory = (uintptr_t)b->memory;
    bool shared = at >= memory && at < memory + b->room;
    watched a = { b, shared, p, { b->moment, thread, b->clock[(size_t)thread * WARP + thread % WARP], kind == ATOMIC, site } };
    line *lines = shared ? b->lines.data() : lines_of(at);

    if (kind == ATOMIC && lines && !shared) meet_at(b, thread, at);
    while (lines && at < end) {
        uintptr_t first = shared ? at - memory : at % PAGE, stop = std::min(end, at - first % LINE + LINE);
        line *l = &lines[first / LINE];
        unsigned shift = l->shift;
        while ((first | (first + stop - at)) & ((1u << shift) - 1)) shift--;
        if (!l->of || shift < l->shift) divide(l, shift);
        for (uintptr_t i = first % LINE >> shift, n = i + ((stop - at) >> shift); i < n; i++)
            access_granule(&a, kind, &l->of[i]);
        at = stop;
        if (!shared && at % PAGE == 0) lines = lines_of(at);
    }
}

}
