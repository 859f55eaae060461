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
    cli_input_check(state, &m->input, m->file || m->predict);
}

void cli_square_check(const struct argp_state *state, int size, int *resize, int *crop, spot_picture_input *input)
{
    input->resizes = size || cli_is_given(state, "resize");
    input->crops = size || cli_is_given(state, "crop");
    if (!size) return;
    if (cli_is_given(state, "resize") || cli_is_given(state, "crop"))
        argp_error(state, "--size squeezes whole pictures, --resize and --crop cut squares from them; give one of both");
    *resize = SPOT_SQUEEZE, *crop = size;
}

void cli_input_check(const struct argp_state *state, const spot_picture_input *input, bool model)
{
    const char *given = input->mean ? "mean" : input->std ? "std" : input->scale ? "scale" : NULL;

    if (given && !model)
        argp_error(state, "--%s says how pictures enter the network of --model, which is missing", given);
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
