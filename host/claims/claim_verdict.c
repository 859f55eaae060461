/* claim_verdict.c - the verdict on a claim as JSON: an object of its own, and DIR/verdict.json. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "claims/slice_claim.h"

static void put_real(spot_json *j, const char *key, double v) { spot_json_put_number(j, key, "%.6g", v); }

static void put_claim(spot_json *j, const spot_slice_claim *k)
{
    spot_json_object(j, "claim");
    spot_json_put_text(j, "text", k->text);
    spot_json_put_text(j, "class", *k->cls ? k->cls : NULL);
    spot_json_put_text(j, "findings", *k->found ? k->found : NULL);
    if (k->slice) {
        spot_json_put_int(j, "slice", k->slice);
        spot_json_put_text(j, "slice_claim", *k->proof ? k->proof : NULL);
        put_real(j, "slice_rate", k->rate);
        put_real(j, "class_rate", k->class_rate);
    }
    spot_json_put_text(j, "model", *k->model ? k->model : NULL);
    spot_json_end(j);
}

void spot_claim_verdict_put(spot_json *j, const spot_slice_claim *k, const spot_claim_test *t)
{
    if (*k->text) put_claim(j, k);
    for (int g = 0; g < 2; g++) {
        spot_json_object(j, spot_gathered_group[g]);
        spot_json_put_int(j, "pictures", t->n[g]);
        spot_json_put_int(j, "wrong", t->wrong[g]);
        spot_json_put_interval(j, "rate", t->rate[g]);
        spot_json_end(j);
    }
    spot_json_put_real(j, "p", t->p);
    if (t->groups) spot_json_put_int(j, "groups", t->groups);
    spot_json_put_text(j, "verdict", spot_claim_verdict_name(t->verdict));
}

spot_status spot_claim_verdict_write(spot_ctx *c, const char *dir, const spot_slice_claim *k, const spot_claim_test *t)
{
    char path[SPOT_CLAIM_PATH + 16];
    spot_json j;
    spot_status s;

    snprintf(path, sizeof path, "%s/verdict.json", dir);
    SPOT_TRY(spot_json_begin(c, &j, "    "));
    spot_json_object(&j, NULL);
    spot_claim_verdict_put(&j, k, t);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, path);
    if (s == SPOT_OK) s = spot_file_write(c, path, j.out.bytes, j.out.used);
    spot_json_free(&j);
    return s;
}
