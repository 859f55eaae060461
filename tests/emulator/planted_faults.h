/* planted_faults.h - kernels with one mistake each, and such without, for the emulator's own tests. */
#ifndef SPOTTER_EMULATOR_FAULTS_H
#define SPOTTER_EMULATOR_FAULTS_H

#ifdef __cplusplus
extern "C" {
#endif

enum { FAULT_OUTPUTS = 4 };

typedef enum {
    SPOT_CORRECT,             /* same outputs under every schedule, no NaN, no report */
    SPOT_VARIES,              /* outputs depend on the schedule                       */
    SPOT_LEAVES_NAN,          /* the poison of unwritten memory comes out             */
    SPOT_REPORTED,            /* every schedule reports it                            */
    SPOT_DIES                 /* ASan ends the program                                */
} spot_sign;

typedef struct {
    const char *name;
    const char *report;       /* SPOT_REPORTED: words of the emulator's report */
    spot_sign sign;
    void (*run)(float *out);  /* out: FAULT_OUTPUTS floats in device memory, all NaN */
} spot_fault;

extern const spot_fault spot_faults[];
extern const int spot_fault_count;

/* Two accesses that nothing orders, and the same kernel with what orders them. */
typedef struct {
    const char *name;
    const char *report;       /* words of the report */
    void (*broken)(float *out);
    void (*mended)(float *out);
} spot_race;

extern const spot_race spot_races[];
extern const int spot_race_count;

/* Calls that a capture must not have. */
typedef struct {
    const char *name;
    int (*call)(void);        /* a cudaError_t */
} spot_captured_call;

extern const spot_captured_call spot_captured_calls[];
extern const int spot_captured_call_count;

/* Makes the call in a capture: whether it is refused, and no graph comes out though its status was not looked at. */
int spot_capture_refuses(const spot_captured_call *call);

/* Records one kernel and replays it: its output. */
float spot_capture_works(void);

/* Records and replays x = 1, then on a branch a = x + 1 beside b = x + 2, then a + b, which should be 5. How it is done:
 * rightly; b's side also sets x to 10; nothing waits for the branch; the branch waits for nothing. *ended: the capture's
 * cudaError_t. */
enum { FORK_RIGHT, FORK_RACES, FORK_UNJOINED, FORK_OUTSIDE };
float spot_fork(int how, int *ended);

/* The same without a capture. */
float spot_fork_at_once(int how);

/* Runs one on fresh device memory; the outputs, and the emulator's report ("" if none). */
void spot_fault_run(void (*run)(float *out), float out[FAULT_OUTPUTS], char *report, int size);

#ifdef __cplusplus
}
#endif
#endif
