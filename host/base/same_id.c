/* same_id.c - see same_id.h. */
#include "base/same_id.h"

#include <stdlib.h>
#include <string.h>
#include <uninorm.h>

static const char blank[] = " \t\r\n";

/* The id without what does not count at its ends; its length. */
static const char *inner(const char *id, size_t *n)
{
    id += strspn(id, blank);
    while (!strncmp(id, "./", 2)) id += 2;
    *n = strlen(id);
    while (*n && strchr(blank, id[*n - 1])) --*n;
    return id;
}

static bool is_ascii(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] & 0x80) return false;
    return true;
}

bool spot_id_is_plain(const char *id)
{
    size_t n;

    return inner(id, &n) == id && !id[n] && is_ascii(id, n);
}

/* Adds n bytes of UTF-8 in a normal form. */
static void add_normal(spot_text *t, const char *text, size_t n, int form)
{
    size_t used = 0;
    uint8_t *made = u8_normalize(form == SPOT_FORM_C ? UNINORM_NFC : UNINORM_NFD, (const uint8_t *)text, n, NULL, &used);

    if (!made) t->status = SPOT_NOMEM;
    else spot_text_add(t, made, used);
    free(made);
}

static void add_plain(spot_text *t, const char *id, int form)
{
    size_t n;
    const char *text = inner(id, &n);

    if (is_ascii(text, n) || spot_utf8(text, n) < n) spot_text_add(t, text, n);
    else add_normal(t, text, n, form);
    spot_text_add(t, "", 1);
}

void spot_id_plain(spot_text *t, const char *id, int form)
{
    t->used = 0;
    add_plain(t, id, form);
}

spot_status spot_plain_ids_open(spot_ctx *c, spot_plain_ids *p, char *const *id, int n)
{
    char *at;

    *p = (spot_plain_ids){ .n = n, .order = malloc(((size_t)n + 1) * sizeof *p->order),
                           .key = malloc(((size_t)n + 1) * sizeof *p->key) };
    for (int i = 0; i < n; i++) add_plain(&p->text, id[i], SPOT_FORM_C);
    if (!p->order || !p->key || p->text.status) {
        spot_plain_ids_close(p);
        return spot_fail(c, SPOT_NOMEM, "no memory to compare %d ids", n);
    }
    at = p->text.bytes;
    for (int i = 0; i < n; i++, at += strlen(at) + 1) p->key[i] = at;
    spot_words_sort(p->order, p->key, n);
    return SPOT_OK;
}

void spot_plain_ids_close(spot_plain_ids *p)
{
    free(p->order);
    free(p->key);
    spot_text_free(&p->text);
    spot_text_free(&p->wanted);
    *p = (spot_plain_ids){ 0 };
}

spot_status spot_plain_ids_find(spot_ctx *c, spot_plain_ids *p, const char *id, int *first, int *end)
{
    int low = 0;

    spot_id_plain(&p->wanted, id, SPOT_FORM_C);
    if (p->wanted.status) return spot_fail(c, SPOT_NOMEM, "no memory to compare ids");
    for (int high = p->n; low < high;) {
        const int mid = low + (high - low) / 2;
        if (strcmp(p->key[p->order[mid]], p->wanted.bytes) < 0) low = mid + 1;
        else high = mid;
    }
    *first = *end = low;
    while (*end < p->n && !strcmp(p->key[p->order[*end]], p->wanted.bytes)) ++*end;
    return SPOT_OK;
}
