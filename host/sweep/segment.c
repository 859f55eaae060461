/* segment.c - one EC's results: {"checksum":"<XXH3-64 of the segment's bytes>","segment":{...}}. */
#define _POSIX_C_SOURCE 200809L
#include "sweep/segment.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/json.h"
#include "base/json_tree.h"

static const char head[] = "{\"checksum\":\"%016" PRIx64 "\",\"segment\":", tail[] = "}\n";
enum { HEAD = 41, TAIL = 2 };                  /* bytes before and behind the payload */

const char *spot_profile_name(int profile)
{
    static const char *const name[] = { "tmlr", "workshop" };
    return profile == SPOT_PROFILE_TMLR || profile == SPOT_PROFILE_WORKSHOP ? name[profile] : "unknown";
}

const char *spot_failure_name(int failure)
{
    static const char *const name[SPOT_FAILURES] = { "not_returned", "found", "merged", "impure" };
    return failure >= 0 && failure < SPOT_FAILURES ? name[failure] : "unknown";
}

static void choice(spot_json *j, const char *key, int *v, int n, const char *(*name_of)(int))
{
    char text[48] = "";

    if (j->gen) snprintf(text, sizeof text, "%s", name_of(*v));
    spot_json_text(j, key, text, sizeof text);
    if (j->gen || j->wrong) return;
    for (*v = 0; *v < n && strcmp(text, name_of(*v)); ++*v) { }
    if (*v == n) j->wrong = key;
}

static const char *status_name(int s) { return spot_status_name((spot_status)s); }

static void ints(spot_json *j, const char *key, int *v, int n)
{
    int len = spot_json_array(j, key, n, n);

    if (len != n) j->wrong = j->wrong ? j->wrong : key;
    for (int i = 0; i < len; i++) spot_json_int(j, NULL, &v[i]);
    spot_json_end(j);
}

static void reals(spot_json *j, const char *key, double *v, int n)
{
    int len = spot_json_array(j, key, n, n);

    if (len != n) j->wrong = j->wrong ? j->wrong : key;
    for (int i = 0; i < len; i++) spot_json_real(j, NULL, &v[i]);
    spot_json_end(j);
}

static void ec_part(spot_json *j, spot_segment *s)
{
    spot_json_object(j, "ec");
    spot_json_text(j, "layers", s->layers, sizeof s->layers);
    spot_json_text(j, "rollable", s->rollable, sizeof s->rollable);
    spot_json_object(j, "images");
    for (int i = 0; i < SPOT_SPLITS; i++) spot_json_int(j, spot_split_name((spot_split)i), &s->images[i]);
    spot_json_end(j);
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

static void lesson_part(spot_json *j, spot_segment *s)
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
    reals(j, "inside", l->inside, s->blindspots);
    ints(j, "inside_count", l->inside_count, s->blindspots);
    spot_json_bool(j, "learned", &l->learned);
    spot_json_end(j);
}

