/* test_render_views.c - images of a model against outside renderers: coverage and light by VTK on OSMesa, coverage and depth by
 * Embree, in files of tools/golden/render_views.py. With a folder it compares with that one: test_render_views FOLDER.
 * ctest: both */
#include <math.h>
#include <stdlib.h>

#include "checks.h"
#include "formats/picture.h"
#include "image/render.h"
#include "op_mesh.h"

enum { MOST_VIEWS = 300 };

static const char *folder = "golden/render_views";

/* An outside renderer's images, and ours of the same views. */
typedef struct {
    char name[64];
    int size, views, light;
    double angle;
    spot_conditions at[MOST_VIEWS];
    spot_mesh mesh;
    spot_toy toy;
    bool is_toy;
    spot_picture cover, depth, shade;      /* size x (views size) */
} seen;

typedef struct { uint8_t *rgb, *mask; float *depth; } drawn;

static void read_picture(spot_picture *p, const seen *s, const char *name)
{
    spot_ctx c = check_ctx(1);
    char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    CHECK_OK(&c, spot_picture_read(&c, p, path));
    assert_int_equal(p->width, s->size);
    assert_int_equal(p->height, s->size * s->views);
}

static void read_views(seen *s)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/views.txt", folder);
    f = fopen(path, "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%63s %d %lf %d %d", s->name, &s->size, &s->angle, &s->light, &s->views), 5);
    assert_true(s->views >= 1 && s->views <= MOST_VIEWS);
    for (int i = 0; i < s->views; i++)
        for (int k = 0; k < SPOT_FACTORS; k++) assert_int_equal(fscanf(f, "%f", &s->at[i].value[k]), 1);
    fclose(f);
}

/* The object of the bench, opaque: which samples a screen door covers is no outside renderer's affair. */
static void open_toy(seen *s, int rings)
{
    spot_ctx c = check_ctx(1);

    s->is_toy = true;
    CHECK_OK(&c, spot_toy_make(&c, &s->toy, rings));
    for (int i = 0; i < s->toy.mesh.materials; i++) s->toy.look[i].opacity = 1, s->toy.look[i].cutout = -1;
    s->mesh = s->toy.mesh;
}

static void open_model(seen *s)
{
    spot_ctx c = check_ctx(1);
    spot_mesh_files *f;
    int rings;

    if (sscanf(s->name, "toy%d", &rings) == 1) {
        open_toy(s, rings);
        return;
    }
    CHECK_OK(&c, spot_mesh_files_open(&c, &f, folder));
    CHECK_OK(&c, spot_mesh_read(&c, &s->mesh, f, s->name, NULL));
    spot_mesh_files_close(f);
    for (int i = 0; i < s->mesh.materials; i++) assert_true(s->mesh.look[i].opacity == 1);
}

static void open_seen(seen *s)
{
    memset(s, 0, sizeof *s);
    read_views(s);
    open_model(s);
    read_picture(&s->cover, s, "cover.png");
    read_picture(&s->depth, s, "depth.png");
    if (s->light) read_picture(&s->shade, s, "light.png");
}

static void close_seen(seen *s)
{
    if (s->is_toy) spot_toy_close(&s->toy);
    else           spot_mesh_close(&s->mesh);
    spot_picture_close(&s->cover), spot_picture_close(&s->depth), spot_picture_close(&s->shade);
}

/* All views, with `samples` a side of a pixel, without the lamp and without highlights. */
static drawn draw(const seen *s, int samples)
{
    const size_t pixels = (size_t)s->size * (size_t)s->size * (size_t)s->views;
    const drawn d = { malloc(3 * pixels), malloc(pixels), malloc(pixels * sizeof(float)) };
    spot_render_settings settings = spot_render_defaults();
    spot_ctx c = check_ctx(2);
    spot_render_mesh *mesh;
    spot_shot *shot = calloc((size_t)s->views, sizeof *shot);
    spot_arena a;

    assert_true(d.rgb && d.mask && d.depth && shot);
    settings.size = s->size, settings.samples = samples, settings.view = s->angle, settings.specular = 0;
    for (int i = 0; i < s->views; i++) shot[i] = (spot_shot){ 0, -1, s->at[i] };
    CHECK_OK(&c, spot_render_take(&c, &mesh, &s->mesh));
    const spot_render_mesh *const all[] = { mesh };
    const spot_render_call r = { &settings, all, 1, NULL, 0, shot, s->views, d.rgb, d.mask, d.depth, NULL };
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_render_scratch(&c, &r)));
    CHECK_OK(&c, spot_render_draw(&c, &a, &r));
    spot_arena_close(&a);
    spot_render_give(&c, mesh);
    free(shot);
    return d;
}

static void free_drawn(drawn d) { free(d.rgb), free(d.mask), free(d.depth); }

/* -- triangles in double -------------------------------------------------------------------------------------------------- */

