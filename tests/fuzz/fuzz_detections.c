/* fuzz_detections.c - any bytes as a detector's files: COCO's annotations to the first NUL, then its results. Either one
 * sentence, or rows of objects and detections. The first byte says which rows, and the least IoU and score.
 * fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include "discover/subject/detection_rows.h"

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path);

FILE *__wrap_spot_file_stream(const spot_ctx *c, const char *path) { return (void)c, __wrap_fopen(path, "r"); }

static void look(const spot_subject *s)
{
    static volatile size_t sink;

    if (s->n < 1 || s->d != 1 || s->classes < 1) abort();
    for (int i = 0; i < s->n; i++) {
        fuzz_within(s->target[i], 0, s->classes - 1);
        fuzz_within(s->group[i], 0, s->groups - 1);
        if (!(s->confidence[i] >= 0 && s->confidence[i] <= 1)) abort();
        if ((s->confidence[i] < 0.5f) != s->instance[i].wrong) abort();
        sink += strlen(s->id[i]) + strlen(s->class_name[s->target[i]]) + strlen(s->group_name[s->group[i]]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double least[] = { 0, 0.3, 0.5, 0.95 };
    spot_detection_options o = spot_detection_defaults();
    spot_subject_files files = { .coco = "truth.json", .detections = &o };
    spot_subject s = { 0 };
    spot_ctx c = { .threads = 1 };
    const uint8_t *end;

    if (!size) return 0;
    const int kind = *data++;
    size--;
    end = memchr(data, 0, size);
    const size_t n = end ? (size_t)(end - data) : size, behind = end ? n + 1 : n;
    o.file = "found.json", o.rows = kind % 3, o.score = least[kind / 4 % 4], o.iou = kind & 64 ? 0.5 : 0.01;
    fuzz_file(0, "truth.json", data, n);
    fuzz_file(1, "found.json", data + behind, size - behind);
    if (spot_subject_instances(&c, &s, &files)) fuzz_said(&c);
    else look(&s);
    spot_subject_close(&s);
    return 0;
}
