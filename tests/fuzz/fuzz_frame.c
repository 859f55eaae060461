/* fuzz_frame.c - any bytes as a result of background, examine, shifts or discover, as comparisons of versions and resumed runs
 * read it: damaged in a few words, or a result that (one in four, for speed) is written and read again to the same text. The
 * first byte says which study; then comes what stands between the braces of a segment's file. fuzz: -max_len=4608 */
#include "fuzz/fuzz_file.h"

#include <inttypes.h>
#include <xxhash.h>

#include "base/json.h"
#include "discover/search/discover_run.h"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/shifts.h"
#include "study/frame.h"

enum { ROOM = 1 << 16 };

/* The result as a segment's file of this content. */
static spot_segment_state take(spot_ctx *c, const spot_study *y, void *result, const char *text, size_t n)
{
    static char file[ROOM + 64], path[1200];
    const int head = snprintf(file, sizeof file, "{\"checksum\":\"%016" PRIx64 "\",\"segment\":",
                              (uint64_t)XXH3_64bits(text, n));
    spot_frame f;

    if (n > ROOM) abort();
    memcpy(file + head, text, n);
    memcpy(file + head + n, "}\n", 2);
    spot_frame_path(path, sizeof path, y, "run", 0);
    fuzz_file(0, path, file, (size_t)head + n + 2);
    if (spot_frame_read(c, y, "run", 0, result, &f)) abort();
    if (f.state != SPOT_SEGMENT_WHOLE && (f.state != SPOT_SEGMENT_DAMAGED || !f.why[0])) abort();
    return f.state;
}

/* The text of a result. */
static spot_json text_of(spot_ctx *c, const spot_study *y, void *result)
{
    spot_json j;

    if (spot_json_begin(c, &j, NULL)) abort();
    spot_json_object(&j, NULL);
    y->describe(&j, result);
    spot_json_end(&j);
    if (spot_json_whole(c, &j, "result") || j.out.used > ROOM) abort();
    return j;
}

static void look(spot_ctx *c, const spot_study *y, void *result, bool again)
{
    spot_status first = SPOT_OK;
    const char *what = NULL, *message = NULL;

    if (y->failures && y->failures(result, &first, &what, &message) && (!first || !what || !message)) abort();
    if (!again) return;
    spot_json one = text_of(c, y, result), two;
    if (take(c, y, result, one.out.bytes, one.out.used) != SPOT_SEGMENT_WHOLE) abort();
    two = text_of(c, y, result);
    if (one.out.used != two.out.used || memcmp(one.out.bytes, two.out.bytes, one.out.used)) abort();
    spot_json_free(&one);
    spot_json_free(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const spot_study *const study[] = { &spot_background_study, &spot_examine_study, &spot_shifts_study,
                                               &spot_discover_study };
    spot_ctx c = { .threads = 1 };

    if (!size) return 0;
    const spot_study *y = study[*data % 4];
    void *result = spot_frame_result(y);
    if (!result) abort();
    if (take(&c, y, result, (const char *)data + 1, size - 1) == SPOT_SEGMENT_WHOLE) look(&c, y, result, size % 4 == 0);
    spot_frame_free(y, result);
    return 0;
}