static void score_part(spot_json *j, spot_outcome *o, int blindspots)
{
    spot_score *s = &o->score;
    int n;

    s->blindspots = blindspots;
    spot_json_real(j, "dr", &s->dr);
    spot_json_real(j, "fdr", &s->fdr);
    spot_json_int(j, "u", &s->u);
    spot_json_int(j, "components", &o->components);
    s->hypotheses = spot_json_array(j, "hypotheses", s->hypotheses, SPOT_MAX_HYPOTHESES);
    for (int k = 0; k < s->hypotheses; k++) {
        spot_json_object(j, NULL);
        spot_json_int(j, "size", &o->size[k]);
        spot_json_real(j, "score", &o->order[k]);
        spot_json_real(j, "mean_error", &o->mean_error[k]);
        spot_json_int(j, "belongs", &s->belongs[k]);
        reals(j, "bp", s->bp[k], blindspots);
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

static void describe(spot_json *j, spot_segment *s)
{
    int schema = SPOT_SEGMENT_SCHEMA;

    spot_json_int(j, "schema", &schema);
    if (schema != SPOT_SEGMENT_SCHEMA) j->wrong = "schema";
    spot_json_int(j, "index", &s->index);
    spot_json_u64(j, "seed", &s->seed);
    spot_json_text(j, "config", s->config, sizeof s->config);
    spot_json_int(j, "numbers", &s->numbers);
    spot_json_text(j, "build", s->build, sizeof s->build);
    spot_json_text(j, "device", s->device, sizeof s->device);
    choice(j, "profile", &s->metric.profile, 2, spot_profile_name);
    spot_json_real(j, "lambda_p", &s->metric.lambda_p);
    spot_json_real(j, "lambda_r", &s->metric.lambda_r);
    spot_json_int(j, "top", &s->metric.top);
    ec_part(j, s);
    choice(j, "status", &s->status, SPOT_STATUS_COUNT, status_name);
    if (s->status) spot_json_text(j, "message", s->message, sizeof s->message);
    else lesson_part(j, s);
    s->methods = spot_json_array(j, "methods", s->methods, SPOT_MAX_BDMS);
    for (int b = 0; b < s->methods; b++) {
        spot_outcome *o = &s->method[b];
        spot_json_object(j, NULL);
        spot_json_text(j, "name", o->name, sizeof o->name);
        spot_json_text(j, "settings", o->settings, sizeof o->settings);
        if (j->gen ? *o->embedding : spot_json_has(j, "embedding"))
            spot_json_text(j, "embedding", o->embedding, sizeof o->embedding);
        choice(j, "status", &o->status, SPOT_STATUS_COUNT, status_name);
        if (o->status) spot_json_text(j, "message", o->message, sizeof o->message);
        else score_part(j, o, s->blindspots);
        spot_json_end(j);
    }
    spot_json_end(j);
}

void spot_segment_path(char *path, size_t size, const char *dir, int index)
{
    snprintf(path, size, "%s/segments/%03d/ec-%06d.json", dir, index / SPOT_ECS_A_FOLDER, index);
}

spot_status spot_segment_write(spot_ctx *c, const char *dir, spot_segment *s)
{
    spot_json j = { .gen = yajl_gen_alloc(NULL) };
    const unsigned char *payload = NULL;
    char path[1200], *file;
    size_t n = 0;
    spot_status status;

    if (!j.gen) return spot_fail(c, SPOT_NOMEM, "no memory to write the results of EC %d", s->index);
    spot_json_object(&j, NULL);
    describe(&j, s);
    spot_json_end(&j);
    yajl_gen_get_buf(j.gen, &payload, &n);
    file = malloc(HEAD + n + TAIL + 1);
    if (file) {
        sprintf(file, head, (uint64_t)XXH3_64bits(payload, n));
        memcpy(file + HEAD, payload, n);
        memcpy(file + HEAD + n, tail, TAIL + 1);
        spot_segment_path(path, sizeof path, dir, s->index);
        status = spot_folder_of(c, path);
        if (status == SPOT_OK) status = spot_file_write(c, path, file, HEAD + n + TAIL);
    } else {
        status = spot_fail(c, SPOT_NOMEM, "no memory to write the results of EC %d", s->index);
    }
    free(file);
    yajl_gen_free(j.gen);
    return status;
}

/* NULL, or what is wrong with the frame around the payload. */
static const char *frame(const unsigned char *text, size_t n)
{
    char expected[HEAD + 1];

    if (n < HEAD + TAIL || memcmp(text + n - TAIL, tail, TAIL)) return "it ends early";
    sprintf(expected, head, (uint64_t)XXH3_64bits(text + HEAD, n - HEAD - TAIL));
    return memcmp(text, expected, HEAD) ? "its checksum does not fit" : NULL;
}

spot_status spot_segment_parse(spot_ctx *c, spot_segment *s, unsigned char *text, size_t n, int index, const char **wrong)
{
    spot_json j = { .depth = 1 };
    char why[256] = "";

    *wrong = frame(text, n);
    if (*wrong) return SPOT_OK;
    text[n - TAIL] = 0;
    j.at[0] = spot_tree_parse((char *)text + HEAD, n - HEAD - TAIL, why, sizeof why);
    text[n - TAIL] = tail[0];
    if (!j.at[0] && (!*why || strstr(why, "client cancel")))       /* yajl's words for memory that its tree did not get */
        return spot_fail(c, SPOT_NOMEM, "no memory to read the results of EC %d", index);
    memset(s, 0, sizeof *s);
    describe(&j, s);
    yajl_tree_free(j.at[0]);
    *wrong = j.wrong || s->index == index ? j.wrong : "it belongs to another EC";
    return SPOT_OK;
}

spot_status spot_segment_read(spot_ctx *c, const char *dir, int index, spot_segment *s, spot_segment_state *state,
                              char *why, size_t why_size)
{
    char path[1200];
    unsigned char *text = NULL;
    const char *wrong = "it is no file";
    spot_status status = SPOT_OK;
    struct stat st;
    size_t n;

    spot_segment_path(path, sizeof path, dir, index);
    *state = SPOT_SEGMENT_ABSENT;
    if (access(path, F_OK)) return SPOT_OK;
    if (stat(path, &st) || S_ISREG(st.st_mode)) {
        SPOT_TRY(spot_file_read(c, path, &text, &n, SPOT_SEGMENT_LIMIT));
        status = spot_segment_parse(c, s, text, n, index, &wrong);
    }
    free(text);
    SPOT_TRY(status);
    *state = wrong ? SPOT_SEGMENT_DAMAGED : SPOT_SEGMENT_WHOLE;
    snprintf(why, why_size, "%s: %s", path, wrong ? wrong : "");
    return SPOT_OK;
}

spot_status spot_segment_load(spot_ctx *c, const char *dir, int index, spot_segment *s, unsigned char **bytes, size_t *n,
                              spot_segment_state *state, char *why, size_t why_size)
{
    char path[1200];
    const char *wrong = NULL;
    spot_status status;

    *bytes = NULL;
    *state = SPOT_SEGMENT_ABSENT;
    spot_segment_path(path, sizeof path, dir, index);
    if (access(path, F_OK)) return SPOT_OK;
    status = spot_file_read(c, path, bytes, n, SPOT_SEGMENT_LIMIT);
    if (status == SPOT_OK) status = spot_segment_parse(c, s, *bytes, *n, index, &wrong);
    if (status == SPOT_NOMEM) {
        free(*bytes);
        *bytes = NULL;
        return status;
    }
    if (status) wrong = spot_message(c, status);
    *state = wrong ? SPOT_SEGMENT_DAMAGED : SPOT_SEGMENT_WHOLE;
    snprintf(why, why_size, "%s: %s", path, wrong ? wrong : "");
    if (status) spot_forget(c);
    return SPOT_OK;
}

spot_status spot_segment_failure(const spot_segment *s, const char **who, const char **message)
{
    *who = "training";
    *message = s->message;
    if (s->status) return (spot_status)s->status;
    for (int b = 0; b < s->methods; b++) {
        if (!s->method[b].status) continue;
        *who = s->method[b].name;
        *message = s->method[b].message;
        return (spot_status)s->method[b].status;
    }
    return SPOT_OK;
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

typedef struct { int *index, n, room; } indices;

static spot_status add(spot_ctx *c, indices *l, int index)
{
    if (l->n == l->room) {
        int *more = realloc(l->index, (size_t)(l->room = 2 * l->room + 64) * sizeof *more);
        if (!more) return spot_fail(c, SPOT_NOMEM, "no memory to list %d segments", l->n);
        l->index = more;
    }
    l->index[l->n++] = index;
    return SPOT_OK;
}

/* Of the folder of ECs from `first` on. A name that is not the one of an index is a temp file, or none of ours. */
static spot_status list_folder(spot_ctx *c, indices *l, const char *path, int first)
{
    char again[32];
    struct dirent *e;
    int i;
    spot_status s = SPOT_OK;
    DIR *d = opendir(path);

    while (d && s == SPOT_OK && (errno = 0, e = readdir(d))) {
        if (sscanf(e->d_name, "ec-%d.json", &i) != 1 || i < 0 || i / SPOT_ECS_A_FOLDER != first / SPOT_ECS_A_FOLDER) continue;
        snprintf(again, sizeof again, "ec-%06d.json", i);
        if (!strcmp(again, e->d_name)) s = add(c, l, i);
    }
    if (s == SPOT_OK && errno)
        s = spot_fail(c, SPOT_IO, "cannot list %s: %s; run the same command again", path, strerror(errno));
    if (d) closedir(d);
    return s;
}

spot_status spot_segment_list(spot_ctx *c, const char *dir, int **index, int *n)
{
    char path[1200], again[16];
    struct dirent *e;
    int k;
    indices l = { 0 };
    spot_status s = SPOT_OK;
    DIR *d;

    *index = NULL;
    *n = 0;
    snprintf(path, sizeof path, "%s/segments", dir);
    d = opendir(path);
    if (!d) return spot_fail(c, SPOT_IO, "cannot read %s: %s; is %s a run directory?", path, strerror(errno), dir);
    while (s == SPOT_OK && (errno = 0, e = readdir(d))) {
        if (sscanf(e->d_name, "%d", &k) != 1 || k < 0 || k > INT_MAX / SPOT_ECS_A_FOLDER) continue;
        snprintf(again, sizeof again, "%03d", k);
        if (strcmp(again, e->d_name)) continue;
        snprintf(path, sizeof path, "%s/segments/%s", dir, again);
        s = list_folder(c, &l, path, k * SPOT_ECS_A_FOLDER);
    }
    if (s == SPOT_OK && errno)
        s = spot_fail(c, SPOT_IO, "cannot list %s/segments: %s; run the same command again", dir, strerror(errno));
    closedir(d);
    if (l.n) qsort(l.index, (size_t)l.n, sizeof *l.index, ascending);
    *index = l.index;
    *n = l.n;
    return s;
}
