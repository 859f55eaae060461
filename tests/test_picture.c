/* test_picture.c - pictures of every kind that PNG and JPEG know, to the byte as PIL and torchvision show them; and what is
 * said of broken ones. Inputs and answers are made by tools/golden/pictures.py.
 *
 * With arguments FILE RESIZE CROP FILTER ...: writes crop x crop x 3 bytes of each to stdout, for that script to compare; the
 * filter, and 2 for the order of Pillow 12.
 * ctest: both */
#include "checks.h"

#include <stdlib.h>
#include <unistd.h>

#include "formats/picture.h"

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(1 << 20);

    if (!f) fail_msg("cannot read %s", path);
    *size = fread(data, 1, 1 << 20, f);
    fclose(f);
    return data;
}

TEST(pictures_are_as_pil_shows_them)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    FILE *f = fopen("golden/pictures.bin", "rb");
    char name[32], path[64];
    int32_t head[3], fit[3], pictures = 0;
    assert_non_null(f);
    while (fread(name, sizeof name, 1, f) == 1) {
        static uint8_t want[1 << 14], got[1 << 14];
        assert_int_equal(fread(head, sizeof head, 1, f), 1);
        snprintf(path, sizeof path, "fuzz/corpus_%s", name);
        CHECK_OK(&c, spot_picture_read(&c, &p, path));
        assert_int_equal(p.width, head[0]);
        assert_int_equal(p.height, head[1]);
        assert_int_equal(fread(want, 3, (size_t)(head[0] * head[1]), f), head[0] * head[1]);
        if (memcmp(p.rgb, want, (size_t)(3 * head[0] * head[1]))) fail_msg("%s is not as PIL shows it", name);
        for (int k = 0; k < head[2]; k++) {
            assert_int_equal(fread(fit, sizeof fit, 1, f), 1);
            assert_int_equal(fread(want, 3, (size_t)(fit[1] * fit[1]), f), fit[1] * fit[1]);
            CHECK_OK(&c, spot_picture_fit_by(&c, got, &p, fit[0], fit[1], (spot_filter)fit[2]));
            if (memcmp(got, want, (size_t)(3 * fit[1] * fit[1])))
                fail_msg("%s resized to %d and cut to %d by filter %d is not as torchvision has it", name, fit[0], fit[1],
                         fit[2]);
        }
        pictures++;
    }
    assert_true(pictures > 40);
    fclose(f);
    spot_picture_close(&p);
}

/* Cut anywhere, a file is shown or gets a sentence that names it. PNG's rows end before its last chunk does, and before that
 * a checksum that nobody needs. */
TEST(files_cut_short_get_their_sentence)
{
    static const struct { const char *file; size_t behind; } cases[] = {
        { "png/rgb_8", 16 }, { "png/gray_4_i", 16 }, { "jpeg/rgb_420", 2 }, { "jpeg/rgb_444_p", 2 }, { "jpeg/cmyk", 2 },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_picture p = { 0 };
        char path[64];
        size_t size;
        uint8_t *data;
        int shown = 0;
        snprintf(path, sizeof path, "fuzz/corpus_%s", cases[i].file);
        data = read_file(path, &size);
        for (size_t cut = 0; cut < size - cases[i].behind; cut++) {
            spot_ctx c = check_ctx(1);
            uint8_t *exact = malloc(cut ? cut : 1);      /* so that ASan sees one byte too far */
            memcpy(exact, data, cut);
            spot_status s = spot_picture_decode(&c, &p, exact, cut, "cut.jpg");
            free(exact);
            if (s == SPOT_OK) { shown++; continue; }
            assert_int_equal(s, SPOT_INPUT);
            assert_non_null(strstr(c.message, "cut.jpg"));
            assert_null(p.rgb);
        }
        if (shown > 4) fail_msg("%s: %d cuts of it are taken for whole", cases[i].file, shown);
        free(data);
        spot_picture_close(&p);
    }
}

