/* fuzz_examine.c - any bytes as files of spotter examine and render: the renders of a search, the findings, a table of
 * conditions, and factors of a command line. Each is one sentence, or numbers that lie in their lists. The first byte says
 * which. fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "examine/examine_draw.h"
#include "examine/examine_result.h"
#include "examine/render_points.h"
#include "spotter/failures.h"

enum { SEARCH, RESUMED, FINDINGS, TABLE, GRID, KINDS, RENDERS = 8, DIMS = 9 };

static void try_search(spot_ctx *c)
{
    spot_examine_history h;

    if (spot_examine_history_load(c, &h, "run/searches/000/unit-000003.safetensors")) {
        fuzz_said(c);
        return;
    }
    fuzz_within(h.dims, 1, SPOT_FACTORS);
    for (int i = 0; i < h.renders; i++)
        if (!(h.p[i] >= 0 && h.p[i] <= 1)) abort();
    spot_examine_history_free(&h);
}

static void try_resumed(spot_ctx *c)
{
    spot_examine_progress p = { .key = "0123456789abcdef0123456789abcdef" };
    spot_examine_history h;
    int renders;

    if (spot_examine_history_take(c, &h, RENDERS, DIMS) || spot_examine_history_resume(c, &h, &renders, &p, "run", 3)) abort();
    fuzz_within(renders, 0, RENDERS);
    fuzz_within(p.points, 0, SPOT_MAX_EXAMINE_POINTS);
    spot_examine_history_free(&h);
}

static void try_findings(spot_ctx *c)
{
    spot_failures f;

    if (spot_failures_read(c, &f, "run")) fuzz_said(c);
    else
        for (int i = 0; i < f.findings; i++)
            if (!(f.finding[i].p >= 0 && f.finding[i].p <= 1)) abort();
    spot_failures_close(&f);
}

static void try_points(spot_ctx *c, const char *factors, const char *table)
{
    static spot_catalogue_entry entry[] = { { .id = "box/a.obj" }, { .id = "b, c" } };
    static const spot_examine_config cfg;
    const spot_examine_objects_list o = { .cfg = &cfg, .list = { .entries = 2, .entry = entry } };
    spot_render_points p;

    if (spot_render_points_open(c, &p, &o, factors, table)) fuzz_said(c);
    else
        for (int e = 0; e < 2; e++) {
            const double points = spot_render_points_begin(&p, e);
            if (!(points >= 0)) abort();
            for (int i = 0; i < points && i < 3; i++) {
                const spot_conditions at = spot_render_points_at(&p, &cfg, (uint32_t)e, i, 1);
                for (int f = 0; f < SPOT_FACTORS; f++)
                    if (!isfinite(at.value[f])) abort();
            }
        }
    spot_render_points_close(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char factors[2048];
    spot_ctx c = { .threads = 1 };
    int kind;

    if (!size) return 0;
    kind = *data++ % KINDS, size--;
    fuzz_file(0, "run/searches/000/unit-000003.safetensors", data, size);
    fuzz_file(1, "run/failures.json", data, size);
    fuzz_file(2, "conditions.csv", data, size);
    if (kind == SEARCH) try_search(&c);
    else if (kind == RESUMED) try_resumed(&c);
    else if (kind == FINDINGS) try_findings(&c);
    else if (kind == TABLE) try_points(&c, "camera_roll=0:90", "conditions.csv");
    else {
        fuzz_text(factors, sizeof factors, &data, &size);
        if (factors[strspn(factors, " ")]) try_points(&c, factors, "");
    }
    return 0;
}
