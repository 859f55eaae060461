/* fuzz_segment.c - any bytes as the results of an EC: damaged in a few words, or numbers that lie where their arrays end. What
 * does not begin as a segment's file is what stands between the braces of one, under a checksum that is right.
 * fuzz: -max_len=2048 */
#include "fuzz/fuzz_file.h"

#include <inttypes.h>
#include <xxhash.h>

#include "sweep/segment.h"

static void look(const spot_segment *s)
{
    const char *who, *message;
    spot_status first;

    fuzz_within(s->status, 0, SPOT_STATUS_COUNT - 1);
    fuzz_within(s->blindspots, 0, SPOT_MAX_BLINDSPOTS);
    fuzz_within(s->lesson.epochs, 0, SPOT_MAX_EPOCHS);
    fuzz_within(s->lesson.blindspots, 0, SPOT_MAX_BLINDSPOTS);
    fuzz_within(s->methods, 0, SPOT_MAX_BDMS);
    fuzz_within(s->metric.profile, 0, 1);
    if (spot_segment_failures(s, &first, &who, &message) && (!first || !memchr(message, 0, 1024) || !who)) abort();
    for (int b = 0; b < s->methods; b++) {
        fuzz_within(s->method[b].status, 0, SPOT_STATUS_COUNT - 1);
        fuzz_within(s->method[b].score.hypotheses, 0, SPOT_MAX_HYPOTHESES);
        fuzz_within(s->method[b].score.blindspots, 0, s->blindspots);
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

    spot_segment_path(path, sizeof path, "run", 0);
    if (size < sizeof begin || memcmp(data, begin, sizeof begin - 1)) {
        n = snprintf(file, sizeof file, "%s\"%016" PRIx64 "\",\"segment\":", begin, (uint64_t)XXH3_64bits(data, size));
        if (size > sizeof file - (size_t)n - 2) return 0;
        memcpy(file + n, data, size);
        memcpy(file + n + size, "}\n", 2);
        fuzz_file(0, path, file, (size_t)n + size + 2);
    } else {
        fuzz_file(0, path, data, size);
    }
    if (spot_segment_read(&c, "run", 0, &s, &state, why, sizeof why)) abort();
    if (state == SPOT_SEGMENT_WHOLE) look(&s);
    else if (state != SPOT_SEGMENT_DAMAGED || !why[0]) abort();
    return 0;
}
