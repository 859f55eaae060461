/* options.c - see options.h. */
#define _GNU_SOURCE            /* asprintf */
#include "cli/cli.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/rows_file.h"

enum { WITHOUT_LETTER = 0x1000, HELP_ALL = 0x100 };    /* argp's keys of such an option in the first row, and of --help-all */

typedef struct {
    const cli_command *command;
    void *options;
    cli_given *given;
} command_line;

static int key_of(const cli_command *k, const cli_row *row)
{
    return row->key ? row->key : WITHOUT_LETTER + (int)(row - k->rows);
}

static const cli_row *row_of_key(const cli_command *k, int key)
{
    for (const cli_row *row = k->rows; row->kind; row++)
        if (row->name && key_of(k, row) == key) return row;
    return NULL;
}

static const cli_row *row_of_name(const cli_command *k, const char *name)
{
    for (const cli_row *row = k->rows; row->kind; row++)
        if (row->name && !strcmp(row->name, name)) return row;
    return NULL;
}

static const char *given_word(const struct argp_state *state, const char *name)
{
    const command_line *line = state->input;
    const cli_row *row = row_of_name(line->command, name);

    assert(row);
    return line->given->word[row - line->command->rows];
}

bool cli_is_given(const struct argp_state *state, const char *name) { return given_word(state, name); }
bool cli_is_from_file(const struct argp_state *state, const char *name) { return given_word(state, name) == cli_from_file; }

/* ---- one word ---- */

/* "--limit" or "CONFIG". */
static const char *row_title(char text[64], const cli_row *row)
{
    snprintf(text, 64, "%s%s", row->name ? "--" : "", row->name ? row->name : row->word);
    return text;
}

static long parse_integer(const struct argp_state *state, const cli_row *row, const char *word)
{
    char *end, text[64];
    long v;

    errno = 0;
    v = strtol(word, &end, 10);
    if (errno || !*word || *end || (double)v < row->least || (double)v > row->most)
        argp_error(state, "%s takes an integer from %.0f to %.0f, not \"%s\"", row_title(text, row), row->least, row->most,
                   word);
    return v;
}

static double parse_real(const struct argp_state *state, const cli_row *row, const char *word)
{
    char *end, text[64];
    double v = strtod(word, &end);

    if (end == word || *end || !(v >= row->least && v <= row->most))
        argp_error(state, "%s takes a number from %g to %g, not \"%s\"", row_title(text, row), row->least, row->most, word);
    return v;
}

/* The number of the name in row->word. */
static int parse_choice(const struct argp_state *state, const cli_row *row, const char *word)
{
    char names[256] = "", text[64];
    int number = 0;

    for (const char *name = row->word;; number++) {
        size_t n = strcspn(name, "|"), used = strlen(names);
        if (strlen(word) == n && !memcmp(word, name, n)) return number;
        snprintf(names + used, sizeof names - used, "%s%.*s", !number ? "" : name[n] ? ", " : " or ", (int)n, name);
        if (!name[n]) break;
        name += n + 1;
    }
    argp_error(state, "%s is %s, not \"%s\"", row_title(text, row), names, word);
    return 0;
}

static const char *check_length(const struct argp_state *state, const cli_row *row, const char *word)
{
    char text[64];

    if (row->most && strlen(word) > (size_t)row->most)
        argp_error(state, "%s is longer than %.0f bytes", row_title(text, row), row->most);
    return word;
}

/* The field's text and `word` in lines, in memory that stays; without a text before, the word. */
static const char *join_lines(const struct argp_state *state, const char *before, const char *word)
{
    char *text;

    if (!before) return word;
    text = malloc(strlen(before) + strlen(word) + 2);
    if (!text) argp_failure(state, spot_exit_code(SPOT_NOMEM), 0, "no memory for the command line");
    else sprintf(text, "%s\n%s", before, word);
    return text;
}

static void append_word(const struct argp_state *state, const cli_row *row, const char *word, void *options)
{
    const char **list = (void *)((char *)options + row->at);
    int *count = (void *)((char *)options + row->count);
    char text[64];

    if (*count == (int)row->most) argp_error(state, "%s is given more than %.0f times", row_title(text, row), row->most);
    list[(*count)++] = word;
}

static void read_word(const struct argp_state *state, const cli_row *row, const char *word)
{
    const command_line *line = state->input;
    void *field = (char *)line->options + row->at;

    switch (row->kind) {
    case CLI_ROWS_FILE:
    case CLI_TEXT:
        word = check_length(state, row, word);
        *(const char **)field = row->flags & CLI_LINES ? join_lines(state, *(const char **)field, word) : word;
        break;
    case CLI_INT:       *(int *)field = (int)parse_integer(state, row, word); break;
    case CLI_MEGABYTES: *(size_t *)field = 1000000 * (size_t)parse_integer(state, row, word); break;
    case CLI_REAL:      *(double *)field = parse_real(state, row, word); break;
    case CLI_ON:        *(bool *)field = true; break;
    case CLI_OFF:       *(bool *)field = false; break;
    case CLI_CHOICE:    *(int *)field = parse_choice(state, row, word); break;
    case CLI_NAME:      *(const char **)field = (parse_choice(state, row, word), word); break;
    case CLI_LIST:      append_word(state, row, word, line->options); break;
    case CLI_CALL:      row->read(state, word, line->options); break;
    case CLI_END: case CLI_HEADING: case CLI_REST: break;
    }
}

