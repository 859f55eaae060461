/* runtime.cpp - the CUDA runtime of the emulator: device memory and statuses.
 *
 * Device memory lies in pages of its own that are open only to kernels and copies: host code that touches it stops at
 * once (SIGSEGV), as it would on a machine with a GPU. So it is under "identity"; host code does the same under every schedule,
 * and opening and closing takes up to a quarter of a test's time. */
#include "cuda_runtime.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "calls.h"
#include "guard.h"
#include "runtime.h"
#include "watch.h"

/* Contexts of several threads share the device, one call at a time; errors and what is captured are each thread's own. */
static std::recursive_mutex device;
typedef std::lock_guard<std::recursive_mutex> turn;

static thread_local cudaError_t last_error;
static thread_local char report[1024];

/* A buffer begins so far behind its first page, as CUDA promises 256 bytes' alignment; a guard ends there. */
enum { MALLOC_ALIGN = 256 };
static_assert((int)MALLOC_ALIGN >= (int)GUARD, "a guard lies before each buffer");

typedef struct { size_t bytes; unsigned char *pages; size_t paged; bool closed; } buffer;
static std::map<unsigned char *, buffer> buffers;     /* by start */

/* "identity", and not in the plugin that watches, which runs cases that have run without. */
static bool in_order()
{
#ifdef SPOT_EMULATOR_WATCHES
    return false;
#else
    const char *schedule = getenv("SPOT_EMULATOR");

    return !schedule || !strcmp(schedule, "identity");
#endif
}

/* Calls may lie within each other, as a graph's do: only the outermost counts. Buffers that lie side by side are one range. */
void emu_open_memory(bool open)
{
    static int depth;
    unsigned char *from = nullptr, *to = nullptr;
    auto change = [&] { if (to > from) mprotect(from, (size_t)(to - from), open ? PROT_READ | PROT_WRITE : PROT_NONE); };

    if (open ? depth++ : --depth) return;
    if (!open && !in_order()) return;
    for (auto &[p, b] : buffers) {
        if (b.closed != open) continue;
        if (b.pages != to) {
            change();
            from = b.pages;
        }
        to = b.pages + b.paged;
        b.closed = !open;
    }
    change();
}

/* A graph is work in order. A thread captures one stream at a time. */
struct emu_graph {
    std::vector<std::function<void()>> work;
    cudaStream_t first;                              /* the stream whose capture it is */
    std::vector<cudaStream_t> branches;              /* those that wait for it and that it has not waited for */
};
static thread_local emu_graph *captured;
static thread_local bool spoilt;                     /* by a call that a capture must not have: no graph comes out */

/* Begins a call that waits, takes or gives, or whose result a graph would not have: an error during a capture. Not all of them
 * are errors on a GPU in each mode of capture; what we record needs none. */
