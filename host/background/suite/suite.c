/* suite.c - the flow: targets -> rows -> keywords -> backgrounds -> range. */
#define _POSIX_C_SOURCE 200809L
#include "background/suite/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "background/suite/suite_work.h"
#include "store/contents.h"
#include "study/keys.h"

enum { TOGETHER = 64 };

const char *spot_background_choice_name(int choice)
{
    static const char *const name[SPOT_SUITE_CHOICES] = { "random", "nearest", "interval", "clip", "ontology" };

    return choice >= 0 && choice < SPOT_SUITE_CHOICES ? name[choice] : "";
}

/* ---- key ---- */

static spot_status join_files(spot_ctx *c, spot_key *k, const spot_background_config *cfg)
{
    const char *const file[] = { cfg->ontology.images, cfg->ontology.backgrounds, cfg->ontology.words };

    for (int i = 0; i < 3; i++) {
        spot_key content;
        if (!file[i][0]) continue;
        SPOT_TRY(spot_contents_of(c, &content, NULL, &file[i], 1, NULL));
        *k = spot_key_join(*k, "keywords", &content, sizeof content);
    }
    return SPOT_OK;
}

/* Settings of the measure count where the suite's blends depend on them. */
static spot_status key_of_suite(spot_ctx *c, char key[33], const spot_background_inputs *in, const spot_suite_encoders *e)
{
    spot_background_config own;
    spot_key k;
    spot_status s;

    spot_background_defaults(&own);
    own.data = in->cfg->data, own.ontology = in->cfg->ontology, own.suite = in->cfg->suite;
    own.measure.levels = in->cfg->measure.levels, own.measure.range = in->cfg->measure.range;
    k = spot_background_key(&own);
    k = spot_key_join(k, "inputs", in->key, 32);
    k = spot_key_join(k, "encoders", &e->key, sizeof e->key);
    s = join_files(c, &k, in->cfg);
    spot_key_text(key, k);
    return s;
}

void spot_suite_path(char *path, size_t size, const char *dir, const char *key)
{
    snprintf(path, size, "%s/suites/%s.safetensors", dir, key);
}

/* ---- arrays ---- */

static spot_status take_arrays(spot_ctx *c, spot_background_suite *s)
{
    const size_t n = (size_t)s->targets * (size_t)s->n + 1;

    s->chosen = malloc(n * sizeof *s->chosen);
    s->distance = malloc(n * sizeof *s->distance);
    s->unreal = malloc(n);
    s->keyword = malloc(n * sizeof *s->keyword);
    s->level = malloc(n);
    s->target_number = malloc(((size_t)s->targets + 1) * sizeof *s->target_number);
    s->cls = malloc(((size_t)s->targets + 1) * sizeof *s->cls);
    return s->chosen && s->distance && s->unreal && s->keyword && s->level && s->target_number && s->cls
         ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for the backgrounds of %d targets", s->targets);
}

/* Copies n texts into one block that follows the pointers. */
static char **copy_texts(char *const *text, const int *number, int n)
{
    size_t bytes = 1;

    for (int i = 0; i < n; i++) bytes += strlen(text[number ? number[i] : i]) + 1;
    char **out = malloc((size_t)n * sizeof *out + bytes), *at = out ? (char *)(out + n) : NULL;
    for (int i = 0; out && i < n; i++) {
        out[i] = strcpy(at, text[number ? number[i] : i]);
        at += strlen(at) + 1;
    }
    return out;
}

/* Numbers of backgrounds become indices of those that are used. */
static spot_status number_backgrounds(spot_ctx *c, spot_background_suite *s, const spot_background_inputs *in)
{
    int *index = malloc(((size_t)in->backgrounds + 1) * sizeof *index);
    const size_t n = (size_t)s->targets * (size_t)s->n;

    s->background_number = malloc(((size_t)in->backgrounds + 1) * sizeof *s->background_number);
    if (!index || !s->background_number) return free(index), spot_fail(c, SPOT_NOMEM, "no memory for %d backgrounds",
                                                                       in->backgrounds);
    for (int i = 0; i < in->backgrounds; i++) index[i] = -1;
    for (size_t i = 0; i < n; i++) index[s->chosen[i]] = 0;
    for (int i = 0; i < in->backgrounds; i++)
        if (!index[i]) s->background_number[s->backgrounds] = i, index[i] = s->backgrounds++;
    for (size_t i = 0; i < n; i++) s->chosen[i] = index[s->chosen[i]];
    free(index);
    s->background = copy_texts(in->back_name, s->background_number, s->backgrounds);
    return s->background ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %d backgrounds", s->backgrounds);
}

