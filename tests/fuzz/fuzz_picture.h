/* fuzz_picture.h - a fuzz target of pictures gets either one sentence that names the file, or a picture that can be fit.
 * tests/test_picture.c says what each input of the corpora must be, bombs among them; here pictures are small, or
 * an input would take as long as a thousand others. */
#include <stdlib.h>
#include <string.h>

#include "formats/picture_kind.h"
#ifdef FUZZ_TGA
#include "formats/tga.h"
#endif

enum { MOST = 64 * 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
spot_status __wrap_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);
spot_status __real_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);

spot_status __wrap_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name)
{
    if (width > MOST || height > MOST || width * height > MOST) return spot_fail(c, SPOT_INPUT, "%s is large", name);
    return __real_spot_picture_start(c, p, width, height, name);
}

static spot_status fuzz_decode(spot_ctx *c, spot_picture *p, const uint8_t *data, size_t size)
{
#ifdef FUZZ_TGA
    SPOT_TRY(spot_tga_decode(c, p, data, size, "fuzz", true));
    return spot_tga_decode(c, p, data, size, "fuzz", false);
#else
    return spot_picture_decode(c, p, data, size, "fuzz");
#endif
}

#ifndef FUZZ_TGA
/* A header that is read without decoding has a sentence, or the size of the picture p (NULL: there is none). */
static void fuzz_head(const uint8_t *data, size_t size, const spot_picture *p)
{
    const spot_picture_kind *kind = spot_picture_kind_of(data, size);
    const spot_blob in = spot_blob_memory(data, size, "fuzz");
    spot_picture_cost cost = { 0 };
    spot_ctx c = { 0 };
    int turn = 1;

    if (spot_picture_cost_of(&c, &cost, &in) || (kind && kind->orientation && kind->orientation(&c, &turn, &in))) {
        if (!c.message[0] || strchr(c.message, '\n')) abort();
    } else if (turn < 1 || turn > 8) abort();
    else if (p && kind && cost.width * cost.height != (uint64_t)p->width * (uint64_t)p->height) abort();
}
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[3 * 32 * 32];
    static spot_picture p;
    spot_ctx c = { 0 };

    const bool decoded = fuzz_decode(&c, &p, data, size) == SPOT_OK;
#ifndef FUZZ_TGA
    fuzz_head(data, size, decoded ? &p : NULL);
#endif
    if (!decoded) {
        if (!strstr(c.message, "fuzz") || strchr(c.message, '\n')) abort();
    } else if (size % 16 == 0 && spot_picture_fit(&c, out, &p, 24, 32) != SPOT_OK) {
        abort();
    }
    return 0;
}
