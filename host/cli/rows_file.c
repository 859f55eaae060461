/* rows_file.c - a table of settings is made from the rows of options, so that names, ranges and lists of choices are written
 * once; the file fills a value for each, which goes where the option's word would go. */
#define _POSIX_C_SOURCE 200809L
#include "cli/rows_file.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/foreign_model.h"
#include "spotter/arena.h"
#include "study/yaml.h"

enum { LONGEST = 1200 };

typedef union { const char *text; double real; int number; } rows_value;

/* A config (yaml.h): its memory, then the value of each setting. */
typedef struct { spot_memory *memory; rows_value value[]; } rows_values;

const char cli_from_file[] = "";

/* "both|misses" as { "both", "misses", NULL }, in memory. */
static const char *const *split_names(spot_memory **memory, const char *word)
{
    const char **name = spot_memory_take(memory, (strlen(word) / 2 + 2) * sizeof *name);
    char *text = spot_memory_take(memory, strlen(word) + 1);
    int n = 0;

    if (!name || !text) return NULL;
    strcpy(text, word);
    for (char *next = text; next; n++) {
        name[n] = next;
        next = strchr(next, '|');
        if (next) *next++ = 0;
    }
    name[n] = NULL;
    return name;
}

/* The setting of an option. Its default is no value that a file can give, so that afterwards one sees what it gave. */
static spot_setting setting_of(spot_memory **memory, const cli_row *row, int i)
{
    spot_setting s = { .name = row->name, .offset = offsetof(rows_values, value) + (size_t)i * sizeof(rows_value),
                       .lo = row->least, .hi = row->most, .help = row->help };

    switch (row->kind) {
    case CLI_INT:    s.kind = SETTING_INT, s.def[0] = INT_MIN; break;
    case CLI_REAL:   s.kind = SETTING_REAL, s.def[0] = NAN; break;
    case CLI_ON:     s.kind = SETTING_SWITCH, s.hi = 1, s.def[0] = INT_MIN; break;
    case CLI_CHOICE: s.kind = SETTING_NAME, s.names = split_names(memory, row->word), s.def[0] = INT_MIN; break;
    default:         s.kind = SETTING_TEXT, s.hi = LONGEST; break;
    }
    return s;
}

/* Each line's path as it stands, if it is absolute or the file lies in the current directory; else behind the file's folder. In
 * the text of a model the path is a part. */
static const char *resolve(rows_values *v, const char *text, const char *file, bool model)
{
    const char *slash = strrchr(file, '/');
    const size_t folder = slash ? (size_t)(slash - file) + 1 : 0, front = model ? spot_model_path(text) : 0;
    size_t lines = 1;
    char *path, *to;

    for (const char *at = text; *at; at++) lines += *at == '\n';
    path = to = spot_memory_take(&v->memory, lines * folder + strlen(text) + 1);
    if (path) memcpy(path, text, front), to += front, text += front;
    while (path && *text) {
        const size_t n = strcspn(text, "\n"), before = *text == '/' || !n ? 0 : folder;
        memcpy(to, file, before), memcpy(to + before, text, n);
        to += before + n, text += n;
        if (*text) *to++ = *text++;
    }
    return path;
}

static bool is_in_file(const cli_row *row, const rows_value *v)
{
    return row->kind == CLI_REAL ? !isnan(v->real) : row->kind == CLI_TEXT ? *v->text : v->number != INT_MIN;
}

/* Whether the text is a word that the option takes beside a path: "rows" of "G|rows". */
static bool is_word_of(const cli_row *row, const char *text)
{
    const char *at = row->word ? strchr(row->word, '|') : NULL;

    return at && !strcmp(at + 1, text);
}

/* Stores value i in the option's field. */
static spot_status store_value(spot_ctx *c, const cli_row *row, void *options, rows_values *v, int i, const char *file)
{
    void *field = (char *)options + row->at;
    const char *text = row->kind == CLI_TEXT ? v->value[i].text : NULL;

    if (row->kind == CLI_REAL) *(double *)field = v->value[i].real;
    else if (row->kind == CLI_ON) *(bool *)field = v->value[i].number;
    else if (row->kind != CLI_TEXT) *(int *)field = v->value[i].number;
    else if ((row->flags & CLI_ROWS_PATH) == CLI_ROWS_PATH && !is_word_of(row, text)
             && !(text = resolve(v, text, file, (row->flags & CLI_ROWS_MODEL) == CLI_ROWS_MODEL)))
        return spot_fail(c, SPOT_NOMEM, "no memory to read %s", file);
    if (text) *(const char **)field = text;
    return SPOT_OK;
}

static const cli_row *row_named(const cli_row *row, const char *name)
{
    while (row->kind && (!row->name || strcmp(row->name, name))) row++;
    return row->kind && row->flags & CLI_ROWS ? row : NULL;
}

static spot_status store_values(spot_ctx *c, const cli_given *given, void *options, const spot_setting *s, rows_values *v,
                                const char *file)
{
    for (int i = 0; s[i].kind != SETTING_END; i++) {
        const cli_row *row = row_named(given->command->rows, s[i].name);
        const char **word = row ? &given->word[row - given->command->rows] : NULL;
        if (!word || *word || !is_in_file(row, &v->value[i])) continue;
        SPOT_TRY(store_value(c, row, options, v, i, file));
        *word = cli_from_file;
    }
    return SPOT_OK;
}

spot_status cli_rows_read(spot_ctx *c, const cli_row *all, const cli_given *given, void *options, const char *path)
{
    static spot_memory *kept;                  /* with v's own: as long as the words of the command line */
    spot_setting *s;
    rows_values *v;
    int n = 0, rows = 0;

    while (all[rows].kind) rows++;
    s = spot_memory_take(&kept, ((size_t)rows + 1) * sizeof *s);
    v = spot_memory_take(&kept, sizeof *v + (size_t)rows * sizeof *v->value);
    if (!s || !v) return spot_fail(c, SPOT_NOMEM, "no memory to read %s", path);
    for (int i = 0; i < rows; i++)
        if (all[i].flags & CLI_ROWS) s[n] = setting_of(&kept, &all[i], n), n++;
    s[n] = (spot_setting){ .kind = SETTING_END };
    SPOT_TRY(spot_yaml_load(c, &(spot_config_kind){ .rows = s, .size = sizeof *v + (size_t)n * sizeof *v->value,
                                                    .example = "the line `embeddings: e.npy`",
                                                    .help = "spotter discover --help-all" }, v, path));
    return store_values(c, given, options, s, v, path);
}
