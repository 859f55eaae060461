/* dnnl_copy.c - see dnnl_copy.h. */
#include "net/dnnl_copy.h"

#include <omp.h>
#include <stdint.h>

static dnnl_status_t copy_with_these_threads(dnnl_stream_t stream, const dnnl_memory_desc_t *to, void *dst,
                                             const dnnl_memory_desc_t *from, const void *src)
{
    dnnl_engine_t engine = NULL;
    dnnl_primitive_desc_t pd = NULL;
    dnnl_primitive_t copy = NULL;
    dnnl_memory_t a = NULL, b = NULL;
    dnnl_status_t e = dnnl_stream_get_engine(stream, &engine);

    if (!e) e = dnnl_reorder_primitive_desc_create(&pd, from, engine, to, engine, NULL);
    if (!e) e = dnnl_primitive_create(&copy, pd);
    if (!e) e = dnnl_memory_create(&a, from, engine, (void *)(uintptr_t)src);
    if (!e) e = dnnl_memory_create(&b, to, engine, dst);
    if (!e) {
        dnnl_exec_arg_t arg[2] = { { DNNL_ARG_FROM, a }, { DNNL_ARG_TO, b } };
        e = dnnl_primitive_execute(copy, stream, 2, arg);
    }
    dnnl_memory_destroy(a);
    dnnl_memory_destroy(b);
    dnnl_primitive_destroy(copy);
    dnnl_primitive_desc_destroy(pd);
    return e;
}

/* oneDNN starts as many threads as OpenMP allows, and without this line those of OMP_NUM_THREADS. */
dnnl_status_t spot_dnnl_copy(spot_ctx *c, dnnl_stream_t stream, const dnnl_memory_desc_t *to, void *dst,
                             const dnnl_memory_desc_t *from, const void *src)
{
    const int before = omp_get_max_threads();
    dnnl_status_t e;

    omp_set_num_threads(c->threads);
    e = copy_with_these_threads(stream, to, dst, from, src);
    omp_set_num_threads(before);
    return e;
}
