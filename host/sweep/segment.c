/* segment.c - writes and reads one EC's results as JSON. */
#include "sweep/segment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

bool spot_segment_methods(spot_segment *s, int n)
{
    free(s->method);
    s->method = calloc((size_t)n + 1, sizeof *s->method);
    return s->method;
}

void spot_segment_close(spot_segment *s)
{
    free(s->method);
    s->method = NULL;
    s->methods = 0;
}

void spot_segment_free(spot_segment *s)
{
    if (s) spot_segment_close(s);
    free(s);
}

static void describe_choice(spot_json *j, const char *key, int *v, int n, const char *(*name_of)(int))
{
    char text[48] = "";

    if (j->gen) snprintf(text, sizeof text, "%s", name_of(*v));
    spot_json_text(j, key, text, sizeof text);
    if (j->gen || j->wrong) return;
    for (*v = 0; *v < n && strcmp(text, name_of(*v)); ++*v) { }
    if (*v == n) j->wrong = key;
}

static const char *status_name(int s) { return spot_status_name((spot_status)s); }

static void describe_ec(spot_json *j, spot_segment *s)
{
    spot_json_object(j, "ec");
    spot_json_text(j, "layers", s->layers, sizeof s->layers);
    spot_json_text(j, "rollable", s->rollable, sizeof s->rollable);
    spot_json_object(j, "images");
    for (int i = 0; i < SPOT_SPLITS; i++) spot_json_int(j, spot_split_name((spot_split)i), &s->images[i]);
    spot_json_end(j);
    if (j->gen ? *s->induce : spot_json_has(j, "induce")) {
        spot_json_text(j, "induce", s->induce, sizeof s->induce);
        spot_json_real(j, "strength", &s->strength);
    }
    s->blindspots = spot_json_array(j, "blindspots", s->blindspots, SPOT_MAX_BLINDSPOTS);
    for (int m = 0; m < s->blindspots; m++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "specificity", &s->specificity[m]);
        spot_json_text(j, "is", s->blindspot[m], sizeof s->blindspot[m]);
        spot_json_end(j);
    }
    spot_json_end(j);
    spot_json_end(j);
}

static void describe_lesson(spot_json *j, spot_segment *s)
{
    spot_learning *l = &s->lesson;

    spot_json_object(j, "lesson");
    spot_json_int(j, "best_epoch", &l->best_epoch);
    l->epochs = spot_json_array(j, "epochs", l->epochs, SPOT_MAX_EPOCHS);
    for (int e = 0; e < l->epochs; e++) {
        spot_json_object(j, NULL);
        spot_json_real(j, "train_loss", &l->epoch[e].train_loss);
        spot_json_real(j, "val_loss", &l->epoch[e].val_loss);
        spot_json_end(j);
    }
    spot_json_end(j);
    l->blindspots = s->blindspots;
    spot_json_real(j, "outside", &l->outside);
    spot_json_int(j, "outside_count", &l->outside_count);
    spot_json_reals(j, "inside", l->inside, s->blindspots);
    spot_json_ints(j, "inside_count", l->inside_count, s->blindspots);
    spot_json_bool(j, "learned", &l->learned);
    spot_json_end(j);
}

/* A number that older builds did not write: NaN then. */
static void describe_newer(spot_json *j, const char *key, double *v)
{
    if (j->gen || spot_json_has(j, key)) spot_json_real(j, key, v);
    else *v = NAN;
}

static void describe_beside(spot_json *j, double beside[SPOT_BESIDES])
{
    if (!j->gen && !spot_json_has(j, "beside")) {
        for (int b = 0; b < SPOT_BESIDES; b++) beside[b] = NAN;
        return;
    }
    spot_json_object(j, "beside");
    for (int b = 0; b < SPOT_BESIDES; b++) describe_newer(j, spot_beside_name(b), &beside[b]);
    spot_json_end(j);
}

static void describe_errors(spot_json *j, const char *key, spot_errors *e)
{
    spot_json_object(j, key);
    spot_json_int(j, "rows", &e->rows);
    spot_json_int(j, "wrong", &e->wrong);
    spot_json_end(j);
}

/* Segments of older versions have none. */
static void describe_severity(spot_json *j, spot_segment *s)
{
    int n;

    s->severity.blindspots = s->blindspots;
    if (!j->gen && !spot_json_has(j, "severity")) return;
    spot_json_object(j, "severity");
    describe_errors(j, "outside", &s->severity.outside);
    n = spot_json_array(j, "inside", s->blindspots, s->blindspots);
    for (int m = 0; m < n; m++) describe_errors(j, NULL, &s->severity.inside[m]);
    spot_json_end(j);
    spot_json_end(j);
}

