/* foreign_model.h - models that Spotter does not run itself: it starts a program that does (spotter/predictor.h).
 *
 * A text names one: net.onnx, net.pt2 (torch.export), net.ts (TorchScript), timm:NAME:FILE and torchvision:NAME:FILE with a
 * file of weights, which the predictor of the Python package opens; or program:COMMAND, any program. */
#ifndef SPOTTER_FOREIGN_MODEL_H
#define SPOTTER_FOREIGN_MODEL_H

#include <stdbool.h>

#include "spotter/array.h"
#include "spotter/ctx.h"

#define SPOT_PROGRAM_MODEL "program:"

/* Whether a text names such a model: a word or a file that is there with one of these ends, or one of the words before ":". */
bool spot_is_foreign(const char *text);
bool spot_is_foreign_file(const char *text);

/* Where the path of a file begins in a text that names a model, this kind or another: behind "timm:NAME:", else at 0. Where the
 * text names no file, it is its end. */
size_t spot_model_path(const char *text);

/* The program of a model that has weights, a command, or neither: the command, or the weights where they are foreign. "": it is
 * none. */
const char *spot_program_text(const char *weights, const char *command);

/* *line: the line of /bin/sh that runs it, malloc'd, with mean, std and scale of `in` as options of the package's predictor;
 * SPOT_USAGE where `in` has them for program:COMMAND. The Python is $SPOTTER_PYTHON, else python3; the package is the one that
 * lies beside this program, else the one which that Python has installed. Nothing is loaded from the current directory. */
spot_status spot_foreign_line(spot_ctx *c, char **line, const char *text, const spot_picture_input *in);

#endif
