/* zoo_truth.c - what the models of the zoo have learned, measured on pictures that are never written; the table of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/zoo/zoo_make.h"
#include "base/file.h"
#include "base/greatest.h"
#include "base/text.h"
#include "formats/formats.h"
#include "models/network.h"
#include "spotter/model.h"

enum { POOL = 40 };

/* The background behind an object. */
typedef enum { SAME, RANDOM, ALONE, BEHINDS } behind;

typedef struct {
    const spot_zoo_stock *stock;
    int      n;                    /* objects: classes * tested, class by class */
    int     *kin;                  /* (n): the random family */
    uint8_t *rgb;                  /* (BEHINDS, n, size, size, 3) */
    float   *logit;                /* (BEHINDS * n, classes) */
} measurer;

static spot_status open_measurer(spot_ctx *c, measurer *m, const spot_zoo_stock *stock)
{
    const spot_background_zoo *cfg = stock->cfg;
    const size_t n = (size_t)cfg->classes * (size_t)cfg->tested;

    *m = (measurer){ .stock = stock, .n = (int)n };
    m->kin = malloc(n * sizeof *m->kin);
    m->rgb = malloc(BEHINDS * n * 3 * (size_t)cfg->size * (size_t)cfg->size);
    m->logit = malloc(BEHINDS * n * (size_t)cfg->classes * sizeof *m->logit);
    if (m->kin && m->rgb && m->logit) return SPOT_OK;
    return spot_fail(c, SPOT_NOMEM, "no memory for %d pictures of the zoo's truth", BEHINDS * m->n);
}

static void close_measurer(measurer *m)
{
    free(m->logit);
    free(m->rgb);
    free(m->kin);
}

/* Draws every object before each of the three. */
static spot_status draw_objects(spot_ctx *c, measurer *m)
{
    const spot_background_zoo *cfg = m->stock->cfg;
    const size_t bytes = 3 * (size_t)cfg->size * (size_t)cfg->size;
    spot_zoo_pool pool;
    spot_status s = spot_zoo_pool_open(c, &pool, m->stock, SPOT_ZOO_TESTED, POOL);

#pragma omp parallel for schedule(dynamic) num_threads(c->threads) if (!s)
    for (int i = 0; i < (s ? 0 : m->n); i++) {
        spot_rng r = spot_zoo_numbers(m->stock, SPOT_ZOO_TESTED, i / cfg->tested, (uint32_t)(i % cfg->tested));
        const uint32_t same = spot_rng_u32(&r), other = spot_rng_u32(&r);
        const spot_zoo_object o = spot_zoo_object_of(m->stock, i / cfg->tested, 1, 0, &r);
        m->kin[i] = o.kin;
        const uint8_t *ground[BEHINDS] = { spot_zoo_pooled(&pool, cfg->size, o.family, same),
                                           spot_zoo_pooled(&pool, cfg->size, o.kin, other), NULL };
        for (int b = 0; b < BEHINDS; b++)
            spot_zoo_compose(m->rgb + ((size_t)b * (size_t)m->n + (size_t)i) * bytes, NULL, m->stock, &o, ground[b]);
    }
    spot_zoo_pool_close(&pool);
    return s;
}

static int answer(const measurer *m, behind b, int i)
{
    const int classes = m->stock->cfg->classes;
    const float *logit = m->logit + ((size_t)b * (size_t)m->n + (size_t)i) * (size_t)classes;

    return spot_first_greatest(logit, classes);
}

static void count(const measurer *m, spot_zoo_truth *t)
{
    const spot_background_zoo *cfg = m->stock->cfg;
    int right[BEHINDS] = { 0 }, foreign = 0, follows = 0;

    for (int i = 0; i < m->n; i++) {
        const int cls = i / cfg->tested;
        for (int b = 0; b < BEHINDS; b++) right[b] += answer(m, (behind)b, i) == cls;
        if (m->kin[i] == cls || m->kin[i] >= cfg->classes) continue;
        foreign++;
        follows += answer(m, RANDOM, i) == m->kin[i];
    }
    t->tested = m->n;
    t->same = (double)right[SAME] / m->n, t->random = (double)right[RANDOM] / m->n, t->alone = (double)right[ALONE] / m->n;
    t->follows = foreign ? (double)follows / foreign : 0;
    t->reliance = t->same - t->random;
}

static spot_status ask_in(spot_ctx *c, spot_arena *a, measurer *m, const char *path)
{
    spot_model model;

    SPOT_TRY(spot_model_load(c, a, &model, path, m->stock->cfg->classes, 0));
    return spot_model_infer(c, a, m->logit, NULL, &model, m->rgb, BEHINDS * m->n, m->stock->cfg->size);
}

static spot_status ask_model(spot_ctx *c, measurer *m, const char *dir, spot_zoo_truth *t)
{
    char path[SPOT_ZOO_PATH];
    spot_arena a = spot_arena_counting();
    spot_status s;

    spot_zoo_model_path(path, dir, &t->recipe);
    SPOT_TRY(ask_in(c, &a, m, path));
    SPOT_TRY(spot_arena_open(c, &a, a.peak));
    s = ask_in(c, &a, m, path);
    spot_arena_close(&a);
    if (!s) count(m, t);
    return s;
}

int spot_zoo_asked(const spot_background_zoo *cfg) { return BEHINDS * cfg->classes * cfg->tested; }

