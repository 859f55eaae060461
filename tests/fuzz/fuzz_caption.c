/* fuzz_caption.c - any bytes as a text for CLIP, in both profiles: either a sentence that it is not UTF-8, or a row of ids that
 * begins and ends as it must. fuzz: -max_len=256 */
#include "fuzz/fuzz_file.h"

#include "base/text.h"
#include "formats/bpe.h"

static const char merges[] = "#version: 0.2\nt h\nth e</w>\na n\nan d</w>\n\xc3\x83 \xc2\xa9\n";

static spot_bpe *open_bpe(spot_bpe_profile profile)
{
    spot_ctx c = { .threads = 1 };
    spot_bpe *t;

    fuzz_file(0, "bpe/merges.txt", merges, sizeof merges - 1);
    if (spot_bpe_open(&c, &t, "bpe/merges.txt", 0, profile) != SPOT_OK) abort();
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CONTEXT = 64 };
    static spot_bpe *bpe[SPOT_BPE_PROFILES];
    char *text = malloc(size + 1);
    int32_t id[CONTEXT];
    int length;

    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    for (int p = 0; p < SPOT_BPE_PROFILES; p++) {
        spot_ctx c = { .threads = 1 };
        spot_bpe_texts b = { .text = (const char *const *)&text, .n = 1, .context = CONTEXT, .cut = true, .id = id,
                             .length = &length };
        bool whole = spot_utf8(text, strlen(text)) == strlen(text);
        if (!bpe[p]) bpe[p] = open_bpe((spot_bpe_profile)p);
        if ((spot_bpe_encode(&c, bpe[p], &b) == SPOT_OK) != whole) abort();
        if (!whole) {
            fuzz_said(&c);
            continue;
        }
        fuzz_within(length, 2, CONTEXT);
        if (id[0] != spot_bpe_about(bpe[p]).start || id[length - 1] != spot_bpe_about(bpe[p]).end) abort();
        for (int i = 0; i < CONTEXT; i++) fuzz_within(id[i], 0, i < length ? spot_bpe_about(bpe[p]).size - 1 : 0);
    }
    free(text);
    return 0;
}
