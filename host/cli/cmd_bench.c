/* cmd_bench.c - spotter bench: is the answer right, and how long does it take? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cli/cli.h"
#include "device.h"

enum { LEAST_RUNS = 5, MOST_RUNS = 200 };

typedef struct { cli_machine machine; const char *op; bool json; } options;

static const spot_bench_row *const benches[] = {
#define X(name) spot_bench_##name,
    SPOT_BENCHES(X)
#undef X
};
enum { BENCHES = sizeof benches / sizeof *benches };

static const struct argp_option table[] = {
    { "json", 'j', NULL, 0, "one array of {op, case, median_s, per_s}", 0 },
    { 0 }
};

static error_t option(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->machine; return 0;
    case 'j':           o->json = true; return 0;
    case ARGP_KEY_ARG:
        if (o->op) argp_error(state, "one op at a time; \"%s\" is one too many", arg);
        o->op = arg;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Checked, warmed up by one run, then timed until there are five runs and half a second of them. */
static spot_status time_row(spot_ctx *c, const spot_bench_row *row, void *state, double *median)
{
    double took[MOST_RUNS], sum = 0;
    int n = 0;

    if (row->check) SPOT_TRY(row->check(c, state));
    SPOT_TRY(row->run(c, state));
    while (n < LEAST_RUNS || (n < MOST_RUNS && sum < 0.5)) {
        double since = cli_now();
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(row->run(c, state));
        took[n] = cli_now() - since;
        sum += took[n++];
    }
    qsort(took, (size_t)n, sizeof *took, ascending);
    *median = n % 2 ? took[n / 2] : (took[n / 2 - 1] + took[n / 2]) / 2;
    return SPOT_OK;
}

static spot_status run_row(spot_ctx *c, const spot_bench_row *row, bool json, const char **comma)
{
    void *state = NULL;
    double median = 0;
    spot_status s = row->open ? row->open(c, &state) : SPOT_OK;

    if (s == SPOT_OK) s = time_row(c, row, state, &median);
    if (row->close && state) row->close(state);
    SPOT_TRY(s);
    if (json)
        printf("%s\n  {\"op\":\"%s\",\"case\":\"%s\",\"median_s\":%.9g,\"per_s\":%.6g}", *comma, row->op, row->name, median,
               row->items / median);
    else
        printf("%-10s %-36s %10.3f ms  %10.4g %s/s\n", row->op, row->name, 1e3 * median, row->items / median, row->unit);
    *comma = ",";
    fflush(stdout);
    return SPOT_OK;
}

static spot_status complain_of(spot_ctx *c, const char *op)
{
    char known[512] = "";

    for (int b = 0; b < BENCHES; b++)
        for (const spot_bench_row *row = benches[b], *before = NULL; row->op; before = row++) {
            size_t n = strlen(known);
            if (!before || strcmp(row->op, before->op)) snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", row->op);
        }
    return spot_fail(c, SPOT_USAGE, "there is no bench of \"%s\"; there are %s", op, known);
}

/* A row that fails is told and remembered; the others still run. */
static spot_status run_all(spot_ctx *c, const options *o)
{
    const char *comma = "";
    spot_status first = SPOT_OK;
    char message[1024] = "";
    int rows = 0;

    if (o->json) printf("[");
    for (int b = 0; b < BENCHES; b++)
        for (const spot_bench_row *row = benches[b]; row->op; row++) {
            if (o->op && strcmp(o->op, row->op)) continue;
            rows++;
            spot_status s = run_row(c, row, o->json, &comma);
            if (s == SPOT_OK) continue;
            if (s == SPOT_STOPPED) return s;
            spot_log(c, SPOT_LOG_WARN, "%s, %s: %s", row->op, row->name, spot_message(c, s));
            if (!first) snprintf(message, sizeof message, "%s", spot_message(c, s));
            if (!first) first = s;
            spot_forget(c);
        }
    if (o->json) printf("\n]\n");
    if (!rows && o->op) return complain_of(c, o->op);
    return first ? spot_fail(c, first, "%s", message) : SPOT_OK;
}

int cli_bench(int argc, char **argv)
{
    static const struct argp_child children[] = { { &cli_machine_argp, 0, NULL, 0 }, { 0 } };
    static const struct argp argp = { table, option, "[OP]",
        "Checks each kernel's answer, then times it: one run to warm up, at least five timed, the median.\n\nExamples:\n"
        "  spotter bench\n"
        "  spotter bench mixture --threads 1 --json", children, NULL, NULL };
    options o = { 0 };
    spot_ctx c;
    spot_status s;

    cli_parse(&argp, argc, argv, &o);
    s = cli_open(&c, &o.machine);
    if (s == SPOT_OK) cli_say_device(&c, &o.machine);
    if (s == SPOT_OK) s = run_all(&c, &o);
    return cli_close(&c, s);
}
