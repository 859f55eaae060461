/* slice_claim.h - a slice's description, or the user's own words, as a claim; the files that carry it; what a test says of it.
 *
 *     slice -> claim -> new pictures (spotter/claim.h, claim_scenes.h) -> right or wrong (claim_model.h) -> verdict */
#ifndef SPOTTER_SLICE_CLAIM_H
#define SPOTTER_SLICE_CLAIM_H

#include "base/json.h"
#include "spotter/claim.h"
#include "spotter/discover.h"

enum { SPOT_CLAIM_TEXT = 1100, SPOT_CLAIM_NAME = 300, SPOT_CLAIM_PATH = 1100 };

/* The classifier fails more often on pictures of `text`. Texts are "" where nothing is known. */
typedef struct {
    char text[SPOT_CLAIM_TEXT];            /* a phrase, or attributes of scenes */
    char cls[SPOT_CLAIM_NAME];             /* the class of the pictures */
    char found[SPOT_CLAIM_PATH];           /* folder of findings that the claim comes from; ... */
    int  slice;                            /* ... the slice's number in its table; 0: the user's own words */
    char proof[16];                        /* what discover says of the slice: confirmed, suggested, chance */
    double rate, class_rate;               /* error rates there, of its judged rows if it has such; NaN */
    char root[SPOT_CLAIM_PATH];            /* the folder below which the new pictures are */
    spot_picture_reading reading;          /* of these; in no file */
    char contents[33];                     /* hash of the names and bytes of these; "": not known */
    char model[SPOT_CLAIM_PATH];           /* the model that was measured; "": people fill the table */
    int  items;                            /* of the slice's attributes, 0: none */
    char item[SPOT_MOST_ITEMS][SPOT_CLAIM_NAME];
} spot_slice_claim;

/* "gathered", "control": the groups of new pictures, in files and on the terminal */
extern const char *const spot_gathered_group[2];

/* A slice of the findings in a folder. */
typedef struct {
    const spot_subject *subject;
    const spot_attributes *attributes;     /* of the search; NULL: none */
    const spot_finding *finding;
    const spot_slice   *slice;
    const char *dir;
    int number;                            /* in the table of the findings */
} spot_claimed_slice;

/* The claim of a slice. word: number of the phrase from 1; 0: attributes are wanted. SPOT_INPUT: it has no such description,
 * or its words are terms of a text; SPOT_USAGE: no such phrase. text not NULL: these words, in place of its own. */
spot_status spot_slice_claim_make(spot_ctx *c, spot_slice_claim *k, const spot_claimed_slice *of, int word, const char *text);

/* claim_files.c. DIR/gathered.csv and DIR/claim.json; read: those beside the table `path`. Without claim.json only `group` and
 * answers are read. write also hashes the pictures. The table has a column SPOT_GATHERED_GROUPS, with the pictures' groups
 * (of->group, of->group_name), where `of` has such; NULL: none. SPOT_INPUT names file and line. */
#define SPOT_GATHERED_GROUPS "groups"
typedef struct { bool claim, groups; } spot_gathered_has;              /* claim.json; the column */
spot_status spot_gathered_write(spot_ctx *c, const char *dir, const spot_slice_claim *k, const spot_new_pictures *p,
                                const spot_subject *of);
spot_status spot_gathered_read (spot_ctx *c, const char *path, spot_slice_claim *k, spot_new_pictures *p,
                                spot_gathered_has *has);

/* Whether the pictures are those of which the claim's files were written: the files may be a stranger's, and then the names
 * in them may be those of the reader's own pictures. */
bool spot_gathered_same(spot_ctx *c, const spot_slice_claim *k, const spot_new_pictures *p);

/* of->group (n): which of the table's rows have an equal cell in a column of it; close `of`, also after a failure. */
spot_status spot_gathered_groups(spot_ctx *c, spot_subject *of, const char *path, const char *column, int n);

/* claim_verdict.c. Adds the verdict to an open JSON object; writes it as DIR/verdict.json. */
void        spot_claim_verdict_put  (spot_json *j, const spot_slice_claim *k, const spot_claim_test *t);
spot_status spot_claim_verdict_write(spot_ctx *c, const char *dir, const spot_slice_claim *k, const spot_claim_test *t);

#endif
