/* foreign_key.c - see foreign_key.h. */
#define _POSIX_C_SOURCE 200809L
#include "models/foreign_key.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/foreign_model.h"
#include "models/weights_hash.h"

/* A ramp of colours, and random colours in cells of a quarter and a sixteenth of a side and of one pixel: integers alone. */
void spot_own_picture(uint8_t *rgb, int side, int k)
{
    const int cell[SPOT_OWN_PICTURES] = { 0, side / 4 > 0 ? side / 4 : 1, side / 16 > 0 ? side / 16 : 1, 1 };

    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, rgb += 3) {
            if (!k) {
                rgb[0] = (uint8_t)(255 * x / side), rgb[1] = (uint8_t)(255 * y / side);
                rgb[2] = (uint8_t)(255 - (rgb[0] + rgb[1]) / 2);
                continue;
            }
            const int at[] = { x / cell[k], y / cell[k], k };
            const spot_key colour = spot_key_of(at, sizeof at);
            for (int i = 0; i < 3; i++) rgb[i] = (uint8_t)(colour.hi >> 8 * i);
        }
}

spot_status spot_answers_key(spot_ctx *c, spot_key *key, spot_predictor *p)
{
    const spot_predictor_info *about = spot_predictor_about(p);
    const size_t each = 3 * (size_t)about->side * (size_t)about->side, n = SPOT_OWN_PICTURES;
    uint8_t *rgb = malloc(n * each);
    float *logit = malloc(n * (size_t)(about->outputs + about->dim) * sizeof *logit);
    float *embedding = about->dim && logit ? logit + n * (size_t)about->outputs : NULL;
    spot_status s = rgb && logit ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for %zu pictures", n);

    for (int k = 0; k < SPOT_OWN_PICTURES && s == SPOT_OK; k++) spot_own_picture(rgb + (size_t)k * each, about->side, k);
    if (s == SPOT_OK) s = spot_predict(c, p, &(spot_prediction){ rgb, (int)n, about->side, logit, embedding, NULL });
    if (s == SPOT_OK)
        *key = spot_key_join(spot_key_of("", 0), "answers", logit, n * (size_t)(about->outputs + about->dim) * sizeof *logit);
    free(rgb), free(logit);
    return s;
}

static spot_status join_file(spot_ctx *c, spot_key *key, const char *path)
{
    spot_key bytes;

    SPOT_TRY(spot_weights_hash(c, &bytes, path));
    *key = spot_key_join(*key, "file", &bytes, sizeof bytes);
    return SPOT_OK;
}

/* The file of weights behind timm:NAME: or torchvision:NAME:; NULL: there is none. */
static const char *weights_in(const char *text)
{
    const size_t at = spot_model_path(text);

    return text[at] ? text + at : NULL;
}

bool spot_is_known_by_answers(const char *text) { return !spot_is_foreign_file(text) && !weights_in(text); }

spot_status spot_foreign_key(spot_ctx *c, spot_key *key, const char *text)
{
    char beside[PATH_MAX + 8];

    *key = spot_key_of("", 0);
    if (spot_is_foreign_file(text)) {                       /* an ONNX model may have its weights in a second file */
        SPOT_TRY(join_file(c, key, text));
        snprintf(beside, sizeof beside, "%s.data", text);
        return access(beside, R_OK) ? SPOT_OK : join_file(c, key, beside);
    }
    *key = spot_key_of(text, strlen(text));
    return weights_in(text) ? join_file(c, key, weights_in(text)) : SPOT_OK;
}