static cudaError_t outside_capture()
{
    spoilt |= captured != nullptr;
    return captured ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

/* A stream that waits for an event of another is a branch, until the other waits for the branch. What a branch has to do is
 * done at once, or under another schedule than "identity" not before it is waited for: where the work of the two is not
 * independent, or nobody waits, schedules give other bits. */
struct emu_stream {
    bool branch;
    emu_graph *in;                                   /* the capture that it is a branch of */
    long long made, done;                            /* pieces of work of this branch */
    std::vector<std::function<void()>> held;         /* those that are not done */
};
static std::set<cudaStream_t> streams;

/* An event knows how much of a branch it stands behind. */
struct emu_event { double ms; bool timed; cudaStream_t of; emu_graph *in; long long made; };

static bool branches_wait()
{
    const char *schedule = getenv("SPOT_EMULATOR");

    return schedule && strcmp(schedule, "identity");
}

static void carry_out(std::function<void()> work)
{
    if (captured) captured->work.push_back(std::move(work));
    else work();
}

/* Does what a branch has held back, up to number `made`. */
static void do_held(cudaStream_t s, long long made)
{
    while (s && !s->held.empty() && s->done < made) {
        std::function<void()> work = std::move(s->held.front());
        s->held.erase(s->held.begin());
        s->done++;
        carry_out(std::move(work));
    }
}

static void do_all_held()
{
    for (cudaStream_t s : streams)
        if (!s->in) do_held(s, s->made);
}

void emu::submit(std::function<void()> work, emu_call call, emu_stream *s)
{
    turn mine(device);
    bool branch = s && s->branch, foreign = branch ? s->in != captured : captured && s && s != captured->first;

    spoilt |= foreign;                               /* work of a stream that is no part of the capture */
    if (foreign) return;
    emu_count(captured ? EMU_nodes : call, 1);
    if (branch) s->made++;
    if (branch && branches_wait()) return s->held.push_back(std::move(work));
    if (branch) s->done++;
    carry_out(std::move(work));
}

struct opened {
    turn mine{ device };
    opened()  { emu_open_memory(true); }
    ~opened() { emu_open_memory(false); }
};

void emu_launch_failed(cudaError_t e, const char *text)
{
    if (last_error == cudaSuccess) snprintf(report, sizeof report, "%s", text);
    if (last_error == cudaSuccess) last_error = e;
}

bool emu_check_buffers(char *text, size_t size)
{
    bool intact = true;

    for (auto &[p, b] : buffers) {
        bool before = guard_changed(p - GUARD, GUARD), after = guard_changed(p + b.bytes, GUARD);
        if (intact && (before || after))
            snprintf(text, size, "wrote %s a device buffer of %zu bytes", before ? "before" : "behind", b.bytes);
        intact = intact && !before && !after;
    }
    return intact;
}

/* The buffer that holds p; buffers.end() for host memory. */
static std::map<unsigned char *, buffer>::iterator buffer_of(const void *p)
{
    auto at = buffers.upper_bound((unsigned char *)p);

    if (at == buffers.begin()) return buffers.end();
    --at;
    return (unsigned char *)p < at->first + at->second.bytes ? at : buffers.end();
}

bool emu_is_device(const void *p)
{
    auto at = buffers.upper_bound((unsigned char *)p + MALLOC_ALIGN);

    if (at == buffers.begin()) return false;
    --at;
    return (unsigned char *)p < at->second.pages + at->second.paged;
}

void emu_words_of_memory(const void *p, char *text, size_t size)
{
    auto at = buffer_of(p);

    if (at == buffers.end()) snprintf(text, size, "memory beside the device's buffers");
    else snprintf(text, size, "byte %td of a device buffer of %zu bytes", (const unsigned char *)p - at->first,
                  at->second.bytes);
}

static bool fits(const void *p, size_t bytes)
{
    auto at = buffer_of(p);

    return at == buffers.end() || bytes <= (size_t)(at->first + at->second.bytes - (const unsigned char *)p);
}

/* A small GPU: 4 GiB, or as many bytes as $SPOT_EMULATOR_MEMORY says. */
cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    const char *own = getenv("SPOT_EMULATOR_MEMORY");

    turn mine(device);
    *left = *total = 0;
    if (cudaError_t e = outside_capture()) return e;
    *left = *total = own ? strtoull(own, nullptr, 10) : (size_t)4 << 30;
    for (auto &[p, b] : buffers) *left -= b.bytes < *left ? b.bytes : *left;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    turn mine(device);
    *p = nullptr;
    if (cudaError_t e = outside_capture()) return e;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), paged = (MALLOC_ALIGN + bytes + GUARD + page - 1) / page * page, left, total;
    cudaMemGetInfo(&left, &total);
    void *pages = bytes > left ? MAP_FAILED
                : mmap(nullptr, paged, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
    madvise(pages, paged, MADV_HUGEPAGE);            /* a large page is opened and closed in a step */
    unsigned char *start = (unsigned char *)pages + MALLOC_ALIGN;
    memset(start, POISON_BYTE, bytes);
    guard_set(start - GUARD, GUARD);
    guard_set(start + bytes, GUARD);
    buffers[start] = { bytes, (unsigned char *)pages, paged, in_order() };
    if (in_order()) mprotect(pages, paged, PROT_NONE);
    emu::watch_memory();
    emu_count(EMU_takes, 1);
    emu_count(EMU_taken, (long long)bytes);
    *p = start;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    turn mine(device);
    auto at = buffers.find((unsigned char *)p);

    if (!p) return cudaSuccess;
    if (cudaError_t e = outside_capture()) return e;
    do_all_held();                                   /* cudaFree waits for the device */
    emu_count(EMU_gives, 1);
    if (at == buffers.end()) return cudaErrorInvalidValue;
    mprotect(at->second.pages, at->second.paged, PROT_READ | PROT_WRITE);
    guard_take_off(at->first - GUARD, GUARD);
    guard_take_off(at->first + at->second.bytes, GUARD);
    munmap(at->second.pages, at->second.paged);
    buffers.erase(at);
    emu::watch_memory();
    return cudaSuccess;
}

/* Host memory that is registered, and how much. A piece is registered once, and given back with its beginning. */
static std::map<void *, size_t> pinned;

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned)
{
    turn mine(device);
    if (cudaError_t e = outside_capture()) return e;
    if (!p || !bytes || buffer_of(p) != buffers.end() || !pinned.emplace(p, bytes).second) return cudaErrorInvalidValue;
    emu_count(EMU_pins, 1);
    emu_count(EMU_pinned, (long long)bytes);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *p)
{
    turn mine(device);
    if (cudaError_t e = outside_capture()) return e;
    return pinned.erase(p) ? cudaSuccess : cudaErrorInvalidValue;
}

