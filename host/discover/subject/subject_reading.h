/* subject_reading.h - what the parts of a subject share while they are read, one after the other: labels, answers, ids,
 * features.
 *
 * A row that no method can use (NaN, a feature beyond SPOT_LARGEST_FEATURE, no label, no probability) ends reading with a
 * sentence that names the row of the file; or, with files->skip_bad, it is marked, counted, and left out when all parts are
 * read, so that rows keep the numbers of the file until then. */
#ifndef SPOTTER_SUBJECT_READING_H
#define SPOTTER_SUBJECT_READING_H

#include "discover/subject/fits.h"
#include "formats/formats.h"
#include "spotter/subject.h"

typedef struct {
    spot_ctx     *c;
    spot_subject *s;
    const spot_subject_files *files;
    const spot_known *known;               /* the classes; NULL: those that occur */
    const char   *first;                   /* the file that fixed the number of rows */
    const char   *block;                   /* the features that are read now */
    size_t        used;                    /* bytes of files->memory in use */
    uint8_t      *bad;                     /* (n): 1: the row is left out */
    int           left_out;                /* their number */
    bool          whole;                   /* class names are whole numbers, no number twice, in the order of numbers */
    bool          one_hot;                 /* `has` gives each row exactly one class */
    int           soft;                    /* rows whose labels were shares of classes; `has` has the greatest */
} spot_rows_reading;

static inline bool spot_row_is_left_out(const spot_rows_reading *r, int i) { return r->bad && r->bad[i]; }

/* Reads an array and compares its number of rows with the others'. (n, 1) counts as (n). most_rank 0: it must be (rows,
 * features). */
spot_status spot_rows_array(spot_rows_reading *r, spot_array *a, const char *where, int most_rank);

/* SPOT_NOMEM where files->memory does not suffice for so many bytes beside those in use, for a while. */
spot_status spot_rows_room(const spot_rows_reading *r, size_t bytes, const char *name);

/* The same as spot_rows_array of a column of cells as words, of which some may be missing; numbers become words. *cell (rows)
 * belongs to the subject. spot_rows_words: of an array that is read. */
spot_status spot_rows_cells(spot_rows_reading *r, spot_array *a, const char *where, char ***cell);
spot_status spot_rows_words(spot_rows_reading *r, spot_array *a, char ***word);

/* Converts the array to floats, which the subject owns; borrowed ones are floats. Values that no float holds become
 * infinite. */
spot_status spot_rows_floats(spot_rows_reading *r, float **out, spot_array *a);

/* Who tells the classes, where they are known: "findings have" or "class names are". */
const char *spot_rows_namer(const spot_rows_reading *r);

/* failure: the status of a spot_fail about the row. Leaves the row out where that is wished, and tells the first few.
 * SPOT_INPUT when more than half of the rows would be left out. */
spot_status spot_bad_row(spot_rows_reading *r, int row, spot_status failure);

/* The end of a sentence about a bad row: how to leave such rows out. */
const char *spot_bad_row_advice(const spot_rows_reading *r);

/* Marks rows with a value that is not finite or beyond most in size. */
spot_status spot_bad_values(spot_rows_reading *r, const spot_array *a, double most);

/* Leaves the marked rows out of every array of the subject. */
spot_status spot_bad_rows_drop(spot_rows_reading *r);

/* The groups of files->groups, numbered by spot_groups_settle when all parts are read. */
spot_status spot_groups_read(spot_rows_reading *r, spot_array *a);

/* The classes: target or has, class_name, classes. */
spot_status spot_labels_read(spot_rows_reading *r, spot_array *a);

/* Sorts names of classes: as numbers where all are whole numbers, else by their bytes. Returns whether they are numbers from 0
 * on, no number twice. */
bool spot_labels_sort(char **name, int n);

/* Whether names are sorted as numbers, which all are. */
bool spot_labels_by_number(char *const *name, int n);

/* Where words are whole numbers below `classes`: they are the classes' numbers. */
spot_status spot_labels_as_numbers(spot_rows_reading *r, int classes);

/* Makes a class of each row of `has`. */
spot_status spot_labels_of_one_class(spot_rows_reading *r, const char *why);

/* The answers: prob, confidence. */
spot_status spot_answers_read(spot_rows_reading *r, spot_array *a);

/* Checks prob of every row, tells ties, and names classes whose columns may be exchanged. */
spot_status spot_answers_check(spot_rows_reading *r, const char *name);

/* Whether most rows of p that stay sum to 1; the check of all rows names the others. */
bool spot_answers_sum_to_1(const spot_rows_reading *r, const float *p, int columns);

/* order (columns): the column of each class, by the names of a's columns, to be freed; NULL: they stand in the order of the
 * classes. Classes that only a column names are added. SPOT_INPUT where names and classes do not match. */
spot_status spot_columns_match(spot_rows_reading *r, int **order, const spot_array *a);

/* The class that the only column of a .csv is called as, p_cat or p0; -1: none. */
int spot_column_class(const spot_rows_reading *r, const spot_array *a);

/* "a", "b", ... and 3 more: the first words of a list, in quotes. */
const char *spot_words_listed(char text[512], char *const *word, int n);

#endif