/* The vertices of a view in pixels, and the reciprocals of their depths, which are linear over a triangle's image. All lie in
 * front of the camera. */
typedef struct { int view; double *x, *y, *q; } flat;

static flat flatten(const seen *s, int view)
{
    const float *f = s->at[view].value;
    const double turn = 3.14159265358979323846 / 180, a = f[SPOT_CAMERA_AZIMUTH] * turn, u = f[SPOT_CAMERA_ELEVATION] * turn;
    const double t = f[SPOT_CAMERA_ROLL] * turn, scale = s->size / (2 * tan(s->angle / 2 * turn));
    const double back[3] = { cos(a) * cos(u), sin(a) * cos(u), sin(u) }, side[3] = { -sin(a), cos(a), 0 };
    const double top[3] = { -sin(u) * cos(a), -sin(u) * sin(a), cos(u) };
    const size_t count = (size_t)s->mesh.vertices;
    const flat to = { view, malloc(count * sizeof(double)), malloc(count * sizeof(double)), malloc(count * sizeof(double)) };

    assert_true(to.x && to.y && to.q);
    for (size_t v = 0; v < count; v++) {
        double right = 0, up = 0, depth = f[SPOT_CAMERA_DISTANCE];
        for (size_t k = 0; k < 3; k++) {
            const double at = s->mesh.place[k * count + v];
            right += (cos(t) * side[k] - sin(t) * top[k]) * at;
            up += (sin(t) * side[k] + cos(t) * top[k]) * at;
            depth -= back[k] * at;
        }
        assert_true(depth > 0.02);
        to.q[v] = 1 / depth;
        to.x[v] = s->size / 2.0 + right / depth * scale;
        to.y[v] = s->size / 2.0 - up / depth * scale;
    }
    return to;
}

static void free_flat(flat *f)
{
    free(f->x), free(f->y), free(f->q);
    *f = (flat){ .view = -1 };
}

/* The view of pixel e of all views. */
static void turn_to(const seen *s, flat *f, int e)
{
    const int view = e / (s->size * s->size);

    if (view == f->view) return;
    free_flat(f);
    *f = flatten(s, view);
}

static double to_segment(double x, double y, const double *a, const double *b)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], all = dx * dx + dy * dy;
    const double t = all > 0 ? fmax(0, fmin(1, ((x - a[0]) * dx + (y - a[1]) * dy) / all)) : 0;

    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

/* x, y and q of a triangle's corners (3, 3). */
static void corners_of(const seen *s, const flat *f, int triangle, double p[3][3])
{
    for (int e = 0; e < 3; e++) {
        const uint32_t v = s->mesh.corner[e * s->mesh.triangles + triangle];
        p[e][0] = f->x[v], p[e][1] = f->y[v], p[e][2] = f->q[v];
    }
}

/* Pixels from the middle of pixel e to the nearest edge of any triangle. */
static double to_edge(const seen *s, const flat *f, int e)
{
    const double x = e % s->size + 0.5, y = e / s->size % s->size + 0.5;
    double least = INFINITY, p[3][3];

    for (int t = 0; t < s->mesh.triangles; t++) {
        corners_of(s, f, t, p);
        for (int k = 0; k < 3; k++) least = fmin(least, to_segment(x, y, p[k], p[(k + 1) % 3]));
    }
    return least;
}

/* The nearest triangle in the middle of pixel e: q (0: none), and by how much q changes over half of 1/256 pixel. */
static double nearest(const seen *s, const flat *f, int e, double *change)
{
    const double x = e % s->size + 0.5, y = e / s->size % s->size + 0.5;
    double best = 0, p[3][3];

    *change = 0;
    for (int t = 0; t < s->mesh.triangles; t++) {
        corners_of(s, f, t, p);
        const double bx = p[1][0] - p[0][0], by = p[1][1] - p[0][1], cx = p[2][0] - p[0][0], cy = p[2][1] - p[0][1];
        const double all = bx * cy - by * cx, px = x - p[0][0], py = y - p[0][1];
        const double second = (px * cy - py * cx) / all, third = (bx * py - by * px) / all;
        const double b = p[1][2] - p[0][2], c = p[2][2] - p[0][2], q = p[0][2] + second * b + third * c;
        if (!(second >= 0 && third >= 0 && second + third <= 1 && q > best)) continue;
        best = q;
        *change = (fabs((b * cy - c * by) / all) + fabs((c * bx - b * cx) / all)) / 512;
    }
    return best;
}

/* -- comparisons ---------------------------------------------------------------------------------------------------------- */

enum { FIXED = 1 << 21 };                  /* of 1 in depth.png */

static double depth_in(const seen *s, int e)
{
    const uint8_t *p = s->depth.rgb + 3 * (size_t)e;

    return (p[0] * 65536.0 + p[1] * 256.0 + p[2]) / FIXED;
}

