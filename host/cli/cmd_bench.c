/* cmd_bench.c - spotter bench: checks the results of the kernels and times them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "bench.h"
#include "cli/cli.h"
#include "core/device.h"

enum { LEAST_RUNS = 5, MOST_RUNS = 200, MOST_OPS = 64 };
#define ENOUGH  0.5            /* seconds of timed runs */
#define TOO_LONG 20            /* seconds; then fewer runs than LEAST_RUNS are enough */
#define BETWEEN 0.01           /* seconds of work between two waits for a GPU: a wait costs microseconds */

typedef struct {
    cli_machine machine;
    cli_rest ops;                  /* none: all */
    double copy, product;          /* ceilings that are known: GB/s and TFLOP/s; 0: they are measured */
    bool json, small;
} bench_flags, cli_flags;

typedef struct {
    const bench_flags *o;
    const char *comma;         /* before the next object of JSON; NULL before the array */
    /* The current device: */
    double bytes, flops;       /* measured ceilings, a second; 0: not measured */
    int rows;
    spot_status first;         /* first failure */
    char message[1024];
} session;

typedef struct { double median; int runs; } timing;

static const spot_bench_row *const benches[] = {
#define X(name) spot_bench_##name,
    SPOT_BENCHES(X)
#undef X
};
enum { BENCHES = sizeof benches / sizeof *benches };

/* Whether there is such an op; if not, `known` lists all ops. */
static bool is_known(const char *op, char *known, size_t size)
{
    for (int b = 0; b < BENCHES; b++)
        for (const spot_bench_row *row = benches[b]; row->op; row++) {
            char *at = strstr(known, row->op);
            size_t n = strlen(known), length = strlen(row->op);
            if (!strcmp(op, row->op)) return true;
            while (at && at[length] && at[length] != ',') at = strstr(at + 1, row->op);
            if (!at) snprintf(known + n, size - n, "%s%s", n ? ", " : "", row->op);
        }
    return false;
}

static void check_words(const struct argp_state *state, void *input)
{
    const bench_flags *o = input;

    for (int i = 0; i < o->ops.n; i++) {
        char known[512] = "";
        if (!is_known(o->ops.word[i], known, sizeof known))
            argp_error(state, "there is no bench of \"%s\"; there are %s", o->ops.word[i], known);
    }
    if ((o->copy > 0) != (o->product > 0))
        argp_error(state, "--copy and --product go together: with both, no ceiling is measured");
}

/* Whether the words ask for the op. Where ceilings are not given, a GPU's are always measured. */
static bool is_asked(const bench_flags *o, const spot_ctx *c, const char *op)
{
    for (int i = 0; i < o->ops.n; i++)
        if (!strcmp(o->ops.word[i], op)) return true;
    return !o->ops.n || (c->device && !o->copy && !strcmp(op, "ceiling"));
}

static const cli_row table[] = {
    { .word = "OP", .kind = CLI_REST, CLI_AT(ops), .most = MOST_OPS },
    { "copy",    0, "GB/s",    CLI_REAL, CLI_AT(copy), 1e-3, 1e9, .otherwise = "measured on a GPU",
      .help = "rate of a large copy on the device, from an earlier bench, with --product" },
    { "product", 0, "TFLOP/s", CLI_REAL, CLI_AT(product), 1e-6, 1e9, .otherwise = "measured on a GPU",
      .help = "rate of a large matrix product, from an earlier bench, with --copy" },
    { "json",  'j', NULL, CLI_ON, CLI_AT(json),
      .help = "JSON array on stdout: op, case, device, median_s, per_s, unit, runs, and where they apply tflops, gbs, "
              "ceiling_percent; a row that failed has an error instead" },
    { "small", 's', NULL, CLI_ON, CLI_AT(small), .help = "tiny sizes and one timed run, to see that every row works" },
    CLI_MACHINE_ROWS("auto"),
    { .kind = CLI_END }
};

/* Mean seconds of a run, over `each` runs in a row. */
static spot_status clock_runs(spot_ctx *c, const spot_bench_kind *kind, void *state, int each, double *took)
{
    double since = spot_clock();

    for (int i = 0; i < each; i++) SPOT_TRY(kind->run(c, state));
    SPOT_TRY(spot_device_wait(c));
    *took = (spot_clock() - since) / each;
    return SPOT_OK;
}

