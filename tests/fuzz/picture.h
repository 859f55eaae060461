/* picture.h - what a fuzz target of pictures does with its bytes: either one sentence that names the file, or a picture that
 * can be fit. tests/test_picture.c says what each input of the corpora must be. */
#include <stdlib.h>
#include <string.h>

#include "base/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t out[3 * 32 * 32];
    static spot_picture p;
    spot_ctx c = { 0 };

    if (spot_picture_decode(&c, &p, data, size, "fuzz") != SPOT_OK) {
        if (!strstr(c.message, "fuzz") || strchr(c.message, '\n')) abort();
    } else if (spot_picture_fit(&c, out, &p, 24, 32) != SPOT_OK) {
        abort();
    }
    if (p.pixels.size > 1 << 24) spot_picture_close(&p);      /* what a bomb took is not measured as a leak */
    return 0;
}
