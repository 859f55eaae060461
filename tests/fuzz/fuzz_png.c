/* fuzz_png.c - any bytes behind the mark of a PNG. fuzz: -max_len=512 */
#include "fuzz/fuzz_picture.h"

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
