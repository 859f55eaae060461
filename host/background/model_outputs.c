/* model_outputs.c - see model_outputs.h. */
#include "background/model_outputs.h"

#include <stdlib.h>
#include <string.h>

#include "background/keywords.h"
#include "store/contents.h"

spot_status spot_model_outputs(spot_ctx *c, int **cls, int *n, const spot_background_model *m, char *const *class_name,
                               int classes)
{
    char **line = NULL;
    int missing = 0, first = -1;

    *cls = NULL, *n = 0;
    if (!m->classes[0]) return SPOT_OK;
    SPOT_TRY(spot_keyword_lines(c, &line, n, m->classes));
    *cls = malloc(((size_t)*n + 1) * sizeof **cls);
    if (!*cls) return free(line), spot_fail(c, SPOT_NOMEM, "no memory for %s", m->classes);
    for (int i = 0; i < *n; i++) {
        (*cls)[i] = -1;
        for (int k = 0; k < classes && (*cls)[i] < 0; k++)
            if (!strcmp(line[i], class_name[k])) (*cls)[i] = k;
    }
    for (int k = 0; k < classes; k++) {
        int i = 0;
        while (i < *n && (*cls)[i] != k) i++;
        if (i == *n && !missing++) first = k;
    }
    free(line);
    if (!missing) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "%s, the outputs of the model \"%s\", lacks %d of the %d classes, such as %s; a line is "
                     "the class of an output", m->classes, m->name, missing, classes, class_name[first]);
}

spot_status spot_model_inputs(spot_ctx *c, char hash[33], const spot_background_model *m, const char *identity,
                              const char *suite)
{
    const char *file[] = { m->weights, m->classes };
    spot_key k = spot_key_of(suite, strlen(suite));

    for (int i = 0; i < 2; i++) {
        char *path = (char *)(uintptr_t)file[i];
        spot_key content;
        if (!path[0]) continue;
        SPOT_TRY(spot_contents_of(c, &content, NULL, &path, 1, NULL));
        k = spot_key_join(k, i ? "classes" : "weights", &content, sizeof content);
    }
    k = spot_key_join(k, "command", m->command, strlen(m->command));
    if (identity) k = spot_key_join(k, "function", identity, strlen(identity));
    spot_key_text(hash, k);
    return SPOT_OK;
}
