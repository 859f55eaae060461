/* model_rows.h - rows of options that say which classifier a command looks with: a file, or a program. A file is one of weights
 * that Spotter runs itself, or one that a program of the Python package opens (CLI_OTHER_MODELS). */
#ifndef SPOTTER_MODEL_ROWS_H
#define SPOTTER_MODEL_ROWS_H

#include "cli/cli.h"

#define CLI_OTHER_MODELS                                                                                                     \
    "; or net.onnx, net.pt2 (torch.export), net.ts (TorchScript), timm:NAME:WEIGHTS, torchvision:NAME:WEIGHTS by "           \
    "the Python package's predictor ($SPOTTER_PYTHON)"

typedef struct { const char *file, *predict, *identity; } cli_model;

/* Rows for a command whose struct has a `cli_model member`. help_: what --model takes. */
#define CLI_MODEL_ROWS(member, flags_, help_)                                                                                \
    { "model",    'm', "FILE", CLI_TEXT, CLI_AT(member.file), .most = 511, .flags = flags_, .help = help_ CLI_OTHER_MODELS }, \
    { "predict",  'p', "COMMAND", CLI_TEXT, CLI_AT(member.predict), .most = 511, .flags = flags_,                             \
      .help = "program that reads pictures and writes logits: any classifier (include/spotter/predictor.h)" },               \
    { "identity", 0,   "TEXT", CLI_TEXT, CLI_AT(member.identity), .most = 127, .otherwise = "its answers to kept pictures",   \
      .flags = flags_, .help = "name by which the program of --predict is known again: change it with the program" }

/* A sentence and exit 2 where both name the model, or a name has no program. */
void cli_model_check(const struct argp_state *state, const cli_model *m);

/* The model of a command that takes one text for both: FILE, or program:COMMAND (spotter/encoder.h), in memory that stays. NULL:
 * none is given. */
#define CLI_PREDICT_ROW(letter, member, flags_)                                                                              \
    { "predict", letter, "COMMAND", CLI_TEXT, CLI_AT(member), .most = 500, .flags = flags_,                                  \
      .help = "program that reads pictures and writes logits and embeddings: any model (include/spotter/predictor.h)" }
const char *cli_model_text(const struct argp_state *state, const char *file, const char *predict);

static inline bool cli_model_given(const cli_model *m) { return m->file || m->predict || m->identity; }

#endif
