/* model_rows.c - see model_rows.h. */
#include "cli/model_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/foreign_model.h"
#include "models/picture_input.h"

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
    if (given && cli_is_given(state, "predict"))
        argp_error(state, "--%s is of a network that Spotter or its Python package opens; the program of --predict gets pixels "
                   "as they are, and has options of its own", given);
    cli_numbers_check(state, input);
}

void cli_numbers_check(const struct argp_state *state, const spot_picture_input *input)
{
    spot_pixel_rule rule = spot_imagenet_rule();
    spot_ctx quiet = { 0 };
    const spot_status s = spot_picture_input_rule(&quiet, &rule, input);

    if (s) argp_error(state, "%s", spot_take_message(&quiet, s));
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
