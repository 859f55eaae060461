/* example_library.c - a program of somebody else's with libspotter: embeddings, labels and probabilities in memory, a ranked
 * list of blindspots out.
 *
 *     cc example_library.c $(pkg-config --cflags --libs spotter) -o example && ./example */
#include <spotter/spotter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 600, FEATURES = 16 };

/* Rows around five places; those of the last one are what the classifier gets wrong. */
static void make_up(float *feature, int *target, float *confidence)
{
    uint32_t state = 1;

    for (int i = 0; i < ROWS; i++) {
        int place = i % 5;
        for (int j = 0; j < FEATURES; j++) {
            state = state * 1664525u + 1013904223u;
            feature[i * FEATURES + j] = 4 * (j == place) + (float)(state >> 8) / (1 << 24);
        }
        target[i] = 0;
        confidence[i] = place == 4 ? 0.1f : 0.95f;
    }
}

static spot_status look_for(spot_ctx *c, const spot_subject *subject)
{
    spot_bdm_config planespot = spot_bdm_defaults(SPOT_PLANESPOT);
    spot_discover_options o = spot_discover_defaults();
    spot_findings found = { 0 };
    spot_status s;

    planespot.embed.method = SPOT_REDUCE_PCA;
    o.bdm = &planespot;
    o.bdms = 1;
    o.cls = 0;
    s = spot_discover(c, &found, subject, &o);
    for (int k = 0; s == SPOT_OK && k < found.finding[0].slices; k++) {
        const spot_slice *slice = &found.finding[0].slice[k];
        printf("%d. %d rows, error rate %.2f\n", k + 1, slice->size, slice->error_rate);
    }
    spot_findings_close(&found);
    return s;
}

int main(void)
{
    static float feature[ROWS * FEATURES], confidence[ROWS];
    static int target[ROWS];
    char *names[] = { (char[]){ "cat" } };
    spot_subject subject = { .n = ROWS, .d = FEATURES, .classes = 1, .feature = feature, .target = target,
                             .confidence = confidence, .class_name = names };
    spot_ctx c = { 0 };
    spot_status s;

    make_up(feature, target, confidence);
    s = spot_ctx_open(&c, "cpu", 0);
    if (s == SPOT_OK) s = look_for(&c, &subject);
    if (s != SPOT_OK) fprintf(stderr, "%s\n", spot_message(&c, s));
    spot_ctx_close(&c);
    return spot_exit_code(s);
}
