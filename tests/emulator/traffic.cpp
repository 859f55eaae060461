/* traffic.cpp - requests, sectors and bank conflicts, counted from the accesses of the lanes. */
#include "traffic.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "runtime.h"
#include "watch.h"

namespace emu {

static constexpr int LANES = WARP, SECTOR = 32, WORD = 4, BANKS = 32, WIDEST = 16, SECTORS = PAGE / SECTOR;

/* The launch that last read and wrote a sector. */
struct sector_stamps { uint32_t read[SECTORS], written[SECTORS]; };

static std::unordered_map<uintptr_t, std::unique_ptr<sector_stamps>> touched;      /* by page */
static std::map<std::string, spot_traffic> kernels;
static spot_traffic *now;                      /* of the launch that runs; nullptr: nobody counts */
static uint32_t launches;
bool traffic_counts;

void traffic_launch(const char *name)
{
    traffic_counts = getenv("SPOT_EMULATOR_TRAFFIC") != nullptr;
    now = traffic_counts ? &kernels[name] : nullptr;
    if (!now) return;
    snprintf(now->name, sizeof now->name, "%s", name);
    now->launches++;
    launches++;
}

void traffic_block(block_watch *b)
{
    if (!now) return;
    now->blocks++;
    b->pending.resize((b->threads + WARP - 1) / WARP);
    for (auto &warp : b->pending) warp.clear();
}

/* How many different values of address / unit the bytes of lanes first .. last - 1 have. */
static int different(const request *r, int first, int last, unsigned unit, uintptr_t *units)
{
    int n = 0;

    for (int i = first; i < last; i++)
        for (uintptr_t u = r->at[i] / unit; r->lanes >> i & 1 && u <= (r->at[i] + r->bytes - 1) / unit; u++) units[n++] = u;
    std::sort(units, units + n);
    return (int)(std::unique(units, units + n) - units);
}

static void count_wavefronts(const request *r)
{
    int lanes = r->bytes <= WORD ? LANES : LANES * WORD / r->bytes;      /* that a wavefront can serve at best */
    uintptr_t words[LANES * WIDEST];

    now->shared_requests++;
    for (int i = 0; i < LANES; i += lanes) {
        int bank[BANKS] = { 0 }, most = 0, n = different(r, i, i + lanes, WORD, words);
        for (int w = 0; w < n; w++) most = std::max(most, ++bank[words[w] % BANKS]);
        now->wavefronts += most;
        now->least_wavefronts += n > 0;
    }
}

static void touch(uintptr_t sector, access_kind kind)
{
    uintptr_t number = sector * SECTOR / PAGE;
    auto &page = touched[number];

    if (!page) page = std::make_unique<sector_stamps>();
    for (access_kind k : { READ, WRITE }) {
        uint32_t *stamp = &(k == READ ? page->read : page->written)[sector % SECTORS];
        if ((kind != ATOMIC && kind != k) || *stamp == launches) continue;
        *stamp = launches;
        (k == READ ? now->read : now->written) += SECTOR;
    }
}

static void count_sectors(const request *r)
{
    uintptr_t sectors[LANES * 2], bytes[LANES * WIDEST];
    int n = different(r, 0, LANES, SECTOR, sectors), distinct = different(r, 0, LANES, 1, bytes);

    now->requests++;
    now->sectors += n;
    now->least_sectors += (distinct + SECTOR - 1) / SECTOR;
    for (int i = 0; i < n; i++) touch(sectors[i], r->kind);
}

/* Counts what a warp asked for since its lanes last met. */
void traffic_meet(block_watch *b, unsigned warp)
{
    if (!now || b->pending.empty()) return;
    for (auto &[place, at] : b->pending[warp]) {
        for (const request &r : at.of) {
            if (r.shared) count_wavefronts(&r);
            else          count_sectors(&r);
        }
        at.of.clear();
        std::fill(at.made, at.made + LANES, 0);
    }
}

void traffic_barrier(block_watch *b)
{
    for (size_t w = 0; w < b->pending.size(); w++) traffic_meet(b, (unsigned)w);
}

void traffic_access(block_watch *b, unsigned thread, const void *p, size_t bytes, access_kind kind, uint32_t site)
{
    uintptr_t at = (uintptr_t)p, memory = (uintptr_t)b->memory;
    bool shared = at >= memory && at < memory + b->room;

    if (!now || b->pending.empty() || (!shared && !emu_is_device(p))) return;
    for (size_t done = 0; done < bytes; done += WIDEST) {
        requests *place = &b->pending[thread / WARP][(uint64_t)site << 8 | done / WIDEST];
        uint32_t n = place->made[thread % WARP]++;
        if (n == place->of.size())
            place->of.push_back({ kind, shared, (uint8_t)std::min(bytes - done, (size_t)WIDEST), 0, {} });
        place->of[n].lanes |= 1u << thread % WARP;
        place->of[n].at[thread % WARP] = at + done;
    }
}

static void visit_each(void (*visit)(void *user, const spot_traffic *kernel), void *user)
{
    for (auto &[name, k] : kernels) visit(user, &k);
}

static void reset_traffic() { kernels.clear(); }

extern "C" __attribute__((visibility("default"))) const spot_emulator_traffic spot_emulator_traffic_table
    __asm__("spot_emulator_traffic") = { visit_each, reset_traffic };

}
