/* conv_cudnn_graph.cu - a convolution as a graph of cuDNN's operations: the pass alone, or with summands and ReLU. */
#if __has_include(<cudnn.h>)
#include "net/cudnn.cuh"

/* The names of a pass in cuDNN. */
typedef struct {
    cudnnBackendDescriptorType_t operation;
    cudnnBackendAttributeName_t conv, alpha, beta, x, w, y;
} pass_names;

static const pass_names PASS[SPOT_PASSES] = {
    { CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y },
    { CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY },
    { CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY },
};

/* A tensor (n, channels, side, side) with layout (n, side, side, channels); for weights (co, ci, k, k) with layout
 * (co, k, k, ci). Tensors from UID_PASSED on are passed only within a graph. */
static cudnnBackendDescriptor_t tensor(builder *b, int64_t uid, cudnnDataType_t type, int64_t n, int64_t channels,
                                       int64_t side)
{
    const int64_t dims[4] = { n, channels, side, side }, align = 16;
    const int64_t strides[4] = { channels * side * side, 1, channels * side, channels };
    const bool passed = uid >= UID_PASSED;
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);

    set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    set(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, dims);
    set(b, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
    set(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &align);
    set(b, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &passed);
    finish(b, d);
    return d;
}

static cudnnBackendDescriptor_t convolution(builder *b, const spot_conv_task *t)
{
    const int64_t dims = 2, before[2] = { t->before, t->before }, after[2] = { t->after, t->after };
    const int64_t stride[2] = { t->stride, t->stride }, one[2] = { 1, 1 };
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

    set(b, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &dims);
    set(b, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    set(b, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    set(b, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, before);
    set(b, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, after);
    set(b, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2, stride);
    set(b, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, one);
    finish(b, d);
    return d;
}

/* The pass itself: one operation over x, w and y. */
static cudnnBackendDescriptor_t pass_of(builder *b, const spot_conv_task *t, cudnnBackendDescriptor_t x,
                                        cudnnBackendDescriptor_t w, cudnnBackendDescriptor_t y)
{
    const float one = 1, kept = t->pass == SPOT_PASS_DATA && t->adds;      /* of what the written tensor holds */
    const pass_names *p = &PASS[t->pass];
    cudnnBackendDescriptor_t conv = convolution(b, t), d = make(b, p->operation);

    set_part(b, d, p->conv, conv);
    set_part(b, d, p->x, x);
    set_part(b, d, p->w, w);
    set_part(b, d, p->y, y);
    set(b, d, p->alpha, CUDNN_TYPE_FLOAT, 1, &one);
    set(b, d, p->beta, CUDNN_TYPE_FLOAT, 1, &kept);
    finish(b, d);
    return d;
}

/* to = from + by, or relu(from). */
static cudnnBackendDescriptor_t pointwise(builder *b, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t from,
                                          cudnnBackendDescriptor_t by, cudnnBackendDescriptor_t to)
{
    const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t how = make(b, CUDNN_BACKEND_POINTWISE_DESCRIPTOR), d;

    set(b, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(b, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &compute);
    finish(b, how);
    d = make(b, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from);
    if (by) set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, by);
    set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
    finish(b, d);
    return d;
}

/* relu(conv + other + bias); cuDNN accepts no other order. Tensors between operations are fp32. A bias has y's type, since
 * cuDNN does not accept fp32 with bf16. Returns the number of operations. */
static int fused(builder *b, const spot_conv_task *t, cudnnDataType_t type, cudnnBackendDescriptor_t x,
                 cudnnBackendDescriptor_t w, cudnnBackendDescriptor_t y, cudnnBackendDescriptor_t operation[4])
{
    const spot_conv_shape *s = &t->s;
    const int out = t->out;
    cudnnBackendDescriptor_t now = tensor(b, UID_PASSED, CUDNN_DATA_FLOAT, s->rows, s->co, out), to;
    int count = 0;

    operation[count++] = pass_of(b, t, x, w, now);
    if (t->adds) {
        cudnnBackendDescriptor_t other = tensor(b, UID_OTHER, type, s->rows, s->co, out);
        to = tensor(b, UID_PASSED + 1, CUDNN_DATA_FLOAT, s->rows, s->co, out);
        operation[count++] = pointwise(b, CUDNN_POINTWISE_ADD, now, other, to);
        now = to;
    }
    to = s->relu ? tensor(b, UID_PASSED + 2, CUDNN_DATA_FLOAT, s->rows, s->co, out) : y;
    operation[count++] = pointwise(b, CUDNN_POINTWISE_ADD, now, tensor(b, UID_BIAS, type, 1, s->co, 1), to);
    if (s->relu) operation[count++] = pointwise(b, CUDNN_POINTWISE_RELU_FWD, to, NULL, y);
    return count;
}

cudnnBackendDescriptor_t spot_cudnn_graph(builder *b, const spot_conv_task *t, int kind)
{
    const spot_conv_shape *s = &t->s;
    const cudnnDataType_t type = s->precision == SPOT_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
    const cudnnDataType_t w_type = t->pass == SPOT_PASS_WEIGHTS && kind != NARROW ? CUDNN_DATA_FLOAT : type;
    cudnnBackendDescriptor_t x = tensor(b, UID_X, type, s->rows, t->channels, t->size);
    cudnnBackendDescriptor_t w = tensor(b, UID_W, w_type, s->co, t->channels, t->k);
    cudnnBackendDescriptor_t y = tensor(b, UID_Y, type, s->rows, s->co, t->out), d, operation[4];
    int64_t count = 1;

    if (kind == FUSED) count = fused(b, t, type, x, w, y, operation);
    else operation[0] = pass_of(b, t, x, w, y);
    d = make(b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    set(b, d, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operation);
    if (b->lib->handle) set(b, d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->lib->handle);
    finish(b, d);
    return d;
}

#endif
