/* rows_alike.h - copies and near copies among rows, which become groups where the user gave none (spot_subject.group).
 *
 * A copy of a picture in both halves of the rows lets errors of chance repeat. So rows that are copies are a group; all other
 * rows are alone.
 *
 *     copies         their features are equal, number by number; whatever their classes
 *     near copies    rows i and j of one class, d(i, j) <= f min(r(i), r(j)), where r is the distance to the 16th nearest row
 *                    of the class
 *
 * f is at most 1/2, and so small that SPOT_ALIKE_CHANCE pairs are to be expected in all rows if they lie by themselves: of the
 * 16 nearest rows 16 f^m are so near in m dimensions. m is that of the tenth of the rows around which the class has the fewest
 * dimensions, by the distances to the 8th and the 16th row; so rows need not fill the same number of dimensions everywhere, and
 * in few dimensions f is small. A row has at most four near copies, and its next neighbour is 1.5 times as far as the farthest
 * of them and farther than f r: rows of a small tight cloud are no copies. Six and more near copies of one picture look as such
 * a cloud does, and are not told from it. A row that is a near copy of several joins the first that joined no other: all rows
 * of a group are near that one, and chains of neighbours join no class.
 *
 * Features of few values, such as attributes of 0 and 1, are equal without being copies. Columns may depend on each other (an
 * attribute and its opposite, the columns of a category, a column twice), so that how many of them are equal says nothing.
 * Copies are known by the finest columns, those in which the fewest rows are equal: a quarter of the columns that vary tells
 * distinct rows apart, and the other columns confirm that equal ones are copies. Where more than a tenth of the distinct rows
 * have an equal one in the finest quarter, no row is taken for a copy; nor where all columns are functions of the finest, as p
 * and 1 - p are: one feature confirms nothing. In attributes beside a few numbers near rows are those of equal attributes, so
 * near copies are sought where the next finest quarter tells rows apart as well.
 *
 * Cost: a class of at most SPOT_ALIKE_LEAF rows is compared row by row. A larger one is divided at the median of a random
 * direction until its parts are as small, and near copies are sought in each part: n SPOT_ALIKE_LEAF d products at most. A few
 * pairs on both sides of a border are missed, the fewer the nearer they are. */
#ifndef SPOTTER_ROWS_ALIKE_H
#define SPOTTER_ROWS_ALIKE_H

#include "spotter/subject.h"

#define SPOT_ALIKE_CHANCE 0.001
enum { SPOT_ALIKE_LEAF = 2048 };

/* Sets group and groups of s, and logs their number. Without copies s stays as it is. */
spot_status spot_rows_group_alike(spot_ctx *c, spot_subject *s);

/* first (s->n): the row that stands for each row. row (n): rows of one class that stand for themselves, ascending; they get
 * another order. Those that are near copies of an earlier one get it as first. */
spot_status spot_rows_join_near(spot_ctx *c, const spot_subject *s, int *row, int n, int *first);

#endif
