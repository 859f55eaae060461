/* fuzz_png.c - any bytes behind the mark of a PNG: either one sentence that names the file, or a picture that can be fit.
 * tests/test_picture.c says what each input of the corpus beside this file must be. */
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

/* Under libFuzzer: a change that leaves every checksum right, or little would get past the first. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static uint32_t crc(const uint8_t *p, size_t n)
{
    uint32_t v = 0xffffffff;

    while (n--) {
        v ^= *p++;
        for (int k = 0; k < 8; k++) v = v & 1 ? v >> 1 ^ 0xedb88320 : v >> 1;
    }
    return ~v;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, most);
    for (size_t at = 8; seed % 8 && at + 12 <= size;) {
        size_t len = (size_t)data[at] << 24 | data[at + 1] << 16 | data[at + 2] << 8 | data[at + 3];
        if (len > size - at - 12) break;
        uint32_t sum = crc(data + at + 4, len + 4);
        for (int i = 0; i < 4; i++) data[at + 8 + len + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
        at += 12 + len;
    }
    return size;
}
