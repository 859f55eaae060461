/* test_mesh_shapes.c - the area, the box and the outlines of models in every format against plain numpy, which has readers and
 * a rasteriser of its own (tools/golden/mesh_shapes.py): our own models, and those of Debian's assimp-testmodels where they
 * are.
 * ctest: both */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "checks.h"
#include "mesh_area.h"
#include "formats/picture.h"
#include "image/render.h"

enum { SIZE = 96, VIEWS = 3 };

/* Azimuth, elevation, distance. */
static const float view[VIEWS][3] = { { 30, 20, 1.6f }, { 115, -35, 1.3f }, { 170, 75, 2 } };

/* Materials and textures are none of the outline's. */
static void bare(spot_mesh *m)
{
    for (int i = 0; i < m->materials; i++) m->look[i].opacity = 1, m->look[i].texture = m->look[i].cutout = -1;
}

static void draw(uint8_t *mask, const spot_mesh *m)
{
    spot_render_settings settings = spot_render_defaults();
    spot_ctx c = check_ctx(1);
    spot_shot shot[VIEWS] = { 0 };
    spot_render_mesh *mesh;
    uint8_t *rgb = malloc(3 * SIZE * SIZE * VIEWS);
    spot_arena a;

    assert_non_null(rgb);
    settings.size = SIZE, settings.samples = 1;
    for (int i = 0; i < VIEWS; i++) {
        shot[i].picture = -1;
        shot[i].at.value[SPOT_CAMERA_AZIMUTH] = view[i][0];
        shot[i].at.value[SPOT_CAMERA_ELEVATION] = view[i][1];
        shot[i].at.value[SPOT_CAMERA_DISTANCE] = view[i][2];
    }
    CHECK_OK(&c, spot_render_take(&c, &mesh, m));
    const spot_render_mesh *const all[] = { mesh };
    const spot_render_call r = { &settings, all, 1, NULL, 0, shot, VIEWS, rgb, mask, NULL, NULL };
    CHECK_OK(&c, spot_arena_open(&c, &a, spot_render_scratch(&c, &r)));
    CHECK_OK(&c, spot_render_draw(&c, &a, &r));
    spot_arena_close(&a);
    spot_render_give(&c, mesh);
    free(rgb);
}

/* A pixel of ours and theirs may differ where an edge passes within a rounding of its middle. */
static void check_outlines(const char *name, const spot_mesh *m, const uint8_t *theirs)
{
    static uint8_t mask[SIZE * SIZE * VIEWS];

    draw(mask, m);
    for (int v = 0; v < VIEWS; v++) {
        int other = 0, covered = 0;
        for (int i = v * SIZE * SIZE; i < (v + 1) * SIZE * SIZE; i++) {
            other += (mask[i] > 0) != (theirs[3 * i] > 0);
            covered += theirs[3 * i] > 0;
        }
        if (other > 4 + covered / 100)
            fail_msg("%s, view %d: %d of %d pixels are others", name, v, other, covered);
    }
}

static void check_shape(const char *name, const spot_mesh *m, const double *fact)
{
    double area = mesh_area(m);

    if (!(fabs(area - fact[0]) <= 1e-4 * fact[0])) fail_msg("%s: area %.8g, it has %.8g", name, area, fact[0]);
    for (int k = 0; k < 3; k++) {
        float low = 9, high = -9;
        for (int v = 0; v < m->vertices; v++) {
            low = fminf(low, m->place[k * m->vertices + v]);
            high = fmaxf(high, m->place[k * m->vertices + v]);
        }
        CHECK_NEAR(high - low, fact[1 + k], 1e-5);
    }
}

static void check_model(const char *path, const double *fact, const uint8_t *theirs)
{
    const char *slash = strrchr(path, '/');
    char folder[300];
    spot_ctx c = check_ctx(1);
    spot_mesh_files *f;
    spot_mesh m;

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 0, path);
    CHECK_OK(&c, spot_mesh_files_open(&c, &f, slash ? folder : "golden/mesh_shapes"));
    CHECK_OK(&c, spot_mesh_read(&c, &m, f, slash ? slash + 1 : path, NULL));
    spot_mesh_files_close(f);
    check_shape(path, &m, fact);
    bare(&m);
    check_outlines(path, &m, theirs);
    spot_mesh_close(&m);
}

TEST(models_have_the_shapes_that_numpy_sees)
{
    FILE *f = fopen("golden/mesh_shapes/shapes.txt", "r");
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    char path[300];
    double fact[4];
    int files = 0, read = 0;

    assert_non_null(f);
    CHECK_OK(&c, spot_picture_read(&c, &p, "golden/mesh_shapes/outlines.png"));
    assert_int_equal(p.width, SIZE);
    for (; fscanf(f, "%299s %lf %lf %lf %lf", path, &fact[0], &fact[1], &fact[2], &fact[3]) == 5; files++) {
        assert_true(p.height >= (files + 1) * VIEWS * SIZE);
        if (*path == '/' && access(path, R_OK)) continue;
        check_model(path, fact, p.rgb + 3 * (size_t)files * VIEWS * SIZE * SIZE);
        read++;
    }
    print_message("%d of %d models\n", read, files);
    assert_true(files >= 52 && read >= 12);
    fclose(f);
    spot_picture_close(&p);
}
