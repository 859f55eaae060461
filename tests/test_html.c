/* test_html.c - the report's file: escaping, determinism, budget. What it looks like and does is tests/test_html.sh's. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "check_findings.h"
#include "check_folder.h"

#include "report/html.h"
#include "spotter/store.h"

#pragma weak spot_subject_error
#pragma weak spot_subject_wrong
#pragma weak spot_subject_rows

double spot_subject_error(const spot_subject *s, int i, int cls) { return 1 - (double)s->prob[i * s->classes + cls]; }
bool spot_subject_wrong(const spot_subject *s, int i, int cls) { return spot_subject_error(s, i, cls) > 0.5; }
int spot_subject_rows(const spot_subject *s, int cls) { (void)cls; return s->n; }

static void write_report(spot_ctx *c, const char *path, const fake_findings *k)
{
    const spot_subject *s = &k->s;
    const spot_findings *f = &k->f;
    const spot_discover_options *o = &k->o;
    spot_report_options r = spot_report_defaults();
    CHECK_OK(c, spot_report_findings(c, path, 1, &s, &f, &o, &r));
}

static void test_writes(void **state)
{
    spot_ctx c = check_ctx(2);
    fake_findings k;
    char path[128];
    (void)state;
    fake_open(&k, 1200, 3, 2, 1);
    snprintf(path, sizeof path, "%s/r.html", root);
    write_report(&c, path, &k);
    fake_close(&k);
}

/* test_html FILE N CLASSES: a report for test_html.sh. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_writes, set_up, tear_down) };
    if (argc == 4) {
        spot_ctx c = check_ctx(2);
        fake_findings k;
        fake_open(&k, atoi(argv[2]), atoi(argv[3]), 2, 1);
        write_report(&c, argv[1], &k);
        fake_close(&k);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
