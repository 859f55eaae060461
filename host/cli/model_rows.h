/* model_rows.h - rows of options that say which classifier a command looks with: a file, or a program. A file is one of weights
 * that Spotter runs itself, or one that a program of the Python package opens (CLI_OTHER_MODELS). */
#ifndef SPOTTER_MODEL_ROWS_H
#define SPOTTER_MODEL_ROWS_H

#include "cli/cli.h"
#include "spotter/array.h"

#define CLI_OTHER_MODELS                                                                                                     \
    "; or net.onnx, net.pt2 (torch.export), net.ts (TorchScript), timm:NAME:WEIGHTS, torchvision:NAME:WEIGHTS by "           \
    "the Python package's predictor ($SPOTTER_PYTHON)"

typedef struct { const char *file, *predict, *identity; spot_picture_input input; } cli_model;

/* Rows for a command whose struct has a `cli_model member`. help_: what --model takes. */
#define CLI_MODEL_ROWS(member, flags_, help_)                                                                                \
    { "model",    'm', "FILE", CLI_TEXT, CLI_AT(member.file), .most = 511, .flags = flags_, .help = help_ CLI_OTHER_MODELS }, \
    { "predict",  'p', "COMMAND", CLI_TEXT, CLI_AT(member.predict), .most = 511, .flags = flags_,                             \
      .help = "program that reads pictures and writes logits: any classifier (include/spotter/predictor.h)" },               \
    { "identity", 0,   "TEXT", CLI_TEXT, CLI_AT(member.identity), .most = 127, .otherwise = "its answers to kept pictures",   \
      .flags = flags_, .help = "name by which the program of --predict is known again: change it with the program" },        \
    CLI_INPUT_ROWS("", member.input, "", flags_)

/* How pictures enter the network: rows for a command whose struct has a `spot_picture_input member`; each name begins with
 * `prefix`, and `whose` ends the help of each. SQUARE_ROWS: where the command resizes pictures; `size` is an int. */
#define CLI_INPUT_ROWS(prefix, member, whose, flags_)                                                                        \
    { prefix "mean",  0, "X|R,G,B", CLI_TEXT, CLI_AT(member.mean), .most = 95, .flags = flags_,                              \
      .otherwise = "the network's own, else ImageNet's 0.485,0.456,0.406",                                                   \
      .help = "what is taken from pixels / scale, for all channels or for each" whose },                                     \
    { prefix "std",   0, "X|R,G,B", CLI_TEXT, CLI_AT(member.std), .most = 95, .flags = flags_,                               \
      .otherwise = "the network's own, else ImageNet's 0.229,0.224,0.225", .help = "by which they are divided then" whose }, \
    { prefix "scale", 0, "X", CLI_REAL, CLI_AT(member.scale), 1e-6, 1e6, .flags = flags_, .otherwise = "255",                \
      .help = "by which pixels, 0 to 255, are divided first; 1: they stay as they are" whose }
#define CLI_SQUARE_ROWS(prefix, member, whose, flags_)                                                                       \
    { prefix "interpolation", 0, "own|bilinear|bicubic", CLI_CHOICE, CLI_AT(member.interpolation), .preset = "own",          \
      .flags = flags_, .help = "how pictures are resized, with antialias; own: bilinear, bicubic for a CLIP and a ViT" whose }
#define CLI_SIZE_ROW(member, flags_)                                                                                         \
    { "size",   0,   "N",    CLI_INT, CLI_AT(member), 1, 4096, .flags = flags_, .otherwise = "--resize and --crop",          \
      .help = "pixels a side to which whole pictures are squeezed, whatever their shape" }

/* The square that --size, or --resize and --crop, make of a picture, and whether they were given. Exit 2 where both are. */
void cli_square_check(const struct argp_state *state, int size, int *resize, int *crop, spot_picture_input *input);

/* Exit 2 where mean, std or scale stand without a model that they are of, or are no such numbers. */
void cli_numbers_check(const struct argp_state *state, const spot_picture_input *input);
void cli_input_check(const struct argp_state *state, const spot_picture_input *input, bool model);

/* A sentence and exit 2 where both name the model, or a name has no program. */
void cli_model_check(const struct argp_state *state, const cli_model *m);

/* The model of a command that takes one text for both: FILE, or program:COMMAND (spotter/encoder.h), in memory that stays.
 * NULL: none is given. */
#define CLI_PREDICT_ROW(letter, member, flags_)                                                                              \
    { "predict", letter, "COMMAND", CLI_TEXT, CLI_AT(member), .most = 500, .flags = flags_,                                  \
      .help = "program that reads pictures and writes logits and embeddings: any model (include/spotter/predictor.h)" }
const char *cli_model_text(const struct argp_state *state, const char *file, const char *predict);

static inline bool cli_model_given(const cli_model *m)
{
    return m->file || m->predict || m->identity || m->input.mean || m->input.std || m->input.scale;
}

#endif
