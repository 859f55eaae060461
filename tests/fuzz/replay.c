/* replay.c - runs a fuzz target over the files and folders of a corpus, so that every input that once mattered is tried
 * in every test run without a fuzzer installed. A crash or a sanitizer's report is the failure. */
#define _GNU_SOURCE
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int inputs;

static int replay(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    size_t size = (size_t)st->st_size;
    uint8_t *data;
    FILE *f;

    (void)where;
    if (kind != FTW_F) return 0;
    f = fopen(path, "rb");
    data = malloc(size ? size : 1);     /* exactly, so that ASan sees one byte too far */
    if (!f || !data || fread(data, 1, size, f) != size) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], replay, 8, FTW_PHYS)) return 1;
    printf("%d inputs replayed\n", inputs);
    return inputs ? 0 : 1;
}
