/* fuzz_segment.c - any bytes as the results of an EC: damaged in a few words, or numbers that lie where their arrays end. What
 * does not begin as a segment's file is what stands between the braces of one, under a checksum that is right.
 * fuzz: -max_len=2048 */
#define _GNU_SOURCE
#include "fuzz/fuzz_file.h"

#include <inttypes.h>
#include <xxhash.h>

#include "sweep/segment.h"

static void within(int v, int least, int most)
{
    if (v < least || v > most) abort();
}

static void look(const spot_segment *s)
{
    const char *who, *message;

    within(s->status, 0, SPOT_STATUS_COUNT - 1);
    within(s->blindspots, 0, SPOT_MAX_BLINDSPOTS);
    within(s->lesson.epochs, 0, SPOT_MAX_EPOCHS);
    within(s->lesson.blindspots, 0, SPOT_MAX_BLINDSPOTS);
    within(s->methods, 0, SPOT_MAX_BDMS);
    within(s->metric.profile, 0, 1);
    if (spot_segment_failure(s, &who, &message) && (!memchr(message, 0, 1024) || !who)) abort();
    for (int b = 0; b < s->methods; b++) {
        within(s->method[b].status, 0, SPOT_STATUS_COUNT - 1);
        within(s->method[b].score.hypotheses, 0, SPOT_MAX_HYPOTHESES);
        within(s->method[b].score.blindspots, 0, s->blindspots);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char begin[] = "{\"checksum\":";
    static spot_segment s;
    spot_segment_state state;
    char file[4096], path[1200], why[1400];
    spot_ctx c = { 0 };
    int n = 0;

    if (!*fuzz_dir) {
        spot_segment_path(path, sizeof path, fuzz_folder(), 0);
        fuzz_link(0, path);
    }
    if (size < sizeof begin || memcmp(data, begin, sizeof begin - 1)) {
        n = snprintf(file, sizeof file, "%s\"%016" PRIx64 "\",\"segment\":", begin, (uint64_t)XXH3_64bits(data, size));
        if (size > sizeof file - (size_t)n - 2) return 0;
        memcpy(file + n, data, size);
        memcpy(file + n + size, "}\n", 2);
        fuzz_file(0, file, (size_t)n + size + 2);
    } else {
        fuzz_file(0, data, size);
    }
    if (spot_segment_read(&c, fuzz_dir, 0, &s, &state, why, sizeof why)) abort();
    if (state == SPOT_SEGMENT_WHOLE) look(&s);
    else if (state != SPOT_SEGMENT_DAMAGED || !why[0]) abort();
    return 0;
}
