/* encoder_rows.h - rows of options for commands that open an encoder (spotter/encoder.h). */
#ifndef SPOTTER_ENCODER_ROWS_H
#define SPOTTER_ENCODER_ROWS_H

#include "cli/cli.h"
#include "spotter/encoder.h"

typedef struct {
    spot_encoder_options o;            /* cli_encoder_options completes it */
    const char *heads, *end;
    int activation, precision, clean;
} cli_encoder;

/* Rows for a command whose struct has a `cli_encoder member`; each name begins with `prefix`. */
#define CLI_ENCODER_ROWS(prefix, member)                                                                                     \
    { .kind = CLI_HEADING, .help = "Facts about a CLIP that its config.json does not tell:", .flags = CLI_MORE },            \
    { prefix "config",     0, "FILE", CLI_TEXT, CLI_AT(member.o.clip.config), .otherwise = "beside the weights",             \
      .flags = CLI_ROWS_PATH, .help = "config.json or open_clip_config.json of the weights" },                               \
    { prefix "heads",      0, "I[,T]", CLI_TEXT, CLI_AT(member.heads), .otherwise = "as in the config", .flags = CLI_ROWS,   \
      .help = "attention heads of the tower for pictures and of the one for texts" },                                        \
    { prefix "activation", 0, "config|quick_gelu|gelu", CLI_CHOICE, CLI_AT(member.activation), .preset = "config",           \
      .flags = CLI_ROWS, .help = "activation of both towers; OpenAI's weights have quick_gelu, most of LAION's gelu" },      \
    { prefix "end-token",  0, "greatest|ID", CLI_TEXT, CLI_AT(member.end), .otherwise = "as in the config", .flags = CLI_ROWS, \
      .help = "end of a text, where its embedding is taken: the greatest id, as in OpenAI's weights, or the first ID" },     \
    { prefix "precision",  0, "fp32|tf32|bf16", CLI_CHOICE, CLI_AT(member.precision), .preset = "fp32", .flags = CLI_ROWS,   \
      .help = "precision of CLIP's products; tf32 needs a GPU, bf16 a GPU or a CPU with AVX512-BF16" }

/* Rows for texts. */
#define CLI_ENCODER_TEXT_ROWS(prefix, member)                                                                                \
    { prefix "vocabulary", 0, "PATH", CLI_TEXT, CLI_AT(member.o.vocabulary), .otherwise = "beside the weights",              \
      .flags = CLI_ROWS_PATH,                                                                                                \
      .help = "tokenizer: tokenizer.json, vocab.json with merges.txt, bpe_simple_vocab_16e6.txt.gz, or their folder" },      \
    { prefix "clean",      0, "fast", CLI_CHOICE, CLI_AT(member.clean), .preset = "fast", .flags = CLI_ROWS,                 \
      .help = "cleaning of texts: lower case and single spaces, the only way" },                                             \
    { prefix "cut",        0, NULL, CLI_ON, CLI_AT(member.o.cut), .flags = CLI_ROWS,                                         \
      .help = "texts that are too long are cut and counted" }

/* Stores the library's defaults. */
void cli_encoder_defaults(cli_encoder *e);

/* Reads --heads and --end-token. SPOT_USAGE with a sentence that names the option. */
spot_status cli_encoder_options(spot_ctx *c, cli_encoder *e, const char *prefix);

#endif
