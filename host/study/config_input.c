/* config_input.c - see config_input.h. */
#include "study/config_input.h"

#include <string.h>

#include "models/foreign_model.h"
#include "models/picture_input.h"

spot_status spot_refuse_input(spot_reading *r, int line, int i, const char *name, const spot_picture_input *in,
                              const char *program)
{
    const bool asked = *program && (!spot_is_foreign(program)
                                    || !strncmp(program, SPOT_PROGRAM_MODEL, strlen(SPOT_PROGRAM_MODEL)));
    spot_pixel_rule rule = spot_imagenet_rule();
    spot_ctx quiet = { 0 };
    const spot_status s = asked ? spot_picture_input_refuse(&quiet, in, program) : spot_picture_input_rule(&quiet, &rule, in);

    return s ? spot_refuse(r, line, "{models.input} models[%d], \"%s\": %s", i, name, spot_take_message(&quiet, s)) : SPOT_OK;
}
