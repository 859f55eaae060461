/* planted_branches.cu - work on two streams, done rightly and wrongly (planted_faults.h). */
#include "core/cuda.cuh"
#include "planted_faults.h"

static __global__ void sum_kernel(float *to, const float *a, const float *b, float by)
{
    *to = (a ? *a : 0) + (b ? *b : 0) + by;
}

enum { FORK_X, FORK_A, FORK_B, FORK_SUM, FORK_FLOATS };

static void fork_work(int how, float *p, cudaStream_t first, cudaStream_t beside, cudaEvent_t forked, cudaEvent_t done)
{
    SPOT_LAUNCH(sum_kernel, 1, 1, 0, first, p + FORK_X, (float *)NULL, (float *)NULL, 1.0f);
    cudaEventRecord(forked, first);
    if (how != FORK_OUTSIDE) cudaStreamWaitEvent(beside, forked);
    SPOT_LAUNCH(sum_kernel, 1, 1, 0, beside, p + FORK_A, p + FORK_X, (float *)NULL, 1.0f);
    cudaEventRecord(done, beside);
    SPOT_LAUNCH(sum_kernel, 1, 1, 0, first, p + FORK_B, p + FORK_X, (float *)NULL, 2.0f);
    if (how == FORK_RACES) SPOT_LAUNCH(sum_kernel, 1, 1, 0, first, p + FORK_X, (float *)NULL, (float *)NULL, 10.0f);
    if (how != FORK_UNJOINED) cudaStreamWaitEvent(first, done);
    SPOT_LAUNCH(sum_kernel, 1, 1, 0, first, p + FORK_SUM, p + FORK_A, p + FORK_B, 0.0f);
}

/* ended NULL: without a capture. */
static float run_fork(int how, int *ended)
{
    cudaStream_t stream[2];
    cudaEvent_t event[2];
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    float *p, sum = 0;

    for (cudaStream_t &s : stream) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    for (cudaEvent_t &e : event) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaMalloc((void **)&p, FORK_FLOATS * sizeof *p);
    if (ended) cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeRelaxed);
    fork_work(how, p, stream[0], stream[1], event[0], event[1]);
    if (ended && !(*ended = cudaStreamEndCapture(stream[0], &graph))) {
        cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphDestroy(graph);
        cudaGraphLaunch(ready, stream[0]);
        cudaGraphExecDestroy(ready);
    }
    cudaMemcpyAsync(&sum, p + FORK_SUM, sizeof sum, cudaMemcpyDefault, stream[0]);
    cudaFree(p);
    for (cudaEvent_t e : event) cudaEventDestroy(e);
    for (cudaStream_t s : stream) cudaStreamDestroy(s);
    return sum;
}

float spot_fork(int how, int *ended)   { return run_fork(how, ended); }
float spot_fork_at_once(int how)       { return run_fork(how, NULL); }