static void count_copy(const void *to, const void *from, size_t bytes)
{
    bool there = buffer_of(to) != buffers.end(), here = buffer_of(from) != buffers.end();

    if (!there && !here) return;
    emu_count(there && here ? EMU_copies_within : there ? EMU_copies_in : EMU_copies_out, 1);
    emu_count(there && here ? EMU_bytes_within : there ? EMU_bytes_in : EMU_bytes_out, (long long)bytes);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t)
{
    turn mine(device);
    if (!fits(to, bytes) || !fits(from, bytes)) return cudaErrorInvalidValue;
    if (cudaError_t e = outside_capture()) return e;
    count_copy(to, from, bytes);
    opened now;
    memmove(to, from, bytes);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
    turn mine(device);
    if (!fits(p, bytes)) return cudaErrorInvalidValue;
    emu::submit([=] {
        opened now;
        memset(p, byte, bytes);
    }, EMU_clears, stream);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    turn mine(device);
    a->type = buffer_of(p) == buffers.end() ? cudaMemoryTypeUnregistered : cudaMemoryTypeDevice;
    return cudaSuccess;
}

cudaError_t cudaGetLastError()
{
    cudaError_t e = last_error;

    last_error = cudaSuccess;
    return e;
}

const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
    case cudaSuccess:                   return "no error";
    case cudaErrorInvalidValue:         return "invalid argument";
    case cudaErrorMemoryAllocation:     return "out of memory";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated: return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:    return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:   return "dependency created on uncaptured work in another stream";
    case cudaErrorInvalidConfiguration:
    case cudaErrorLaunchFailure:        return report;
    }
    return "unrecognized error code";
}

/* A GPU of capability 8.0, or as $SPOT_EMULATOR_CAPABILITY says. */
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *prop, int)
{
    const char *own = getenv("SPOT_EMULATOR_CAPABILITY");

    *prop = {};
    prop->major = own ? atoi(own) : 8;
    prop->minor = own && strchr(own, '.') ? atoi(strchr(own, '.') + 1) : 0;
    snprintf(prop->name, sizeof prop->name, "block emulator");
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)                        { *version = 0; return cudaSuccess; }
cudaError_t cudaGetDeviceCount(int *count)                             { *count = 1; return cudaSuccess; }
cudaError_t cudaSetDevice(int)                                         { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    turn mine(device);
    *stream = new emu_stream{};
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    turn mine(device);
    if (cudaError_t e = outside_capture()) return e;
    if (s) do_held(s, s->made);
    streams.erase(s);
    delete s;
    return cudaSuccess;
}

static cudaError_t wait_for_device()
{
    if (cudaError_t e = outside_capture()) return e;
    emu_count(EMU_waits, 1);
    return last_error;
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    turn mine(device);
    if (s && !captured) do_held(s, s->made);
    return wait_for_device();
}

cudaError_t cudaDeviceSynchronize()
{
    turn mine(device);
    if (!captured) do_all_held();
    return wait_for_device();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t first, cudaStreamCaptureMode)
{
    if (cudaError_t e = outside_capture()) return e;
    emu_count(EMU_recordings, 1);
    captured = new emu_graph{ {}, first, {} };
    spoilt = false;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
    bool good = captured && !spoilt && captured->branches.empty();

    *graph = good ? captured : nullptr;
    if (!captured) return cudaErrorInvalidValue;
    for (cudaStream_t s : captured->branches) *s = {};
    if (!good) delete captured;
    captured = nullptr;
    return good ? cudaSuccess : spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *ready, cudaGraph_t graph, unsigned long long)
{
    if (cudaError_t e = outside_capture()) return e;
    *ready = new emu_graph(*graph);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t ready, cudaStream_t)
{
    if (cudaError_t e = outside_capture()) return e;
    opened now;
    emu_count(EMU_replays, 1);
    for (auto &work : ready->work) work();
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)         { delete graph; return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t ready) { delete ready; return cudaSuccess; }

static thread_local double clock_ms;

void emu_pass_time(double ms) { clock_ms += ms; }

cudaError_t cudaEventCreate(cudaEvent_t *event)                   { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    *event = new emu_event{ .timed = !(flags & cudaEventDisableTiming) };
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event)                   { delete event; return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t)                     { return wait_for_device(); }

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t s)
{
    turn mine(device);
    event->ms = clock_ms;
    event->of = s;
    event->in = captured;
    event->made = s ? s->made : 0;
    return event->timed ? outside_capture() : cudaSuccess;
}

/* Makes s a branch, or ends the branch that the event stands behind, if it has no work beyond. */
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t event, unsigned)
{
    turn mine(device);
    cudaStream_t from = event->of;

    if (event->in != captured) spoilt = true;
    if (event->in != captured) return cudaErrorStreamCaptureIsolation;
    if (!from || from == s || s->branch) return cudaSuccess;
    if (from->branch) {
        do_held(from, event->made);
        if (from->made != event->made) return cudaSuccess;
        from->branch = false;
        from->in = nullptr;
        if (captured) std::erase(captured->branches, from);
        return cudaSuccess;
    }
    s->branch = true;
    s->in = captured;
    if (captured) captured->branches.push_back(s);
    if (captured) emu_count(EMU_branches, 1);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
    *ms = (float)(to->ms - from->ms);
    return outside_capture();
}