/* ---- all words ---- */

static void store_presets(const struct argp_state *state, const command_line *line)
{
    for (const cli_row *row = line->command->rows; row->kind; row++) {
        if (row->preset) read_word(state, row, row->preset);
        if (row->kind == CLI_OFF) *(bool *)((char *)line->options + row->at) = true;
    }
}

static void read_operands(const struct argp_state *state, const command_line *line, char *const *word, int n)
{
    const cli_command *k = line->command;

    for (const cli_row *row = k->rows; row->kind && n; row++) {
        int taken = row->kind == CLI_REST ? n : 1;
        if (row->name || row->kind == CLI_HEADING) continue;
        line->given->word[row - k->rows] = *word;
        if (row->kind != CLI_REST) read_word(state, row, *word);
        else if (row->most && n > (int)row->most) argp_error(state, "at most %.0f times %s", row->most, row->word);
        else *(cli_rest *)((char *)line->options + row->at) = (cli_rest){ (const char *const *)word, n };
        word += taken;
        n -= taken;
    }
    if (n) argp_error(state, "\"%s\" is one word too many; usage: %s %.*s", *word, state->name, (int)strcspn(k->usage, "\n"),
                      k->usage);
}

static void read_rows_file(const struct argp_state *state, const command_line *line)
{
    const cli_row *row = line->command->rows;
    spot_ctx c = { 0 };
    spot_status s = SPOT_OK;

    while (row->kind && row->kind != CLI_ROWS_FILE) row++;
    if (row->kind && line->given->word[row - line->command->rows])
        s = cli_rows_read(&c, row->from->rows, line->given, line->options, line->given->word[row - line->command->rows]);
    if (s) argp_failure(state, spot_exit_code(s), 0, "%s", spot_message(&c, s));
}

static void check_all(const struct argp_state *state, const command_line *line)
{
    const cli_command *k = line->command;
    char text[64];

    read_rows_file(state, line);
    for (const cli_row *row = k->rows; row->kind; row++)
        if (row->need && !line->given->word[row - k->rows])
            argp_error(state, "%s%s%s is missing; for example: %s%s%s", row_title(text, row), row->name ? " " : "",
                       row->name ? row->word : "", row->name ? text : "", row->name ? " " : "", row->need);
    if (k->check) k->check(state, line->options);
}

static error_t take_word(int key, char *word, struct argp_state *state)
{
    const command_line *line = state->input;
    const cli_row *row;

    switch (key) {
    case ARGP_KEY_INIT: store_presets(state, line); return 0;
    case ARGP_KEY_ARGS: read_operands(state, line, state->argv + state->next, state->argc - state->next); return 0;
    case ARGP_KEY_END:  check_all(state, line); return 0;
    default:
        row = row_of_key(line->command, key);
        if (!row) return ARGP_ERR_UNKNOWN;
        line->given->word[row - line->command->rows] = word ? word : "";
        read_word(state, row, word);
        return 0;
    }
}

/* ---- help ---- */

/* The default as --help shows it, "" for none. */
static void show_default(char text[128], const cli_row *row, const void *options)
{
    const void *field = (const char *)options + row->at;
    const char *word = row->preset ? row->preset : row->otherwise;

    if (!(row->flags & CLI_SHOWN)) snprintf(text, 128, "%s", word ? word : "");
    else if (row->kind == CLI_MEGABYTES) snprintf(text, 128, "%zu", *(const size_t *)field / 1000000);
    else if (row->kind == CLI_REAL) snprintf(text, 128, "%g", *(const double *)field);
    else snprintf(text, 128, "%d", *(const int *)field);
}

/* Examples and description come before the options; a default follows its option's text. argp frees a new text. */
static char *help_text(int key, const char *text, void *input)
{
    const command_line *line = input;
    const cli_row *row = row_of_key(line->command, key);
    char word[128], *made = NULL;
    int n = -1;

    if (key == ARGP_KEY_HELP_PRE_DOC) {
        n = asprintf(&made, "\nExamples:\n%s\n\n%s\n", line->command->examples, line->command->about);
    } else if (row) {
        show_default(word, row, line->options);
        if (*word) n = asprintf(&made, "%s (%s)", text, word);
    }
    return n < 0 ? (char *)(uintptr_t)text : made;
}

/* ---- the call of argp ---- */

static int count_rows(const cli_command *k)
{
    int n = 0;

    while (k->rows[n].kind) n++;
    return n;
}

