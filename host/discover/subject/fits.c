/* fits.c - reads config.yaml, slices.json and fit.safetensors; and spot_assign. */
#include "discover/subject/fits.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_tree.h"
#include "bdm/fit.h"
#include "discover/search/discover_config.h"
#include "discover/search/vote.h"
#include "formats/safetensors.h"

enum { PATH = 1200, LONGEST = 1 << 30 };           /* bytes of slices.json */

spot_status spot_assign(spot_ctx *c, uint8_t *member, int hypotheses, const spot_view *rows, const spot_fit *fit,
                        const spot_bdm_config *cfg)
{
    spot_arena a = spot_arena_counting();
    spot_status s;

    const bool votes = spot_is_vote(fit);

    if (!votes && !cfg)
        return spot_fail(c, SPOT_INPUT, "the fit of slices of a proof has no rows that vote; run spotter discover again");
    if (votes) SPOT_TRY(spot_vote_assign(c, &a, NULL, hypotheses, rows, fit));
    else SPOT_TRY(spot_bdm_assign(c, &a, NULL, hypotheses, rows, fit, cfg));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = votes ? spot_vote_assign(c, &a, member, hypotheses, rows, fit)
              : spot_bdm_assign(c, &a, member, hypotheses, rows, fit, cfg);
    spot_arena_close(&a);
    return s;
}

/* ---- slices.json ---- */

static yajl_val member_of(yajl_val map, const char *key, yajl_type type)
{
    const char *path[] = { key, NULL };

    return map && YAJL_IS_OBJECT(map) ? yajl_tree_get(map, path, type) : NULL;
}

/* A whole number in [least, most]; least - 1 if there is none. */
static long long number_of(yajl_val map, const char *key, long long least, long long most)
{
    yajl_val v = member_of(map, key, yajl_t_number);

    if (!v || !YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < least || YAJL_GET_INTEGER(v) > most) return least - 1;
    return YAJL_GET_INTEGER(v);
}

static spot_status damaged(spot_ctx *c, const char *dir, const char *what)
{
    return spot_fail(c, SPOT_INPUT, "%s/slices.json: %s; is it one that `spotter discover` wrote beside fit.safetensors?", dir,
                     what);
}

/* Sources of the features, if there are several. */
static spot_status read_sources(spot_ctx *c, spot_fits *f, const char *dir, yajl_val list)
{
    const size_t n = list ? YAJL_GET_ARRAY(list)->len : 0;
    int wide = 0;

    for (size_t b = 0; b < n && n <= SPOT_MOST_BLOCKS; b++) {
        yajl_val v = YAJL_GET_ARRAY(list)->values[b], scale = member_of(v, "scale", yajl_t_number);
        yajl_val encoder = member_of(v, "encoder", yajl_t_string);
        spot_feature_block *k = &f->known.block[f->known.blocks++];
        k->d = (int)number_of(v, "features", 1, f->known.features - wide);
        k->scale = scale ? (float)strtod(YAJL_GET_NUMBER(scale), NULL) : 0;
        snprintf(k->encoder, sizeof k->encoder, "%s", encoder ? YAJL_GET_STRING(encoder) : "");
        wide += k->d;
        if (k->d < 1 || !(k->scale > 0)) return damaged(c, dir, "a source of the features has no width or scale");
    }
    return n == (size_t)f->known.blocks && (!n || wide == f->known.features) ? SPOT_OK
         : damaged(c, dir, "the sources of the features have other widths than all");
}

static spot_status read_known(spot_ctx *c, spot_fits *f, const char *dir, yajl_val subject)
{
    yajl_val names = member_of(subject, "class_names", yajl_t_array), encoder = member_of(subject, "encoder", yajl_t_string);
    size_t n = names ? YAJL_GET_ARRAY(names)->len : 0;

    f->known.features = (int)number_of(subject, "features", 1, INT_MAX);
    if (f->known.features < 1 || n < 1 || n > INT_MAX) return damaged(c, dir, "features and class names are missing");
    SPOT_TRY(read_sources(c, f, dir, member_of(subject, "sources", yajl_t_array)));
    f->known.classes = (int)n;
    f->known.encoder = encoder ? YAJL_GET_STRING(encoder) : NULL;
    f->known.folder = dir;
    f->known.class_name = malloc(n * sizeof *f->known.class_name);
    if (!f->known.class_name) return spot_fail(c, SPOT_NOMEM, "no memory for %zu names", n);
    for (size_t k = 0; k < n; k++) {
        f->known.class_name[k] = YAJL_GET_STRING(YAJL_GET_ARRAY(names)->values[k]);
        if (!f->known.class_name[k]) return damaged(c, dir, "a class name is no word");
    }
    return SPOT_OK;
}

