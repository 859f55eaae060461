/* tensor.h - a borrowed matrix. Row-major, dense; owns nothing. */
#ifndef SPOTTER_TENSOR_H
#define SPOTTER_TENSOR_H

typedef struct {
    float *v;          /* (rows, cols) */
    int rows, cols;
} spot_mat;

#endif
