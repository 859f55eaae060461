/* cmd_figures.c - spotter figures: the paper's figures with a run's numbers. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/background.h"
#include "spotter/examine.h"
#include "spotter/report.h"
#include "spotter/work.h"

enum { MOST_METHODS = 64, MOST_SHIFTS = SPOT_MAX_SHIFTS, MOST_RUNS = 12 };

typedef struct {
    cli_rest dir;
    const char *method[MOST_METHODS], *shift[MOST_SHIFTS];
    spot_figures_options o;
} figures_flags, cli_flags;

/* "2, 3 and 4" */
static const char *joined(char text[120], const char *const *names)
{
    size_t used = 0;

    for (int i = 0; names[i]; i++)
        used += (size_t)snprintf(text + used, 120 - used, "%s%s", i ? names[i + 1] ? ", " : " and " : "", names[i]);
    return text;
}

/* Reads comma-separated words. Each must be one of the names; the bit of its number is set in the result. */
static unsigned read_words(const struct argp_state *state, const char *option, const char *arg, const char *const *names)
{
    unsigned bits = 0;
    char all[120];

    for (const char *p = arg; *p || p == arg;) {
        size_t n = strcspn(p, ",");
        int i = 0;
        while (names[i] && (strlen(names[i]) != n || memcmp(names[i], p, n))) i++;
        if (!names[i])
            argp_error(state, "%s is a list of %s, not \"%s\"", option, joined(all, names), arg);
        bits |= 1u << i;
        p += n + (p[n] == ',');
    }
    return bits;
}

static void read_which(const struct argp_state *state, const char *word, void *input)
{
    static const char *const figures[] = { "1", "2", "3", "4", "6", "7", "8", "9", "10", "11", "12", "13", "15", "17", NULL };
    static const int number[] = { 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 15, 17 };
    const unsigned bits = read_words(state, "--which", word, figures);
    figures_flags *o = input;

    for (int i = 0; figures[i]; i++)
        if (bits >> i & 1) o->o.which |= 1u << number[i];
}

static void read_format(const struct argp_state *state, const char *word, void *input)
{
    static const char *const formats[] = { "png", "svg", "csv", NULL };
    figures_flags *o = input;
    unsigned bits = read_words(state, "--format", word, formats);

    o->o.png = bits & 1;
    o->o.svg = bits & 2;
    o->o.csv = bits & 4 ? stdout : NULL;
}

static const cli_row table[] = {
    { .word = "DIR", .kind = CLI_REST, CLI_AT(dir), .most = MOST_RUNS, .need = "runs/quickstart" },
    { "out",    'o', "FOLDER", CLI_TEXT, CLI_AT(o.out), .most = 1000,
      .help = "folder for the pictures; made if it is missing" },
    { "which",  'w', "1,2,3|4,6,7,...,17", CLI_CALL, .read = read_which, .otherwise = "all that the run has",
      .help = "numbers of the figures: 2 to 4, 6 and 7 of a sweep; 6, 10, 11 and 17 of shifts; 8 to 13 and 15 of "
              "backgrounds; 1 to 4 and 6 of an examination" },
    { "format", 'f', "png,svg|csv", CLI_CALL, .preset = "png,svg", .read = read_format,
      .help = "files to write; csv: the figures' numbers on stdout, no pictures" },
    { "method", 'm', "NAME",   CLI_LIST, CLI_AT(method), .most = MOST_METHODS, .count = CLI_AT(o.methods),
      .otherwise = "all", .help = "one method with its name in the tables, or of backgrounds or an examination one model; may "
              "be given several times" },
    { "shift",  's', "NAME",   CLI_LIST, CLI_AT(shift), .most = MOST_SHIFTS, .count = CLI_AT(o.shifts),
      .otherwise = "all", .help = "one shift of Figures 10 and 17; may be given several times" },
    { "all",    'a', NULL,     CLI_ON, CLI_AT(o.all), .help = "all ECs, also those that did not learn their blindspots" },
    { .kind = CLI_END }
};

static void check_options(const struct argp_state *state, void *input)
{
    const figures_flags *o = input;

    if (!o->o.out && (o->o.png || o->o.svg)) argp_error(state, "--out FOLDER is missing; for example: --out figures");
}

static spot_status draw_figures(spot_ctx *c, void *input)
{
    const unsigned sweeps = 7u << 2 | 3u << 6;
    figures_flags *o = input;
    const char *dir = o->dir.word[0];
    const spot_study *study = NULL, *first = NULL;

    o->o.method = o->method;
    o->o.shift = o->shift;
    for (int i = 0; i < o->dir.n; i++) {
        SPOT_TRY(cli_study_for(c, &study, o->dir.word[i], "figures", "sweep background examine shifts"));
        if (o->dir.n > 1 && study != &spot_background_study && study != &spot_examine_study)
            return spot_fail(c, SPOT_USAGE, "%s is no run of `spotter background`; figures of other studies are of one run",
                             o->dir.word[i]);
        if (i && study != first) return spot_fail(c, SPOT_USAGE, "%s and %s are runs of two studies", dir, o->dir.word[i]);
        first = study;
    }
    if (study == &spot_examine_study) return spot_examine_figures(c, o->dir.word, o->dir.n, &o->o);
    if (study == &spot_background_study) return spot_background_figures(c, o->dir.word, o->dir.n, &o->o);
    if (study == &spot_shifts_study) return spot_shifts_figures(c, dir, &o->o);
    if (o->o.which & ~sweeps || o->o.shifts)
        return spot_fail(c, SPOT_USAGE, "%s is a run of `spotter sweep`: it has Figures 2, 3, 4, 6 and 7", dir);
    return spot_figures(c, dir, &o->o);
}

const cli_command cli_figures_command = {
    "figures", "the papers' figures from a run", "DIR [DIR...] -o FOLDER",
    "  spotter figures runs/paper -o figures\n"
    "  spotter figures runs/mini -o figures --which 3 --method planespot-tsne\n"
    "  spotter figures runs/mini --format csv > figures.csv\n"
    "  spotter figures runs/shifts -o figures --which 10,11\n"
    "  spotter figures runs/seed_1 runs/seed_2 -o figures --which 12\n"
    "  spotter figures runs/examine -o figures",
    "Draws the paper's Figures 2, 3 and 4 with a run's numbers and 95 % intervals: DR and FDR by number of blindspots, covered "
    "blindspots by specificity and by the features that define them. Figure 2 compares two settings of one method. On real "
    "pictures, of their conditioned pools: DR by number (6) and by specificity (7). Of a run of "
    "`spotter shifts`: base against shift accuracy (10), slope against impact (11), similarities and pass rates (17), and "
    "raters' selection frequency (6). Of a run of `spotter background`: matrices of models of equal accuracies (8), keywords "
    "by level of the ontology (9), distances of blends (11); of a run with variants, or of several such runs, also their "
    "matrices side by side (10, 12, 13 and 15, by what their settings differ in). Of a run of `spotter "
    "examine`: p against renders (1), p of each class (2), conditions of first and last renders by t-SNE (3, and 4 of planted "
    "weaknesses); of two runs whose factors have another order, whether both end in the same place (6).",
    table, check_options,
    .work = draw_figures, CLI_OPTIONS(o.out)
};
