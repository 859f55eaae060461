/* suite_file.c - a suite as a file. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "background/suite/suite.h"
#include "formats/tensor_fields.h"

enum { TARGETS, N, CLASSES, BACKGROUNDS, WORDS, SMALL, LARGE, EMPTY, WITH_CLASS, INVERTED, OWN, FACTS, MOST = 100000000 };

spot_status spot_suite_write(spot_ctx *c, const spot_background_suite *s, const char *path)
{
    const int fact[FACTS] = { s->targets, s->n, s->classes, s->backgrounds, s->words, s->small, s->large, s->empty,
                              s->with_class,
                              s->inverted, s->own };
    const spot_tensor_note note[] = { { "key", s->key }, { "encoder", s->encoder }, { "inputs", s->inputs } };
    spot_text target = { 0 }, cls = { 0 }, back = { 0 }, word = { 0 };
    spot_status how = SPOT_OK;

    spot_field_add_texts(&target, s->target, s->targets);
    spot_field_add_texts(&cls, s->class_name, s->classes);
    spot_field_add_texts(&back, s->background, s->backgrounds);
    spot_field_add_texts(&word, s->word, s->words);
    if (target.status || cls.status || back.status || word.status)
        how = spot_fail(c, SPOT_NOMEM, "no memory for the names of a suite");
    const spot_tensor tensor[] = {
        spot_tensor_of("facts", SPOT_I32, FACTS, 0, fact),
        spot_tensor_of("range", SPOT_F32, 1, 0, &s->range),
        spot_tensor_of("target", SPOT_U8, target.used, 0, target.bytes),
        spot_tensor_of("target_number", SPOT_I32, (size_t)s->targets, 0, s->target_number),
        spot_tensor_of("class", SPOT_I32, (size_t)s->targets, 0, s->cls),
        spot_tensor_of("class_name", SPOT_U8, cls.used, 0, cls.bytes),
        spot_tensor_of("background", SPOT_U8, back.used, 0, back.bytes),
        spot_tensor_of("background_number", SPOT_I32, (size_t)s->backgrounds, 0, s->background_number),
        spot_tensor_of("chosen", SPOT_I32, (size_t)s->targets, s->n, s->chosen),
        spot_tensor_of("distance", SPOT_F32, (size_t)s->targets, s->n, s->distance),
        spot_tensor_of("unreal", SPOT_U8, (size_t)s->targets, s->n, s->unreal),
        spot_tensor_of("keyword", SPOT_I32, (size_t)s->targets, s->n, s->keyword),
        spot_tensor_of("level", SPOT_U8, (size_t)s->targets, s->n, s->level),
        spot_tensor_of("word", SPOT_U8, word.used, 0, word.bytes),
    };
    if (how == SPOT_OK) how = spot_tensors_save_with(c, path, tensor, s->words ? 14 : 13, note, 3);
    spot_text_free(&target), spot_text_free(&cls), spot_text_free(&back), spot_text_free(&word);
    return how;
}

static spot_status read_facts(spot_ctx *c, spot_background_suite *s, const spot_tensors *t, const char *path)
{
    const char *key = spot_tensors_note(t, "key"), *encoder = spot_tensors_note(t, "encoder");
    const char *inputs = spot_tensors_note(t, "inputs");       /* suites of older versions have none */
    float *range = NULL;
    int *fact = NULL;
    spot_status how = spot_field_ints(c, &fact, t, "facts", FACTS, 0, MOST, path);

    if (how == SPOT_OK) how = spot_field_copy(c, &range, t, "range", SPOT_F32, 1, path);
    if (how == SPOT_OK && (!key || strlen(key) != 32 || !encoder || !(*range > 0) || !isfinite(*range) || fact[N] < 1
                           || fact[N] > SPOT_MAX_BACKGROUNDS || fact[TARGETS] < 1 || fact[CLASSES] < 1
                               || fact[BACKGROUNDS] < 1))
        how = spot_fail(c, SPOT_INPUT, "%s: its facts are not what this program writes", path);
    if (how == SPOT_OK) {
        snprintf(s->key, sizeof s->key, "%s", key);
        snprintf(s->encoder, sizeof s->encoder, "%s", encoder);
        snprintf(s->inputs, sizeof s->inputs, "%s", inputs ? inputs : "");
        s->range = *range;
        s->targets = fact[TARGETS], s->n = fact[N], s->classes = fact[CLASSES], s->backgrounds = fact[BACKGROUNDS];
        s->words = fact[WORDS], s->small = fact[SMALL], s->large = fact[LARGE], s->empty = fact[EMPTY];
        s->with_class = fact[WITH_CLASS], s->inverted = fact[INVERTED], s->own = fact[OWN];
    }
    free(fact), free(range);
    return how;
}

static spot_status read_arrays(spot_ctx *c, spot_background_suite *s, const spot_tensors *t, const char *path)
{
    const size_t n = (size_t)s->targets * (size_t)s->n;

    SPOT_TRY(spot_field_texts(c, &s->target, t, "target", s->targets, path));
    SPOT_TRY(spot_field_ints(c, &s->target_number, t, "target_number", (size_t)s->targets, 0, MOST, path));
    SPOT_TRY(spot_field_ints(c, &s->cls, t, "class", (size_t)s->targets, 0, s->classes - 1, path));
    SPOT_TRY(spot_field_texts(c, &s->class_name, t, "class_name", s->classes, path));
    SPOT_TRY(spot_field_texts(c, &s->background, t, "background", s->backgrounds, path));
    SPOT_TRY(spot_field_ints(c, &s->background_number, t, "background_number", (size_t)s->backgrounds, 0, MOST, path));
    SPOT_TRY(spot_field_ints(c, &s->chosen, t, "chosen", n, 0, s->backgrounds - 1, path));
    SPOT_TRY(spot_field_copy(c, &s->distance, t, "distance", SPOT_F32, n, path));
    SPOT_TRY(spot_field_copy(c, &s->unreal, t, "unreal", SPOT_U8, n, path));
    SPOT_TRY(spot_field_ints(c, &s->keyword, t, "keyword", n, -1, s->words - 1, path));
    SPOT_TRY(spot_field_copy(c, &s->level, t, "level", SPOT_U8, n, path));
    SPOT_TRY(spot_field_texts(c, &s->word, t, "word", s->words, path));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(s->distance[i]) || s->unreal[i] > 1)
            return spot_fail(c, SPOT_INPUT, "%s: a distance is not finite, or a mark of realness neither 0 nor 1", path);
    return SPOT_OK;
}

spot_status spot_suite_read(spot_ctx *c, spot_background_suite *s, const char *path)
{
    spot_tensors t;
    spot_status how;

    *s = (spot_background_suite){ 0 };
    SPOT_TRY(spot_tensors_open(c, &t, path));
    how = read_facts(c, s, &t, path);
    if (how == SPOT_OK) how = read_arrays(c, s, &t, path);
    spot_tensors_close(&t);
    return how;
}
