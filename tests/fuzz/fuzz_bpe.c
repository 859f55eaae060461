/* fuzz_bpe.c - any bytes as a vocabulary of CLIP: vocab.json, and merges.txt behind a NUL. Either one sentence, or ids that lie
 * in the vocabulary. tests/test_bpe.c says what broken files must be told. fuzz: -max_len=9000 */
#include "fuzz/fuzz_file.h"

#include "formats/bpe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const text[] = { "a photo of a fox", "it's 3 <|endoftext|>", "" };
    const uint8_t *behind = size ? memchr(data, 0, size) : NULL;
    size_t n = behind ? (size_t)(behind - data) : size;
    int32_t id[3 * 16];
    int length[3];
    spot_bpe_texts b = { .text = text, .n = 3, .context = 16, .cut = true, .id = id, .length = length };
    spot_ctx c = { .threads = 1 };
    spot_bpe *t;

    fuzz_file(0, "bpe/vocab.json", data, n);
    fuzz_file(1, "bpe/merges.txt", behind ? (const void *)(behind + 1) : "", behind ? size - n - 1 : 0);
    if (spot_bpe_open(&c, &t, "bpe/vocab.json", 0) != SPOT_OK) {
        if (t) abort();
        fuzz_said(&c);
        return 0;
    }
    if (spot_bpe_encode(&c, t, &b) != SPOT_OK) abort();
    for (int i = 0; i < 3 * 16; i++) fuzz_within(id[i], 0, spot_bpe_about(t).size - 1);
    for (int i = 0; i < 3; i++) fuzz_within(length[i], 2, 16);
    spot_bpe_close(t);
    return 0;
}
