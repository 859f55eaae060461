/* shifts_covers.c - how much of the real pictures is covered, described once: for shifts.json, coverage.csv and the page. */
#include "shifts/shifts_config.h"
#include "shifts/shifts_write.h"

typedef spot_shifts_results results;

static const spot_quantity cover[] = {
#define S(name, ...) SPOT_QUANTITY(name, spot_shift_cover, __VA_ARGS__)
#define CHANCE(name, field) S(name, field, .title = "of real ones", .unit = SPOT_UNIT_SHARE, \
                              .about = "the same number of real pictures in place of the generated ones")
    S("coverage", coverage, .title = "coverage", .unit = SPOT_UNIT_SHARE, .direction = SPOT_HIGHER_IS_BETTER,
      .about = "real pictures with a generated one nearer than their fifth real neighbour"),
    CHANCE("coverage_chance", coverage_chance),
    S("density", density, .title = "density", .about = "of generated pictures around real ones; 1 where they are distributed "
      "as real ones are"),
    S("density_chance", density_chance),
    S("precision", precision, .title = "precision", .unit = SPOT_UNIT_SHARE, .direction = SPOT_HIGHER_IS_BETTER,
      .about = "generated pictures nearer to a real one than its third real neighbour"),
    CHANCE("precision_chance", precision_chance),
    S("recall", recall, .title = "recall", .unit = SPOT_UNIT_SHARE, .direction = SPOT_HIGHER_IS_BETTER,
      .about = "real pictures nearer to a generated one than its third generated neighbour"),
    CHANCE("recall_chance", recall_chance),
    S("classes", classes, .title = "classes", .unit = SPOT_UNIT_COUNT, .about = "with 12 pictures of both kinds"),
    S("real", real, .title = "real", .unit = SPOT_UNIT_COUNT, .about = "real pictures of these classes"),
    S("pictures", pictures, .title = "generated", .unit = SPOT_UNIT_COUNT, .about = "generated pictures of these classes"),
    SPOT_QUANTITIES_END
#undef CHANCE
#undef S
};

static const char *const set_names[] = { "all", "kept", "oracle" };

void spot_shift_cover_put(spot_json *j, const char *key, const spot_shift_cover *v)
{
    spot_json_object(j, key);
    spot_quantities_put(j, cover, v);
    spot_json_end(j);
}

void spot_shift_covers_put(spot_json *j, const spot_shift_result *u)
{
    spot_json_object(j, "coverage");
    for (int k = 0; k < SPOT_SHIFT_SETS; k++)
        if (u->count[k]) spot_shift_cover_put(j, set_names[k], &u->cover[k]);
    spot_json_end(j);
}

/* ---- coverage.csv: a line for each folder and set; of the set that is compared, one for each class ---- */

typedef struct { const char *set, *source, *shift, *class_name; const spot_shift_cover *cover; } cover_row;

static const spot_quantity row[] = {
    SPOT_QUANTITY("set", cover_row, set), SPOT_QUANTITY("source", cover_row, source, .title = "source"),
    SPOT_QUANTITY("shift", cover_row, shift, .title = "pictures"), SPOT_QUANTITY("class", cover_row, class_name),
    SPOT_BEHIND(NULL, cover_row, cover, cover), SPOT_QUANTITIES_END
};

static long each_folder(const results *r) { return SPOT_SHIFT_SETS + r->unit[0].classes; }

static long count_rows(const void *root)
{
    const results *r = root;

    return r->unit[r->units - 1].covers ? (long)r->sources * (1 + r->cfg->shifts) * each_folder(r) : 0;
}

static bool get_row(void *out, const void *root, long i)
{
    const results *r = root;
    const long folder = i / each_folder(r), k = i % each_folder(r), cls = k - SPOT_SHIFT_SETS;
    const int source = (int)(folder / (1 + r->cfg->shifts)), shift = (int)(folder % (1 + r->cfg->shifts)) - 1;
    const spot_shift_result *u = &r->unit[spot_shift_unit_of(r->cfg, source, shift)];
    const long set = cls >= 0 ? u->filtered ? SPOT_SHIFT_KEPT : SPOT_SHIFT_ALL : k;

    if (!u->count[set] || (cls >= 0 && !u->class_cover[cls].classes)) return false;
    *(cover_row *)out = (cover_row){ set_names[set], r->cfg->sources ? r->cfg->source[source].name : NULL,
                                     shift < 0 ? "base" : r->cfg->shift[shift].name,
                                     cls >= 0 ? u->class_name[cls] : NULL, cls >= 0 ? &u->class_cover[cls] : &u->cover[set] };
    return true;
}

const spot_quantity spot_shifts_covers = SPOT_ROWS("coverage", SPOT_AS_LIST, row, cover_row, count_rows, get_row);