static spot_status name_all(spot_ctx *c, spot_suite_work *w)
{
    spot_background_suite *s = w->s;

    for (int i = 0; i < s->targets; i++) s->target_number[i] = w->picture[i], s->cls[i] = w->in->cls[w->picture[i]];
    s->target = copy_texts(w->in->name, s->target_number, s->targets);
    s->class_name = copy_texts(w->in->class_name, NULL, w->in->classes);
    s->word = copy_texts(w->keywords.word, NULL, w->keywords.words);
    if (!s->target || !s->class_name || !s->word) return spot_fail(c, SPOT_NOMEM, "no memory for the names of a suite");
    s->classes = w->in->classes, s->words = w->keywords.words;
    return number_backgrounds(c, s, w->in);
}

static void find_range(spot_background_suite *s, double range)
{
    s->range = (float)range;
    for (size_t i = 0; i < (size_t)s->targets * (size_t)s->n && !(range > 0); i++)
        s->range = s->distance[i] > s->range ? s->distance[i] : s->range;
    if (!(s->range > 0)) s->range = 1;         /* blends that all equal their originals */
}

/* ---- the suite ---- */

static spot_status make_suite(spot_ctx *c, spot_suite_work *w)
{
    const spot_background_config *cfg = w->in->cfg;

    SPOT_TRY(spot_suite_targets(c, w));
    w->s->n = cfg->suite.n;
    SPOT_TRY(take_arrays(c, w->s));
    SPOT_TRY(spot_suite_rows(c, w));
    SPOT_TRY(spot_suite_words(c, w));
    SPOT_TRY(spot_suite_choose(c, w));
    SPOT_TRY(name_all(c, w));
    find_range(w->s, cfg->measure.range);
    return SPOT_OK;
}

static void close_work(spot_suite_work *w)
{
    free(w->picture), free(w->row), free(w->excluded), free(w->allowed), free(w->similar);
    if (w->keywords.words || w->keywords.images.first) spot_keywords_close(&w->keywords);
}

/* *found: the file is there and whole, and s is its suite. */
static spot_status find_suite(spot_ctx *c, spot_background_suite *s, const char *path, const char key[33], bool *found)
{
    spot_status how;

    *found = false;
    if (access(path, F_OK)) return SPOT_OK;
    how = spot_suite_read(c, s, path);
    *found = how == SPOT_OK && !strcmp(s->key, key);
    if (*found) return SPOT_OK;
    if (how != SPOT_OK) spot_log(c, SPOT_LOG_WARN, "%s; the suite is made again", spot_take_message(c, how));
    spot_suite_close(s);
    return SPOT_OK;
}

spot_status spot_suite_open(spot_ctx *c, spot_background_suite *s, spot_background_inputs *in, spot_suite_encoders *e,
                            const spot_suite_place *place)
{
    spot_suite_work w = { .s = s, .in = in, .encoders = e, .store = place->store };
    char path[SPOT_BACKGROUND_PATH + 100], other[SPOT_BACKGROUND_PATH + 100], key[33];
    spot_status how = SPOT_OK;
    bool found = false;

    *s = (spot_background_suite){ 0 };
    SPOT_TRY(key_of_suite(c, key, in, e));
    spot_suite_path(path, sizeof path, place->dir, key);
    spot_suite_path(other, sizeof other, place->known, key);
    SPOT_TRY(find_suite(c, s, path, key, &found));
    if (found) return SPOT_OK;
    if (*place->known) SPOT_TRY(find_suite(c, s, other, key, &found));
    if (!found) {
        how = make_suite(c, &w);
        memcpy(s->key, key, sizeof key);
        memcpy(s->inputs, in->key, sizeof s->inputs);
        memcpy(s->encoder, e->name, sizeof s->encoder);
        close_work(&w);
    }
    if (how == SPOT_OK) how = spot_folder_of(c, path);
    return how == SPOT_OK ? spot_suite_write(c, s, path) : how;
}

void spot_suite_close(spot_background_suite *s)
{
    free(s->target), free(s->target_number), free(s->cls), free(s->class_name), free(s->background), free(s->background_number);
    free(s->chosen), free(s->distance), free(s->unreal), free(s->keyword), free(s->level), free(s->word), free(s->owned);
    *s = (spot_background_suite){ 0 };
}
