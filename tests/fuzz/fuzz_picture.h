/* fuzz_picture.h - a fuzz target of pictures gets either one sentence that names the file, or a picture that can be fit.
 * tests/test_picture.c says what each input of the corpora must be, bombs among them; here pictures are small, or
 * an input would take as long as a thousand others. */
#include <stdlib.h>
#include <string.h>

#include "formats/picture.h"

enum { MOST = 64 * 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
spot_status __wrap_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);
spot_status __real_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name);

spot_status __wrap_spot_picture_start(spot_ctx *c, spot_picture *p, uint64_t width, uint64_t height, const char *name)
{
    if (width > MOST || height > MOST || width * height > MOST) return spot_fail(c, SPOT_INPUT, "%s is large", name);
    return __real_spot_picture_start(c, p, width, height, name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[3 * 32 * 32];
    static spot_picture p;
    spot_ctx c = { 0 };

    if (spot_picture_decode(&c, &p, data, size, "fuzz") != SPOT_OK) {
        if (!strstr(c.message, "fuzz") || strchr(c.message, '\n')) abort();
    } else if (size % 16 == 0 && spot_picture_fit(&c, out, &p, 24, 32) != SPOT_OK) {
        abort();
    }
    return 0;
}