TEST(hostile_files_get_their_sentence)
{
    static const struct { const char *bytes; size_t size; const char *words; } cases[] = {
        { "", 0, "picture.format: a.png | empty" },
        { "hello", 5, "picture.format: something else" },
        { "\0\0\0\x20" "ftypavif", 12, "picture.format: AVIF" },
        { "\0\0\0\x20" "ftypheic", 12, "picture.format: HEIC" },
        { "\0\0\0\x20" "ftypmif1", 12, "picture.format: HEIC" },
        { "\0\5\x16\7\0\2", 6, "picture.format: AppleDouble" },
        { "BM", 2, "bmp.damaged: a.png" },
        { "\x89PNG\r\n\x1a\n", 8, "png.damaged: cut short" },
        { "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x02\0\0\0\x1a\x2b\x3c\x4d", 33,
          "png.damaged: CRC" },
        { "\xff\xd8\xff\xd9", 4, "jpeg.damaged" },
        { "\xff\xd8\xff", 3, "jpeg.damaged" },
    };
    for (int i = 0; i < LEN(cases); i++) {
        spot_ctx c = check_ctx(1);
        spot_picture p = { 0 };
        CHECK_FAILS(&c, spot_picture_decode(&c, &p, (const uint8_t *)cases[i].bytes, cases[i].size, "a.png"), SPOT_INPUT,
                    cases[i].words);
        spot_picture_close(&p);
    }
}

/* The width and height that a header claims, where the file has them; nothing of the size is taken. */
TEST(bombs_are_refused_before_they_are_decoded)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    size_t size;
    uint8_t *data = read_file("fuzz/corpus_png/bomb", &size);
    CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, size, "b.png"), SPOT_INPUT, "picture.size: 20000 | 20000");
    assert_int_equal(p.pixels.size, 0);
    free(data);
    data = read_file("fuzz/corpus_jpeg/rgb_420", &size);
    for (size_t i = 0; i + 9 < size; i++)
        if (data[i] == 0xff && data[i + 1] == 0xc0) memset(data + i + 5, 0xfe, 4);
    CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, size, "b.jpg"), SPOT_INPUT, "picture.size: 65278 | 65278");
    assert_int_equal(p.pixels.size, 0);
    free(data);
    data = read_file("fuzz/corpus_jpeg/scans", &size);
    CHECK_FAILS(&c, spot_picture_decode(&c, &p, data, size, "s.jpg"), SPOT_INPUT, "jpeg.damaged: s.jpg");
    free(data);
    spot_picture_close(&p);
}

TEST(what_is_no_file_is_said_to_be_none)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };
    uint8_t out[3];
    CHECK_FAILS(&c, spot_picture_read(&c, &p, "golden"), SPOT_INPUT, "file.no_data: golden | folder");
    CHECK_FAILS(&c, spot_picture_read(&c, &p, "golden/nowhere.png"), SPOT_IO, "file.unopened: nowhere.png");
    CHECK_FAILS(&c, spot_picture_read(&c, &p, "/dev/zero"), SPOT_INPUT, "file.no_data: /dev/zero | device");
    CHECK_FAILS(&c, spot_picture_fit(&c, out, &p, 1, 1), SPOT_INVALID, "picture.fit: 1 | 1");
    spot_picture_close(&p);
}

