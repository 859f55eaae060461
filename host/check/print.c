/* print.c - a check for people, for programs, and as a line of the history. */
#define _POSIX_C_SOURCE 200809L
#include "check/night.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/columns.h"
#include "store/json.h"

/* ---- for people ---- */

static const char *color_of(const spot_check_line *l)
{
    switch (l->verdict) {
    case SPOT_WORSE: case SPOT_TOO_GOOD: case SPOT_BROKEN: return l->quarantined ? "33" : "31";
    case SPOT_INCONCLUSIVE: return "33";
    case SPOT_SAME: case SPOT_BETTER: return "32";
    default: return "2";
    }
}

static bool fails(const spot_check_line *l)
{
    return !l->quarantined && (l->verdict == SPOT_WORSE || l->verdict == SPOT_TOO_GOOD || l->verdict == SPOT_BROKEN);
}

static void upper(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if (*to >= 'a' && *to <= 'z') *to = (char)(*to - 'a' + 'A');
}

/* "spotlight DR 0.79 -> 0.71 (-0.08, 95 % -0.11..-0.05, margin 0.02, 100 pairs)", or why it is so. */
static void headline(FILE *f, const spot_check_line *l, bool color)
{
    char verdict[24], metric[24], text[700];
    int n;

    upper(verdict, sizeof verdict, spot_verdict_name(l->verdict));
    upper(metric, sizeof metric, l->metric);
    n = snprintf(text, sizeof text, "%s%s%s", l->method[0] || *metric ? l->method : l->layer, *metric
                 && l->method[0] ? " " : "",
                 strcmp(l->metric, "dr") && strcmp(l->metric, "fdr") ? l->metric : metric);
    if (!isnan(l->low))
        n += snprintf(text + n, sizeof text - (size_t)n, " %.3f -> %.3f (%+.3f, 95 %% %+.3f..%+.3f, margin %.3g, %d %s)",
                      l->before,
                      l->now, l->now - l->before, l->low, l->high, l->margin, l->n,
                      l->paired ? "pairs" : !strcmp(l->layer, "paper") ? "ECs, the paper's before" : "other ECs");
    if (l->why[0]) snprintf(text + n, sizeof text - (size_t)n, "%s%s", isnan(l->low) ? ": " : "; ", l->why);
    if (color) fprintf(f, "\033[%sm%s\033[0m: ", color_of(l), verdict);
    spot_note(f, false, color ? "%s%s" : "%s: %s", color ? "" : verdict, text);
}

