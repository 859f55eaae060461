/* config_print.c - prints a config as YAML with every setting, and the help of the settings. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "bdm/methods.h"
#include "study/config_table.h"
#include "study/yaml.h"

enum { VALUE = 600 };          /* bytes of the longest value as text */

/* The settings of a group that differ from those of a struct of the same rows. f may be NULL: they are counted. */
static int print_changes(FILE *f, const spot_setting *rows, const void *group, const void *above, int indent)
{
    char here[VALUE], group_text[VALUE];
    int changes = 0, inner;

    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        const char *old = (const char *)above + (w.value - (const char *)group);
        if (w.s->kind == SETTING_GROUP) {
            inner = print_changes(NULL, w.s->rows, w.value, old, 0);
            if (f && inner) fprintf(f, "%*s%s:\n", indent, "", w.s->name);
            if (f && inner) print_changes(f, w.s->rows, w.value, old, indent + 2);
            changes += inner;
            continue;
        }
        if (!strcmp(spot_setting_text(here, sizeof here, w.s, w.value),
                    spot_setting_text(group_text, sizeof group_text, w.s, old)))
            continue;
        changes++;
        if (f) fprintf(f, "%*s%s: %s\n", indent, "", w.s->name, here);
    }
    return changes;
}

/* An entry of a list that inherits: its own settings, then what differs from the groups beside the list. */
static void print_heir(FILE *f, const spot_setting *list, const spot_setting *rows, const char *config, const char *entry,
                       int indent)
{
    const char *first = "  - ";

    for (const spot_setting *s = list->rows; s->kind != SETTING_END; s++) {
        const spot_setting *above = s->kind == SETTING_GROUP ? spot_setting_find(rows, s->name) : NULL;
        if (above && !print_changes(NULL, s->rows, entry + s->offset, config + above->offset, 0)) continue;
        fprintf(f, "%*s%s%s:%s", indent, "", first, s->name, above ? "\n" : " ");
        first = "    ";
        if (above) print_changes(f, s->rows, entry + s->offset, config + above->offset, indent + 6);
        else spot_setting_print(f, s, entry + s->offset), fputc('\n', f);
    }
}

/* first: replaces the indent of the first row (the dash of a list); may be NULL. */
static void print_rows(FILE *f, const spot_setting *rows, const void *group, int indent, const char *first)
{
    int entries;

    for (spot_setting_walk w = spot_settings_walk(rows, group); w.s; spot_settings_next(&w)) {
        if (!spot_setting_applies(w.s, w.group)) continue;
        if (first) fprintf(f, "%s%s:", first, w.s->name);
        else fprintf(f, "%*s%s:", indent, "", w.s->name);
        first = NULL;
        if (!w.s->rows) {
            fputc(' ', f);
            spot_setting_print(f, w.s, w.value);
        }
        entries = w.s->kind == SETTING_LIST ? spot_setting_entries(w.s, w.group) : 0;
        fputs(w.s->kind == SETTING_LIST && !entries ? " []\n" : "\n", f);
        if (w.s->kind == SETTING_GROUP) print_rows(f, w.s->rows, w.value, indent + 2, NULL);
        for (int e = 0; e < entries; e++) {
            const char *entry = spot_setting_entry(w.s, w.value, e);
            if (w.s->inherits) print_heir(f, w.s, rows, w.group, entry, indent);
            else fprintf(f, "%*s", indent, ""), print_rows(f, w.s->rows, entry, indent + 4, "  - ");
        }
    }
}

void spot_settings_print(FILE *f, const spot_setting *rows, const void *base) { print_rows(f, rows, base, 0, NULL); }

spot_status spot_yaml_print(spot_ctx *c, const spot_setting *rows, const void *cfg, char **text)
{
    spot_text yaml = { 0 };
    FILE *f = spot_text_stream(&yaml);
    bool whole;

    if (f) print_rows(f, rows, cfg, 0, NULL);
    whole = f && !fclose(f);
    spot_text_add(&yaml, "", 1);                       /* the NUL */
    *text = yaml.bytes;
    if (whole && !yaml.status) return SPOT_OK;
    free(yaml.bytes);
    *text = NULL;
    return spot_fail(c, SPOT_NOMEM, "no memory to print the config");
}

spot_status spot_config_print(spot_ctx *c, const spot_config *cfg, char **text)
{
    return spot_yaml_print(c, spot_settings, cfg, text);
}

/* ---- help ---- */

enum { MOST_OWNERS = SPOT_METHODS > 32 ? SPOT_METHODS : 32 };

/* A struct that the rows describe: the defaults of one method, or the whole config. */
typedef struct { const char *method; const void *group; } owner;

/* "0.1", or "pca (domino), umap (george)" if methods differ. */
static void print_defaults(FILE *f, const spot_setting *s, const owner *value, int owners)
{
    char text[MOST_OWNERS][300];
    bool differ = false;

    for (int i = 0; i < owners; i++)
        differ |= strcmp(spot_setting_text(text[i], sizeof text[i], s, value[i].group), text[0]) != 0;
    for (int i = 0; i < owners; i++) {
        int first = 0;
        while (strcmp(text[first], text[i])) first++;
        if (first < i) continue;
        fprintf(f, "%s%s", i ? ", " : "", text[i]);
        for (int j = i; differ && j < owners; j++)
            if (!strcmp(text[j], text[i])) fprintf(f, "%s%s", j == i ? " (" : ", ", value[j].method);
        if (differ) fputc(')', f);
    }
}

