/* config_print.c - a config as YAML, every setting named; and the help of the settings. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/config_table.h"

/* In double quotes. What is not ASCII is escaped by its code point: YAML folds or forbids some of them when bare. */
static void print_text(FILE *f, const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    fputc('"', f);
    while (*p) {
        unsigned long point = *p++;
        int more = point < 0xc0 ? 0 : point < 0xe0 ? 1 : point < 0xf0 ? 2 : 3;
        if (more) point &= 0x3fu >> more;
        for (; more && (*p & 0xc0) == 0x80; more--) point = point << 6 | (*p++ & 0x3f);
        if (point == '"' || point == '\\') fprintf(f, "\\%c", (int)point);
        else if (point < ' ' || point > '~') fprintf(f, "\\U%08lX", point);
        else fputc((int)point, f);
    }
    fputc('"', f);
}

/* The shortest text that reads back to the same number: 30, not 3e+01. */
static void print_real(FILE *f, double value)
{
    char few[32], plain[32];

    spot_digits(few, value, 1);
    spot_digits(plain, value, 15);
    fputs(strlen(plain) < strlen(few) ? plain : few, f);
}

static void print_value(FILE *f, const spot_setting *s, const void *value)
{
    const int *i = value;

    switch (s->kind) {
    case SETTING_INT:    fprintf(f, "%d", *i); break;
    case SETTING_RANGE:  fprintf(f, "[%d, %d]", i[0], i[1]); break;
    case SETTING_SEED:   fprintf(f, "%" PRIu64, *(const uint64_t *)value); break;
    case SETTING_REAL:   print_real(f, *(const double *)value); break;
    case SETTING_SWITCH: fputs(*i ? "true" : "false", f); break;
    case SETTING_NAME:   fputs(s->names[*i], f); break;
    case SETTING_TEXT:   print_text(f, value); break;
    default: break;
    }
}

const char *spot_setting_text(char *text, size_t size, const spot_setting *s, const void *value)
{
    FILE *f = fmemopen(text, size, "w");

    text[0] = 0;
    if (!f) return text;
    print_value(f, s, value);
    fclose(f);
    text[size - 1] = 0;
    return text;
}

/* `first` stands before the first row in place of its indent: the dash of a list. */
static void print_rows(FILE *f, const spot_setting *rows, const char *base, int indent, const char *first)
{
    for (int i = 0; rows[i].name; i++) {
        const spot_setting *s = &rows[i];
        const char *value = base + s->offset;

        if (!spot_setting_applies(s, base)) continue;
        if (i == 0 && first) fprintf(f, "%s%s:", first, s->name);
        else fprintf(f, "%*s%s:", indent, "", s->name);
        if (!s->rows) fputc(' ', f);
        print_value(f, s, value);
        fputc('\n', f);
        if (s->kind == SETTING_GROUP) print_rows(f, s->rows, value, indent + 2, NULL);
        if (s->kind == SETTING_LIST)
            for (int e = 0; e < *(const int *)(base + s->count); e++)
                print_rows(f, s->rows, value + e * s->size, indent + 4, "  - ");
    }
}

void spot_settings_print(FILE *f, const spot_setting *rows, const void *base) { print_rows(f, rows, base, 0, NULL); }

spot_status spot_config_print(spot_ctx *c, const spot_config *cfg, char **text)
{
    size_t n;
    FILE *f = open_memstream(text, &n);

    if (!f) return spot_fail(c, SPOT_NOMEM, "no memory to print the config");
    print_rows(f, spot_settings, (const char *)cfg, 0, NULL);
    if (fclose(f)) {
        free(*text);
        *text = NULL;
        return spot_fail(c, SPOT_NOMEM, "no memory to print the config");
    }
    return SPOT_OK;
}

/* Whose defaults, and where they lie. */
typedef struct { const char *method, *base; } owner;

/* "0.1", or "pca (domino), umap (george)" where methods differ. */
static void print_defaults(FILE *f, const spot_setting *s, const owner *o, int owners)
{
    char text[SPOT_METHODS][300];
    bool differ = false;

    for (int i = 0; i < owners; i++)
        differ |= strcmp(spot_setting_text(text[i], sizeof text[i], s, o[i].base + s->offset), text[0]) != 0;
    for (int i = 0; i < owners; i++) {
        int first = 0;
        while (strcmp(text[first], text[i])) first++;
        if (first < i) continue;
        fprintf(f, "%s%s", i ? ", " : "", text[i]);
        for (int j = i; differ && j < owners; j++)
            if (!strcmp(text[j], text[i])) fprintf(f, "%s%s", j == i ? " (" : ", ", o[j].method);
        if (differ) fputc(')', f);
    }
}

static void document_methods(FILE *f, const spot_setting *rows, const char *above);

/* Those of o that have s, into own; returns how many. */
static int select_owners(owner *own, const spot_setting *s, const owner *o, int owners)
{
    int n = 0;

    for (int i = 0; i < owners; i++)
        if (spot_setting_is_of(s, o[i].base)) own[n++] = o[i];
    return n;
}

static void document_rows(FILE *f, const spot_setting *rows, const owner *o, int owners, const char *above)
{
    char path[128], takes[256];
    owner own[SPOT_METHODS] = { o[0] };

    for (const spot_setting *s = rows; s->name; s++) {
        int n = s->names == spot_method_names ? 1 : select_owners(own, s, o, owners);     /* that row is the owner's name */
        snprintf(path, sizeof path, "%s%s", above, s->name);
        if (s->rows) fprintf(f, "\n%s: ", path);
        else {
            fprintf(f, "%s  %s = ", s > rows && s[-1].rows ? "\n" : "", path);
            print_defaults(f, s, own, n);
            fprintf(f, "  (%s)\n      ", spot_setting_takes(takes, sizeof takes, s));
        }
        for (int i = 0; s->only && i < n; i++) fprintf(f, "%s%s", own[i].method, i < n - 1 ? ", " : ": ");
        fprintf(f, "%s\n", s->help);
        if (!s->rows) continue;
        strcat(path, s->kind == SETTING_LIST ? "[]." : ".");
        for (int i = 0; i < n; i++) own[i].base += s->offset;
        if (s->kind != SETTING_LIST) document_rows(f, s->rows, own, n, path);
        else document_methods(f, s->rows, path);
    }
}

/* A method's settings are its own, and so are its defaults. */
static void document_methods(FILE *f, const spot_setting *rows, const char *above)
{
    spot_bdm_config cfg[SPOT_METHODS];
    owner o[SPOT_METHODS];

    for (int m = 0; m < SPOT_METHODS; m++) {
        cfg[m] = spot_bdm_defaults(m);
        o[m] = (owner){ spot_method_names[m], (const char *)&cfg[m] };
    }
    document_rows(f, rows, o, SPOT_METHODS, above);
}

void spot_config_document(FILE *f)
{
    spot_config cfg = spot_config_defaults();
    const owner all = { "", (const char *)&cfg };

    document_rows(f, spot_settings, &all, 1, "");
    fputs("\nA setting below bdms[] may be a list of values, as in {method: spotlight, min_weight: [0.005, 0.01]}: the entry\n"
          "stands for every combination, the last list varying fastest; names tell them apart.\n", f);
}
