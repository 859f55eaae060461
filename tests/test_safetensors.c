/* test_safetensors.c - every hostile file gets its sentence; what is written reads back. The corpus and its good files
 * are made by tools/golden/safetensors.py, which does not use this code. */
#define _GNU_SOURCE
#include "checks.h"

#include <stdlib.h>
#include <unistd.h>

#include "formats/safetensors.h"
#include "spotter/model.h"

#define FOLDER "fuzz/corpus_safetensors/"

TEST(hostile_files_get_their_sentence)
{
    static const struct { const char *file, *words; } cases[] = {
        { "empty", "safetensors.short" },                   { "seven", "safetensors.short" },
        { "header_huge", "safetensors.header_length: 100000001" }, { "header_max",
                                                                    "safetensors.header_length: 18446744073709551615" },
        { "header_cut", "safetensors.header_length" },            { "header_none", "safetensors.header" },
        { "gap", "safetensors.gap: b | leaves" },              { "overlap", "safetensors.gap: overlaps" },
        { "same_place", "safetensors.gap: overlaps" },             { "twice", "safetensors.tensor_twice: a" },
        { "rest", "safetensors.rest: 4" },             { "short_data", "safetensors.offsets: b" },
        { "shape_lies", "safetensors.bytes: wants 12" },   { "shape_negative", "safetensors.size: size 0 | a" },
        { "shape_overflow", "safetensors.size: a" }, { "shape_real", "safetensors.size: size 0" },
        { "shape_deep", "safetensors.shape: 8" },            { "shape_missing", "safetensors.no_shape: a" },
        { "offsets_backward", "safetensors.offsets: a" }, { "offsets_negative", "safetensors.offsets: a" },
        { "offsets_huge", "safetensors.offsets: a" },
        { "no_dtype", "safetensors.entry" },       { "dtype_number", "safetensors.entry" },
        { "not_a_map", "safetensors.entry" },      { "broken_json", "safetensors.json" },
        { "list", "safetensors.header" },               { "deep", "safetensors.json: nested" },
        { "nul", "safetensors.json: NUL" },
        { "name_breaks", "safetensors.entry: a??[2J" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_tensors t;
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s", cases[i].file);
        CHECK_FAILS(&c, spot_tensors_open(&c, &t, path), SPOT_INPUT, cases[i].words);
    }
}

/* A tensor of a type that is not read is in nobody's way who does not ask for it. */
TEST(strange_types_are_refused_where_they_are_asked_for)
{
    static const char *const file[] = { "float8", "sub_byte" }, *const words[] = { "safetensors.type: a | F8_E4M3",
                                                                                  "safetensors.type: a | F4" };
    static const char both[] = "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]},"
                               "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}";
    uint8_t bytes[8 + sizeof both - 1 + 8] = { sizeof both - 1 };
    spot_ctx c = check_ctx(1);
    spot_array a = { 0 };
    spot_blob in;
    spot_tensors t;
    for (int i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, FOLDER "%s", file[i]);
        CHECK_OK(&c, spot_tensors_open(&c, &t, path));
        assert_int_equal(spot_tensors_find(&t, "a")->type, SPOT_DTYPES);
        spot_tensors_close(&t);
        CHECK_OK(&c, spot_blob_open(&c, &in, path));
        CHECK_FAILS(&c, spot_tensors_read(&c, &a, &in, NULL, 0), SPOT_INPUT, words[i]);
        spot_blob_close(&in);
    }
    memcpy(bytes + 8, both, sizeof both - 1);
    memcpy(bytes + 8 + sizeof both - 1 + 4, &(float){ 1.5f }, 4);
    in = spot_blob_memory(bytes, sizeof bytes, "both");
    CHECK_OK(&c, spot_tensors_read(&c, &a, &in, "b", 0));
    assert_true(*(float *)a.data == 1.5f);
    spot_array_close(&a);
    CHECK_FAILS(&c, spot_tensors_read(&c, &a, &in, "a", 0), SPOT_INPUT, "safetensors.type");
}

TEST(good_files_are_read)
{
    spot_ctx c = check_ctx(1);
    spot_tensors t;
    CHECK_OK(&c, spot_tensors_open(&c, &t, FOLDER "good_two"));
    assert_int_equal(t.count, 2);
    assert_int_equal(spot_tensors_find(&t, "b")->dim[0], 2);
    assert_int_equal(((const uint8_t *)spot_tensors_find(&t, "b")->data)[7], 15);
    assert_null(spot_tensors_find(&t, "c"));
    spot_tensors_close(&t);
    CHECK_OK(&c, spot_tensors_open(&c, &t, FOLDER "good_scalar_meta_empty"));
    assert_int_equal(t.count, 2);
    assert_int_equal(spot_tensors_find(&t, "n")->rank, 0);
    assert_int_equal(spot_tensors_find(&t, "n")->type, SPOT_I64);
    spot_tensors_close(&t);
    CHECK_OK(&c, spot_tensors_open(&c, &t, FOLDER "good_half"));
    assert_int_equal(spot_tensors_find(&t, "a")->type, SPOT_F16);
    assert_int_equal(spot_tensors_find(&t, "b")->bytes, 3);
    spot_tensors_close(&t);
    CHECK_FAILS(&c, spot_tensors_open(&c, &t, FOLDER "nowhere"), SPOT_IO, "file.unopened: nowhere");
}

/* A model in a file of the test's own. */
typedef struct { spot_ctx c; spot_arena a; spot_model m; char path[64]; } fixture;