/* all: --help-all. A heading without an option that is shown is left out. */
static void make_options(struct argp_option *o, const cli_command *k, bool all)
{
    const cli_row *heading = NULL;             /* one that no option has followed yet */
    int group = 0, above = 0;                  /* above: flags of the heading */
    bool more = false;

    for (const cli_row *row = k->rows; row->kind; row++) {
        const int flags = row->flags | above;
        const bool shown = !(flags & CLI_HIDDEN) && (all || !(flags & CLI_MORE));
        if (row->kind == CLI_HEADING) heading = row, above = row->flags, group++;
        if (!row->name) continue;
        if (heading && shown) {
            *o++ = (struct argp_option){ .doc = heading->help, .group = group };
            heading = NULL;
        }
        *o++ = (struct argp_option){ row->name, key_of(k, row), row->word, shown ? 0 : OPTION_HIDDEN, row->help, group };
        more |= flags & CLI_MORE && !(flags & CLI_HIDDEN);
    }
    if (more) *o++ = (struct argp_option){ "help-all", HELP_ALL, NULL, 0, "this list with all options", -1 };
    *o = (struct argp_option){ 0 };
}

static bool asks_for_all(const char *word) { return strlen(word) > 6 && !strncmp("--help-all", word, strlen(word)); }

/* argp refuses "--outt" without a suggestion, and takes "" as a word. names: room for those of all options. Returns whether all
 * options are asked for. */
static bool check_words(const cli_command *k, int argc, char **argv, const char **names)
{
    static char help[] = "--help";
    const char *near;
    bool value = false, all = false;
    int n = 0;

    names[n++] = "help", names[n++] = "usage", names[n++] = "help-all";
    for (const cli_row *row = k->rows; row->kind; row++)
        if (row->name) names[n++] = row->name;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        size_t length = strcspn(argv[i], "=");
        bool known = strncmp(argv[i], "--", 2) || value;
        if (!value && asks_for_all(argv[i])) all = true, argv[i] = help, length = strlen(help);
        if (!strcmp(argv[i], "-h")) argv[i] = help;
        if (!*argv[i]) {
            fprintf(stderr, "%s: word %d of the command line is empty; is a variable of the shell not set?\n", argv[0], i);
            exit(spot_exit_code(SPOT_USAGE));
        }
        for (int j = 0; !known && j < n; j++) known = !strncmp(argv[i] + 2, names[j], length - 2);
        value = known && !value && !strncmp(argv[i], "--", 2) && !argv[i][length] && row_of_name(k, argv[i] + 2) &&
                row_of_name(k, argv[i] + 2)->word;
        if (known) continue;
        argv[i][length] = 0;
        near = spot_nearest(argv[i] + 2, names);
        fprintf(stderr, near ? "%s: there is no option %s; did you mean --%s?\n"
                             : "%s: there is no option %s; `%s --help` lists them\n", argv[0], argv[i], near ? near : argv[0]);
        exit(spot_exit_code(SPOT_USAGE));
    }
    return all;
}

void cli_parse(const cli_command *k, int argc, char **argv, void *options, cli_given *given)
{
    static spot_memory *parsed;                            /* of this command line: argp may leave by exit */
    const size_t rows = (size_t)count_rows(k) + 4;         /* names of argp's own options, and an end */
    cli_given own;
    command_line line = { k, options, given ? given : &own };
    struct argp_option *list;
    const char **names;

    spot_memory_close(&parsed);
    list = spot_memory_take(&parsed, rows * sizeof *list);
    names = spot_memory_take(&parsed, rows * sizeof *names);
    *line.given = (cli_given){ .command = k, .word = spot_memory_take(&parsed, rows * sizeof *line.given->word) };
    if (!list || !names || !line.given->word) {
        cli_complain("memory.none", "no memory to read the command line");
        exit(spot_exit_code(SPOT_NOMEM));
    }
    make_options(list, k, check_words(k, argc, argv, names));
    argp_err_exit_status = spot_exit_code(SPOT_USAGE);
    setenv("ARGP_HELP_FMT", "rmargin=79,opt-doc-col=32,no-dup-args-note", 0);
    argp_parse(&(const struct argp){ list, take_word, k->usage, "", NULL, help_text, NULL }, argc, argv, 0, NULL, &line);
}

/* Here and not in cli.c: the fuzz driver replaces cli_open, and the linker can replace only calls from other files. */
int cli_run(const cli_command *k, int argc, char **argv)
{
    const cli_machine cpu = { .device = "cpu" };
    spot_status s;
    spot_ctx c;

    if (k->run) return k->run(argc, argv);
    memset(k->options, 0, k->size);
    if (k->fill) k->fill(k->options);
    cli_parse(k, argc, argv, k->options, NULL);
    s = cli_open(&c, k->machine ? k->options : &cpu);
    if (s == SPOT_OK) s = k->work(&c, k->options);
    return cli_close(&c, s);
}
