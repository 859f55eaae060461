/* model_rows.c - see model_rows.h. */
#include "cli/model_rows.h"

void cli_model_check(const struct argp_state *state, const cli_model *m)
{
    if (m->file && m->predict) argp_error(state, "--model and --predict both name the model; give one of them");
    if (m->identity && !m->predict) argp_error(state, "--identity names the program of --predict, which is missing");
}
