/* mesh_gltf.c - extensions that a glTF file requires: one that is not drawn would give another object. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/text.h"
#include "worlds/mesh_parts.h"

enum { HEAD = 20 };                        /* of a binary file: its own, and that of the JSON behind it */

/* Extensions that assimp reads, or that change light alone, which this renderer has of its own. */
static bool is_drawn(const char *name)
{
    static const char *const drawn[] = {
        "KHR_texture_transform", "KHR_draco_mesh_compression", "KHR_lights_punctual", "KHR_xmp", "KHR_xmp_json_ld",
        "KHR_materials_anisotropy", "KHR_materials_clearcoat", "KHR_materials_dispersion", "KHR_materials_emissive_strength",
        "KHR_materials_ior", "KHR_materials_iridescence", "KHR_materials_pbrSpecularGlossiness", "KHR_materials_sheen",
        "KHR_materials_specular", "KHR_materials_transmission", "KHR_materials_unlit", "KHR_materials_variants",
        "KHR_materials_volume",
    };

    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++)
        if (!strcmp(name, drawn[i])) return true;
    return false;
}

static spot_status check_tree(spot_ctx *c, yajl_val tree)
{
    static const char *path[] = { "extensionsRequired", NULL };
    const yajl_val list = yajl_tree_get(tree, path, yajl_t_array);

    for (size_t i = 0; list && i < list->u.array.len; i++) {
        const char *name = YAJL_GET_STRING(list->u.array.values[i]);
        char plain[64];
        if (!name || is_drawn(name)) continue;
        snprintf(plain, sizeof plain, "%s", name);
        return spot_fail(c, SPOT_INPUT, "{mesh.extension} it requires the glTF extension %s, which is not read; export it "
                         "without that", spot_plain(plain));
    }
    return SPOT_OK;
}

/* JSON that cannot be read is left to the parser, which says so. */
spot_status spot_mesh_gltf_check(spot_ctx *c, const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes;
    char why[200];
    uint32_t length;

    if (n >= HEAD && !memcmp(bytes, "glTF", 4)) {
        memcpy(&length, bytes + 12, sizeof length);
        text += HEAD, n = length < n - HEAD ? length : n - HEAD;
    } else if (n >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        text += 3, n -= 3;
    }
    if (n >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return spot_fail(c, SPOT_INPUT, "{mesh.utf16} it is in UTF-16, and glTF is in UTF-8 by its standard; save it in UTF-8");
    if (!memmem(text, n, "\"extensionsRequired\"", 20)) return SPOT_OK;
    const yajl_val tree = spot_tree_parse(text, n, why, sizeof why);
    const spot_status s = tree ? check_tree(c, tree) : SPOT_OK;
    yajl_tree_free(tree);
    return s;
}
