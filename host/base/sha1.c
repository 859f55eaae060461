/* sha1.c - see sha1.h. */
#include "base/sha1.h"

#include <string.h>

static uint32_t turned(uint32_t v, int by) { return v << by | v >> (32 - by); }

static void add_block(uint32_t h[5], const uint8_t *block)
{
    static const uint32_t constant[4] = { 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6 };
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < 80; i++) w[i] = turned(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        const uint32_t f = i < 20 ? (b & c) | (~b & d) : i >= 40 && i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const uint32_t next = turned(a, 5) + f + e + constant[i / 20] + w[i];
        e = d, d = c, c = turned(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void spot_sha1(uint8_t out[20], const void *bytes, size_t n)
{
    uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    const uint8_t *p = bytes;
    uint8_t last[128] = { 0 };
    const size_t rest = n % 64, end = rest < 56 ? 64 : 128;

    for (size_t i = 0; i < n / 64; i++) add_block(h, p + 64 * i);
    if (rest) memcpy(last, p + (n - rest), rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[end - 1 - (size_t)i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
    for (size_t i = 0; i < end; i += 64) add_block(h, last + i);
    for (int i = 0; i < 20; i++) out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