static void count_words(char *text, size_t size, const spot_check *k, const char *layer)
{
    int n[SPOT_VERDICTS] = { 0 };
    size_t used = 0;

    *text = 0;
    for (int i = 0; i < k->lines; i++) n[k->line[i].verdict] += !strcmp(k->line[i].layer, layer) && !k->line[i].quarantined;
    for (int v = 0; v < SPOT_VERDICTS; v++)
        if (n[v] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%d %s", used ? ", " : "", n[v], spot_verdict_name(v));
}

static void cell(spot_columns *p, const char *fmt, double v)
{
    if (isnan(v)) spot_cell(p, "-");
    else spot_cell(p, fmt, v);
}

static void rows(spot_columns *p, const void *user)
{
    static const char *const head[] = { "method", "metric", "verdict", "before", "now", "diff", "95 % low", "high", "margin",
                                       "p",
                                        "n", "left out" };
    const spot_check *k = user;
    char verdict[32];

    p->left = 6;                                           /* metric and verdict, too */
    for (size_t i = 0; i < sizeof head / sizeof *head; i++) spot_cell(p, "%s", head[i]);
    spot_end_row(p);
    for (int i = 0; i < k->lines; i++) {
        const spot_check_line *l = &k->line[i];
        if (isnan(l->now)) continue;
        snprintf(verdict, sizeof verdict, "%s%s", spot_verdict_name(l->verdict), l->quarantined ? " (q)" : "");
        if (!strcmp(l->layer, "paper")) spot_cell(p, "%.20s, paper", l->method);
        else spot_cell_name(p, 0, l->method[0] ? l->method : "(the run)");
        spot_cell(p, "%s", l->metric);
        spot_cell(p, "%s", verdict);
        cell(p, "%.3f", l->before);
        cell(p, "%.3f", l->now);
        cell(p, "%+.3f", l->now - l->before);
        cell(p, "%+.3f", l->low);
        cell(p, "%+.3f", l->high);
        cell(p, "%.3g", l->margin);
        cell(p, "%.2g", l->p);
        spot_cell(p, "%d", l->n);
        spot_cell(p, "%d", l->left_out);
        spot_end_row(p);
    }
}

void spot_check_print(FILE *f, const spot_check *k, bool color)
{
    char bits[120], numbers[160];
    bool unpaired = false, table = false, marked = false;

    count_words(bits, sizeof bits, k, "bits");
    count_words(numbers, sizeof numbers, k, "pairs");
    if (!k->failed)
        fprintf(f, "%sthe night is fine%s: numbers %s; bits %s\n", color ? "\033[32m" : "", color ? "\033[0m" : "", numbers,
                bits);
    for (int i = 0; i < k->lines; i++)
        if (fails(&k->line[i])) headline(f, &k->line[i], color);
    for (int i = 0; i < k->lines; i++) {
        const spot_check_line *l = &k->line[i];
        table |= !isnan(l->now);
        marked |= l->quarantined;
        unpaired |= !strcmp(l->layer, "pairs") && !l->paired;
    }
    if (unpaired) spot_note(f, false,
                            "No EC is the baseline's (another seed or other scenes): means of independent ECs are compared.");
    if (table) spot_columns_print(f, false, marked ? "Numbers; (q): in quarantine, fails nothing" : "Numbers", rows, k);
    fprintf(f, "\n");
    for (int i = 0; i < k->lines; i++)
        if (!fails(&k->line[i]) && (k->line[i].why[0] || k->line[i].verdict == SPOT_BETTER)) headline(f, &k->line[i], color);
    spot_note(f, false, "baseline: %s", k->baseline);
    spot_note(f, false, "run:      %s", k->run);
}

/* ---- for programs ---- */

static void text(spot_json *j, const char *key, const char *v) { spot_json_text(j, key, (char *)v, 0); }
static void integer(spot_json *j, const char *key, int v)      { spot_json_int(j, key, &v); }
static void real(spot_json *j, const char *key, double v)      { spot_json_real(j, key, &v); }
static void boolean(spot_json *j, const char *key, bool v)     { spot_json_bool(j, key, &v); }

static void json_line(spot_json *j, const spot_check_line *l)
{
    spot_json_object(j, NULL);
    text(j, "layer", l->layer);
    text(j, "method", l->method);
    text(j, "metric", l->metric);
    text(j, "verdict", spot_verdict_name(l->verdict));
    boolean(j, "quarantined", l->quarantined);
    boolean(j, "paired", l->paired);
    integer(j, "n", l->n);
    integer(j, "left_out", l->left_out);
    real(j, "before", l->before);
    real(j, "now", l->now);
    real(j, "low", l->low);
    real(j, "high", l->high);
    real(j, "margin", l->margin);
    real(j, "p", l->p);
    text(j, "why", l->why);
    spot_json_end(j);
}

static void json_check(spot_json *j, const spot_check *k, const char *at, const char *commit)
{
    spot_json_object(j, NULL);
    integer(j, "schema", SPOT_NIGHT_SCHEMA);
    if (at) text(j, "at", at);
    if (commit) text(j, "commit", commit);
    boolean(j, "failed", k->failed);
    text(j, "build", k->build);
    text(j, "device", k->device);
    integer(j, "numbers", k->numbers);
    text(j, "config", k->config);
    text(j, "baseline", k->baseline);
    text(j, "run", k->run);
    spot_json_array(j, "lines", k->lines, k->lines);
    for (int i = 0; i < k->lines; i++) json_line(j, &k->line[i]);
    spot_json_end(j);
    spot_json_end(j);
}

spot_status spot_check_print_json(spot_ctx *c, FILE *f, const spot_check *k)
{
    spot_json j = { .gen = yajl_gen_alloc(NULL) };
    const unsigned char *bytes;
    size_t n;

    if (!j.gen) return spot_fail(c, SPOT_NOMEM, "no memory for the verdict");
    yajl_gen_config(j.gen, yajl_gen_beautify, 1);
    yajl_gen_config(j.gen, yajl_gen_indent_string, "  ");
    json_check(&j, k, NULL, NULL);
    yajl_gen_get_buf(j.gen, &bytes, &n);
    fwrite(bytes, 1, n, f);
    yajl_gen_free(j.gen);
    return SPOT_OK;
}

/* By one write to the file's end, and on the disk when it returns: a night is there or not. A line that another process left
 * unfinished is ended first. */
spot_status spot_check_remember(spot_ctx *c, const spot_check *k, const char *path, const char *commit)
{
    spot_json j = { .gen = yajl_gen_alloc(NULL) };
    const unsigned char *line;
    char at[24], last = '\n', *out = NULL;
    time_t now = time(NULL);
    struct tm utc;
    size_t n = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    bool whole = fd >= 0;

    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    if (j.gen) {
        json_check(&j, k, at, commit ? commit : "");
        yajl_gen_get_buf(j.gen, &line, &n);
        out = malloc(n + 2);
    }
    if (fd >= 0 && lseek(fd, -1, SEEK_END) >= 0) whole = read(fd, &last, 1) == 1;
    if (out && whole) {
        size_t begin = last != '\n';
        out[0] = '\n';
        memcpy(out + begin, line, n);
        out[begin + n] = '\n';
        whole = write(fd, out, begin + n + 1) == (ssize_t)(begin + n + 1) && !fsync(fd);
    }
    if (j.gen) yajl_gen_free(j.gen);
    if (!out) spot_fail(c, SPOT_NOMEM, "no memory for a night's line");
    else if (!whole) spot_fail(c, SPOT_IO, "cannot add to the history %s: %s", path, strerror(errno));
    if (fd >= 0 && close(fd)) whole = false;
    free(out);
    return !out ? SPOT_NOMEM : whole ? SPOT_OK : spot_fail(c, SPOT_IO, "cannot write the history %s: %s", path,
                                                           strerror(errno));
}
