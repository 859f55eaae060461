/* fuzz_findings.c - any bytes as subject.safetensors, by which a report is made of findings: either one sentence, or rows,
 * classes and names that are there. fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"

#include "spotter/discover.h"

/* A map of many dimensions reserves gigabytes of zeros, which nobody touches but ASan. Here there is no memory for them. */
void *__wrap_calloc(size_t n, size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
    return size && n > ((size_t)1 << 24) / size ? NULL : __real_calloc(n, size);
}

static void look(const spot_subject *s, const spot_findings *f, const spot_discover_options *o)
{
    static volatile size_t sink;

    for (int k = 0; k < s->classes; k++) sink += strlen(s->class_name[k]);
    for (int i = 0; i < s->n && s->id; i++) sink += strlen(s->id[i]);
    for (int i = 0; i < f->left_out; i++) fuzz_within(f->left_class[i], 0, s->classes - 1);
    for (int i = 0; i < f->count; i++) {
        const spot_finding *g = &f->finding[i];
        fuzz_within(g->bdm, 0, o->bdms - 1);
        fuzz_within(g->cls, SPOT_ALL_CLASSES, s->classes - 1);
        fuzz_within((int)g->status, 0, SPOT_STATUS_COUNT - 1);
        for (int k = 0; k < g->n; k++) fuzz_within(g->row[k], 0, s->n - 1);
        for (int k = 0; g->points.at && k < g->n && g->points.d; k++) sink += g->points.at[(size_t)k * g->points.d] > 0;
        for (int k = 0; k < g->slices; k++) {
            const spot_slice *slice = &g->slice[k];
            for (int r = 0; r < slice->size; r++) fuzz_within(slice->row[r], 0, s->n - 1);
            for (int r = 0; r < slice->neighbours; r++) fuzz_within(slice->neighbour[r], 0, s->n - 1);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_discover_options o;
    spot_ctx c = { .threads = 1 };
    spot_findings f;
    spot_subject s;

    fuzz_file(0, "found/subject.safetensors", data, size);
    if (spot_findings_read(&c, "found", &s, &f, &o)) {
        fuzz_said(&c);
        return 0;
    }
    look(&s, &f, &o);
    spot_findings_close(&f);
    spot_subject_close(&s);
    return 0;
}
