/* fuzz_words.c - any bytes as words: the keywords of pictures in a .csv file, lines that become keywords, phrases that describe
 * slices, with or without features. Either one sentence, or words and numbers that lie in their lists. The first byte says
 * which; phrases end with a NUL, then their features come as .npy. fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include "background/suite/keywords.h"
#include "base/text.h"
#include "discover/describe/describe_files.h"

enum { KEYWORDS, LINES, PHRASES, KINDS, PATHS = 3, D = 2 };

static void check_baskets(const spot_baskets *b, int words)
{
    if (b->transactions != PATHS || b->items != words) abort();
    for (int t = 0; t < b->transactions; t++)
        for (int i = b->first[t]; i < b->first[t + 1]; i++) {
            fuzz_within(b->item[i], 0, words - 1);
            if (i > b->first[t] && b->item[i] <= b->item[i - 1]) abort();
        }
}

static void try_keywords(spot_ctx *c, const uint8_t *data, size_t size)
{
    static char *path[PATHS] = { "a.png", "cat/b.png", "cat/c, d.png" }, *class_name[] = { "cat", "red_dog" };
    const spot_keyword_list list = { fuzz_file(0, "keywords.csv", data, size), path, PATHS };
    int excluded[PATHS];
    spot_keywords k;

    if (spot_keywords_read(c, &k, &list, &list)) fuzz_said(c);
    else {
        check_baskets(&k.images, k.words), check_baskets(&k.backgrounds, k.words);
        for (int w = 0; w < k.words; w++)
            if (!spot_keywords_have(&k, k.word[w], strlen(k.word[w]))) abort();
        spot_keywords_excluded(excluded, &k, "dog; cat", class_name, 2);
        for (int i = 0; i < PATHS; i++) fuzz_within(excluded[i], 0, k.words);
    }
    spot_keywords_close(&k);
}

static void try_lines(spot_ctx *c, const uint8_t *data, size_t size)
{
    enum { MOST = 16 };
    static char text[MOST][1024];
    char *word[MOST];
    int n = 0;

    for (; n < MOST && size; n++) {
        fuzz_text(text[n], sizeof text[n], &data, &size);
        word[n] = text[n];
    }
    if (spot_keyword_words(c, word, &n, "words.txt")) fuzz_said(c);
    else
        for (int i = 0; i < n; i++)
            if (strlen(word[i]) > 255) abort();
}

static void try_phrases(spot_ctx *c, bool rows, const uint8_t *data, size_t size)
{
    static char words[1024];
    const spot_describe_files files = { .words = "words.txt", .word_embeddings = "words.npy", .phrases = 3, .rounds = 1 };
    const spot_subject s = { .d = D };
    spot_describer d;

    fuzz_text(words, sizeof words, &data, &size);
    fuzz_file(0, "words.txt", words, strlen(words));
    fuzz_file(1, "words.npy", data, size);
    if (spot_describer_read(c, &d, &files) || (rows && spot_describer_open(c, &d, &s, "clip-0123456789abcdef"))) fuzz_said(c);
    else
        for (int i = 0; i < d.o.phrases; i++)
            if (!d.phrase[i][0] || strchr(d.phrase[i], '\n') || spot_utf8(d.phrase[i], strlen(d.phrase[i]))
                                                              != strlen(d.phrase[i])) abort();
    spot_describer_close(c, &d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    int kind;

    if (!size) return 0;
    kind = *data++, size--;
    if (kind % KINDS == KEYWORDS) try_keywords(&c, data, size);
    else if (kind % KINDS == LINES) try_lines(&c, data, size);
    else try_phrases(&c, kind & 128, data, size);
    return 0;
}