/* Lists the values of the owners that have this setting; returns their number. */
static int find_values(owner *value, const spot_setting *rows, const spot_setting *s, const owner *o, int owners)
{
    int n = 0;

    for (int i = 0; i < owners; i++) {
        spot_setting_walk w = spot_settings_at(rows, o[i].group, s->name);
        if (w.s && !strcmp(w.s->help, s->help)) value[n++] = (owner){ o[i].method, w.value };
    }
    return n;
}

static void document_methods(FILE *f, const spot_setting *rows, const char *above);
static void document_entries(FILE *f, const spot_setting *s, const char *above);
static void document_rows(FILE *f, const spot_setting *rows, const owner *o, int owners, const char *above);

/* Whether the row's values are the owners' own names. */
static bool names_owners(const spot_setting *s, const owner *value, int n)
{
    char text[300];
    int i = 0;

    while (i < n && !strcmp(spot_setting_text(text, sizeof text, s, value[i].group), value[i].method)) i++;
    return i == n;
}

static void document_row(FILE *f, const spot_setting *s, const owner *value, int n, bool all, const char *above)
{
    char path[128], takes[256];

    snprintf(path, sizeof path, "%s%s", above, s->name);
    if (s->rows) fprintf(f, "\n%s: ", path);
    else {
        fprintf(f, "  %s = ", path);
        if (n > 1 && names_owners(s, value, n)) fputs(s->names[(int)s->def[0]], f);
        else print_defaults(f, s, value, n);
        fprintf(f, "  (%s)\n      ", spot_setting_takes(takes, sizeof takes, s));
    }
    for (int i = 0; !all && i < n; i++) fprintf(f, "%s%s", value[i].method, i < n - 1 ? ", " : ": ");
    fprintf(f, "%s\n", s->help);
    if (!s->rows) return;
    strcat(path, s->kind == SETTING_LIST ? "[]." : ".");
    if (s->rows == spot_bdm_settings) document_methods(f, s->rows, path);
    else if (s->kind == SETTING_LIST) document_entries(f, s, path);
    else document_rows(f, s->rows, value, n, path);
}

/* Documents the rows of the first owner, then those that only the second has, and so on. */
static void document_rows(FILE *f, const spot_setting *rows, const owner *o, int owners, const char *above)
{
    owner value[MOST_OWNERS];
    bool group = false;

    for (int i = 0; i < owners; i++)
        for (spot_setting_walk w = spot_settings_walk(rows, o[i].group); w.s; spot_settings_next(&w)) {
            int n = find_values(value, rows, w.s, o, owners);
            if (value[0].group != w.value) continue;
            if (group && !w.s->rows) fputc('\n', f);
            group = w.s->rows;
            document_row(f, w.s, value, n, n == owners, above);
        }
}

/* Documents the settings of all methods, each with its own defaults. */
static void document_methods(FILE *f, const spot_setting *rows, const char *above)
{
    spot_bdm_config cfg[SPOT_METHODS];
    owner o[SPOT_METHODS];

    for (int m = 0; m < SPOT_METHODS; m++) {
        cfg[m] = spot_bdm_defaults(m);
        o[m] = (owner){ spot_bdm_settings->names[m], &cfg[m] };
    }
    document_rows(f, rows, o, SPOT_METHODS, above);
}

/* Documents the settings of an entry whose further rows follow from the value of its setting `of`, each with its defaults. */
static void document_choices(FILE *f, const spot_setting *list, const spot_setting *part, const char *above)
{
    int n = 0;

    while (part->of->names[n] && n < MOST_OWNERS) n++;
    char *entry = calloc((size_t)n, list->size);
    owner *o = calloc((size_t)n, sizeof *o);

    for (int v = 0; entry && o && v < n; v++) {
        char *group = entry + (size_t)v * list->size;
        spot_settings_defaults(list->rows, group);
        *(int *)(void *)(group + part->of->offset) = v;
        if (part->part(v)) spot_settings_defaults(part->part(v), group);
        o[v] = (owner){ part->of->names[v], group };
    }
    if (entry && o) document_rows(f, list->rows, o, n, above);
    free(entry), free(o);
}

/* Documents the settings of an entry of a list. The groups of one that inherits stand in the document already. */
static void document_entries(FILE *f, const spot_setting *s, const char *above)
{
    const spot_setting *part = s->rows;
    void *entry = calloc(1, s->size);
    const owner one = { "", entry };

    while (part->kind != SETTING_END && !(part->kind == SETTING_PART && part->part)) part++;
    if (part->kind == SETTING_PART) document_choices(f, s, part, above);
    if (!entry || part->kind == SETTING_PART) {
        free(entry);
        return;
    }
    spot_settings_defaults(s->rows, entry);
    if (!s->inherits) document_rows(f, s->rows, &one, 1, above);
    for (spot_setting_walk w = spot_settings_walk(s->rows, entry); s->inherits && w.s; spot_settings_next(&w))
        if (!w.s->rows) document_row(f, w.s, &(owner){ "", w.value }, 1, true, above);
    free(entry);
}

void spot_yaml_document(FILE *f, const spot_setting *rows, const void *cfg)
{
    const owner all = { "", cfg };

    document_rows(f, rows, &all, 1, "");
}

void spot_config_document(FILE *f)
{
    spot_config cfg = spot_config_defaults();

    spot_yaml_document(f, spot_settings, &cfg);
    fputs("\nA setting below bdms[] may be a list of values, as in {method: spotlight, min_weight: [0.005, 0.01]}: the entry\n"
          "stands for every combination, the last list varying fastest; names tell them apart.\n", f);
}
