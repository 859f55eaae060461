/* calls.cpp - counts of calls, by stage; NVTX's ranges name the stages. */
#include "calls.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "nvtx3/nvToolsExt.h"

typedef std::array<long long, EMU_CALL_KINDS> counts;

static const char *const names[] = {
#define X(call) #call,
    EMU_CALLS(X)
#undef X
};

static std::mutex lock;
static thread_local std::vector<std::string> ranges;

/* Written to the file when the plugin is unloaded, as static objects are destroyed then. */
static struct all_counts {
    std::map<std::string, counts> stages;
    std::map<std::string, long long> kernels;
    ~all_counts();
} all;

int nvtxRangePushA(const char *name)
{
    ranges.push_back(name);
    return (int)ranges.size() - 1;
}

int nvtxRangePop()
{
    if (!ranges.empty()) ranges.pop_back();
    return (int)ranges.size();
}

/* "EC 12", "train", "conv.forward" is the stage "EC/train": an op's range, which has a point in its name, is a stage only where
 * it is the outermost. */
static std::string stage_now()
{
    std::string stage;

    for (auto &name : ranges) {
        if (!stage.empty() && name.find('.') != std::string::npos) break;
        stage += (stage.empty() ? "" : "/") + name.substr(0, name.find(' '));
    }
    return stage;
}

void emu_count(emu_call call, long long by)
{
    std::lock_guard<std::mutex> mine(lock);

    all.stages[stage_now()][call] += by;
}

void emu_count_kernel(const char *name)
{
    std::lock_guard<std::mutex> mine(lock);

    all.kernels[name]++;
}

static void print_counts(FILE *f, const counts &c)
{
    for (int k = 0; k < EMU_CALL_KINDS; k++) fprintf(f, "%s\"%s\": %lld", k ? ", " : "{", names[k], c[k]);
    fprintf(f, "}");
}

all_counts::~all_counts()
{
    const char *path = getenv("SPOT_EMULATOR_CALLS"), *comma = "";
    FILE *f = path ? fopen(path, "a") : nullptr;

    if (!f) return;
    fprintf(f, "{\"stages\": {");
    for (auto &[stage, c] : stages) {
        fprintf(f, "%s\"%s\": ", comma, stage.c_str());
        print_counts(f, c);
        comma = ", ";
    }
    fprintf(f, "}, \"kernels\": {");
    comma = "";
    for (auto &[name, n] : kernels) {
        fprintf(f, "%s\"%s\": %lld", comma, name.c_str(), n);
        comma = ", ";
    }
    fprintf(f, "}}\n");
    fclose(f);
}

static long long count_of(const char *stage, const char *call)
{
    std::lock_guard<std::mutex> mine(lock);
    long long sum = 0;

    for (auto &[name, c] : all.stages)
        for (int k = 0; k < EMU_CALL_KINDS; k++)
            if ((!stage || name == stage) && std::string(names[k]) == call) sum += c[k];
    return sum;
}

static void visit_each(void (*visit)(void *user, const char *stage, const char *call, long long count), void *user)
{
    for (auto &[name, c] : all.stages)
        for (int k = 0; k < EMU_CALL_KINDS; k++) visit(user, name.c_str(), names[k], c[k]);
}

static void reset_counts()
{
    std::lock_guard<std::mutex> mine(lock);

    all.stages.clear();
    all.kernels.clear();
}

extern "C" __attribute__((visibility("default"))) const spot_emulator_calls spot_emulator_calls_table
    __asm__("spot_emulator_calls") = { count_of, visit_each, reset_counts };
