/* trend.c - the page of a history of nights: every number over time with its interval, the baseline and its margin. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "check/night.h"
#include "report/page/html.h"

static bool same_number(const spot_check_line *a, const spot_check_line *b)
{
    return !strcmp(a->layer, b->layer) && !strcmp(a->method, b->method) && !strcmp(a->metric, b->metric);
}

static void write_nights(spot_page *p, const spot_history *h)
{
    spot_json_array(p->at, "nights", 0, 0);
    for (int i = 0; i < h->nights; i++) {
        const spot_night *t = &h->night[i];
        spot_json_object(p->at, NULL);
        spot_page_text(p, "at", t->at);
        spot_page_text(p, "commit", t->commit);
        spot_page_text(p, "build", t->check.build);
        spot_page_text(p, "device", t->check.device);
        spot_page_text(p, "config", t->check.config);
        spot_json_put_int(p->at, "numbers", t->check.numbers);
        spot_json_put_int(p->at, "failed", t->check.failed);
        spot_page_text(p, "baseline", t->check.baseline);
        spot_json_array(p->at, "said", 0, 0);                /* failures without a number, such as broken bits */
        for (int l = 0; l < t->check.lines; l++) {
            const spot_check_line *v = &t->check.line[l];
            if (!isnan(v->now) || (v->verdict != SPOT_BROKEN && v->verdict != SPOT_TOO_GOOD)) continue;
            spot_page_print(p, NULL, "%s: %s%s%s: %s%s", spot_verdict_name(v->verdict), v->method, *v->method ? " " : "",
                            v->metric, v->why, v->quarantined ? " (in quarantine)" : "");
        }
        spot_json_end(p->at);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
}

/* night, verdict, quarantined, n, before, now, low, high, margin: page_trend.js unpacks them in this order. */
static void write_points(spot_page *p, const spot_history *h, const spot_check_line *of)
{
    spot_json_array(p->at, "points", 0, 0);
    for (int i = 0; i < h->nights; i++)
        for (int l = 0; l < h->night[i].check.lines; l++) {
            const spot_check_line *v = &h->night[i].check.line[l];
            if (isnan(v->now) || !same_number(v, of)) continue;
            spot_json_array(p->at, NULL, 0, 0);
            spot_json_put_int(p->at, NULL, i);
            spot_json_put_int(p->at, NULL, v->verdict);
            spot_json_put_int(p->at, NULL, v->quarantined);
            spot_json_put_int(p->at, NULL, v->n);
            spot_page_real(p, NULL, v->before);
            spot_page_real(p, NULL, v->now);
            spot_page_real(p, NULL, v->before + v->low);
            spot_page_real(p, NULL, v->before + v->high);
            spot_page_real(p, NULL, v->margin);
            spot_json_end(p->at);
            break;
        }
    spot_json_end(p->at);
}

/* Writes the numbers in the order of the latest night, then those that only earlier nights have. */
static spot_status write_series(spot_page *p, const spot_history *h)
{
    int most = 0, n = 0;
    const spot_check_line **s;

    for (int i = 0; i < h->nights; i++) most += h->night[i].check.lines;
    s = malloc(((size_t)most + 1) * sizeof *s);
    if (!s) return spot_fail(p->c, SPOT_NOMEM, "no memory for the points of %d numbers", most);
    for (int i = h->nights - 1; i >= 0; i--)
        for (int l = 0; l < h->night[i].check.lines; l++) {
            const spot_check_line *v = &h->night[i].check.line[l];
            int k = 0;
            while (k < n && !same_number(s[k], v)) k++;
            if (k == n && !isnan(v->now)) s[n++] = v;
        }
    spot_json_array(p->at, "series", 0, 0);
    for (int k = 0; k < n; k++) {
        spot_json_object(p->at, NULL);
        spot_page_text(p, "layer", s[k]->layer);
        spot_page_text(p, "method", s[k]->method);
        spot_page_text(p, "metric", s[k]->metric);
        write_points(p, h, s[k]);
        spot_json_end(p->at);
    }
    spot_json_end(p->at);
    free(s);
    return SPOT_OK;
}

static spot_status write_page(spot_ctx *c, const char *path, const spot_history *h, const char *name)
{
    const spot_report_options o = { .budget = 100000000, .full = true, .thumb = 64 };
    spot_page p;
    spot_status s;

    SPOT_TRY(spot_page_begin(&p, c, &o, "trend", "Nights"));
    p.frame = "trend.html";
    spot_page_text(&p, "source", name);
    spot_json_put_int(p.at, "damaged", h->damaged);
    spot_json_array(p.at, "verdicts", 0, 0);
    for (int v = 0; v < SPOT_VERDICTS; v++) spot_page_text(&p, NULL, spot_verdict_name((spot_verdict)v));
    spot_json_end(p.at);
    write_nights(&p, h);
    s = write_series(&p, h);
    return spot_page_write(&p, path, s);
}

spot_status spot_report_trend(spot_ctx *c, const char *path, const char *history)
{
    unsigned char *bytes;
    spot_history h;
    spot_status s;
    size_t n;

    SPOT_TRY(spot_file_read(c, history, &bytes, &n, SPOT_HISTORY_LIMIT));
    s = spot_history_parse(c, &h, (const char *)bytes, n);
    free(bytes);
    if (s == SPOT_OK && !h.nights)
        s = spot_fail(c, SPOT_INPUT, "%s holds no night (%d damaged lines); `spotter check --history %s` adds one", history,
                      h.damaged, history);
    if (s == SPOT_OK && h.damaged)
        spot_log(c, SPOT_LOG_WARN, "%d line%s of %s %s no whole night and left out", h.damaged, h.damaged == 1 ? "" : "s",
                 history, h.damaged == 1 ? "is" : "are");
    if (s == SPOT_OK) s = write_page(c, path, &h, history);
    spot_history_free(&h);
    return s;
}
