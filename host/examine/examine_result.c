/* examine_result.c - the result of a unit as JSON. */
#include "examine/examine_result.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "study/frame.h"

static void describe_point(spot_json *j, spot_examine_point *p)
{
    spot_json_object(j, NULL);
    spot_json_int(j, "renders", &p->renders);
    spot_json_int(j, "asked", &p->asked);
    spot_json_real(j, "mean", &p->mean);
    spot_json_real(j, "lowest", &p->lowest);
    spot_json_real(j, "lowest_valid", &p->lowest_valid);
    spot_json_real(j, "robust", &p->robust);
    spot_json_real(j, "valid", &p->valid);
    spot_json_real(j, "inside", &p->inside);
    spot_json_end(j);
}

static void describe_places(spot_json *j, spot_examine_result *r)
{
    spot_json_object(j, "lowest_at");
    for (int f = 0; f < SPOT_FACTORS; f++) spot_json_real(j, spot_factor_label(f), &r->lowest_at[f]);
    spot_json_end(j);
}

static bool is_share(double v) { return isnan(v) || (v >= 0 && v <= 1); }

/* A person may have changed the file: shares lie in 0 to 1, and the points ascend. */
static bool is_sound(const spot_examine_result *r)
{
    bool good = r->points > 0 && r->model >= 0 && r->examiner >= 0 && r->seed >= 0 && r->cls >= 0 && is_share(r->fresh);

    for (int k = 0; k < r->points && good; k++) {
        const spot_examine_point *p = &r->point[k];
        good = is_share(p->mean) && is_share(p->lowest) && is_share(p->lowest_valid) && is_share(p->robust)
            && is_share(p->valid) && is_share(p->inside) && p->asked > 0 && p->renders >= p->asked
            && (!k || p->renders > p[-1].renders);
    }
    return good;
}

void spot_examine_result_describe(spot_json *j, void *result)
{
    spot_examine_result *r = result;

    spot_json_int(j, "index", &r->index);
    spot_json_int(j, "numbers", &r->numbers);
    spot_json_text(j, "config", r->config, sizeof r->config);
    spot_json_text(j, "inputs", r->inputs, sizeof r->inputs);
    spot_json_int(j, "model", &r->model);
    spot_json_int(j, "examiner", &r->examiner);
    spot_json_int(j, "seed", &r->seed);
    spot_json_int(j, "class", &r->cls);
    spot_json_text(j, "object", r->object, sizeof r->object);      /* a catalogue may hold any text */
    spot_json_text(j, "title", r->title, sizeof r->title);
    spot_json_text(j, "licence", r->licence, sizeof r->licence);
    spot_json_text(j, "author", r->author, sizeof r->author);
    spot_json_text(j, "mesh", r->mesh, sizeof r->mesh);
    spot_frame_plain(j, "identity", r->identity, sizeof r->identity);
    spot_json_real(j, "start", &r->start);
    if (spot_json_array(j, "answers", SPOT_EXAMINE_START, SPOT_EXAMINE_START) != SPOT_EXAMINE_START) j->wrong = "answers";
    for (int i = 0; !j->wrong && i < SPOT_EXAMINE_START; i++) spot_json_int(j, NULL, &r->answer[i]);
    spot_json_end(j);
    spot_json_int(j, "usual", &r->usual);
    spot_json_real(j, "usual_p", &r->usual_p);
    spot_json_int(j, "scanned", &r->scanned);
    spot_json_int(j, "mapped", &r->mapped);
    spot_json_int(j, "learned", &r->learned);
    spot_json_real(j, "outside", &r->outside);
    spot_json_real(j, "inside", &r->inside);
    r->points = spot_json_array(j, "points", r->points, SPOT_MAX_EXAMINE_POINTS);
    for (int k = 0; k < r->points; k++) describe_point(j, &r->point[k]);
    spot_json_end(j);
    describe_places(j, r);
    spot_json_real(j, "fresh", &r->fresh);
    spot_json_int(j, "fresh_valid", &r->fresh_valid);
    if (!j->gen && !j->wrong && !is_sound(r)) j->wrong = "points";
}
