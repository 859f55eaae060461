/* examine_lines.h - the tables of paper 002 (Shu et al.) from a run of `spotter examine`: which rows they have, and the paper's
 * numbers. */
#ifndef SPOTTER_EXAMINE_LINES_H
#define SPOTTER_EXAMINE_LINES_H

#include "spotter/examine.h"

/* 1: the paper's Table 2 (mean p after T). 2: its Table 3 (by m, training renders of an object). 3: lowest (in strength
 * mode highest), robust, valid, inside the planted region; the paper has none such. */
enum { SPOT_EXAMINE_TABLES = 3 };

const char *spot_examine_table_title(int table, int mode);       /* mode: spot_examine_search.mode */

/* Models of one kind that differ in m: networks trained here whose names are equal but for the digits at the end; by
 * ascending m. */
typedef struct { int models, model[SPOT_MAX_EXAMINED_MODELS]; char name[64]; } spot_examine_family;

/* family (models of cfg); returns how many there are. */
int spot_examine_families(spot_examine_family *family, const spot_examine_config *cfg);

/* "40 epochs each", "2000 steps each", or that they differ. */
void spot_examine_training(char *words, size_t size, const spot_examine_config *cfg, const spot_examine_family *f);

/* The paper's T as renders that a method asks for: a step of its policy is a batch, one of the others a render. 0: the paper
 * has no such method. */
int spot_examine_paper_renders(const spot_examiner_config *e, int T);

/* Index of the point that has about so many renders asked for (within a tenth); -1: none. */
int spot_examine_point_at(const spot_examine_results *r, const spot_examine_summary *s, int renders);

/* The paper's mean p; NaN: it has none for this network, method or T. by_m: Table 3, T = 200. */
double spot_examine_paper_mean(int arch, int method, int T);
double spot_examine_paper_by_m(int arch, int method, int m);

/* T of the paper's Table 2. */
enum { SPOT_EXAMINE_PAPER_POINTS = 4, SPOT_EXAMINE_PAPER_T = 200 };
extern const int spot_examine_paper_T[SPOT_EXAMINE_PAPER_POINTS];

#endif
