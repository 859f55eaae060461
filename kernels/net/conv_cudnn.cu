/* conv_cudnn.cu - convolutions by cuDNN's backend ("graph") API: NHWC, fp32 arithmetic, one operation a graph, or the
 * convolution with what follows it.
 *
 * The heuristics give an engine configuration, which is written as words; a plan is made from the words. So the plan that was
 * timed can be made again. */
#include "core/cuda.cuh"
#include "net/conv_cudnn.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !__has_include(<cudnn.h>)

spot_status spot_cudnn_open(spot_ctx *c, spot_cudnn **lib)
{
    *lib = NULL;
    return spot_fail(c, SPOT_DEVICE, "this build was made without cuDNN's headers, so it cannot convolve on a GPU; "
                     "install cuDNN 9 and build again, or run with --device cpu");
}

spot_status spot_cudnn_open_described(spot_ctx *c, spot_cudnn **lib, const char *) { return spot_cudnn_open(c, lib); }

/* Never called without a library. */
void spot_cudnn_describe(const spot_cudnn *, char *, size_t) {}
void spot_cudnn_close(spot_cudnn *) {}
size_t spot_cudnn_version(const spot_cudnn *) { return 0; }
void spot_cudnn_plan_close(spot_cudnn_plan *) {}
size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *) { return 0; }
bool spot_cudnn_plan_tensor_cores(const spot_cudnn_plan *) { return false; }

spot_status spot_cudnn_propose(spot_ctx *, spot_cudnn *, const spot_conv_task *, bool, spot_cudnn_choice *, int *)
{
    return SPOT_DEVICE;
}

spot_status spot_cudnn_plan_open(spot_ctx *, spot_cudnn *, spot_cudnn_plan **, const spot_conv_task *,
                                 const spot_cudnn_choice *, char *, size_t)
{
    return SPOT_DEVICE;
}

spot_status spot_cudnn_run(spot_ctx *, const spot_cudnn_plan *, void *, void *, void *, const float *, const void *, void *,
                           bool *)
{
    return SPOT_DEVICE;
}

#else
#include "net/cudnn.cuh"

static const size_t CAP = (size_t)1 << 30;
static const char *const KIND[KINDS] = { "fused", "plain", "narrow" };

/* -- proposals ------------------------------------------------------------------------------------------------------- */

/* Writes config as words; false where that is not possible. */
static bool words_of(builder *b, cudnnBackendDescriptor_t config, int kind, spot_cudnn_choice *choice)
{
    cudnnBackendDescriptor_t engine = make(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR), knob[CUDNN_KNOB_TYPE_COUNTS];
    int64_t index = 0, value, count = 0, one;
    size_t used;

    for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; i++) knob[i] = make(b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    if (b->e || b->lib->get(config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one, &engine)
        || b->lib->get(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &one, &index)
        || b->lib->get(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS,
                       &count, knob))
        return false;
    used = (size_t)snprintf(choice->words, sizeof choice->words, "%s %lld", KIND[kind], (long long)index);
    for (int64_t i = 0; i < count && i < CUDNN_KNOB_TYPE_COUNTS; i++) {
        cudnnBackendKnobType_t type;
        if (b->lib->get(knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &one, &type)
            || b->lib->get(knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &one, &value))
            return false;
        used += (size_t)snprintf(choice->words + used, sizeof choice->words - used, " %d=%lld", (int)type, (long long)value);
        if (used >= sizeof choice->words) return false;
    }
    return true;
}

