/* foreign_model.c - see foreign_model.h. */
#define _POSIX_C_SOURCE 200809L
#include "models/foreign_model.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quote.h"
#include "core/beside.h"
#include "models/picture_input.h"
#include "spotter/encoder.h"

static const char *const ends[] = { ".onnx", ".pt2", ".ts" };
static const char *const begins[] = { "timm:", "torchvision:", SPOT_PROGRAM_MODEL };

bool spot_is_foreign_file(const char *text)
{
    const size_t n = strlen(text);

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t end = strlen(ends[i]);
        if (n > end && !strcmp(text + n - end, ends[i])) return !strpbrk(text, " \t\n'\"|&;<>()$`") || !access(text, F_OK);
    }
    return false;
}

bool spot_is_foreign(const char *text)
{
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(text, begins[i], strlen(begins[i]))) return true;
    return spot_is_foreign_file(text);
}

size_t spot_model_path(const char *text)
{
    if (!strcmp(text, SPOT_NEUTRAL) || !strncmp(text, SPOT_PROGRAM_MODEL, strlen(SPOT_PROGRAM_MODEL))) return strlen(text);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t n = strlen(begins[i]), name = strcspn(text + n, ":");
        if (!strncmp(text, begins[i], n)) return text[n + name] ? n + name + 1 : n + name;
    }
    return 0;
}

const char *spot_program_text(const char *weights, const char *command)
{
    return *command ? command : spot_is_foreign(weights) ? weights : "";
}

/* ---- its line ---- */

/* Without a package beside this program, Python's own; `python3 -m` would look for it in the current directory first. */
static const char installed[] = "import runpy, sys; sys.path[:] = [p for p in sys.path if p]; "
                                "runpy.run_module('spotter.predictor', run_name='__main__', alter_sys=True)";

/* The options of the package's predictor that say how a picture enters. Returns their length. */
static size_t put_options(char *line, size_t size, const spot_picture_input *in)
{
    const struct { const char *name, *word; } given[] = { { "mean", in->mean }, { "std", in->std } };
    spot_quoted quoted;
    size_t n = 0;

    for (int i = 0; i < 2; i++)
        if (given[i].word && *given[i].word)
            n += (size_t)snprintf(line + n, size - n, " --%s=%s", given[i].name, spot_quote(quoted, given[i].word));
    if (in->scale) n += (size_t)snprintf(line + n, size - n, " --scale=%.17g", in->scale);
    return n;
}

spot_status spot_foreign_line(spot_ctx *c, char **line, const char *text, const spot_picture_input *in)
{
    static const char *const folder[] = { "/..", "/../python/spotter", "/../tools/python/spotter" };
    enum { ROOM = 6 * sizeof(spot_quoted) };
    spot_pixel_rule rule = spot_imagenet_rule();
    const char *python = getenv("SPOTTER_PYTHON");
    char path[PATH_MAX + 64];
    spot_quoted quoted[3];

    if (!strncmp(text, SPOT_PROGRAM_MODEL, strlen(SPOT_PROGRAM_MODEL))) {
        SPOT_TRY(spot_picture_input_refuse(c, in, text + strlen(SPOT_PROGRAM_MODEL)));
        *line = strdup(text + strlen(SPOT_PROGRAM_MODEL));
        return *line ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a command");
    }
    SPOT_TRY(spot_picture_input_rule(c, &rule, in));       /* says what is wrong, as of any other model */
    *line = malloc(ROOM);
    if (!*line) return spot_fail(c, SPOT_NOMEM, "no memory for a command");
    spot_path_beside(path, sizeof path, "SPOT_PREDICTOR_DIR", folder, 3, "predictor.py");
    const bool there = !access(path, R_OK);
    const int n = snprintf(*line, ROOM, "exec %s %s%s %s%s", spot_quote(quoted[0], python && *python ? python : "python3"),
             there ? "" : "-c ", spot_quote(quoted[1], there ? path : installed), *text == '-' ? "./" : "",
             spot_quote(quoted[2], text));
    put_options(*line + n, ROOM - (size_t)n, in);
    return SPOT_OK;
}
