/* mesh_area.h - the area of a mesh, for tests. */
#ifndef SPOTTER_TESTS_MESH_AREA_H
#define SPOTTER_TESTS_MESH_AREA_H

#include <math.h>

#include "spotter/mesh.h"

/* The area of all triangles, as the mesh has its places. */
static inline double mesh_area(const spot_mesh *m)
{
    double area = 0;

    for (int t = 0; t < m->triangles; t++) {
        double p[3][3], n = 0;
        for (int e = 0; e < 3; e++)
            for (int k = 0; k < 3; k++) p[e][k] = m->place[k * m->vertices + (int)m->corner[e * m->triangles + t]];
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            const double v = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
            n += v * v;
        }
        area += sqrt(n) / 2;
    }
    return area;
}

#endif
