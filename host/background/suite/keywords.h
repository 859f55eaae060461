/* keywords.h - the keywords of images and backgrounds: from CSV files, or by similarity to words (CLIP). */
#ifndef SPOTTER_KEYWORDS_H
#define SPOTTER_KEYWORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "spotter/ctx.h"
#include "spotter/ontology.h"

/* One vocabulary for both lists of pictures; rows in the order of the lists. */
typedef struct {
    int    words;
    char **word;                   /* (words): in the order of the files, those of the images first */
    spot_baskets images, backgrounds;
    int    others;                 /* records of the files that belong to no picture of the lists */
} spot_keywords;

/* path (n): as in the column of the file. */
typedef struct { const char *file; char *const *path; int n; } spot_keyword_list;

/* Files have a header with the column path, and either a column of 0 and 1 (or false, true) for each keyword, or one column
 * "keywords" with words and ';' between them. A keyword is compared in lower case, ' ' for '_', without blanks around it.
 * SPOT_INPUT: a picture without a record (the first three are named, the rest counted), two records of one picture, a cell that
 * is no flag. file NULL: its pictures have no keywords. Close k also after a failure. */
spot_status spot_keywords_read (spot_ctx *c, spot_keywords *k, const spot_keyword_list *images,
                                const spot_keyword_list *backgrounds);
void        spot_keywords_close(spot_keywords *k);

/* The lines word (*n) become keywords, as those of CSV files are compared; of equal ones the first stays. *n: those that are
 * left. SPOT_INPUT for a line of 256 bytes or more. */
spot_status spot_keyword_words(spot_ctx *c, char **word, int *n, const char *path);

/* Whether `name` of n bytes is one of the keywords, compared as such. */
bool spot_keywords_have(const spot_keywords *k, const char *name, size_t n);

/* Pictures have the `top` words whose text is most similar; of equal ones the first. Rows have length 1: image (images, dim),
 * background (backgrounds, dim), text (words, dim). Copies the words. */
typedef struct {
    char *const *word;
    const float *text, *image, *background;
    int words, dim, images, backgrounds, top;
} spot_keyword_rows;
spot_status spot_keywords_similar(spot_ctx *c, spot_keywords *k, const spot_keyword_rows *r);

/* excluded (backgrounds): the number of a keyword, 1 and up, that the background has and that is in `names` ("dog; cat") or one
 * of the class names (as folders or words); 0: none. Returns how many backgrounds have one. */
int spot_keywords_excluded(int *excluded, const spot_keywords *k, const char *names, char *const *class_name, int classes);

#endif
