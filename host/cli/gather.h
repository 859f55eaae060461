/* gather.h - the parts of spotter gather: the claim, where it comes from, and the files that carry it. */
#ifndef SPOTTER_GATHER_H
#define SPOTTER_GATHER_H

#include "cli/cli.h"
#include "spotter/claim.h"
#include "spotter/discover.h"

enum { CLI_CLAIM_TEXT = 1100, CLI_CLAIM_NAME = 300, CLI_CLAIM_PATH = 1100 };

/* A claim: the classifier fails more often on pictures of `text`. Texts are "" where nothing is known. */
typedef struct {
    char text[CLI_CLAIM_TEXT];             /* a phrase, or attributes of scenes */
    char cls[CLI_CLAIM_NAME];              /* the class of the pictures */
    char found[CLI_CLAIM_PATH];            /* folder of findings that the claim comes from; ... */
    int  slice;                            /* ... the slice's number in its table; 0: the user's own words */
    char there[16];                        /* what discover says of the slice: confirmed, suggested, chance */
    double rate, class_rate;               /* error rates there, of its judged rows if it has such; NaN */
    char root[CLI_CLAIM_PATH];             /* the folder below which the new pictures are */
    char model[CLI_CLAIM_PATH];            /* the model that was measured; "": people fill the table */
    int  items;                            /* of the slice's attributes, 0: none */
    char item[SPOT_MOST_ITEMS][CLI_CLAIM_NAME];
} cli_claim;

/* Findings as they are read; zeroed: none. */
typedef struct {
    spot_subject s;
    spot_findings f;
    spot_discover_options d;
    bool open;
} cli_found;

/* gather_claim.c. Opens the findings in dir; close accepts a zeroed struct. */
spot_status cli_found_open (spot_ctx *c, cli_found *k, const char *dir);
void        cli_found_close(cli_found *k);

/* The claim of the slice of this number in the findings' table. word: number of the phrase from 1; 0: attributes are wanted.
 * SPOT_USAGE: no such slice; SPOT_INPUT: it has no such description. text not NULL: these words, in place of its own. */
spot_status cli_claim_of_slice(spot_ctx *c, cli_claim *k, const cli_found *found, const char *dir, int number, int word,
                               const char *text);

/* Prints the claim, a line. */
void cli_claim_print(const cli_claim *k);

/* gather_files.c. DIR/gathered.csv and DIR/claim.json; read: those beside the table `path`. *there is false without claim.json,
 * and then only groups and answers are read. SPOT_INPUT names file and line. */
spot_status cli_gathered_write(spot_ctx *c, const char *dir, const cli_claim *k, const spot_new_pictures *p);
spot_status cli_gathered_read (spot_ctx *c, const char *path, cli_claim *k, spot_new_pictures *p, bool *there);

/* The verdict, on stdout as lines or as JSON; and with dir into DIR/verdict.json and the page DIR/gather.html. */
spot_status cli_claim_verdict(spot_ctx *c, const cli_claim *k, const spot_new_pictures *p, const char *dir, double level,
                              bool json);

#endif
