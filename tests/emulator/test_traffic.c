/* test_traffic.c - the memory traffic of the kernels on the path of a training step, by `spotter bench`'s rows: the bytes that
 * their launches move against those that the row calls necessary, sectors against those of lanes side by side, and conflicts of
 * banks. Prints a table; nothing may be above traffic_budget.txt (budget.h). And the requests of a block whose triangles are
 * cut into more pieces than it has room for. */
#define _GNU_SOURCE   /* setenv */
#include <dlfcn.h>

#include "bench.h"
#include "budget.h"
#include "check_cuda.h"
#include "image/render.h"
#include "net/conv.h"
#include "op_mesh.h"
#include "traffic.h"

/* -- bias, summand and ReLU behind a plan that does not fuse them ---------------------------------------------- */

typedef struct { spot_conv *plan; void *x, *w, *y, *other, *bias, *scratch; int rows; } finish;

/* size: channels, pixels a side, images. */
static spot_status open_finish(spot_ctx *c, void **state, const int *size, spot_bench_work *work)
{
    const size_t numbers = (size_t)size[2] * (size_t)size[1] * (size_t)size[1] * (size_t)size[0];
    const spot_conv_shape s = { .rows = size[2], .lanes = 1, .ci = size[0], .co = size[0], .k = 1, .stride = 1, .size = size[1],
                                .bias = true, .add = true, .relu = true, .precision = SPOT_BF16 };
    finish *f = *state = calloc(1, sizeof *f);

    assert_non_null(f);
    f->rows = size[2];
    work->bytes = 3 * 2 * (double)numbers;
    SPOT_TRY(spot_conv_open(c, &f->plan, &s));
    SPOT_TRY(spot_device_take(c, &f->x, 2 * numbers));
    SPOT_TRY(spot_device_take(c, &f->y, 2 * numbers));
    SPOT_TRY(spot_device_take(c, &f->other, 2 * numbers));
    SPOT_TRY(spot_device_take(c, &f->w, 4 * spot_conv_packed(c, f->plan)));
    SPOT_TRY(spot_device_take(c, &f->bias, 4 * (size_t)size[0]));
    return spot_device_take(c, &f->scratch, spot_conv_scratch(c, f->plan) + 1);
}

static spot_status run_finish(spot_ctx *c, void *state)
{
    finish *f = state;

    return spot_conv_forward(c, f->plan, f->y, &(spot_conv_terms){ f->x, f->w, f->bias, f->other }, f->rows, f->scratch);
}

static void close_finish(spot_ctx *c, void *state)
{
    finish *f = state;

    spot_conv_close(c, f->plan);
    spot_device_give(c, f->x), spot_device_give(c, f->y), spot_device_give(c, f->other), spot_device_give(c, f->w);
    spot_device_give(c, f->bias), spot_device_give(c, f->scratch);
    free(f);
}

static const spot_bench_kind finished = { open_finish, NULL, run_finish, close_finish };
static const spot_bench_row finishes[] = { { .op = "conv", .name = "bias, summand, ReLU", .kind = &finished }, { 0 } };

/* -- cases ---------------------------------------------------------------------------------------------------- */

/* The first row of a bench whose name begins so, at a size that the emulator runs in a second. */
static const struct { const spot_bench_row *rows; const char *name; int size[SPOT_BENCH_SIZES]; } cases[] = {
    { spot_bench_norm,   "statistics",             { 64, 12, 8, SPOT_BF16 } },
    { spot_bench_norm,   "apply with a residual",  { 64, 12, 8, SPOT_BF16 } },
    { spot_bench_norm,   "pool, 64",               { 64, 24, 4, SPOT_BF16 } },
    { spot_bench_norm,   "pool, back",             { 64, 24, 4, SPOT_BF16 } },
    { spot_bench_norm,   "back, within a block",   { 64, 12, 8, SPOT_BF16 } },
    { spot_bench_norm,   "back, behind a block",   { 64, 12, 8, SPOT_BF16 } },
    { spot_bench_tail,   "512 channels",           { 128, 7, 8, SPOT_BF16 } },
    { spot_bench_tail,   "Adam",                   { 40000 } },
    { spot_bench_lstm,   "an update",              { 3, 100, 30, 32, 32, 1, 0, 1 } },
    { spot_bench_tail,   "a move",                 { 32, 4, SPOT_BF16 } },
    { spot_bench_conv,   "weight gradient",        { 64, 64, 3, 1, 6, 2, SPOT_BF16 } },
    { finishes,          "bias",                   { 64, 12, 8 } },
    { spot_bench_raster, "224 px, batch 256, bf16 input", { 64, 2, 4, 4, SPOT_BF16 } },
};

