/* cmd_figures.c - spotter figures: the paper's figures with a run's numbers. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "spotter/report.h"

enum { MAX_METHODS = 64 };

typedef struct {
    const char *dir, *method[MAX_METHODS];
    spot_figures_options o;
} options;

static const struct argp_option table[] = {
    { "out",    'o', "FOLDER", 0, "where to; made when it is not there", 0 },
    { "which",  'w', "2,3,4",  0, "which figures (all)", 0 },
    { "format", 'f', "png,svg|csv", 0, "how they are written (png,svg); csv prints their numbers and draws nothing", 0 },
    { "method", 'm', "NAME",   0, "draw this method, called as in the tables; more than once for more", 0 },
    { "all",    'a', NULL,     0, "count ECs that did not learn their blindspots, too", 0 },
    { 0 }
};

/* Comma-separated words; each must be one of the names, whose numbers are the bits of what comes back. */
static unsigned words(struct argp_state *state, const char *option, const char *arg, const char *const *names)
{
    unsigned bits = 0;

    for (const char *p = arg; *p || p == arg;) {
        size_t n = strcspn(p, ",");
        int i = 0;
        while (names[i] && (strlen(names[i]) != n || memcmp(names[i], p, n))) i++;
        if (!names[i])
            argp_error(state, "%s is a list of %s, %s and %s, not \"%s\"", option, names[0], names[1], names[2], arg);
        bits |= 1u << i;
        p += n + (p[n] == ',');
    }
    return bits;
}

static error_t option(int key, char *arg, struct argp_state *state)
{
    static const char *const figures[] = { "2", "3", "4", NULL }, *const formats[] = { "png", "svg", "csv", NULL };
    options *o = state->input;
    unsigned bits;

    switch (key) {
    case 'o': o->o.out = arg; return 0;
    case 'w': o->o.which = words(state, "--which", arg, figures) << 2; return 0;
    case 'a': o->o.all = true; return 0;
    case 'f':
        bits = words(state, "--format", arg, formats);
        o->o.png = bits & 1;
        o->o.svg = bits & 2;
        o->o.csv = bits & 4 ? stdout : NULL;
        return 0;
    case 'm':
        if (o->o.methods == MAX_METHODS) argp_error(state, "--method: at most %d", MAX_METHODS);
        o->method[o->o.methods++] = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir) argp_error(state, "one run directory at a time; \"%s\" is one too many", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir) argp_error(state, "which run directory? for example runs/quickstart");
        if (!o->o.out && (o->o.png || o->o.svg)) argp_error(state, "where to? give a folder with -o FOLDER");
        if (o->o.out && strlen(o->o.out) > 1000) argp_error(state, "the name of the folder is longer than 1000 bytes");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int cli_figures(int argc, char **argv)
{
    static const struct argp argp = { table, option, "DIR -o FOLDER",
        "Draws the paper's Figures 2, 3 and 4 with a run's numbers and 95 % intervals: DR and FDR by number of blindspots, "
        "blindspots covered by specificity and by the features that define them; Figure 2 compares two settings of one "
        "method.\n\nExamples:\n"
        "  spotter figures runs/paper -o figures\n"
        "  spotter figures runs/mini -o figures --which 3 --method planespot-tsne --method planespot-pca\n"
        "  spotter figures runs/mini --format csv > figures.csv", NULL, NULL, NULL };
    options o = { .o = { .which = 7u << 2, .png = true, .svg = true } };
    cli_machine machine = { .device = "cpu" };
    spot_ctx c;
    spot_status s;

    cli_parse_argp(&argp, argc, argv, &o);
    o.o.method = o.method;
    s = cli_open(&c, &machine);
    if (s == SPOT_OK) s = spot_figures(&c, o.dir, &o.o);
    return cli_close(&c, s);
}