static const char *method_at(yajl_val pieces, size_t i)
{
    yajl_val name = member_of(YAJL_GET_ARRAY(pieces)->values[i], "method", yajl_t_string);

    return name ? YAJL_GET_STRING(name) : "";
}

/* "ward+domino": the methods of a slice's pieces, each once, the surest first. */
static void read_methods(char text[80], yajl_val slice)
{
    yajl_val pieces = member_of(member_of(slice, "proof", yajl_t_object), "pieces", yajl_t_array);
    const size_t n = pieces ? YAJL_GET_ARRAY(pieces)->len : 0;
    size_t used = 0;

    *text = 0;
    for (size_t i = 0; i < n && used < 80; i++) {
        const char *word = method_at(pieces, i);
        bool again = !*word;
        for (size_t k = 0; k < i && !again; k++) again = !strcmp(method_at(pieces, k), word);
        if (!again) used += (size_t)snprintf(text + used, 80 - used, "%s%.79s", used ? "+" : "", word);
    }
}

/* Folders of earlier versions have no numbers: 0. */
static void read_slices(spot_fitted *g, yajl_val slices, const char *method)
{
    for (int k = 0; k < g->slices; k++) {
        yajl_val slice = YAJL_GET_ARRAY(slices)->values[k];
        const long long number = number_of(slice, "number", 1, INT_MAX);
        g->number[k] = (int)number;
        if (method) snprintf(g->method[k], sizeof g->method[k], "%.79s", method);
        else read_methods(g->method[k], slice);
    }
}

static spot_status read_finding(spot_ctx *c, spot_fitted *g, const char *dir, yajl_val v, int classes)
{
    yajl_val cls = member_of(v, "class_number", yajl_t_any), seed = member_of(v, "seed", yajl_t_number);
    yajl_val slices = member_of(v, "slices", yajl_t_array), method = member_of(v, "method", yajl_t_string);
    const bool merged = member_of(v, "merged", yajl_t_true) != NULL;

    g->cls = cls && YAJL_IS_NULL(cls) ? SPOT_ALL_CLASSES : (int)number_of(v, "class_number", 0, classes - 1);
    if (!cls || (g->cls < 0 && !YAJL_IS_NULL(cls)) || (!seed && !merged) || !slices
        || YAJL_GET_ARRAY(slices)->len > SPOT_MAX_HYPOTHESES)
        return damaged(c, dir, "a finding lacks class, seed or slices");
    g->seed = seed ? strtoull(YAJL_GET_NUMBER(seed), NULL, 10) : 0;
    g->merged = merged;
    g->slices = (int)YAJL_GET_ARRAY(slices)->len;
    read_slices(g, slices, method ? YAJL_GET_STRING(method) : NULL);
    for (int k = 0; k < g->slices; k++)
        g->rules += member_of(YAJL_GET_ARRAY(slices)->values[k], "rule", yajl_t_object) != NULL;
    return SPOT_OK;
}

/* Findings are sorted by class, then by method. */
static spot_status find_method(spot_ctx *c, spot_fits *f, const char *dir, yajl_val findings, int i)
{
    yajl_val name = member_of(YAJL_GET_ARRAY(findings)->values[i], "method", yajl_t_string);
    int first = i, end = i, seeds;
    const char *word = name ? YAJL_GET_STRING(name) : NULL;
    char text[80];

    while (first > 0 && f->of[first - 1].cls == f->of[i].cls) first--;
    while (end < f->count && f->of[end].cls == f->of[i].cls) end++;
    seeds = (end - first) / f->config->bdms;
    if ((end - first) % f->config->bdms || !word) return damaged(c, dir, "findings and config.yaml name other methods");
    f->of[i].bdm = &f->config->bdm[(i - first) / seeds];
    if (strcmp(word, spot_bdm_name(f->of[i].bdm, text, sizeof text)))
        return damaged(c, dir, "findings and config.yaml name other methods");
    return SPOT_OK;
}

static spot_status read_findings(spot_ctx *c, spot_fits *f, const char *dir, yajl_val findings)
{
    size_t n = findings ? YAJL_GET_ARRAY(findings)->len : 0;

    if (n < 1 || n > INT_MAX || f->config->bdms < 1) return damaged(c, dir, "it holds no findings");
    f->of = calloc(n, sizeof *f->of);
    if (!f->of) return spot_fail(c, SPOT_NOMEM, "no memory for %zu findings", n);
    f->count = (int)n;
    for (int i = 0; i < f->count; i++)
        SPOT_TRY(read_finding(c, &f->of[i], dir, YAJL_GET_ARRAY(findings)->values[i], f->known.classes));
    for (int i = 0; i < f->count; i++)
        if (!f->of[i].merged) SPOT_TRY(find_method(c, f, dir, findings, i));
    return SPOT_OK;
}

