/* test_progress.c - the bar of a sweep: where it stands after each stage, and that it never goes back. */
#include "cli/cli.h"

static double clock_now = 1;
static double stopped_clock(void) { return clock_now; }
#define spot_clock stopped_clock
#include "cli/progress.c"      /* the program is no library */

#include "checks.h"

volatile sig_atomic_t cli_stop;

static cli_progress progress;

/* Hears one report and gives the share of the whole. */
static double hear(const char *stage, double done, double total)
{
    spot_progress p = { .stage = stage, .ec = 0, .done = done, .total = total, .note = "" };
    double before = cli_progress_share(&progress);
    cli_progress_update(&progress, &p);
    if (!(cli_progress_share(&progress) >= before)) fail_msg("%s %g of %g: back from %g", stage, done, total, before);
    return cli_progress_share(&progress);
}

TEST(a_sweep_grows_through_every_stage)
{
    double last;
    memset(&progress, 0, sizeof progress);
    CHECK_NEAR(hear("sweep", 0, 2), 0, 0);
    CHECK_NEAR(hear("train", 5, 10), 0.225, 1e-12);
    CHECK_NEAR(hear("train", 10, 10), 0.45, 1e-12);
    CHECK_NEAR(hear("look", 1, 2), 0.4625, 1e-12);
    CHECK_NEAR(hear("look", 2, 2), 0.475, 1e-12);
    CHECK_NEAR(hear("tsne", 0, 100), 0.475, 1e-12);
    last = hear("tsne", 100, 100);
    CHECK_NEAR(last, 0.4875, 1e-12);
    assert_true(hear("tsne", 1, 100) > last);                 /* a second method that uses t-SNE */
    assert_true(hear("scvis", 300, 300) < 0.5);
    CHECK_NEAR(hear("sweep", 1, 2), 0.5, 0);
    CHECK_NEAR(hear("look", 0, 2), 0.95, 1e-12);              /* its model was stored */
    CHECK_NEAR(hear("sweep", 2, 2), 1, 0);
}

TEST(a_base_model_has_a_bar_of_its_own)
{
    memset(&progress, 0, sizeof progress);
    CHECK_NEAR(hear("base", 1, 4), 0.25, 0);
    CHECK_NEAR(hear("base", 4, 4), 1, 0);
    cli_progress_update(&progress, &(spot_progress){ .stage = "sweep", .total = 2, .note = "" });
    CHECK_NEAR(cli_progress_share(&progress), 0, 0);
    CHECK_NEAR(hear("train", 10, 10), 0.45, 1e-12);
}

/* The folders of a planted run begin at nothing, though its world was made to the end. */
TEST(a_planted_world_has_bars_of_its_own)
{
    memset(&progress, 0, sizeof progress);
    CHECK_NEAR(hear("plant: pictures", 7, 7), 1, 0);
    cli_progress_update(&progress, &(spot_progress){ .stage = "shifts", .done = 1, .total = 10, .note = "" });
    CHECK_NEAR(cli_progress_share(&progress), 0.1, 0);
    CHECK_NEAR(hear("shifts", 5, 10), 0.5, 0);
    memset(&progress, 0, sizeof progress);
    CHECK_NEAR(hear("zoo: targets", 9, 9), 1, 0);
    cli_progress_update(&progress, &(spot_progress){ .stage = "zoo: models", .done = 5, .total = 20, .note = "" });
    CHECK_NEAR(cli_progress_share(&progress), 0.25, 0);
}

TEST(a_stage_without_a_sweep_is_the_whole)
{
    memset(&progress, 0, sizeof progress);
    CHECK_NEAR(hear("render", 4, 16), 0.25, 0);
    CHECK_NEAR(hear("render", 16, 16), 1, 0);
}

/* Half of the pictures come from a cache at once; each of the others takes a second. */
TEST(the_time_left_converges)
{
    memset(&progress, 0, sizeof progress);
    for (int i = 0; i <= 900; i++, clock_now += i > 500) {
        cli_progress_update(&progress, &(spot_progress){ .stage = "shifts", .done = i, .total = 1000, .note = "" });
        if (i > 510) CHECK_NEAR(cli_progress_left(&progress), 1000 - i, 0.1 * (1000 - i));
    }
}

/* The pace falls to a tenth in the middle. */
TEST(the_time_left_follows_the_pace)
{
    memset(&progress, 0, sizeof progress);
    for (int i = 0; i <= 950; i++, clock_now += i > 500 ? 10 : 1) {
        cli_progress_update(&progress, &(spot_progress){ .stage = "examine", .done = i, .total = 1000, .note = "" });
        if (i >= 900) CHECK_NEAR(cli_progress_left(&progress), 10 * (1000 - i), 0.1 * 10 * (1000 - i));
    }
}
