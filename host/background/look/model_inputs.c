/* model_inputs.c - see model_inputs.h. */
#include "background/look/model_inputs.h"

#include <string.h>

#include "models/foreign_model.h"
#include "models/picture_input.h"
#include "store/contents.h"

spot_status spot_model_inputs(spot_ctx *c, char hash[33], const spot_background_model *m, const char *identity,
                              const char *suite)
{
    const char *program = spot_program_text(m->weights, m->command), *file[] = { *program ? "" : m->weights, m->classes };
    spot_key k = spot_key_of(suite, strlen(suite));

    for (int i = 0; i < 2; i++) {
        spot_key content;
        if (!file[i][0]) continue;
        SPOT_TRY(spot_contents_of(c, &content, NULL, &file[i], 1, NULL));
        k = spot_key_join(k, i ? "classes" : "weights", &content, sizeof content);
    }
    if (m->identity[0]) k = spot_key_join(k, "program", m->identity, strlen(m->identity));
    else k = spot_key_join(k, "command", program, strlen(program));
    k = spot_picture_input_join(k, &m->input, *program);
    if (identity) k = spot_key_join(k, "function", identity, strlen(identity));
    spot_key_text(hash, k);
    return SPOT_OK;
}