/* The memory of asking a network of an architecture. */
static spot_status count_asking(spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg, int arch)
{
    spot_arena a = spot_arena_counting();
    spot_model model;

    SPOT_TRY(spot_model_take(c, &a, &model, arch, SPOT_ZOO_WIDTH, cfg->classes));
    SPOT_TRY(spot_model_infer(c, &a, NULL, NULL, &model, NULL, spot_zoo_asked(cfg), cfg->size));
    *bytes = a.peak;
    return SPOT_OK;
}

spot_status spot_zoo_measure_needs(spot_ctx *c, size_t *bytes, const spot_background_zoo *cfg)
{
    const size_t n = (size_t)cfg->classes * (size_t)cfg->tested, square = (size_t)cfg->size * (size_t)cfg->size;
    bool seen[SPOT_ZOO_ARCHS] = { false };
    size_t most = 0, one;

    for (int k = 0; k < cfg->models; k++) {
        const int arch = spot_zoo_recipe_of(cfg, k).arch;
        if (seen[arch]) continue;
        SPOT_TRY(count_asking(c, &one, cfg, arch));
        most = one > most ? one : most;
        seen[arch] = true;
    }
    *bytes = most + spot_zoo_pool_bytes(cfg, POOL)
           + n * (sizeof(int) + BEHINDS * (3 * square + (size_t)cfg->classes * sizeof(float)));
    return SPOT_OK;
}

/* A row; plain recipes have no columns for the options of the others. */
static void put_truth(FILE *f, const spot_zoo_truth *t, bool options, const char *dir)
{
    const spot_zoo_recipe *r = &t->recipe;
    char digits[32];

    fprintf(f, "%s,%s,%s,%d,%d,%g,%g,", r->name, spot_zoo_kind_name((spot_zoo_kind)r->kind), spot_digits(digits, r->rho, 1),
            r->train, r->epochs, r->wrong, r->black);
    if (options)
        fprintf(f, "%s,%s,%s,%s,%g,", spot_zoo_loss_name((spot_zoo_loss)r->loss), spot_zoo_optimizer_name(r->optimizer),
                spot_zoo_augment_name((spot_zoo_augment)r->augment), spot_zoo_arch_name(r->arch), spot_zoo_rate(dir, r));
    fprintf(f, "%d,%.6f,%.6f,%.6f,%.6f,%.6f\n", t->tested, t->same, t->random, t->alone, t->follows, t->reliance);
}

static spot_status write_truth(spot_ctx *c, const spot_zoo_truth *t, const spot_background_zoo *cfg, const char *dir)
{
    char path[SPOT_ZOO_PATH];
    const bool options = cfg->recipes == SPOT_ZOO_RECIPES_PAPER;
    spot_text text = { 0 };
    FILE *f = spot_text_stream(&text);
    spot_status s = f ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the truth of %d models", cfg->models);

    snprintf(path, sizeof path, "%s/truth.csv", dir);
    if (f) fprintf(f, "model,kind,rho,train,epochs,wrong,black,%stested,same,random,alone,follows,reliance\n",
                   options ? "loss,optimizer,augmentation,architecture,rate," : "");
    for (int k = 0; f && k < cfg->models; k++) put_truth(f, &t[k], options, dir);
    if (f && (fclose(f) || text.status)) s = spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
    if (!s) s = spot_file_write(c, path, text.bytes, text.used);
    spot_text_free(&text);
    return s;
}

spot_status spot_zoo_measure(spot_ctx *c, const char *dir, const spot_zoo_stock *stock)
{
    const int models = stock->cfg->models;
    spot_zoo_truth *t = calloc((size_t)models, sizeof *t);
    measurer m = { 0 };
    spot_status s = t ? open_measurer(c, &m, stock) : spot_fail(c, SPOT_NOMEM, "no memory for the truth of %d models", models);

    if (!s) s = draw_objects(c, &m);
    for (int k = 0; k < models && !s; k++) {
        t[k].recipe = spot_zoo_recipe_of(stock->cfg, k);
        s = spot_check_stop(c);
        if (!s) s = ask_model(c, &m, dir, &t[k]);
        spot_tell(c, "zoo: truth", -1, k + 1, models, "");
    }
    if (!s) s = write_truth(c, t, stock->cfg, dir);
    close_measurer(&m);
    free(t);
    return s;
}

/* -- reading ---------------------------------------------------------------------------------------------------------- */

spot_status spot_zoo_truth_read(spot_ctx *c, spot_zoo_truth *t, const char *dir, const spot_background_zoo *cfg)
{
    char path[SPOT_ZOO_PATH];
    spot_array a = { 0 };
    spot_status s = SPOT_OK;
    double v[6];

    snprintf(path, sizeof path, "%.1000s/truth.csv:tested,same,random,alone,follows,reliance", dir);
    SPOT_TRY(spot_array_read(c, &a, path, 0));
    if (a.rank != 2 || a.dim[0] != cfg->models || a.dim[1] != 6)
        s = spot_fail(c, SPOT_INPUT, "%s/truth.csv does not have the %d models of this zoo; remove it and run again", dir,
                      cfg->models);
    for (int k = 0; k < cfg->models && !s; k++) {
        spot_array_doubles(v, &a, 6 * (size_t)k, 6);
        t[k] = (spot_zoo_truth){ spot_zoo_recipe_of(cfg, k), (int)v[0], v[1], v[2], v[3], v[4], v[5] };
        for (int i = 1; i < 5 && !s; i++)
            if (!(v[i] >= 0 && v[i] <= 1))
                s = spot_fail(c, SPOT_INPUT, "%s/truth.csv, row %d: %g is no share; remove the file and run again", dir, k,
                              v[i]);
    }
    spot_array_close(&a);
    return s;
}
