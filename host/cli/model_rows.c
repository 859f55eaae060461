/* model_rows.c - see model_rows.h. */
#include "cli/model_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/foreign_model.h"

void cli_model_check(const struct argp_state *state, const cli_model *m)
{
    if (m->file && m->predict) argp_error(state, "--model and --predict both name the model; give one of them");
    if (m->identity && !m->predict && !(m->file && spot_is_foreign(m->file)))
        argp_error(state, "--identity names the program of --predict, which is missing");
}

const char *cli_model_text(const struct argp_state *state, const char *file, const char *predict)
{
    char *text;

    if (file && predict) argp_error(state, "--model and --predict both name the model; give one of them");
    if (!predict) return file;
    text = malloc(sizeof SPOT_PROGRAM_MODEL + strlen(predict));
    if (!text) argp_failure(state, spot_exit_code(SPOT_NOMEM), 0, "no memory for the command line");
    else sprintf(text, SPOT_PROGRAM_MODEL "%s", predict);
    return text;
}
