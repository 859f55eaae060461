/* fuzz_versions.c - any bytes as the second version of a classifier: names of its rows, its probabilities, and those of a
 * further training, as .csv with a NUL behind each; the last one is .npy where the first byte says so. Either one sentence, or
 * two versions of the same rows. fuzz: -max_len=768 */
#include "fuzz/fuzz_file.h"

#include "versions/version_rows.h"

static const char features[] = "a,b\n0,1\n1,0\n1,1\n.5,2\n", labels[] = "y\ncat\ndog\ncat\ndog\n",
                  probs[] = "cat,dog\n.9,.1\n.2,.8\n.4,.6\n.5,.5\n", ids[] = "id\na\nb\nc\nd 1\n";

static void look(const spot_version_rows *r)
{
    const spot_subject *a = &r->of[0];

    fuzz_within(r->retrains, 0, 1);
    for (int u = 0; u < 2 + r->retrains; u++) {
        const spot_subject *b = u < 2 ? &r->of[u] : &r->retrain[u - 2];
        if (b->n != a->n || b->classes != a->classes) abort();
        if (!b->prob != !a->prob && !b->predicted != !a->predicted) abort();
        for (int i = 0; i < b->n; i++)
            if (!(b->confidence[i] >= 0 && b->confidence[i] <= 1) || !(spot_subject_error(b, i, a->target[i]) >= 0)) abort();
    }
}

static void text_file(int k, const char *name, const char *text) { fuzz_file(k, name, text, strlen(text)); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char names[1024], second[1024];
    static spot_version_rows r;
    spot_version_files o = { .files = { .embeddings = "e.csv", .labels = "y.csv", .probs = "p1.csv", .ids = "i1.csv" },
                             .second = "p2.csv" };
    spot_ctx c = { .threads = 1 };

    if (!size) return 0;
    const int kind = *data++;
    size--;
    fuzz_text(names, sizeof names, &data, &size);
    fuzz_text(second, sizeof second, &data, &size);
    text_file(0, "e.csv", features), text_file(1, "y.csv", labels), text_file(2, "p1.csv", probs), text_file(3, "i1.csv", ids);
    text_file(4, "p2.csv", second), text_file(5, "i2.csv", names);
    fuzz_file(6, kind & 1 ? "p3.npy" : "p3.csv", data, size);
    if (*names) o.second_ids = "i2.csv";
    if (size) o.retrain = kind & 1 ? "p3.npy" : "p3.csv";
    o.files.logits = kind & 2;
    if (spot_version_rows_read(&c, &r, &o)) fuzz_said(&c);
    else look(&r);
    spot_version_rows_close(&r);
    return 0;
}
