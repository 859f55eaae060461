/* compare.h - two versions of a model, for spotter compare and for the old spelling of spotter check. */
#ifndef SPOTTER_COMPARE_H
#define SPOTTER_COMPARE_H

#include "cli/ci_files.h"
#include "cli/cli.h"
#include "versions/version_rows.h"

typedef struct {
    spot_version_files from;               /* rows, and both versions, where they are findings or probabilities */
    const char *name, *data, *method, *config, *cls, *out, *attributes;
    const char *html, *title, *date, *guards, *margin;
    int    least, fail_on;
    bool   json, full;
    cli_ci ci;
} cli_comparison;

/* Rows for a command whose struct has a `cli_comparison member`; FLAGS: CLI_HIDDEN for the old spelling, else 0. */
#define CLI_COMPARISON_ROWS(member, FLAGS)                                                                                   \
    { .kind = CLI_HEADING, .help = "Rows, where a version is a file of probabilities:", .flags = FLAGS },                    \
    { "embeddings", 'e', "E", CLI_TEXT, CLI_AT(member.from.files.embeddings), .otherwise = "those that the findings keep",   \
      .flags = CLI_ROWS_PATH | CLI_LINES,                                                                                    \
      .help = "features of each row: (n, d) numbers in .npy, .npz:NAME, .safetensors:NAME or .csv:e0..e511; -e again for "   \
              "those of version 2, since slices in the features of one version take its side" },                             \
    { "embed", 0, "FILE|neutral", CLI_TEXT, CLI_AT(member.from.files.embed), .flags = CLI_ROWS_MODEL,                        \
      .help = "encoder of the pictures, or neutral, which needs no file: slices in features of neither version" },           \
    { "labels", 'y', "Y", CLI_TEXT, CLI_AT(member.from.files.labels), .otherwise = "those of the findings",                  \
      .flags = CLI_ROWS_PATH, .help = "true class of each row: numbers or words" },                                          \
    { "ids", 'i', "I", CLI_TEXT, CLI_AT(member.from.files.ids), .otherwise = "row numbers", .flags = CLI_ROWS_PATH,          \
      .help = "names of the rows" },                                                                                         \
    { "groups", 0, "G|rows", CLI_TEXT, CLI_AT(member.from.files.groups), .otherwise = "those of the findings",               \
      .flags = CLI_ROWS_PATH | CLI_MORE,                                                                                     \
      .help = "video, patient or other group of each row: rows with an equal word or number depend on each other" },         \
    { "probs", 'p', "P", CLI_TEXT, CLI_AT(member.from.files.probs), .otherwise = "those of the findings", .flags = CLI_MORE, \
      .help = "probabilities of version 1 in place of those of its findings, with --labels and --embeddings" },              \
    { "logits", 0, NULL, CLI_ON, CLI_AT(member.from.files.logits), .flags = CLI_ROWS | CLI_MORE,                             \
      .help = "files of probabilities have scores before the softmax, of which probabilities are made" },                    \
    { .kind = CLI_HEADING, .help = "The verdict, and slices of findings and probabilities:", .flags = FLAGS },               \
    { "margin", 0, "X", CLI_TEXT, CLI_AT(member.margin), .otherwise = "0.05",                                                \
      .help = "difference of error rates, or of a run's numbers, that counts as none: worse is more than that, beyond chance "\
              "(with 3 files of --retrain more than these differ by)" },                                                     \
    { "guard", 0, "RULE[@X]", CLI_TEXT, CLI_AT(member.guards), .flags = CLI_LINES,                                           \
      .help = "rows on which no version shall be worse, such as \"places & colour=grey\", asked before all slices, with a " \
              "margin of their own behind @; again for more of them" },                                                      \
    { "retrain", 0, "P,P", CLI_TEXT, CLI_AT(member.from.retrain), .flags = CLI_ROWS_PATH,                                    \
      .help = "probabilities of further trainings of version 1, 3 or more: a change counts beyond their spread" },           \
    { "fail-on", 0, "worse|pending", CLI_CHOICE, CLI_AT(member.fail_on), .preset = "worse",                                  \
      .help = "pending: exit code 7 where nothing is worse, but the rows cannot tell of all rows, a class, a guard "         \
              "or a number of a run" },                                                                                      \
    { "class", 0, "NAME|N|each|all", CLI_TEXT, CLI_AT(member.cls), .otherwise = "each",                                      \
      .help = "class whose slices are compared; each class in turn; or all rows at once" },                                  \
    { "method", 'm', "M[,M]", CLI_TEXT, CLI_AT(member.method), .otherwise = "those of the findings, else of discover",       \
      .help = "methods that find slices" },                                                                                  \
    { "config", 0, "FILE", CLI_TEXT, CLI_AT(member.config), .flags = CLI_MORE,                                               \
      .help = "methods with settings and a seed, as in discover" },                                                          \
    { "attributes", 0, "FILE", CLI_TEXT, CLI_AT(member.attributes), .flags = CLI_ROWS_PATH | CLI_MORE,                       \
      .help = "table.csv with a record for each row, or table.csv:COLUMN with their ids, whose rules are compared, too" },   \
    { "least", 0, "N", CLI_INT, CLI_AT(member.least), 1, 1000000000, .flags = CLI_SHOWN | CLI_MORE,                          \
      .help = "rows that a class must have to be searched" },                                                                \
    { .kind = CLI_HEADING, .help = "Results for findings and probabilities:", .flags = FLAGS },                              \
    { "name", 0, "A,B", CLI_TEXT, CLI_AT(member.name), .otherwise = "names of the files",                                    \
      .help = "names of the two versions; files of one name are called by the shortest ends of their paths that differ, "    \
              "such as v1/p.npy" },                                                                                          \
    { "data", 0, "NAME", CLI_TEXT, CLI_AT(member.data), .flags = CLI_MORE, .help = "name of the rows" },                     \
    { "out", 'o', "DIR", CLI_TEXT, CLI_AT(member.out), .most = 1000,                                                         \
      .help = "folder for versions.json, versions.csv and report.html" },                                                    \
    { "html", 0, "FILE.html", CLI_TEXT, CLI_AT(member.html), .most = 1000, .otherwise = "report.html in --out",              \
      .help = "page of the two versions side by side" },                                                                     \
    { "images", 0, "DIR", CLI_TEXT, CLI_AT(member.from.images), .otherwise = "where `spotter discover` saw them",            \
      .flags = CLI_ROWS_PATH | CLI_MORE, .help = "folder of pictures named by --ids, for the page" },                        \
    { "full", 0, NULL, CLI_ON, CLI_AT(member.full), .flags = CLI_MORE,                                                       \
      .help = "all pictures on the page, whatever its size" },                                                               \
    { "title", 0, "TEXT", CLI_TEXT, CLI_AT(member.title), .otherwise = "names of the versions", .flags = CLI_MORE,           \
      .help = "title of the page" },                                                                                         \
    { "date", 0, "TEXT", CLI_TEXT, CLI_AT(member.date), .flags = CLI_MORE, .help = "date on the page, such as 2026-11-27" }

void        cli_comparison_defaults(cli_comparison *o);

/* Findings and probabilities; runs of a study, of which o has json, margin, fail_on and ci alone. */
spot_status cli_compare_rows  (spot_ctx *c, cli_comparison *o);
spot_status cli_compare_models(spot_ctx *c, const char *before, const char *now, cli_comparison *o);

/* The files of a comparison, before cli_ci_begin. */
void        cli_comparison_take(cli_comparison *o);

/* A margin, which is called `whose` in a message. */
spot_status cli_margin_read(spot_ctx *c, double *x, const char *text, const char *whose);

/* compare_print.c */
void        cli_versions_print(const spot_versions *v, const spot_subject *s);

#endif