static void describe_score(spot_json *j, spot_outcome *o, int blindspots)
{
    spot_score *s = &o->score;
    int n;

    s->blindspots = blindspots;
    spot_json_real(j, "dr", &s->dr);
    spot_json_real(j, "fdr", &s->fdr);
    spot_json_int(j, "u", &s->u);
    spot_json_int(j, "components", &o->components);
    describe_beside(j, s->beside);
    s->hypotheses = spot_json_array(j, "hypotheses", s->hypotheses, SPOT_MAX_HYPOTHESES);
    for (int k = 0; k < s->hypotheses; k++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "size", &o->size[k]);
        spot_json_real(j, "score", &o->order[k]);
        spot_json_real(j, "mean_error", &o->mean_error[k]);
        spot_json_int(j, "belongs", &s->belongs[k]);
        describe_newer(j, "coherence", &s->coherence[k]);
        spot_json_reals(j, "bp", s->bp[k], blindspots);
        spot_json_end(j);
    }
    spot_json_end(j);
    n = spot_json_array(j, "blindspots", blindspots, blindspots);
    for (int m = 0; m < n; m++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "size", &s->size[m]);
        spot_json_real(j, "br", &s->br[m]);
        spot_json_bool(j, "covered", &s->covered[m]);
        for (int f = 0; f < SPOT_FAILURES; f++) spot_json_real(j, spot_failure_name(f), &s->failure[m][f]);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void describe_method(spot_json *j, spot_outcome *o, int blindspots)
{
    spot_json_object(j, NULL);
    spot_json_text(j, "name", o->name, sizeof o->name);
    spot_json_text(j, "settings", o->settings, sizeof o->settings);
    if (j->gen ? *o->embedding : spot_json_has(j, "embedding"))
        spot_json_text(j, "embedding", o->embedding, sizeof o->embedding);
    describe_choice(j, "status", &o->status, SPOT_STATUS_COUNT, status_name);
    if (o->status) spot_json_text(j, "message", o->message, sizeof o->message);
    else describe_score(j, o, blindspots);
    spot_json_end(j);
}

/* Tables and figures parse the words that define a scene's blindspots. */
static bool words_are_known(const spot_segment *s)
{
    spot_blindspot b;

    for (int m = 0; m < s->blindspots && *s->rollable; m++)
        if (!spot_blindspot_read(&b, s->blindspot[m])) return false;
    return true;
}

void spot_segment_describe(spot_json *j, void *segment)
{
    spot_segment *s = segment;
    int schema = SPOT_SEGMENT_SCHEMA;

    spot_json_int(j, "schema", &schema);
    if (schema != SPOT_SEGMENT_SCHEMA) j->wrong = "schema";
    spot_json_int(j, "index", &s->index);
    spot_json_u64(j, "seed", &s->seed);
    spot_json_text(j, "config", s->config, sizeof s->config);
    spot_json_int(j, "numbers", &s->numbers);
    spot_frame_plain(j, "build", s->build, sizeof s->build);
    spot_frame_plain(j, "device", s->device, sizeof s->device);
    describe_choice(j, "profile", &s->metric.profile, 2, spot_profile_name);
    spot_json_real(j, "lambda_p", &s->metric.lambda_p);
    spot_json_real(j, "lambda_r", &s->metric.lambda_r);
    spot_json_int(j, "top", &s->metric.top);
    describe_ec(j, s);
    describe_choice(j, "status", &s->status, SPOT_STATUS_COUNT, status_name);
    if (s->status) spot_json_text(j, "message", s->message, sizeof s->message);
    else describe_lesson(j, s), describe_severity(j, s);
    s->methods = spot_json_array(j, "methods", s->methods, SPOT_MAX_BDMS);
    if (!j->gen && !spot_segment_methods(s, s->methods)) {
        j->wrong = spot_frame_no_memory;
        s->methods = 0;
    }
    for (int b = 0; b < s->methods; b++) describe_method(j, &s->method[b], s->blindspots);
    spot_json_end(j);
    if (!j->gen && !j->wrong && !words_are_known(s)) j->wrong = "it defines blindspots in unknown words";
}

/* Failed training counts more than any number of failed methods, since it leaves no result. */
int spot_segment_failures(const void *segment, spot_status *first, const char **who, const char **message)
{
    const spot_segment *s = segment;
    int n = 0;

    *first = (spot_status)s->status;
    *who = "training";
    *message = s->message;
    if (s->status) return SPOT_MAX_BDMS + 1;
    for (int b = s->methods - 1; b >= 0; b--) {
        if (!s->method[b].status) continue;
        n++;
        *first = (spot_status)s->method[b].status;
        *who = s->method[b].name;
        *message = s->method[b].message;
    }
    return n;
}
