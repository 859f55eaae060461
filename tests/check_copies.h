/* check_copies.h - counts the copies that a context of CUDA makes of some arrays of the host, or of arrays of some size. */
#ifndef SPOTTER_TESTS_CHECK_COPIES_H
#define SPOTTER_TESTS_CHECK_COPIES_H

#include "check_cuda.h"
#include "spotter/arena.h"
#include "spotter/view.h"

enum { MOST_WATCHED = 64, MOST_TAKEN = 4096 };

static struct {
    const spot_plugin *plugin;
    spot_plugin counting;
    struct { const char *at; size_t bytes; } watched[MOST_WATCHED], taken[MOST_TAKEN];
    int watching, takes;
    size_t from_watched;        /* bytes copied from the watched arrays */
    size_t size[2];             /* a copy from the host to the device of size[i] bytes ... */
    int    of_size[2];          /* ... is counted here */
} copies;

static inline int is_taken(const void *p)
{
    for (int i = 0; i < copies.takes; i++)
        if ((const char *)p >= copies.taken[i].at && (const char *)p < copies.taken[i].at + copies.taken[i].bytes) return 1;
    return 0;
}

static inline spot_status counted_take(spot_ctx *c, void **out, size_t bytes)
{
    spot_status s = copies.plugin->take(c, out, bytes);

    assert_true(copies.takes < MOST_TAKEN);
    copies.taken[copies.takes].at = *out;
    copies.taken[copies.takes++].bytes = s ? 0 : bytes;
    return s;
}

static inline void counted_give(spot_ctx *c, void *p)
{
    for (int i = 0; i < copies.takes; i++)
        if (copies.taken[i].at == (const char *)p) copies.taken[i] = copies.taken[--copies.takes];
    copies.plugin->give(c, p);
}

static inline spot_status counted_copy(spot_ctx *c, void *to, const void *from, size_t bytes)
{
    for (int i = 0; i < copies.watching; i++)
        if ((const char *)from >= copies.watched[i].at && (const char *)from < copies.watched[i].at + copies.watched[i].bytes)
            copies.from_watched += bytes;
    for (int i = 0; i < 2; i++) copies.of_size[i] += bytes == copies.size[i] && is_taken(to) && !is_taken(from);
    return copies.plugin->copy(c, to, from, bytes);
}

/* Counts from now on, until the device is closed. */
static inline void count_copies(spot_ctx *c)
{
    spot_device *d = c->device;

    memset(&copies, 0, sizeof copies);
    copies.plugin = d->plugin;
    copies.counting = *d->plugin;
    copies.counting.take = counted_take;
    copies.counting.give = counted_give;
    copies.counting.copy = counted_copy;
    d->plugin = &copies.counting;
}

static inline void watch_copies(const void *p, size_t bytes)
{
    assert_true(copies.watching < MOST_WATCHED);
    copies.watched[copies.watching].at = p;
    copies.watched[copies.watching++].bytes = bytes;
}

/* Views with copies of their features in `on_device`, and each feature watched from now on. */
static inline void put_features(spot_ctx *c, spot_arena *on_device, spot_view *to, const spot_view *from, int problems)
{
    for (int q = 0; q < problems; q++) {
        size_t bytes = (size_t)from[q].n * from[q].d * sizeof(float);
        to[q] = from[q];
        CHECK_OK(c, SPOT_TAKE(c, on_device, to[q].device_feature, bytes / sizeof(float)));
        CHECK_OK(c, spot_device_copy(c, to[q].device_feature, from[q].feature, bytes));
        watch_copies(from[q].feature, bytes);
    }
}

/* The points on the device are those on the host, which are watched from now on. */
static inline void check_points_on_device(spot_ctx *c, const spot_points *points, int problems)
{
    for (int q = 0; q < problems; q++) {
        size_t bytes = (size_t)points[q].n * points[q].d * sizeof(float);
        float *back = malloc(bytes);
        CHECK_OK(c, spot_device_copy(c, back, points[q].device_at, bytes));
        assert_memory_equal(back, points[q].at, bytes);
        free(back);
        watch_copies(points[q].at, bytes);
    }
}

#endif
