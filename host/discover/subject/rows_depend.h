/* rows_depend.h - whether rows seem to depend on each other though no groups say so, as frames of a video or crops of a picture
 * do. Two tests, each of which tells independent rows apart from slices:
 *
 *     order    Errors along the order of the files, class by class. Independent rows may stand in any order, whatever their
 *              features tell of their errors, so the same number in SPOT_DEPEND_DRAWS other orders of the class's errors is its
 *              law: the test is exact. The number is the sum of the products of errors, less their mean, of rows that are 1
 *              apart, 1 to 8 and 1 to 24 apart: the greatest of the three in standard deviations. The fifth of consecutive rows
 *              that has the most errors is left out, here as in the other orders: one slice whose rows stand together in the
 *              file is no dependence of all rows.
 *     place    Errors of a row and of its nearest rows of the class. Where errors are a function of the features, as in a
 *              classifier's own layer, or a slice has more rows than are asked, agreement changes little by little from the
 *              nearest row to the 32nd. Copies make a step: with A1, A2 and A4 the mean products of a row's error and those of
 *              its neighbours 1 to m, m + 1 to 2 m, and 4 m + 1 to 8 m, the nearest should agree as 3/2 A2 - 1/2 A4 where
 *              agreement follows the logarithm of the rank, and A1 less that is the step after m = 1, 2 and 4; that after 8 is
 *              3/4 A1 - 2 A2 + A3, with A3 of the neighbours 17 to 32. It has to be SPOT_DEPEND_STEP of its standard errors, in
 *              which a pair that is asked from both of its rows counts once.
 *
 * Groups of more than about ten rows in shuffled files look as small slices do, and nothing tells them apart.
 *
 * Of copies that are groups (rows_alike.h) the first row is looked at. Not asked: where the user told groups, where rows have
 * several classes, and of classes of few rows. Order looks at the first rows of each class, SPOT_DEPEND_ORDERED in all or 200 a
 * class; place at SPOT_DEPEND_PLACED rows at equal distances, among all of their classes. */
#ifndef SPOTTER_ROWS_DEPEND_H
#define SPOTTER_ROWS_DEPEND_H

#include "spotter/subject.h"

#define SPOT_DEPEND_LEVEL 0.015        /* of order */
#define SPOT_DEPEND_STEP  3.2
enum { SPOT_DEPEND_DRAWS = 999, SPOT_DEPEND_ORDERED = 20000, SPOT_DEPEND_PLACED = 8000 };

/* order: p; 1: not asked. step: the greatest in standard errors; 0: not asked. */
typedef struct { double order, step; } spot_rows_agreement;
spot_status spot_rows_agree(spot_ctx *c, spot_rows_agreement *a, const spot_subject *s);

/* Logs a warning where one of the tests says so. */
spot_status spot_rows_warn_of_dependence(spot_ctx *c, const spot_subject *s);

#endif