typedef struct {
    const spot_bench_row *row;
    const char *name;
    double necessary, moved;
    budget *now;
} tally;

/* 100 where nothing is necessary: a bench that counts no bytes, a kernel without shared memory. */
static long long hundredths(double part, double whole) { return whole > 0 ? (long long)(100 * part / whole + 0.5) : 100; }

/* Adds a line of hundredths of what is necessary. Names without blanks, so that it has words. */
static budget_row *add_line(tally *t, const char *kernel)
{
    char group[80], name[96];
    budget_row *r;

    snprintf(group, sizeof group, "%s/%s", t->row->op, t->name);
    snprintf(name, sizeof name, "%s", kernel);
    for (char *p = group; *p; p++)
        if (*p == ' ') *p = '_';
    for (char *p = name; *p; p++)
        if (*p == ' ') *p = '_';
    r = budget_add(t->now, group, name);
    for (int k = 0; k < BUDGET_FIGURES; k++) r->figure[k] = 100;
    return r;
}

static void tally_kernel(void *user, const spot_traffic *k)
{
    tally *t = user;
    budget_row *r = add_line(t, k->name);
    double moved = (double)(k->read + k->written);

    r->figure[0] = hundredths(moved, t->necessary);
    r->figure[1] = hundredths((double)k->sectors, (double)k->least_sectors);
    r->figure[2] = hundredths((double)k->wavefronts, (double)k->least_wavefronts);
    t->moved += moved;
    print_message("  %-34s %3lld %9lld %9lld %9lld %7.2f %9lld %7.2f\n", k->name, k->launches, k->read, k->written, k->requests,
                  (double)r->figure[1] / 100, k->shared_requests, (double)r->figure[2] / 100);
}

/* Runs a case once and adds its lines. */
static void run_case(spot_ctx *c, int i, budget *now)
{
    const spot_emulator_traffic *traffic = dlsym(((const spot_device *)c->device)->library, "spot_emulator_traffic");
    const spot_bench_row *row = cases[i].rows;
    tally t = { .now = now };
    spot_bench_work work = { 0 };
    void *state = NULL;

    while (row->op && strncmp(row->name, cases[i].name, strlen(cases[i].name)) != 0) row++;
    if (!row->op || !traffic) fail_msg("there is no bench '%s', or the plugin does not watch", cases[i].name);
    CHECK_OK(c, row->kind->open(c, &state, cases[i].size, &work));
    if (row->kind->check) CHECK_OK(c, row->kind->check(c, state));
    traffic->reset();
    CHECK_OK(c, row->kind->run(c, state));
    t.row = row;
    t.name = cases[i].name;
    t.necessary = work.bytes;
    print_message("%s, %s: %.0f bytes are necessary\n", row->op, row->name, work.bytes);
    traffic->each(tally_kernel, &t);
    add_line(&t, "all")->figure[0] = hundredths(t.moved, t.necessary);
    if (t.necessary > 0) print_message("  all: %.0f bytes, %.2f times those\n", t.moved, t.moved / t.necessary);
    row->kind->close(c, state);
}

TEST(traffic_stays_within_its_budget)
{
    budget now = { .figures = 3, .what = { "hundredths of the bytes", "of the sectors", "of the wavefronts" } }, most = now;
    spot_ctx c;

    budget_read(&most, "emulator/traffic_budget.txt");
    setenv("SPOT_EMULATOR_TRAFFIC", "1", 1);
    setenv("SPOT_EMULATOR_CUDNN", "gone=4", 1);        /* its plan with bias and summand is 4 */
    open_cuda(&c, 0);
    print_message("  %-34s %3s %9s %9s %9s %7s %9s %7s\n", "kernel", "", "read", "written", "requests", "sectors", "shared",
                  "banks");
    for (int i = 0; i < LEN(cases); i++) run_case(&c, i, &now);
    spot_device_close(&c);
    budget_write(&now, getenv("SPOT_TRAFFIC_NOW"));
    if (budget_over(&now, &most))
        fail_msg("figures are above tests/emulator/traffic_budget.txt; SPOT_TRAFFIC_NOW=FILE adds today's");
}

