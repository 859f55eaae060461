/* acquisition.h - the upper confidence bound of a Gaussian process over the cube of a search, and local searches on it. */
#ifndef SPOTTER_ACQUISITION_H
#define SPOTTER_ACQUISITION_H

#include <nlopt.h>

#include "examine/surrogate.h"

/* mean + kappa deviation at x (dims). slope (dims) unless NULL. */
double spot_acquisition_at(const spot_surrogate *s, spot_gp *g, double kappa, const double *x, double *slope);

/* A local search by this algorithm of NLopt from x, at most so many evaluations; x becomes the best point seen, which lies in
 * the cube; its value is returned. Whole turns have no border when the surrogate makes circles of them. */
double spot_acquisition_climb(const spot_surrogate *s, spot_gp *g, double kappa, double *x, nlopt_algorithm how,
                              int evaluations, double tolerance);

#endif
