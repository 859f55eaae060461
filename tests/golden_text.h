/* golden_text.h - numbers that an outside program wrote, and the formula that both sides make input from. */
#ifndef SPOTTER_TESTS_GOLDEN_TEXT_H
#define SPOTTER_TESTS_GOLDEN_TEXT_H

#include <math.h>
#include <stdio.h>

/* Reads up to `most` numbers of a text file; how many there were. */
static inline int golden_numbers(const char *path, double *out, int most)
{
    FILE *f = fopen(path, "r");
    int n = 0;

    if (!f) return 0;
    while (n < most && fscanf(f, "%lf", &out[n]) == 1) n++;
    fclose(f);
    return n;
}

/* sin(a i + b i^2), as the scripts in tools/golden make it. */
static inline float golden_wave(int i, double a, double b) { return (float)sin(a * i + b * i * (double)i); }

#endif
