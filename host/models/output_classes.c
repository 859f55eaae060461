/* output_classes.c - see output_classes.h. */
#include "models/output_classes.h"

#include <stdlib.h>
#include <string.h>

#include "formats/word_lines.h"

spot_status spot_output_classes(spot_ctx *c, int **cls, int *n, const char *path, const char *model, char *const *class_name,
                                int classes)
{
    char **line = NULL;
    int missing = 0, first = -1;

    *cls = NULL, *n = 0;
    if (!path[0]) return SPOT_OK;
    SPOT_TRY(spot_word_lines(c, &line, n, path));
    *cls = malloc(((size_t)*n + 1) * sizeof **cls);
    if (!*cls) return free(line), spot_fail(c, SPOT_NOMEM, "no memory for %s", path);
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
    return spot_fail(c, SPOT_INPUT, "{model.output_classes} %s, the outputs of the model \"%s\", lacks %d of the %d classes, "
                     "such as %s; a line is the class of an output", path, model, missing, classes, class_name[first]);
}

spot_status spot_output_check(spot_ctx *c, int outputs, const int *cls, int n, const char *path, const char *model, int classes)
{
    if (outputs == (cls ? n : classes)) return SPOT_OK;
    return spot_fail(c, SPOT_INPUT, "{model.outputs} the model \"%s\" has %d outputs, and %s %d; models[].classes is a text "
                     "with the class of each output",
                     model, outputs, path[0] ? path : "the study's classes are", cls ? n : classes);
}