/* Adds the proposals of one heuristic for a graph. No proposal is no failure: another heuristic may have some. */
static void propose(builder *b, cudnnBackendDescriptor_t of, cudnnBackendHeurMode_t mode, int kind,
                    spot_cudnn_choice choice[SPOT_MOST_CHOICES], int *count)
{
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), config[MOST_CONFIGS];
    int64_t proposed = 0;

    set_part(b, d, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, of);
    set(b, d, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    set_device(b, d, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
    if (b->e || b->lib->finalize(d)) return;
    b->e = b->lib->get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &proposed, NULL);
    if (proposed > MOST_CONFIGS) proposed = MOST_CONFIGS;
    for (int64_t i = 0; i < proposed; i++) config[i] = make(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    if (!b->e && proposed)
        b->e = b->lib->get(d, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, proposed, &proposed, config);
    for (int64_t i = 0; i < proposed && !b->e && *count < SPOT_MOST_CHOICES; i++) {
        int mark = b->plan->made_count, known = 0;
        bool said = words_of(b, config[i], kind, &choice[*count]);
        while (known < *count && strcmp(choice[known].words, choice[*count].words)) known++;
        *count += said && known == *count;
        unmake(b->plan, mark);
    }
}

spot_status spot_cudnn_propose(spot_ctx *c, spot_cudnn *lib, const spot_conv_task *task, bool fallback,
                               spot_cudnn_choice choice[SPOT_MOST_CHOICES], int *count)
{
    static const cudnnBackendHeurMode_t mode[] = { CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK };
    bool narrow = fallback && task->pass == SPOT_PASS_WEIGHTS && task->s.precision == SPOT_BF16;
    bool fused = !fallback && task->pass == SPOT_PASS_FORWARD && task->s.bias;
    spot_cudnn_plan p = { .lib = lib };
    cudnnStatus_t e = CUDNN_STATUS_SUCCESS;

    *count = 0;
    for (int kind = 0; kind < KINDS && !e; kind++) {
        builder b = { lib, &p, CUDNN_STATUS_SUCCESS };
        if (kind == FUSED ? !fused : kind == NARROW ? !narrow : fallback) continue;
        cudnnBackendDescriptor_t of = spot_cudnn_graph(&b, task, kind);
        for (size_t m = 0; m < sizeof mode / sizeof *mode; m++) {
            int mark = p.made_count;
            propose(&b, of, mode[m], kind, choice, count);
            unmake(&p, mark);
        }
        unmake(&p, 0);
        if (kind != FUSED) e = b.e;                    /* a graph of several operations need not be known */
    }
    return spot_cudnn_told(c, lib, e, "propose engines for", task->words);
}

/* -- plans ----------------------------------------------------------------------------------------------------------- */

/* NULL if the engine is deterministic and as precise as required, else the reason against it. Notes whether it uses tensor
 * cores. unknown: a note that this build has no name for is no reason. */
static const char *objection(builder *b, cudnnBackendDescriptor_t engine, spot_precision precision, bool unknown)
{
    cudnnBackendNumericalNote_t note[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
    int64_t count = 0;

    if (b->lib->get(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT,
                    &count, note))
        return "the engine does not say how it computes";
    for (int64_t i = 0; i < count && i < CUDNN_NUMERICAL_NOTE_TYPE_COUNT; i++)
        switch (note[i]) {
        case CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP: break;
        case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
            if (precision == SPOT_FP32) return "the engine uses tensor cores";
            b->plan->tensor_cores = true;
            break;
        case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
            if (precision != SPOT_TF32) return "the engine rounds its inputs";
            break;
        case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC: return "the engine is not deterministic";
        default:
            if ((unsigned)note[i] < CUDNN_NUMERICAL_NOTE_TYPE_COUNT)
                return "the engine transforms its inputs or sums in less than fp32";
            if (!unknown) return "the library notes what this build does not know";
        }
    return NULL;
}

/* The engine of a choice, without its knobs; what follows them in the words is left in *rest. */
static cudnnBackendDescriptor_t engine_of(builder *b, cudnnBackendDescriptor_t of, char **rest)
{
    cudnnBackendDescriptor_t d = make(b, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    int64_t index = strtoll(*rest, rest, 10);

    set_part(b, d, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, of);
    set(b, d, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &index);
    set_device(b, d, CUDNN_ATTR_ENGINE_DEVICEPROP);
    finish(b, d);
    return d;
}

static cudnnBackendDescriptor_t config_of(builder *b, cudnnBackendDescriptor_t engine, char *rest)
{
    cudnnBackendDescriptor_t knob[CUDNN_KNOB_TYPE_COUNTS], d;
    int64_t count = 0, value;

    while (*rest == ' ' && count < CUDNN_KNOB_TYPE_COUNTS) {
        cudnnBackendKnobType_t type = (cudnnBackendKnobType_t)strtol(rest, &rest, 10);
        value = *rest == '=' ? strtoll(rest + 1, &rest, 10) : 0;
        knob[count] = make(b, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
        set(b, knob[count], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type);
        set(b, knob[count], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value);
        finish(b, knob[count++]);
    }
    d = make(b, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    set_part(b, d, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
    if (count) set(b, d, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, knob);
    finish(b, d);
    return d;
}

/* p->plan, or NULL and the reason. */
static const char *make_plan(spot_cudnn_plan *p, const spot_conv_task *task, char *words, bool unknown)
{
    builder b = { p->lib, p, CUDNN_STATUS_SUCCESS };
    cudnnBackendDescriptor_t of, engine, config, d;
    const char *no;
    int64_t count, workspace = 0;

    for (p->kind = 0; p->kind < KINDS; p->kind++) {
        size_t n = strlen(KIND[p->kind]);
        if (!strncmp(words, KIND[p->kind], n) && words[n] == ' ') break;
    }
    if (p->kind == KINDS) return "these are no words for an engine";
    words += strlen(KIND[p->kind]);
    of = spot_cudnn_graph(&b, task, p->kind);
    engine = engine_of(&b, of, &words);
    no = b.e ? NULL : objection(&b, engine, task->s.precision, unknown);
    if (no) return no;
    config = config_of(&b, engine, words);
    d = make(&b, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    if (p->lib->handle) set(&b, d, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &p->lib->handle);
    set_device(&b, d, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    set_part(&b, d, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    finish(&b, d);
    if (!b.e) b.e = p->lib->get(d, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1, &count, &workspace);
    if (b.e) return p->lib->error_string(b.e);
    if ((uint64_t)workspace > CAP) return "it wants more than a GB of scratch";
    p->workspace = (size_t)workspace;
    if (p->kind == NARROW) p->narrow = (size_t)task->s.co * task->channels * task->k * task->k * 2;
    if (p->kind == FUSED && task->s.precision == SPOT_BF16) p->narrow = (size_t)task->s.co * 2;
    p->plan = d;
    return NULL;
}

spot_status spot_cudnn_plan_open(spot_ctx *c, spot_cudnn *lib, spot_cudnn_plan **plan, const spot_conv_task *task,
                                 const spot_cudnn_choice *choice, char *why, size_t size)
{
    spot_cudnn_choice copy = *choice;
    spot_cudnn_plan *p = (spot_cudnn_plan *)calloc(1, sizeof *p);
    const char *no;

    *plan = NULL;
    if (!p) return spot_fail(c, SPOT_NOMEM, "no memory for a plan of cuDNN");
    p->lib = lib;
    memcpy(p->words, task->words, sizeof p->words);
    no = make_plan(p, task, copy.words, choice->unknown);
    if (no) {
        snprintf(why, size, "%s", no);
        spot_cudnn_plan_close(p);
    }
    else *plan = p;
    return SPOT_OK;
}

void spot_cudnn_plan_close(spot_cudnn_plan *p)
{
    if (!p) return;
    unmake(p, 0);
    free(p);
}

size_t spot_cudnn_version(const spot_cudnn *lib) { return lib->version(); }
bool spot_cudnn_plan_tensor_cores(const spot_cudnn_plan *p) { return p->tensor_cores; }

size_t spot_cudnn_plan_scratch(const spot_cudnn_plan *p) { return p ? spot_arena_room(p->narrow) + p->workspace : 0; }

spot_status spot_cudnn_run(spot_ctx *c, const spot_cudnn_plan *p, void *x, void *w, void *y, const float *bias,
                           const void *other, void *scratch, bool *finished)
{
    const int64_t uid[5] = { UID_X, UID_W, UID_Y, UID_BIAS, UID_OTHER }, count = p->kind == FUSED ? 4 + (other != NULL) : 3;
    void *workspace = (char *)scratch + spot_arena_room(p->narrow);
    void *at[5] = { x, w, y, (void *)bias, (void *)other };
    const spot_cudnn *lib = p->lib;
    cudnnBackendDescriptor_t d = NULL;
    cudnnStatus_t e = lib->make(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &d);

    *finished = p->kind == FUSED;
    if (p->narrow) at[*finished ? 3 : 1] = scratch;
    if (p->narrow && *finished) SPOT_TRY(spot_conv_narrow(c, scratch, bias, p->narrow / 2));
    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, count, uid);
    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, count, at);
    if (!e) e = lib->set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
    if (!e) e = lib->finalize(d);
    if (!e) e = lib->execute(lib->handle, p->plan, d);
    if (d) lib->unmake(d);
    SPOT_TRY(spot_cudnn_told(c, lib, e, "run", p->words));
    return p->kind == NARROW ? spot_conv_widen(c, (float *)w, scratch, p->narrow / 2) : SPOT_OK;
}

#endif
