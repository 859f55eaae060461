/* options.h - one table per command: its options and operands, each a row. argp's options, the parsing, the sentences about a
 * wrong word, the help texts and the Slurm array's options come from the rows.
 *
 *     typedef struct { cli_machine machine; const char *config; int count; } scene_flags, cli_flags;
 *
 *     static const cli_row table[] = {
 *         { .word = "CONFIG", .kind = CLI_TEXT, CLI_AT(config), .need = "configs/quickstart.yaml" },
 *         { "count", 'n', "N", CLI_INT, CLI_AT(count), 1, 1000000, .preset = "16", .help = "number of images" },
 *         CLI_MACHINE_ROWS("auto"),
 *         { .kind = CLI_END }
 *     };
 *
 * A new option is a row and the field that it fills. A default is only in its row: it is stored before the words are read, and
 * --help prints it. A row without a name is an operand; operands come in the order of their rows. */
#ifndef SPOTTER_OPTIONS_H
#define SPOTTER_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

#include "spotter/ctx.h"

typedef enum {
    CLI_END,
    CLI_HEADING,               /* `help` above the options that follow */
    CLI_TEXT,                  /* const char *, at most `most` bytes long (0: any) */
    CLI_INT,                   /* int, from `least` to `most` */
    CLI_MEGABYTES,             /* size_t: 10^6 times an integer from `least` to `most` */
    CLI_REAL,                  /* double, from `least` to `most` */
    CLI_ON, CLI_OFF,           /* bool that becomes true, false; takes no word */
    CLI_CHOICE,                /* int: the number of a name in `word`, "text|csv|json" */
    CLI_NAME,                  /* const char *: a name in `word` */
    CLI_LIST,                  /* const char *[most], one a word; their number is the int at `count` */
    CLI_ROWS_FILE,             /* const char *: a file of options with CLI_ROWS (rows_file.h), as an operand */
    CLI_REST,                  /* cli_rest: all remaining operands, at most `most` (0: any) */
    CLI_CALL                   /* `read` stores the word */
} cli_kind;

enum {
    CLI_STAYS  = 1,            /* the jobs of `sweep --submit` do not get the option */
    CLI_SUBMIT = 2,            /* the option needs --submit */
    CLI_SHOWN  = 4,            /* --help prints the field as the default: `fill` stores a library's default in it */
    CLI_MORE   = 8,            /* --help-all shows the option, --help does not; ... */
    CLI_HIDDEN = 16,           /* no help shows the option, an old spelling that still works; ... */
                               /* ... as flags of a heading, for all options below it */
    CLI_ROWS   = 32,           /* a file of rows may give it, as text, integer, number, choice or switch */
    CLI_ROWS_PATH = 96,        /* the same of a path, which there begins at the file's folder */
    CLI_LINES  = 128,          /* CLI_TEXT: the option may come again; its words are lines of one text */
    CLI_ROWS_MODEL = 352       /* CLI_ROWS_PATH of a model: a part of the word alone may be a path (models/foreign_model.h) */
};

typedef struct cli_command cli_command;

typedef struct {
    const char *name;          /* long name; NULL: an operand or a heading */
    int         key;           /* letter, or 0 */
    const char *word;          /* what the option takes, as --help shows it */
    cli_kind    kind;
    size_t      at;            /* offset of the field in the command's struct */
    double      least, most;
    const char *preset;        /* default, as a word; NULL: the field stays as it is */
    const char *otherwise;     /* for --help, in place of a default: the behaviour without the option */
    const char *need;          /* the word must be given; this is an example */
    const char *help;          /* a noun phrase or a short sentence, without a full stop */
    int         flags;
    size_t      count;
    void      (*read)(const struct argp_state *state, const char *word, void *options);
    const cli_command *from;   /* the command that has all options which the file of rows may give */
} cli_row;

/* A command's file has a second name, cli_flags, for the struct of its command; any scalar member will do for CLI_OPTIONS. */
#define CLI_AT(member)      offsetof(cli_flags, member)
#define CLI_OPTIONS(member) .options = &(cli_flags){ .member = 0 }, .size = sizeof(cli_flags)

typedef struct { const char *const *word; int n; } cli_rest;

struct cli_command {
    const char *name, *summary;            /* for `spotter help` */
    const char *usage;                     /* "CONFIG --out DIR"; further forms on lines of their own */
    const char *examples;                  /* lines that begin with two blanks, the last one without line feed */
    const char *about;
    const cli_row *rows;
    void (*check)(const struct argp_state *state, void *options);      /* checks all words together; or NULL */

    /* A command is a struct and the work on it ... */
    spot_status (*work)(spot_ctx *c, void *options);
    void  *options;                        /* by CLI_OPTIONS; zeroed before the words are read */
    size_t size;
    void (*fill)(void *options);           /* stores a library's defaults; or NULL */
    bool   machine;                        /* the struct begins with a cli_machine; else the command takes the CPU */

    /* ... or does all itself. argv[0] is "spotter NAME"; returns the exit code. */
    int (*run)(int argc, char **argv);
};

/* Words that the user gave, row by row of the command; "" for an option that takes none, NULL for what was not given. They
 * last until the next cli_parse. */
typedef struct { const cli_command *command; const char **word; } cli_given;

/* Fills the command's struct; given may be NULL. A wrong command line: one sentence on stderr and exit 2. */
void cli_parse(const cli_command *k, int argc, char **argv, void *options, cli_given *given);

/* Inside `check`: whether the user gave the option of this name; whether in a file of rows. */
bool cli_is_given(const struct argp_state *state, const char *name);
bool cli_is_from_file(const struct argp_state *state, const char *name);

#endif