/* Vertices move by half of 1/256 pixel at most in each direction when they are rounded, and a triangle's depth with them. */
static bool is_rounded(const seen *s, const flat *f, int e, double want, double got)
{
    double change;
    const double q = nearest(s, f, e, &change);

    return want > 0 && got > 0 && fabs(1 / want - q) <= 1e-5 * q && fabs(1 / got - q) <= 1e-5 * q + change;
}

/* A sample that an edge comes nearer to than that may lie on its other side. The rest of the bound is for Embree's floats. */
TEST(masks_and_depths_are_those_of_embree)
{
    int covered = 0, flipped = 0, other = 0;
    double furthest = 0, mean = 0, most = 0;
    flat f = { .view = -1 };
    seen s;

    open_seen(&s);
    const drawn d = draw(&s, 1);
    for (int e = 0; e < s.size * s.size * s.views; e++) {
        const double want = depth_in(&s, e), got = (double)d.depth[e], off = fabs(want - got);
        covered += want > 0;
        assert_int_equal(d.mask[e], got > 0 ? 255 : 0);
        if ((want > 0) == (got > 0) && off <= 1e-5 * want) {
            mean += off;
            continue;
        }
        turn_to(&s, &f, e);
        if (is_rounded(&s, &f, e, want, got)) {
            mean += off, most = fmax(most, off);
            continue;
        }
        flipped += (want > 0) != (got > 0), other++;
        furthest = fmax(furthest, to_edge(&s, &f, e));
    }
    print_message("%s, %d views of %d pixels: Embree covers %d samples; %d differ in coverage, %d in coverage or triangle, the "
                  "furthest of them %.5f pixels from an edge; depths differ by %.1e in the mean, %.1e at most\n", s.name,
                  s.views, s.size, covered, flipped, other, furthest, mean / covered, most);
    assert_true(covered > s.size * s.size * s.views / 100);
    assert_true(furthest <= 1.0 / 256);
    assert_true(other <= covered / 500);
    free_flat(&f);
    free_drawn(d);
    close_seen(&s);
}

TEST(silhouettes_are_those_of_vtk)
{
    long both = 0, either = 0, one = 0, more = 0;
    seen s;

    open_seen(&s);
    const drawn d = draw(&s, 2);
    for (int e = 0; e < s.size * s.size * s.views; e++) {
        const int want = s.cover.rgb[3 * e] / 63, got = (d.mask[e] * 4 + 127) / 255, off = abs(want - got);
        both += want < got ? want : got, either += want < got ? got : want;
        one += off == 1, more += off > 1;
    }
    print_message("%s: intersection over union of samples %.6f; pixels that differ by one sample %ld, by more %ld\n", s.name,
                  (double)both / (double)either, one, more);
    assert_true(both > 4 * s.size * s.size * s.views / 100);
    assert_true((double)both / (double)either > 0.999);
    assert_int_equal(more, 0);
    free_drawn(d);
    close_seen(&s);
}

static double linear_of(double byte)
{
    const double v = byte / 255;

    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* No pixel around it shows the background. */
static bool is_interior(const seen *s, const drawn *d, int e)
{
    const int x = e % s->size, y = e / s->size % s->size;

    if (x == 0 || y == 0 || x == s->size - 1 || y == s->size - 1) return false;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (d->mask[e + j * s->size + i] < 255) return false;
    return true;
}

/* A byte of linear light stands for 1/255, and one of the sRGB curve for up to 2.3/255 where it is bright. Pixels whose sample
 * lies on an edge between two parts may differ by all of the light. */
TEST(light_is_that_of_vtk)
{
    double sum = 0, brightest = 0;
    int compared = 0, far = 0, away = 0;
    flat f = { .view = -1 };
    seen s;

    open_seen(&s);
    if (!s.light) {
        close_seen(&s);
        skip();
    }
    const drawn d = draw(&s, 1);
    for (int e = 0; e < s.size * s.size * s.views; e++) {
        bool differs = false;
        if (!is_interior(&s, &d, e)) continue;
        for (int c = 0; c < 3; c++) {
            const double want = s.shade.rgb[3 * e + c] / 255.0, off = fabs(linear_of(d.rgb[3 * e + c]) - want);
            sum += off, compared++;
            differs |= off > 2.0 / 255;
            brightest = fmax(brightest, want);
        }
        if (!differs) continue;
        turn_to(&s, &f, e);
        far++;
        away += to_edge(&s, &f, e) > 1.0 / 256;
    }
    print_message("%s: light of %d inner pixels differs by %.5f in the mean; %d of them by more than 2/255, %d of these not "
                  "at an edge\n", s.name, compared / 3, sum / compared, far, away);
    assert_true(compared > 3 * 300 * s.views && brightest > 0.5);
    assert_true(sum / compared < 1.0 / 255);
    assert_int_equal(away, 0);
    free_flat(&f);
    free_drawn(d);
    close_seen(&s);
}

int main(int argc, char **argv)
{
    if (argc > 1) folder = argv[1];
    return run_all_tests();
}
