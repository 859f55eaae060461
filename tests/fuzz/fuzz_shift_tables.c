/* fuzz_shift_tables.c - any bytes as the files that a study of shifts reads: names of classes, predictions, masks, the truth
 * about pictures, about planted models, the votes of raters, and the pictures of a result. Each is one sentence, or values
 * within the bounds that others rely on. The first byte says which; predictions and votes are two texts with a NUL between
 * them: outputs or key, and table. fuzz: -max_len=1024 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "base/text.h"
#include "report/grid/votes.h"
#include "shifts/plant_make.h"
#include "shifts/shift_answers.h"
#include "shifts/shift_inputs.h"
#include "shifts/shift_result.h"

enum { ANSWERS, MASKS, ORACLE, TRUTH, VOTES, PICTURES, KINDS, N = 4, CLASSES = 2, NPZ = 16, OUTPUTS = 32 };

static char *class_of[] = { "cat", "dog" }, *path_of[] = { "cat/a.png", "cat/b.png", "dog/a.png", "dog/b.png" };
static int cls[] = { 0, 0, 1, 1 };
static spot_shifts_config cfg;
static spot_shift_model model;
static spot_shift snow = { .name = "snow", .folder = "" };

static spot_shift_pictures list_of(int shift)
{
    spot_shift_pictures p = { .unit = { 0, shift }, .list = { .n = N, .path = path_of }, .cls = cls };

    snprintf(p.id, sizeof p.id, shift < 0 ? "base" : "snow");
    snprintf(p.root, sizeof p.root, shift < 0 ? "pictures/base" : "pictures/snow");
    return p;
}

static void try_answers(spot_ctx *c, int kind, const uint8_t *data, size_t size)
{
    static char outputs[1100];
    const spot_shift_classes k = { .n = CLASSES, .folder = class_of, .name = class_of };
    const spot_shift_pictures p[2] = { list_of(-1), list_of(0) };
    spot_shift_answers a = { 0 };
    spot_shift_progress progress = { 0 };

    fuzz_text(outputs, sizeof outputs, &data, &size);
    fuzz_file(1, "outputs.txt", outputs, strlen(outputs));
    fuzz_file(0, kind & NPZ ? "m.npz" : "m.csv", data, size);
    cfg.models = 1;
    cfg.model = &model;
    model = (spot_shift_model){ .name = "m", .predictions = "", .weights = "", .classes = "" };
    cfg.model[0].predictions = fuzz_files[0].name;
    if (kind & OUTPUTS) cfg.model[0].classes = "outputs.txt";
    if (spot_shift_answers_open(c, &a, &cfg, &k, NULL, p, 2, &progress)) fuzz_said(c);
    else
        for (int u = 0; u < 2; u++)
            for (int i = 0; i < N; i++)
                if (!spot_shift_word(&a.words, a.unit[u].answer[i])[0] && a.unit[u].answer[i] < CLASSES) abort();
    spot_shift_answers_close(c, &a);
}

static void try_masks(spot_ctx *c, const uint8_t *data, size_t size)
{
    const spot_shift_pictures p = list_of(0);
    uint8_t keep[N];

    cfg.filter.masks = (fuzz_file(0, "masks.npz", data, size));
    if (spot_shift_masks(c, keep, &cfg, &p)) fuzz_said(c);
    else
        for (int i = 0; i < N; i++) fuzz_within(keep[i], 0, 1);
}

static void try_oracle(spot_ctx *c, int kind, const uint8_t *data, size_t size)
{
    const spot_shift_pictures p = list_of(-1);
    spot_shift_truth t;
    uint8_t bits[N];

    cfg.filter.oracle = (fuzz_file(0, kind & NPZ ? "oracle.npz" : "oracle.csv", data, size));
    if (spot_shift_truth_open(c, &t, &cfg) || spot_shift_truth_of(c, bits, &t, &p)) fuzz_said(c);
    else
        for (int i = 0; i < N; i++) fuzz_within(bits[i], 0, 3);
    spot_shift_truth_close(&t);
}

static void try_planted(spot_ctx *c, const uint8_t *data, size_t size)
{
    static spot_plant_truth t;
    const spot_plant_config plant = { .models = 2, .shifts = 1, .classes = 2, .truth = 5, .pictures = 5 };

    fuzz_file(0, "plant/truth.csv", data, size);
    if (spot_plant_truth_read(c, &t, "plant", &plant)) {
        fuzz_said(c);
        return;
    }
    for (int s = 0; s < 2; s++)
        for (int m = 0; m < 2; m++)
            if (!(t.accuracy[s][m] >= 0 && t.accuracy[s][m] <= 1.000001)) abort();
}

static void try_votes(spot_ctx *c, const uint8_t *data, size_t size)
{
    static spot_votes v;
    static char key[1100];
    const spot_shifts_results r = { .cfg = &cfg, .sources = 1 };
    bool found;

    cfg.shifts = 1;
    cfg.shift = &snow;
    fuzz_text(key, sizeof key, &data, &size);
    fuzz_file(1, "run/grids/key.csv", key, strlen(key));
    fuzz_file(0, "run/grids/votes.csv", data, size);
    if (spot_votes_read(c, &v, &r, "run", NULL, &found)) {
        fuzz_said(c);
        return;
    }
    for (int t = 0; t < SPOT_TASKS; t++) {
        const spot_selection all = v.selected[t][0][0][0];
        if (!isnan(all.value) && !(all.value >= 0 && all.value <= 1)) abort();
        if (!isnan(v.kappa[t]) && !(v.kappa[t] <= 1.000001)) abort();
    }
    if (!found || v.votes < 1 || v.raters < 1) abort();
}

static void try_pictures(spot_ctx *c, const uint8_t *data, size_t size)
{
    const spot_shift_result u = { .index = 0, .pictures = 2, .columns = 2, .classes = CLASSES, .models = 3, .name = "base" };
    spot_shift_pictures_result p;

    fuzz_file(0, "run/similarities/000/shift-000000.safetensors", data, size);
    if (spot_shift_pictures_read(c, &p, "run", &u)) fuzz_said(c);
    else {
        fuzz_within(p.n, 2, 2);
        for (int i = 0; i < p.n; i++) fuzz_within(p.cls[i], 0, CLASSES - 1), fuzz_within((int)strlen(p.path[i]), 0, 1024);
    }
    spot_shift_pictures_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    spot_ctx c = { .threads = 1 };
    int kind;

    if (!size) return 0;
    kind = *data++, size--;
    memset(&cfg.filter, 0, sizeof cfg.filter);
    cfg.models = cfg.shifts = 0;
    memset(fuzz_files, 0, sizeof fuzz_files);
    switch ((kind & 15) % KINDS) {
    case ANSWERS:  try_answers(&c, kind, data, size); break;
    case MASKS:    try_masks(&c, data, size); break;
    case ORACLE:   try_oracle(&c, kind, data, size); break;
    case TRUTH:    try_planted(&c, data, size); break;
    case VOTES:    try_votes(&c, data, size); break;
    case PICTURES: try_pictures(&c, data, size); break;
    }
    return 0;
}
