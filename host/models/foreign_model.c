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

spot_status spot_foreign_line(spot_ctx *c, char **line, const char *text)
{
    static const char *const folder[] = { "/..", "/../python/spotter", "/../tools/python/spotter" };
    enum { ROOM = 4 * sizeof(spot_quoted) };
    const char *python = getenv("SPOTTER_PYTHON");
    char path[PATH_MAX + 64];
    spot_quoted quoted[3];

    if (!strncmp(text, SPOT_PROGRAM_MODEL, strlen(SPOT_PROGRAM_MODEL))) {
        *line = strdup(text + strlen(SPOT_PROGRAM_MODEL));
        return *line ? SPOT_OK : spot_fail(c, SPOT_NOMEM, "no memory for a command");
    }
    *line = malloc(ROOM);
    if (!*line) return spot_fail(c, SPOT_NOMEM, "no memory for a command");
    spot_path_beside(path, sizeof path, "SPOT_PREDICTOR_DIR", folder, 3, "predictor.py");
    const bool there = !access(path, R_OK);
    snprintf(*line, ROOM, "exec %s %s%s %s%s", spot_quote(quoted[0], python && *python ? python : "python3"),
             there ? "" : "-c ", spot_quote(quoted[1], there ? path : installed), *text == '-' ? "./" : "",
             spot_quote(quoted[2], text));
    return SPOT_OK;
}