/* Checks the row, runs it once to warm up, then times it: at least five runs and half a second. */
static spot_status time_row(spot_ctx *c, const spot_bench_kind *kind, void *state, bool small, timing *t)
{
    double took[MOST_RUNS], sum = 0;
    int n = 0, each = 1;

    SPOT_TRY(kind->check(c, state));
    SPOT_TRY(spot_device_wait(c));
    if (!small) SPOT_TRY(clock_runs(c, kind, state, 1, &took[0]));
    if (c->device && !small && took[0] < BETWEEN) each = (int)(BETWEEN / (took[0] + 1e-6)) + 1;
    while (n < (small ? 1 : LEAST_RUNS) || (n < MOST_RUNS && sum < (small ? 0 : ENOUGH))) {
        SPOT_TRY(spot_check_stop(c));
        SPOT_TRY(clock_runs(c, kind, state, each, &took[n]));
        sum += took[n++] * each;
        if (sum > TOO_LONG) break;
    }
    spot_sort_doubles(took, (size_t)n);
    *t = (timing){ n % 2 ? took[n / 2] : (took[n / 2 - 1] + took[n / 2]) / 2, n * each };
    return SPOT_OK;
}

static spot_status run_row(spot_ctx *c, const session *s, const spot_bench_row *row, spot_bench_work *work, timing *t)
{
    void *state = NULL;
    spot_status e = row->kind->open(c, &state, s->o->small ? row->small : row->size, work);

    if (e == SPOT_OK) e = time_row(c, row->kind, state, s->o->small, t);
    if (state) row->kind->close(c, state);
    return e;
}

/* Percent of the ceiling that this program has measured; 0 where there is none. */
static double ceiling_percent(const session *s, const spot_bench_work *work, double median)
{
    if (work->matrix && work->flops > 0 && s->flops > 0) return 100 * work->flops / median / s->flops;
    if (!work->matrix && work->bytes > 0 && s->bytes > 0) return 100 * work->bytes / median / s->bytes;
    return 0;
}

/* A row as text: time, known rates, share of the ceiling. */
static void print_text(const session *s, const spot_bench_row *row, const spot_bench_work *work, const timing *t)
{
    double percent = ceiling_percent(s, work, t->median);

    printf("%-10s %-44s %10.3f ms  %10.4g %s/s", row->op, row->name, 1e3 * t->median, work->items / t->median, row->unit);
    if (work->flops > 0) printf("  %8.4g TFLOP/s", work->flops / t->median / 1e12);
    if (work->bytes > 0) printf("  %8.4g GB/s", work->bytes / t->median / 1e9);
    if (percent > 0) printf("  %5.1f %% of the ceiling", percent);
    printf("\n");
}

/* One object a line, so that a reader has each row at once. */
static spot_status begin_row(spot_ctx *c, spot_json *j, const session *s, const spot_bench_row *row)
{
    SPOT_TRY(spot_json_begin(c, j, NULL));
    spot_json_object(j, NULL);
    spot_json_put_text(j, "op", row->op);
    spot_json_put_format(j, "case", "%s%s", row->name, s->o->small ? ", small" : "");
    spot_json_put_text(j, "device", spot_ctx_device_name(c));
    return SPOT_OK;
}

static void print_row(spot_json *j, const session *s)
{
    printf("%s\n  ", s->comma);
    spot_json_print(j, stdout);
}

static spot_status print_json(const session *s, spot_ctx *c, const spot_bench_row *row, const spot_bench_work *work,
                              const timing *t)
{
    double percent = ceiling_percent(s, work, t->median);
    spot_json j;

    SPOT_TRY(begin_row(c, &j, s, row));
    spot_json_put_number(&j, "median_s", "%.9g", t->median);
    spot_json_put_number(&j, "per_s", "%.6g", work->items / t->median);
    spot_json_put_text(&j, "unit", row->unit);
    spot_json_put_int(&j, "runs", t->runs);
    if (work->flops > 0) spot_json_put_number(&j, "tflops", "%.6g", work->flops / t->median / 1e12);
    if (work->bytes > 0) spot_json_put_number(&j, "gbs", "%.6g", work->bytes / t->median / 1e9);
    if (percent > 0) spot_json_put_number(&j, "ceiling_percent", "%.4g", percent);
    print_row(&j, s);
    return SPOT_OK;
}