static void make(fixture *f, int width, int outputs)
{
    memset(f, 0, sizeof *f);
    f->c = check_ctx(1);
    CHECK_OK(&f->c, spot_arena_open(&f->c, &f->a, 64 << 20));
    CHECK_OK(&f->c, spot_model_init(&f->c, &f->a, &f->m, SPOT_ARCH_RESNET18, width, outputs, 3, 0));
    f->m.batches_tracked = 77;
    snprintf(f->path, sizeof f->path, "/tmp/spotter_test_%ld.safetensors", (long)getpid());
    CHECK_OK(&f->c, spot_model_save(&f->c, f->path, &f->m));
}

static void clear(fixture *f)
{
    remove(f->path);
    spot_arena_close(&f->a);
}

TEST(a_model_of_torch_save_is_named)
{
    spot_ctx c = check_ctx(1);
    spot_arena count = spot_arena_counting();
    spot_model m;
    CHECK_FAILS(&c, spot_model_load(&c, &count, &m, "fuzz/corpus_npz/no_array.npz", 0, 0), SPOT_INPUT,
                "safetensors.pickle: torch.save");
}

TEST(a_model_reads_back)
{
    fixture f;
    spot_model back;
    make(&f, 16, 3);
    CHECK_OK(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 0, 1));
    assert_int_equal(back.outputs, 3);
    assert_int_equal(back.batches_tracked, 77);
    assert_memory_equal(back.value, f.m.value, f.m.floats * sizeof(float));
    CHECK_FAILS(&f.c, spot_model_save(&f.c, "/nowhere/x.safetensors", &f.m), SPOT_IO, "file.failed: /nowhere/x.safetensors");
    clear(&f);
}

/* A file tells its architecture by its names. */
TEST(architectures_read_back)
{
    for (int arch = 0; spot_arch_is(arch); arch++) {
        char path[] = "/tmp/spot_arch_XXXXXX";
        spot_ctx c = check_ctx(1);
        spot_model m, back, other;
        spot_arena a;
        close(mkstemp(path));
        CHECK_OK(&c, spot_arena_open(&c, &a, 128 << 20));
        CHECK_OK(&c, spot_model_init(&c, &a, &m, arch, 16, 3, 5, 0));
        CHECK_OK(&c, spot_model_save(&c, path, &m));
        CHECK_OK(&c, spot_model_load(&c, &a, &back, path, 0, 1));
        assert_true(back.arch == arch && back.width == 16 && back.outputs == 3 && back.floats == m.floats);
        assert_memory_equal(back.value, m.value, m.floats * sizeof(float));
        CHECK_OK(&c, spot_model_load(&c, &a, &other, path, 7, 1));         /* another head */
        assert_memory_equal(other.value, m.value, 1000 * sizeof(float));
        remove(path);
        spot_arena_close(&a);
    }
}

/* The longest of torchvision's names fit. */
TEST(names_are_whole)
{
    spot_model_tensor table[SPOT_MAX_TENSORS];
    int longest = 0;
    spot_model_layout(table, SPOT_ARCH_RESNET18, 64, 1000);
    for (int t = 0; t < spot_model_tensors(SPOT_ARCH_RESNET18); t++)
        longest += !strcmp(table[t].name + 7, "0.downsample.1.num_batches_tracked");
    assert_int_equal(longest, 3);
}

/* Weights that were saved before networks counted their batches. */
TEST(counts_of_batches_may_be_missing)
{
    fixture f;
    spot_model back;
    spot_tensors all;
    spot_tensor kept[SPOT_MAX_TENSORS];
    int n = 0;
    make(&f, 16, 3);
    CHECK_OK(&f.c, spot_tensors_open(&f.c, &all, f.path));
    for (int i = 0; i < all.count; i++)
        if (all.tensor[i].rank) kept[n++] = all.tensor[i];
    assert_int_equal(n, 102);
    CHECK_OK(&f.c, spot_tensors_save(&f.c, f.path, kept, n));
    spot_tensors_close(&all);
    CHECK_OK(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 0, 1));
    assert_memory_equal(back.value, f.m.value, f.m.floats * sizeof(float));
    clear(&f);
}

TEST(another_head_is_started_anew)
{
    fixture f;
    spot_model back;
    spot_model_tensor table[SPOT_MAX_TENSORS];
    size_t body;
    make(&f, 16, 1000);
    CHECK_OK(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 1, 9));
    spot_model_layout(table, SPOT_ARCH_RESNET18, 16, 1);
    body = table[120].offset;
    assert_int_equal(back.outputs, 1);
    assert_memory_equal(back.value, f.m.value, body * sizeof(float));
    assert_memory_not_equal(back.value + body, f.m.value + body, 16 * sizeof(float));
    clear(&f);
}

/* Renames one tensor in the header, and puts an infinity into the data. */
TEST(wrong_models_are_refused_by_name)
{
    fixture f;
    spot_model back;
    char *bytes, *at;
    size_t size;
    FILE *file;
    make(&f, 16, 1);
    file = fopen(f.path, "rb+");
    bytes = malloc(8 << 20);
    size = fread(bytes, 1, 8 << 20, file);
    at = memmem(bytes, size, "layer3.1.bn2.bias", 17);
    fseek(file, at - bytes + 16, SEEK_SET);
    fputc('z', file);
    fclose(file);
    CHECK_FAILS(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 1, 9), SPOT_INPUT, "weights.no_tensor: layer3.1.bn2.bias");
    f.m.value[7] = 1e38f * 10;
    CHECK_OK(&f.c, spot_model_save(&f.c, f.path, &f.m));
    CHECK_FAILS(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 1, 9), SPOT_INPUT, "weights.value");
    assert_int_equal(truncate(f.path, (long)size - 4), 0);
    CHECK_FAILS(&f.c, spot_model_load(&f.c, &f.a, &back, f.path, 1, 9), SPOT_INPUT, "safetensors.offsets");
    free(bytes);
    clear(&f);
}
