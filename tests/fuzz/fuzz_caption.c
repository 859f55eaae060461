/* fuzz_caption.c - any bytes as a text for CLIP: either a sentence that it is broken, or a row of ids that
 * begins and ends as it must. fuzz: -max_len=256 */
#include "fuzz/fuzz_file.h"

#include "formats/bpe.h"

static const char merges[] = "#version: 0.2\nt h\nth e</w>\na n\nan d</w>\n\xc3\x83 \xc2\xa9\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { CONTEXT = 64 };
    static spot_bpe *bpe;
    char *text = malloc(size + 1);
    int32_t id[CONTEXT];
    int length;
    spot_ctx c = { .threads = 1 };
    spot_bpe_texts b = { .text = (const char *const *)&text, .n = 1, .context = CONTEXT, .cut = true, .id = id,
                         .length = &length };
    spot_status s;

    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    fuzz_file(0, "bpe/merges.txt", merges, sizeof merges - 1);
    if (!bpe && spot_bpe_open(&c, &bpe, "bpe/merges.txt", 0) != SPOT_OK) abort();
    s = spot_bpe_encode(&c, bpe, &b);
    if ((s == SPOT_OK) != (spot_bpe_flaw(text, strlen(text)) == strlen(text))) abort();
    if (s) {
        fuzz_said(&c);
    } else {
        fuzz_within(length, 2, CONTEXT);
        if (id[0] != spot_bpe_about(bpe).start || id[length - 1] != spot_bpe_about(bpe).end) abort();
        for (int i = 0; i < CONTEXT; i++) fuzz_within(id[i], 0, i < length ? spot_bpe_about(bpe).size - 1 : 0);
    }
    free(text);
    return 0;
}
