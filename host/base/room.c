/* room.c - reads free memory from /proc and /sys. An unreadable file sets no limit. */
#define _DEFAULT_SOURCE
#include "base/room.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `name`, or at the beginning of the file if name is ""; `none` if there is no number ("max"). */
static size_t number_in(const char *path, const char *name, size_t none)
{
    FILE *f = fopen(path, "r");
    char line[256];
    size_t n = strlen(name);
    unsigned long long v;

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, n) || sscanf(line + n, "%*[: ]%llu", &v) + sscanf(line + n, "%llu", &v) < 1) continue;
        none = (size_t)v;
        break;
    }
    if (f) fclose(f);
    return none;
}

/* The files of one version of control groups. */
typedef struct { const char *mount, *limit, *used, *reclaimable; } group_kind;

static const group_kind version[2] = {
    { "memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file" },
    { "", "memory.max", "memory.current", "inactive_file" },
};

/* Bytes left below the group's limit. Inactive pages of files count as free: the kernel reclaims them. */
static size_t left_in_group(const char *folder, const group_kind *k)
{
    char path[PATH_MAX + 64];
    size_t limit, used, spare;

    snprintf(path, sizeof path, "%s/%s", folder, k->limit);
    limit = number_in(path, "", SIZE_MAX);
    if (limit == SIZE_MAX) return SIZE_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, k->used);
    used = number_in(path, "", 0);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    spare = number_in(path, k->reclaimable, 0);
    used -= spare < used ? spare : used;
    return limit > used ? limit - used : 0;
}

/* The least of a group and all groups above it, each of which counts its children's memory. */
static size_t left_in_group_and_above(const char *root, char *group, const group_kind *k)
{
    char folder[PATH_MAX];
    size_t least = SIZE_MAX;

    for (char *end = group + strlen(group); ; end = strrchr(group, '/')) {
        size_t left;
        if (end) *end = 0;
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup/%s%s", root, k->mount, group);
        left = left_in_group(folder, k);
        least = left < least ? left : least;
        if (!end || !*group) return least;
    }
}

static size_t left_in_groups(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX], controllers[256], group[PATH_MAX];
    size_t least = SIZE_MAX, left;
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f)) {                 /* "0::/a/b" or "9:memory:/a/b" */
        bool unified = sscanf(line, "%*d::%4095[^\n]", group) == 1;
        if (!unified && (sscanf(line, "%*d:%255[^:]:%4095[^\n]", controllers, group) < 2 || !strstr(controllers, "memory")))
            continue;
        left = left_in_group_and_above(root, group, &version[unified]);
        least = left < least ? left : least;
    }
    if (f) fclose(f);
    return least;
}

size_t spot_room_of_memory(const char *root, const char **whose)
{
    size_t all = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE), left = left_in_groups(root);
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    all = number_in(path, "MemAvailable", all / 1024) * 1024;
    *whose = left < all ? "the control group" : "the machine";
    return left < all ? left : all;
}

size_t spot_room_of_addresses(void)
{
    struct rlimit limit;
    size_t taken = number_in("/proc/self/status", "VmSize", 0) * 1024;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
    return limit.rlim_cur > taken ? (size_t)limit.rlim_cur - taken : 0;
}

size_t spot_room_of_all(const char **whose)
{
    const size_t memory = spot_room_of_memory("", whose), addresses = spot_room_of_addresses();

    if (addresses >= memory) return memory;
    *whose = "the limit on addresses (ulimit -v)";
    return addresses;
}

size_t spot_resident_now(void) { return number_in("/proc/self/status", "VmRSS", 0) * 1024; }

size_t spot_resident_most(void) { return number_in("/proc/self/status", "VmHWM", 0) * 1024; }