/* A failure is reported and kept; the other rows still run. */
static void report_failure(session *s, spot_ctx *c, const spot_bench_row *row, spot_status e)
{
    const char *words = spot_message(c, e);
    spot_json j;

    if (s->o->json && !begin_row(c, &j, s, row)) {
        spot_json_put_text(&j, "error", words);
        print_row(&j, s);
    }
    spot_log(c, SPOT_LOG_WARN, "%s, %s: %s", row->op, row->name, words);
    if (!s->first) snprintf(s->message, sizeof s->message, "%s", words);
    if (!s->first) s->first = e;
    spot_forget(c);
}

static spot_status bench_row(session *s, spot_ctx *c, const spot_bench_row *row)
{
    spot_bench_work work = { 0 };
    timing t = { 0 };
    spot_status e = run_row(c, s, row, &work, &t);

    if (e == SPOT_UNSUPPORTED && !c->device) {             /* bf16 on a CPU without it */
        spot_log(c, SPOT_LOG_INFO, "%s, %s is left out: %s", row->op, row->name, spot_take_message(c, e));
        return SPOT_OK;
    }
    s->rows++;
    if (e == SPOT_STOPPED) return e;
    if (e != SPOT_OK) report_failure(s, c, row, e);
    else if (s->o->json) SPOT_TRY(print_json(s, c, row, &work, &t));
    else print_text(s, row, &work, &t);
    if (e == SPOT_OK && !strcmp(row->op, "ceiling")) {
        if (work.matrix) s->flops = work.flops / t.median;
        else             s->bytes = work.bytes / t.median;
    }
    s->comma = ",";
    fflush(stdout);
    return SPOT_OK;
}

/* Runs all wanted rows; the ceilings are the first of them. */
static spot_status run_all(session *s, spot_ctx *c)
{
    int on = c->device ? SPOT_ON_CUDA : SPOT_ON_CPU;

    for (int b = 0; b < BENCHES; b++)
        for (const spot_bench_row *row = benches[b]; row->op; row++) {
            if (is_asked(s->o, c, row->op) && (row->on & on)) SPOT_TRY(bench_row(s, c, row));
        }
    return s->first ? spot_fail(c, s->first, "%s", s->message) : SPOT_OK;
}

/* Runs the rows of one device. Returns the exit code; `automatic` skips a missing GPU. */
static int bench_device(session *s, const char *device, bool automatic)
{
    cli_machine machine = s->o->machine;
    spot_ctx c;
    spot_status e;

    *s = (session){ .o = s->o, .comma = s->comma, .bytes = 1e9 * s->o->copy, .flops = 1e12 * s->o->product };
    machine.device = device;
    e = cli_open(&c, &machine);
    c.on_progress = NULL;      /* a bar would disturb the table */
    if (e == SPOT_DEVICE && automatic) return cli_close(&c, SPOT_OK);
    if (e == SPOT_OK) {
        cli_log_device(&c, &machine);
        if (s->o->json && !s->comma) printf("[");
        if (!s->comma) s->comma = "";
        e = run_all(s, &c);
        if (e == SPOT_OK && !s->rows) spot_log(&c, SPOT_LOG_WARN, "%s has no rows for this device", s->o->ops.word[0]);
    }
    return cli_close(&c, e);
}

static int run_bench(int argc, char **argv)
{
    static const char *const devices[] = { "cpu", "cuda" };
    bench_flags o = { .copy = 0 };
    session s = { .o = &o };
    int code = 0;

    cli_parse(&cli_bench_command, argc, argv, &o, NULL);
    for (int d = 0; d < 2 && !cli_stop; d++) {
        bool automatic = !strcmp(o.machine.device, "auto");
        int now = automatic || !strcmp(o.machine.device, devices[d]) ? bench_device(&s, devices[d], automatic) : 0;
        if (!code) code = now;
    }
    if (o.json && s.comma) printf("\n]\n");
    return code;
}

const cli_command cli_bench_command = {
    "bench", "checks and timings of the kernels", "[OP...]",
    "  spotter bench\n"
    "  spotter bench conv norm --device cuda\n"
    "  spotter bench mixture --threads 1 --json",
    "Checks the answer of each kernel, then times it: one run to warm up, at least five timed runs, their median. On a GPU a "
    "large copy and a large matrix product are measured first; the other rows are compared with these ceilings. "
    "--device auto times the CPU, then the GPU.", table, check_words, .run = run_bench
};