/* The header tells the memory of decoding: a progressive JPEG holds all its coefficients, 2 bytes each. */
TEST(memory_is_known_before_decoding)
{
    spot_ctx c = check_ctx(1);
    spot_picture_cost plain, whole;
    spot_blob in;
    CHECK_OK(&c, spot_blob_open(&c, &in, "fuzz/corpus_jpeg/rgb_444"));
    CHECK_OK(&c, spot_picture_cost_of(&c, &plain, &in));
    assert_int_equal(plain.file, in.size);
    assert_int_equal(plain.pixels, 3 * plain.width * plain.height);
    spot_blob_close(&in);
    CHECK_OK(&c, spot_blob_open(&c, &in, "fuzz/corpus_jpeg/rgb_444_p"));
    CHECK_OK(&c, spot_picture_cost_of(&c, &whole, &in));
    spot_blob_close(&in);
    assert_int_equal(whole.pixels, plain.pixels);
    assert_int_equal(whole.work - plain.work, 3 * ((whole.width + 7) / 8) * ((whole.height + 7) / 8) * 64 * 2);
    CHECK_OK(&c, spot_blob_open(&c, &in, "fuzz/corpus_png/rgb_8"));
    CHECK_OK(&c, spot_picture_cost_of(&c, &plain, &in));
    spot_blob_close(&in);
    assert_true(plain.width > 0 && plain.pixels == 3 * plain.width * plain.height);
}

/* One picture at a time, or none: never a picture less because of threads. */
TEST(threads_share_the_memory_for_decoding)
{
    enum { PICTURES = 64, THREADS = 4 };
    static const char *const path = "fuzz/corpus_jpeg/rgb_444_p";
    spot_ctx c = check_ctx(1);
    spot_picture_cost cost;
    spot_picture_gate gate;
    spot_blob in;
    size_t one;
    CHECK_OK(&c, spot_blob_open(&c, &in, path));
    CHECK_OK(&c, spot_picture_cost_of(&c, &cost, &in));
    spot_blob_close(&in);
    one = cost.file + cost.pixels + cost.work + spot_picture_fit_bytes(cost.width, cost.height, 40, 32);
    for (int less = 0; less < 2; less++) {
        int seen = 0, most = 0;
        spot_picture_gate_open(&gate, one - (size_t)less, 40, 32);
        #pragma omp parallel num_threads(THREADS) reduction(+ : seen) reduction(max : most)
        {
            spot_picture p = { .gate = &gate };
            #pragma omp for schedule(dynamic, 1)
            for (int i = 0; i < PICTURES; i++) {
                uint8_t out[3 * 32 * 32];
                spot_ctx own = check_ctx(1);
                spot_status s = spot_picture_read(&own, &p, path);
                if (!s) s = spot_picture_fit(&own, out, &p, 40, 32);
                seen += s == SPOT_OK;
                if (s && (s != SPOT_INPUT || strcmp(spot_failure_id(&own), "picture.memory"))) most = 1;
                if (p.file.size + p.pixels.size + p.line.size + p.taps.size > one) most = 2;
                spot_picture_give_back(&p);
                if (p.held || p.pixels.size) most = 3;
            }
            spot_picture_close(&p);
        }
        assert_int_equal(most, 0);
        assert_int_equal(seen, less ? 0 : PICTURES);
        assert_int_equal(gate.used, 0);
        spot_picture_gate_close(&gate);
    }
}

static int show(int argc, char **argv)
{
    spot_ctx c = check_ctx(1);
    spot_picture p = { 0 };

    for (int i = 1; i + 3 < argc; i += 4) {
        int crop = atoi(argv[i + 2]);
        uint8_t *out = malloc(3 * (size_t)crop * (size_t)crop);
        spot_filter filter = (spot_filter)(atoi(argv[i + 3]) % SPOT_FILTERS);
        p.reading.pillow = atoi(argv[i + 3]) < SPOT_FILTERS ? SPOT_PILLOW_13 : SPOT_PILLOW_12;
        if (spot_picture_read(&c, &p, argv[i]) || spot_picture_fit_by(&c, out, &p, atoi(argv[i + 1]), crop, filter)) {
            fprintf(stderr, "%s\n", c.message);
            return 1;
        }
        fwrite(out, 3, (size_t)crop * (size_t)crop, stdout);
        free(out);
    }
    spot_picture_close(&p);
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 ? show(argc, argv) : run_all_tests();
}