static spot_status read_json(spot_ctx *c, spot_fits *f, const char *dir)
{
    char path[PATH], why[128] = "";
    unsigned char *text;
    size_t n;

    snprintf(path, sizeof path, "%s/slices.json", dir);
    SPOT_TRY(spot_file_read(c, path, &text, &n, LONGEST));
    f->tree = spot_tree_parse((char *)text, n, why, sizeof why);
    free(text);
    if (!f->tree) return damaged(c, dir, "it is not JSON");
    SPOT_TRY(read_known(c, f, dir, member_of(f->tree, "subject", yajl_t_object)));
    return read_findings(c, f, dir, member_of(f->tree, "findings", yajl_t_array));
}

/* ---- fit.safetensors ---- */

static spot_status put_tensor(spot_ctx *c, spot_fits *f, const spot_tensor *t, const char *path)
{
    char *name;
    long i = strtol(t->name, &name, 10);
    bool shaped = (t->rank == 1 || (t->rank == 2 && t->dim[1] > 0 && t->dim[1] <= INT_MAX)) && t->dim[0] <= INT_MAX;

    if (name == t->name || *name != '/' || i < 0 || i >= f->count || strlen(name + 1) >= sizeof f->of->fit.tensor->name)
        return spot_fail(c, SPOT_INPUT, "%s: \"%.80s\" is of none of the %d findings of slices.json", path, t->name, f->count);
    if (!shaped || (t->type != SPOT_F32 && t->type != SPOT_F64 && t->type != SPOT_I32 && t->type != SPOT_U8))
        return spot_fail(c, SPOT_INPUT, "%s: \"%.80s\" has a type or a shape that no fit has", path, t->name);
    return spot_fit_put(c, &f->of[i].fit, name + 1, t->type, t->data, (int)t->dim[0], t->rank == 2 ? (int)t->dim[1] : 0, NULL);
}

static spot_status read_tensors(spot_ctx *c, spot_fits *f, const char *dir)
{
    char path[PATH];
    spot_tensors all;
    spot_status s = SPOT_OK;

    snprintf(path, sizeof path, "%s/fit.safetensors", dir);
    if (access(path, F_OK))
        return spot_fail(c, SPOT_INPUT, "%s has no fit.safetensors, by which new rows are assigned; run spotter discover "
                         "again, without --no-fit", dir);
    SPOT_TRY(spot_tensors_open(c, &all, path));
    for (int k = 0; k < all.count && s == SPOT_OK; k++) s = put_tensor(c, f, &all.tensor[k], path);
    spot_tensors_close(&all);
    for (int i = 0; i < f->count && s == SPOT_OK; i++)
        if (f->of[i].slices && !f->of[i].fit.count && f->of[i].bdm && f->of[i].bdm->representation == SPOT_BY_ATTRIBUTES)
            s = spot_fail(c, SPOT_INPUT, "%s: finding %d is of attributes from a table, and new rows have none; find the "
                          "slices of other methods in a folder of their own", dir, i);
        else if (f->of[i].slices && !f->of[i].fit.count)
            s = spot_fail(c, SPOT_INPUT, "%s has nothing of finding %d, which has %d slices", path, i, f->of[i].slices);
    return s;
}

spot_status spot_fits_open(spot_ctx *c, spot_fits *f, const char *dir)
{
    char path[PATH];
    spot_status s;

    memset(f, 0, sizeof *f);
    f->config = calloc(1, sizeof *f->config);
    if (!f->config) return spot_fail(c, SPOT_NOMEM, "no memory for a config");
    snprintf(path, sizeof path, "%s/config.yaml", dir);
    s = access(path, R_OK)
        ? spot_fail(c, SPOT_IO, "%s is no folder of findings: cannot read %s: %s", dir, path, strerror(errno))
        : spot_methods_load(c, f->config, path);
    if (s == SPOT_OK) s = read_json(c, f, dir);
    if (s == SPOT_OK) s = read_tensors(c, f, dir);
    if (s) spot_fits_close(f);
    return s;
}

void spot_fits_close(spot_fits *f)
{
    for (int i = 0; i < f->count; i++) spot_fit_close(&f->of[i].fit);
    free(f->of);
    free(f->known.class_name);
    if (f->config) spot_memory_close(&f->config->memory);
    free(f->config);
    if (f->tree) yajl_tree_free(f->tree);
    memset(f, 0, sizeof *f);
}
