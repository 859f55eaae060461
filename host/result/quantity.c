/* quantity.c - see result.h: values of a row, and their texts. */
#include <math.h>
#include <string.h>

#include "result/result_parts.h"

spot_quantity_value spot_quantity_of(const spot_quantity *q, const void *row)
{
    const char *at = (const char *)row + q->at;
    spot_quantity_value v = SPOT_NO_VALUE;
    spot_average average;
    spot_interval interval;
    int count;
    float real;

    if (q->get || q->get_at) {
        if (q->get) q->get(&v, row);
        else q->get_at(&v, row, q->index);
        return v;
    }
    switch (q->type) {                 /* copies: the row may be any struct */
    case SPOT_AS_INT:      memcpy(&count, at, sizeof count), v.value = count; break;
    case SPOT_AS_SEED:     v.value = (double)spot_quantity_seed(q, row); break;
    case SPOT_AS_REAL:     memcpy(&v.value, at, sizeof v.value); break;
    case SPOT_AS_FLOAT:    memcpy(&real, at, sizeof real), v.value = real; break;
    case SPOT_AS_INTERVAL: memcpy(&interval, at, sizeof interval), v.value = interval.value, v.low = interval.low,
                           v.high = interval.high; break;
    case SPOT_AS_AVERAGE:  memcpy(&average, at, sizeof average), spot_quantity_average(&v, &average, 0); break;
    case SPOT_AS_CHARS:    v.text = at; break;
    case SPOT_AS_TEXT:     memcpy(&v.text, at, sizeof v.text); break;
    case SPOT_AS_NAME:     memcpy(&count, at, sizeof count), v.text = q->names[count]; break;
    default:               break;
    }
    return v;
}

void spot_quantity_whole(spot_quantity_value *v, const void *row, int at)
{
    memcpy(&v->value, (const char *)row + at, sizeof v->value);
}

void spot_quantity_average(spot_quantity_value *v, const spot_average *a, int more_left_out)
{
    if (a->n) v->value = a->mean, v->spread = a->se;
    v->n = a->n;
    v->left_out = a->left_out + more_left_out;
}

uint64_t spot_quantity_seed(const spot_quantity *q, const void *row)
{
    uint64_t seed;

    memcpy(&seed, (const char *)row + q->at, sizeof seed);
    return seed;
}

const void *spot_quantity_part(const spot_quantity *q, const void *row)
{
    const char *at = (const char *)row + q->at;
    const void *part = at;

    if (q->behind) memcpy(&part, at, sizeof part);
    return part;
}

bool spot_quantity_is_text(const spot_quantity *q)
{
    return q->type == SPOT_AS_CHARS || q->type == SPOT_AS_TEXT || q->type == SPOT_AS_NAME;
}

bool spot_quantity_has(const spot_quantity *q, const spot_quantity_value *v)
{
    return spot_quantity_is_text(q) ? v->text != NULL : isfinite(v->value);
}

/* A number as tables write it, without its unit. A number that rounds to 0 has no sign. */
static const char *write_number(char text[32], const spot_quantity *q, double v)
{
    const bool share = q->unit == SPOT_UNIT_SHARE || q->unit == SPOT_UNIT_POINTS, count = q->unit == SPOT_UNIT_COUNT;
    const int digits = share ? 1 : count ? 0 : q->unit == SPOT_UNIT_SECONDS ? 1 : q->digits ? q->digits : 3;

    if (q->format) snprintf(text, 32, q->format, share ? 100 * v : v);
    else snprintf(text, 32, "%.*f", digits, share ? 100 * v : v);
    if (text[0] == '-' && !text[strspn(text, "-0.")]) memmove(text, text + 1, strlen(text));
    return text;
}

const char *spot_quantity_text(char text[96], const spot_quantity *q, const spot_quantity_value *v)
{
    static const char *const after[SPOT_UNITS] = { [SPOT_UNIT_SHARE] = " %", [SPOT_UNIT_POINTS] = " %",
                                                   [SPOT_UNIT_SECONDS] = " s" };
    char value[32], low[32], high[32], spread[32];
    const char *unit = after[q->unit] && !q->format ? after[q->unit] : "";

    if (!spot_quantity_has(q, v)) return q->missing ? q->missing : "-";
    if (spot_quantity_is_text(q)) return v->text;
    write_number(value, q, v->value);
    if (isfinite(v->low) || isfinite(v->high))
        snprintf(text, 96, "%s%s [%s, %s]", value, unit, write_number(low, q, v->low), write_number(high, q, v->high));
    else if (q->type == SPOT_AS_AVERAGE && !isfinite(v->spread)) snprintf(text, 96, "%s%s (-)", value, unit);
    else if (isfinite(v->spread)) snprintf(text, 96, "%s%s (%s)", value, unit, write_number(spread, q, v->spread));
    else snprintf(text, 96, "%s%s", value, unit);
    return text;
}

int spot_quantity_change(const spot_quantity *q, double before, double now)
{
    if (q->direction == SPOT_ONLY_SHOWN || isnan(before) || isnan(now) || before == now) return 0;
    return (now > before) == (q->direction == SPOT_HIGHER_IS_BETTER) ? 1 : -1;
}

const spot_quantity *spot_quantity_find(const spot_quantity *q, const char *word)
{
    const spot_quantity *found = NULL;

    for (; q->type != SPOT_AS_NOTHING && !found; q++)
        if (q->type == SPOT_AS_OBJECT) found = spot_quantity_find(q->rows, word);
        else if ((q->name && !strcmp(q->name, word)) || (q->title && !strcmp(q->title, word))) found = q;
    return found;
}

int spot_quantity_sign(const spot_quantity *q, const char *word)
{
    q = spot_quantity_find(q, word);
    return q ? (q->direction == SPOT_HIGHER_IS_BETTER) - (q->direction == SPOT_LOWER_IS_BETTER) : 0;
}
