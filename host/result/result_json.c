/* result_json.c - see result.h: a row as JSON. */
#include <math.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/platform.h"
#include "result/result_parts.h"

static void put_real(spot_json *j, const char *key, const spot_quantity *q, double v)
{
    if (q->decimals) spot_json_put_number(j, key, "%.*f", q->decimals, v);
    else spot_json_put_real(j, key, v);
}

void spot_words_put(spot_json *j, const char *key, const spot_words *w)
{
    spot_json_array(j, key, w->n, w->n);
    for (int i = 0; i < w->n; i++) spot_json_put_text(j, NULL, w->sentence[i]);
    spot_json_end(j);
}

static void put_value(spot_json *j, const char *key, const spot_quantity *q, const void *row)
{
    const spot_quantity_value v = spot_quantity_of(q, row);

    if (q->optional && !spot_quantity_has(q, &v)) return;
    switch (q->type) {
    case SPOT_AS_INT:
        if (isfinite(v.value)) spot_json_put_int(j, key, (long long)v.value);
        else spot_json_put_real(j, key, NAN);
        break;
    case SPOT_AS_SEED: spot_json_put_int(j, key, (long long)spot_quantity_seed(q, row)); break;
    case SPOT_AS_INTERVAL: spot_json_put_interval(j, key, (spot_interval){ v.value, v.low, v.high }); break;
    case SPOT_AS_AVERAGE:
        spot_json_object(j, key);
        spot_json_put_real(j, "mean", v.value);
        spot_json_put_real(j, "se", v.spread);
        spot_json_put_int(j, "n", v.n);
        spot_json_put_int(j, "left_out", v.left_out);
        spot_json_end(j);
        break;
    case SPOT_AS_WORDS: spot_words_put(j, key, (const spot_words *)(const void *)((const char *)row + q->at)); break;
    case SPOT_AS_CHARS: case SPOT_AS_TEXT: case SPOT_AS_NAME: spot_json_put_text(j, key, v.text); break;
    default: put_real(j, key, q, v.value);
    }
}

static void put_rows(spot_json *j, const char *key, const spot_quantity *q, const void *row)
{
    alignas(max_align_t) char item[SPOT_QUANTITY_ITEM];
    const long n = q->items(row);

    if (q->optional && !n) return;
    spot_json_array(j, key, 0, 0);
    for (long i = 0; i < n; i++) {
        if (!q->item(item, row, i)) continue;
        spot_json_object(j, NULL);
        spot_quantities_put(j, q->rows, item);
        spot_json_end(j);
    }
    spot_json_end(j);
}

static void put_quantity(spot_json *j, const char *key, const spot_quantity *q, const void *row)
{
    const void *part;

    if (q->put) q->put(j, row);
    else if (q->type == SPOT_AS_LIST) put_rows(j, key, q, row);
    else if (q->type != SPOT_AS_OBJECT) {
        if (key) put_value(j, key, q, row);
    }
    else if ((part = spot_quantity_part(q, row))) {
        if (key) spot_json_object(j, key);
        spot_quantities_put(j, q->rows, part);
        if (key) spot_json_end(j);
    } else if (key && !q->optional) spot_json_put_text(j, key, NULL);
}

void spot_quantities_put(spot_json *j, const spot_quantity *q, const void *row)
{
    for (; q->type != SPOT_AS_NOTHING; q++)
        if (!q->name || !strchr(q->name, '.')) put_quantity(j, q->name, q, row);
}

/* ---- columns ---- */

static void describe(spot_json *j, const spot_quantity *q)
{
    static const char *const units[SPOT_UNITS] = { "number", "share", "points", "p", "count", "seconds" };
    static const char *const directions[] = { "only shown", "higher is better", "lower is better" };

    for (; q->type != SPOT_AS_NOTHING; q++) {
        if (q->type == SPOT_AS_OBJECT) describe(j, q->rows);
        if (!q->title || !q->name || q->rows || q->place == SPOT_SHOWN_MORE) continue;
        spot_json_object(j, NULL);
        spot_json_put_text(j, "name", q->name);
        spot_json_put_text(j, "title", q->title);
        spot_json_put_text(j, "about", q->about);
        spot_json_put_text(j, "unit", spot_quantity_is_text(q) ? "text" : units[q->unit]);
        spot_json_put_text(j, "direction", directions[q->direction]);
        if (q->digits) spot_json_put_int(j, "digits", q->digits);
        spot_json_end(j);
    }
}

void spot_quantities_describe(spot_json *j, const char *key, const spot_quantity *list)
{
    spot_json_array(j, key, 0, 0);
    describe(j, list->rows);
    spot_json_end(j);
}

/* ---- documents ---- */

spot_status spot_result_document(spot_ctx *c, spot_text *out, const spot_result_head *head, const spot_quantity *q,
                                 const void *row, const char *indent)
{
    spot_json j = { 0 };
    spot_status s;

    SPOT_TRY(spot_json_begin(c, &j, indent));
    spot_json_object(&j, NULL);
    spot_json_put_int(&j, "schema", 1);
    spot_json_put_text(&j, "spotter", spot_made_by());
    spot_json_put_int(&j, "numbers", head->numbers);
    spot_json_put_text(&j, "config", head->key);
    spot_quantities_put(&j, q, row);
    spot_json_end(&j);
    s = spot_json_whole(c, &j, "a result");
    if (s == SPOT_OK) spot_text_add(out, j.out.bytes, j.out.used);
    if (s == SPOT_OK && out->status) s = spot_fail(c, SPOT_NOMEM, "no memory for a result");
    spot_json_free(&j);
    return s;
}

spot_status spot_result_write(spot_ctx *c, const char *path, const spot_text *text)
{
    spot_ctx quiet = { 0 };
    unsigned char *bytes = NULL;
    size_t n = 0;
    const bool same = spot_file_read(&quiet, path, &bytes, &n, text->used + 1) == SPOT_OK && n == text->used
        && !memcmp(bytes, text->bytes, n);

    free(bytes);
    return same ? SPOT_OK : spot_file_write(c, path, text->bytes, text->used);
}