/* -- triangles of many samples -------------------------------------------------------------------------------- */

enum { SIDE = 128, TRIANGLES = 256 };        /* of one block */

/* 255 triangles of some hundred samples before the camera, and one that the near plane cuts into pieces of thousands. */
static void open_cut(spot_toy *t)
{
    static const float last[9] = { -0.2f, -0.6f, -0.5f, -0.2f, 0.6f, -0.5f, 3, 0.2f, 3 };
    spot_ctx c = check_ctx(1);

    spot_toy_open(t, TRIANGLES);
    for (int i = 0; i < TRIANGLES - 1; i++) {
        const float y = 0.05f * (float)(i % 16 - 8), z = 0.05f * (float)(i / 16 - 8), x = -0.3f - 0.0001f * (float)i;
        spot_toy_triangle(t, (float[]){ x, y, z, x, y + 0.15f, z, x, y, z + 0.15f }, NULL, NULL, 0);
    }
    spot_toy_triangle(t, last, NULL, NULL, 1);
    CHECK_OK(&c, spot_toy_done(&c, t));
}

/* mask (SIDE, SIDE), on the host */
static void draw_cut(spot_ctx *c, const spot_toy *t, uint8_t *mask)
{
    spot_render_settings s = spot_render_defaults();
    const spot_shot shot = { 0, -1, { .value = { [SPOT_CAMERA_DISTANCE] = 1, [SPOT_LAMP_DISTANCE] = 10 } } };
    spot_render_mesh *mesh;
    uint8_t *rgb, *seen;
    spot_arena a;

    s.size = SIDE, s.samples = 1;
    CHECK_OK(c, spot_render_take(c, &mesh, &t->mesh));
    CHECK_OK(c, spot_device_take(c, (void **)&rgb, 3 * SIDE * SIDE));
    CHECK_OK(c, spot_device_take(c, (void **)&seen, SIDE * SIDE));
    const spot_render_mesh *const all[] = { mesh };
    const spot_render_call r = { &s, all, 1, NULL, 0, &shot, 1, rgb, seen, NULL, NULL };
    CHECK_OK(c, spot_arena_open_device(c, &a, spot_render_scratch(c, &r)));
    CHECK_OK(c, spot_render_draw(c, &a, &r));
    CHECK_OK(c, spot_device_copy(c, mask, seen, SIDE * SIDE));
    spot_arena_close(&a);
    spot_device_give(c, rgb), spot_device_give(c, seen);
    spot_render_give(c, mesh);
}

static void take_requests(void *user, const spot_traffic *k)
{
    if (strstr(k->name, "fill_kernel")) *(long long *)user += k->requests;
}

/* The block has room for as many pieces as it has triangles, so that one of the cut triangle's finds none. A thread that took
 * it alone would make a request for each of its samples. */
TEST(pieces_without_room_wait_for_the_block)
{
    static uint8_t want[SIDE * SIDE], got[SIDE * SIDE];
    const spot_emulator_traffic *traffic;
    spot_ctx cpu = check_ctx(1), c;
    long long requests = 0;
    int covered = 0;
    spot_toy t;

    open_cut(&t);
    draw_cut(&cpu, &t, want);
    for (int i = 0; i < SIDE * SIDE; i++) covered += want[i] > 0;
    assert_true(covered > SIDE * SIDE / 4);
    setenv("SPOT_EMULATOR_TRAFFIC", "1", 1);
    open_cuda(&c, 0);
    traffic = dlsym(((const spot_device *)c.device)->library, "spot_emulator_traffic");
    assert_non_null(traffic);
    traffic->reset();
    draw_cut(&c, &t, got);
    traffic->each(take_requests, &requests);
    spot_device_close(&c);
    spot_toy_close(&t);
    assert_memory_equal(got, want, sizeof want);
    print_message("  %d covered, %lld requests\n", covered, requests);
    assert_true(requests > 0 && 2 * requests < covered);
}

int main(void) { return run_cuda_tests(); }
