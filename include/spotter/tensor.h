/* tensor.h - a borrowed matrix: row-major, dense. It owns nothing. */
#ifndef SPOTTER_TENSOR_H
#define SPOTTER_TENSOR_H

typedef struct {
    float *v;          /* (rows, cols) */
    int rows, cols;
} spot_mat;

#endif
