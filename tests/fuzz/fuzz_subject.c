/* fuzz_subject.c - any bytes as the files of a subject: embeddings, labels, probabilities or losses, ids, each as .npy or .csv,
 * for spotter discover and, where the classes are known, for spotter assign. The first byte says which; the files follow, a
 * byte of length before each but the last. fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "discover/subject/fits.h"

enum { LABELS_CSV = 1, PROBS_CSV = 2, LOSSES = 4, IDS = 8, KNOWN = 16, LIMIT = 1 << 20, FILES = 4 };

static const char *const name[FILES][2] = { { "ids.npy", "ids.csv" }, { "labels.npy", "labels.csv" },
                                            { "probs.npy", "probs.csv" }, { "embeddings.npy", "embeddings.csv" } };

static void look(const spot_subject *s)
{
    for (int i = 0; i < s->n; i++) {
        if (!s->id[i][0]) abort();
        if (s->target && (s->target[i] < 0 || s->target[i] >= s->classes || !s->class_name[s->target[i]][0])) abort();
        if (s->confidence && !(s->confidence[i] >= 0 && s->confidence[i] <= 1)) abort();
        if (s->target && !(spot_subject_error(s, i, s->target[i]) >= 0)) abort();
        for (int k = 0; k < s->d; k++)
            if (!isfinite(s->feature[(size_t)i * s->d + k])) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *names[] = { "cat", "dog", "a\"b" };
    const spot_known known = { .features = 2, .classes = 3, .class_name = names, .only = 1 };
    spot_subject_files files = { .memory = LIMIT };
    spot_ctx c = { .threads = 1 };
    spot_subject s;
    spot_status how;
    int kind;

    if (!size) return 0;
    kind = *data++;
    size--;
    for (int k = 0; k < FILES; k++) {
        size_t n = k < FILES - 1 && size ? (size--, *data++) : size;
        if (n > size) n = size;
        fuzz_file(2 * k, name[k][0], data, n);
        fuzz_file(2 * k + 1, name[k][1], data, n);
        data += n;
        size -= n;
    }
    files.ids = kind & IDS ? name[0][1] : NULL;
    files.labels = name[1][!!(kind & LABELS_CSV)];
    *(kind & LOSSES ? &files.losses : &files.probs) = name[2][!!(kind & PROBS_CSV)];
    files.embeddings = name[3][0];
    how = kind & KNOWN ? spot_rows_read(&c, &s, &files, &known) : spot_subject_read(&c, &s, &files);
    if (how) {
        fuzz_said(&c);
        return 0;
    }
    look(&s);
    spot_subject_close(&s);
    return 0;
}
