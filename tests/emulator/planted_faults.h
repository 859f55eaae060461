/* planted_faults.h - kernels with one mistake each, and two without, for the emulator's own test. */
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

/* Runs one on fresh device memory; the outputs, and the emulator's report ("" if none). */
void spot_fault_run(const spot_fault *fault, float out[FAULT_OUTPUTS], char *report, int size);

#ifdef __cplusplus
}
#endif
#endif
