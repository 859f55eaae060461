/* test_predictor.c - predictors: weights against the network itself, functions, and programs of every kind of ill will. The
 * programs are this one, started as `test_predictor --serve WAY...`. ctest: both */
#define _GNU_SOURCE
#include "check_resnet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/program.h"
#include "check_folder.h"
#include "heard.h"
#include "spotter/predictor.h"

enum { SIDE = 32, EACH = 3 * SIDE * SIDE, N = 70, OUTPUTS = 3, DIM = 2, CHANNELS = 4 };

/* -- the program --------------------------------------------------------------------------------------------------- */

static int    ways, batches;
static char **way;

static bool is(const char *name)
{
    for (int i = 0; i < ways; i++)
        if (!strcmp(way[i], name)) return true;
    return false;
}

/* After the two batches of the opening. */
static bool later(const char *name) { return batches >= 2 && is(name); }

static void say(const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, stdout) != n || fflush(stdout)) exit(9);
}

/* An array as numpy 1.24 writes it. */
static void put_array(const char *descr, bool fortran, const char *shape, const void *v, size_t bytes)
{
    char start[129], dict[160];

    snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, fortran ? "True" : "False",
             shape);
    memcpy(start, "\x93NUMPY\1\0\x76\0", 10);
    snprintf(start + 10, sizeof start - 10, "%-117.117s\n", dict);
    say(start, 128);
    say(v, bytes);
}

static void put_floats(const float *v, int rows, int columns)
{
    char shape[64];

    snprintf(shape, sizeof shape, "(%d, %d)", rows, columns);
    put_array("<f4", false, shape, v, (size_t)rows * (size_t)columns * sizeof *v);
}

/* The n and the pixels of the next batch; 0: the end of the input. Checks all that the protocol promises. */
static int get_batch(uint8_t *rgb)
{
    char start[129] = "", want[129];
    int n;

    if (fread(start, 1, 128, stdin) != 128) return 0;
    if (sscanf(start + 10, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d,", &n) != 1 || n < 1 || n > 64) exit(11);
    snprintf(want, sizeof want, "{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d, %d, 3), }", n, SIDE, SIDE);
    if (memcmp(start, "\x93NUMPY\1\0\x76\0", 10) || strncmp(start + 10, want, strlen(want)) || start[127] != '\n') exit(12);
    if (fread(rgb, EACH, (size_t)n, stdin) != (size_t)n) exit(13);
    return n;
}

/* Row i: sums of the pixels' bytes by their colour, and numbers that follow from those. */
static void answer(float *logit, float *embedding, float *channel, const uint8_t *rgb, int n)
{
    for (int i = 0; i < n; i++) {
        float sum[3] = { 0 };
        for (int k = 0; k < EACH; k++) sum[k % 3] += rgb[(size_t)i * EACH + k];
        for (int k = 0; k < OUTPUTS; k++) logit[i * OUTPUTS + k] = sum[k];
        for (int k = 0; k < DIM; k++) embedding[i * DIM + k] = sum[k] - sum[k + 1];
        for (int k = 0; k < CHANNELS; k++) channel[i * CHANNELS + k] = sum[k % 3] / (255.0f * EACH);
    }
}

static void put_logits(float *v, int n)
{
    char shape[64];

    if (later("nan")) v[(n / 2) * OUTPUTS + 1] = NAN;
    snprintf(shape, sizeof shape, is("flat") ? "(%d,)" : is("cube") ? "(%d, 1, 3)" : "(%d, 3)", n * (is("flat") ? OUTPUTS : 1));
    if (is("fortran"))         put_array("<f4", true, shape, v, (size_t)n * OUTPUTS * 4);
    else if (is("double"))     put_array("<f8", false, shape, v, (size_t)n * OUTPUTS * 8);
    else if (is("big_endian")) put_array(">f4", false, shape, v, (size_t)n * OUTPUTS * 4);
    else if (is("object"))     put_array("|O", false, shape, v, (size_t)n * OUTPUTS * 4);
    else if (is("words"))      put_array("<U4", false, shape, v, (size_t)n * OUTPUTS * 16);
    else if (is("huge"))       put_array("<f4", false, "(1, 4611686018427387904)", v, 64);
    else if (is("wide"))       put_array("<f4", false, "(1, 100001)", v, 64);
    else if (is("overflow"))   put_array("<f4", false, "(1, 99999999999999999999999)", v, 64);
    else if (is("flat") || is("cube")) put_array("<f4", false, shape, v, (size_t)n * OUTPUTS * 4);
    else if (is("no_outputs")) put_floats(v, n, 0);
    else if (later("few"))     put_floats(v, n - 1, OUTPUTS);
    else if (later("many"))    put_floats(v, n + 1, OUTPUTS);
    else if (later("wider"))   put_floats(v, n, OUTPUTS + 1);
    else if (is("one_row"))    put_floats(v, 1, OUTPUTS);
    else                       put_floats(v, n, OUTPUTS);
}

static void put_answer(const uint8_t *rgb, int n)
{
    static float logit[80 * 8], embedding[64 * DIM], channel[64 * CHANNELS];

    answer(logit, embedding, channel, rgb, n);
    if (is("prints")) printf("predicting %d pictures\n", n);
    for (int i = 0; i < 4096 && is("garbage"); i++) say("\x93NUMPX\1\2\3\4\5\6\7\x8\x9", 16);
    put_logits(logit, n);
    if (later("dies_in_the_middle")) {
        say("\x93NUM", 4);
        _exit(7);
    }
    if (later("infinite")) channel[0] = -INFINITY;
    put_floats(embedding, n, is("bare") ? 0 : DIM);
    put_floats(channel, n, is("bare") ? 0 : CHANNELS);
    for (int i = 0; i < (is("more") ? 1 : later("flood") ? 100000 : 0); i++) put_floats(logit, n, OUTPUTS);
}

/* A child that holds the pipes when its parent is gone. Its number goes into the file that the way names. */
static void leave_child(const char *file)
{
    pid_t child = fork();

    if (!child) {
        signal(SIGTERM, SIG_IGN);
        for (;;) pause();
    }
    FILE *f = fopen(file, "w");
    if (!f) exit(10);
    fprintf(f, "%d", (int)child);
    fclose(f);
}

/* Only the three pipes may be open. */
static void look_at_files(void)
{
    struct sigaction on_pipe;

    for (int fd = 3; fd < 256; fd++)
        if (fcntl(fd, F_GETFD) >= 0) fprintf(stderr, "file %d is open\n", fd);
    sigaction(SIGPIPE, NULL, &on_pipe);
    if (on_pipe.sa_handler != SIG_DFL) fprintf(stderr, "SIGPIPE is ignored\n");
    if (getpgrp() != getpid()) fprintf(stderr, "no group of its own\n");
}

static void meet_whim(void)
{
    if (later("late")) sleep(60);
    if (later("exits")) fprintf(stderr, "Traceback:\n\nValueError: \x1b[31menough\n"), exit(3);
    if (later("killed")) raise(SIGKILL);
    if (later("closes")) fclose(stdout), sleep(60);
    if (later("orphan")) exit(5);
}

static int serve(int n, char **names)
{
    static uint8_t rgb[64 * EACH];

    ways = n, way = names;
    if (is("loud")) fprintf(stderr, "50 %%\r100 %%\r\n  \nready for %s", "pictures\nlast words"), fflush(stderr);
    if (is("files")) look_at_files();
    if (is("dies_at_once")) fprintf(stderr, "No module named 'torch'\n"), exit(1);
    if (is("child") || is("orphan")) leave_child(way[ways - 1]);
    if (is("eager")) put_answer(rgb, 1);             /* before it has read anything */
    for (; (n = get_batch(rgb)); batches++) {
        meet_whim();
        if (is("eager") && !batches) continue;
        put_answer(rgb, n);
        if (later("once")) return 0;
    }
    if (is("stays")) for (;;) pause();
    if (is("writes_on")) for (;;) say(rgb, 4096);
    return 0;
}

/* -- asking it ----------------------------------------------------------------------------------------------------- */

static const char *command_of(const char *words)
{
    static char line[512], self[256];

    if (!self[0]) assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(line, sizeof line, "exec '%s' --serve %s", self, words);
    return line;
}

static uint8_t *noise_pictures(int n)
{
    uint8_t *rgb = malloc((size_t)n * EACH);

    for (size_t i = 0; i < (size_t)n * EACH; i++) rgb[i] = (uint8_t)(255 * unit(7, i));
    return rgb;
}

static spot_predictor_options asking(const char *words)
{
    return (spot_predictor_options){ .kind = SPOT_PREDICTOR_COMMAND, .command = command_of(words), .side = SIDE,
                                     .patience = 20 };
}

/* No process is left of what the test started. */
static void check_no_zombie(void)
{
    assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Whether the process whose number the file holds is gone; it is no child of this one. */
static bool is_gone(const char *file)
{
    FILE *f = fopen(file, "r");
    char path[64], state = 'X';
    int pid;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    fclose(f);
    for (int i = 0; i < 200; i++, usleep(10000)) {
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
        f = fopen(path, "r");
        if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'X';
        if (f) fclose(f);
        if (strchr("XZ", state)) return true;       /* a zombie waits for a lazy init, not for us */
    }
    return false;
}

/* The call that fails: opening, or the first question behind it. */
static void refuse(const char *words, double patience, const char *failure)
{
    spot_ctx c = check_ctx(1);
    spot_predictor_options o = asking(words);
    spot_predictor *p;
    spot_status s;
    double start = spot_clock();

    o.patience = patience;
    s = spot_predictor_open(&c, &p, &o);
    assert_true(!s == !!p);
    if (!s) {
        uint8_t *rgb = noise_pictures(N);
        float *logit = malloc(N * 3 * sizeof *logit), *channel = malloc(N * CHANNELS * sizeof *channel);
        spot_prediction q = { rgb, N, SIDE, logit, NULL, channel };
        s = spot_predict(&c, p, &q);
        free(rgb), free(logit), free(channel);
    }
    if (failure) CHECK_FAILS(&c, s, SPOT_INPUT, failure);
    assert_int_equal(s, SPOT_INPUT);
    spot_predictor_close(&c, p);
    check_no_zombie();
    if (spot_clock() - start > patience + (SANITIZED ? 20 : 4)) fail_msg("%s took %.1f s", words, spot_clock() - start);
}

TEST(a_program_answers)
{
    static const char *const programs[] = { "", "eager", "loud", "files" };
    uint8_t *rgb = noise_pictures(N);
    float logit[N * OUTPUTS], embedding[N * DIM], channel[N * CHANNELS], want[3][N * CHANNELS];

    answer(want[0], want[1], want[2], rgb, N);
    for (int i = 0; i < LEN(programs); i++) {
        spot_ctx c = check_ctx(1);
        spot_predictor_options o = asking(programs[i]);
        const spot_predictor_info *about;
        spot_predictor *p;
        heard[0] = murmured[0] = 0;
        c.on_log = hear;
        o.batch = i == 2 ? 1 : 32;
        CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
        about = spot_predictor_about(p);
        assert_true(about->outputs == OUTPUTS && about->dim == DIM && about->channels == CHANNELS && about->bytes > 0);
        for (int n = N; n >= 0; n -= 35) {
            memset(logit, 0, sizeof logit);
            CHECK_OK(&c, spot_predict(&c, p, &(spot_prediction){ rgb, n, SIDE, logit, n == N ? embedding : NULL, channel }));
            assert_memory_equal(logit, want[0], (size_t)n * OUTPUTS * sizeof *logit);
        }
        assert_memory_equal(embedding, want[1], sizeof embedding);
        assert_memory_equal(channel, want[2], sizeof channel);
        spot_predictor_close(&c, p);
        check_no_zombie();
        assert_string_equal(heard, "");
        if (i != 2) assert_string_equal(murmured, "");
        else for (int k = 0; k < 4; k++)
            assert_non_null(strstr(murmured, (const char *[]){ "says: 50 %", "says: 100 %", "says: ready for pictures",
                                                              "says: last words" }[k]));
    }
    free(rgb);
}

TEST(a_program_without_embeddings)
{
    spot_ctx c = check_ctx(1);
    spot_predictor_options o = asking("bare");
    uint8_t rgb[EACH] = { 0 };
    float logit[OUTPUTS], other[8];
    spot_predictor *p;

    CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
    assert_true(!spot_predictor_about(p)->dim && !spot_predictor_about(p)->channels);
    CHECK_OK(&c, spot_predict(&c, p, &(spot_prediction){ rgb, 1, SIDE, logit, NULL, NULL }));
    CHECK_FAILS(&c, spot_predict(&c, p, &(spot_prediction){ rgb, 1, SIDE, logit, other, NULL }), SPOT_INVALID,
                "predictor.no_output: embeddings");
    CHECK_FAILS(&c, spot_predict(&c, p, &(spot_prediction){ rgb, 1, SIDE, logit, NULL, other }), SPOT_INVALID,
                "predictor.no_output: channels");
    CHECK_FAILS(&c, spot_predict(&c, p, &(spot_prediction){ rgb, 1, 64, logit, NULL, NULL }), SPOT_INVALID,
                "predictor.picture_size: 64");
    spot_predictor_close(&c, p);
}

TEST(a_program_that_dies)
{
    refuse("dies_at_once", 20, "program.ended: exit code 1 | No module");
    refuse("exits", 20, "program.ended: exit code 3 | ValueError");
    refuse("killed", 20, "program.ended: signal 9 (Killed)");
    refuse("dies_in_the_middle", 20, "program.ended: exit code 7 | nothing");
    refuse("once", 20, "program.ended: exit code 0");
    refuse("closes", 1, "program.ended: closed");
}

TEST(a_command_that_is_none)
{
    static const struct { const char *command, *words; } cases[] = {
        { "/no/such/program", "program.ended: exit code 127" }, { "exec <", "program.ended: exit code 2" },
        { "true", "program.ended: exit code 0" },
        { "exit 4", "program.ended: exit code 4" }, { "sleep 60 & exit 4", "program.ended: exit code 4" },
        { "cat", "predictor.answer_type: \"cat\" | U8" },
        { "cat > /dev/null", "program.too_slow: answer" },
        { "echo hello; cat > /dev/null", "predictor.answer_begin: \"hello?\"" },
    };
    spot_ctx c = check_ctx(1);

    for (int i = 0; i < LEN(cases); i++) {
        spot_predictor_options o = { .kind = SPOT_PREDICTOR_COMMAND, .command = cases[i].command, .side = SIDE, .patience = 1 };
        spot_predictor *p;
        spot_status s = spot_predictor_open(&c, &p, &o);
        CHECK_FAILS(&c, s, SPOT_INPUT, cases[i].words);
    }
    check_no_zombie();
}

TEST(a_program_that_is_late)
{
    refuse("late", 1, "program.too_slow: answer");
}

TEST(answers_that_are_none)
{
    refuse("nan", 20, "predictor.value: logits | picture 32");
    refuse("infinite", 20, "predictor.value: channels | picture 0");
    refuse("few", 20, "predictor.answer_rows: 63 | 64");
    refuse("many", 20, "predictor.answer_rows: 65 | 64");
    refuse("one_row", 20, "predictor.answer_rows: 1 | 2");
    refuse("wider", 20, "predictor.answer_columns_changed: 4 | 3");
    refuse("fortran", 20, "npy.fortran");
    refuse("double", 20, "predictor.answer_type: F64");
    refuse("big_endian", 20, "npy.big_endian");
    refuse("object", 20, "npy.objects");
    refuse("words", 20, "predictor.answer_type");
    refuse("flat", 20, "predictor.answer_dimensions: 1");
    refuse("cube", 20, "predictor.answer_dimensions: 3");
    refuse("no_outputs", 20, "predictor.answer_columns: 0 | 1 | 100000");
    refuse("wide", 20, "predictor.answer_columns: 100001 | 1 | 100000");
    refuse("huge", 20, "array.shape");
    refuse("overflow", 20, "npy.header");
    refuse("garbage", 20, "predictor.answer_begin");
    refuse("prints", 20, "predictor.answer_begin: \"predicting 1 pictures?");
    refuse("more", 20, NULL);                /* what of it has come when it is seen decides the failure */
    refuse("flood", 20, NULL);
}

/* The end of its input, and what it left behind. */
TEST_IN_FOLDER(nothing_is_left_behind)
{
    spot_ctx c = check_ctx(1);
    char words[128], file[96];
    spot_program *p;
    double start;

    snprintf(file, sizeof file, "%s/child", root);
    for (int i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "%s child %s", (const char *[]){ "", "stays", "writes_on" }[i], file);
        CHECK_OK(&c, spot_program_start(&c, &p, command_of(words)));
        while (access(file, F_OK)) usleep(1000);
        start = spot_clock();
        spot_program_end(&c, p, i ? 0.2 : 20);
        assert_true(spot_clock() - start < (SANITIZED ? 15 : 5));
        assert_true(is_gone(file));
        unlink(file);
        check_no_zombie();
    }
    snprintf(words, sizeof words, "orphan %s", file);
    refuse(words, 20, "program.ended: exit code 5");
    assert_true(is_gone(file));
}

/* A reader that is gone must not end the process by SIGPIPE, and the signal stays as it was. */
TEST(a_broken_pipe_is_no_signal)
{
    spot_ctx c = check_ctx(1);
    static char much[1 << 20];
    spot_program *p;
    sigset_t waiting;
    char byte;

    assert_true(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    CHECK_OK(&c, spot_program_start(&c, &p, "exec 0<&-; sleep 0.1; exit 6"));
    spot_program_give(p, (spot_program_piece){ much, sizeof much }, (spot_program_piece){ much, sizeof much });
    CHECK_FAILS(&c, spot_program_take(&c, p, &byte, 1, spot_clock() + 20), SPOT_INPUT, "program.ended: exit code 6");
    spot_program_end(&c, p, 1);
    sigpending(&waiting);
    assert_false(sigismember(&waiting, SIGPIPE));
}

/* A program that writes before it reads, more than a pipe holds, while it is given more than a pipe holds. */
TEST(both_sides_may_write_first)
{
    spot_ctx c = check_ctx(1);
    enum { MUCH = 3 << 20 };
    char *much = malloc(MUCH), *back = calloc(1, MUCH), text[16];
    spot_program *p;

    for (int i = 0; i < MUCH; i++) much[i] = (char)(unit(3, (size_t)i) * 256);
    CHECK_OK(&c, spot_program_start(&c, &p, "head -c 1000000 /dev/zero; cat"));
    spot_program_give(p, (spot_program_piece){ much, 1000 }, (spot_program_piece){ much + 1000, MUCH - 1000 });
    CHECK_OK(&c, spot_program_take(&c, p, back, 1000000, spot_clock() + 20));
    CHECK_OK(&c, spot_program_take(&c, p, back, MUCH, spot_clock() + 20));
    assert_memory_equal(much, back, MUCH);
    CHECK_OK(&c, spot_program_settle(&c, p, spot_clock() + 20));
    assert_string_equal(spot_program_ahead(p, text, sizeof text), "");
    spot_program_end(&c, p, 5);
    CHECK_OK(&c, spot_program_start(&c, &p, "sleep 60"));      /* never reads */
    spot_program_give(p, (spot_program_piece){ much, MUCH }, (spot_program_piece){ 0 });
    CHECK_FAILS(&c, spot_program_settle(&c, p, spot_clock() + 0.2), SPOT_INPUT, "program.too_slow: not read");
    spot_program_end(&c, p, 0);
    free(much);
    free(back);
}

TEST(a_stop_request_ends_the_wait)
{
    static volatile sig_atomic_t stop;
    spot_ctx c = check_ctx(1);
    spot_predictor_options o = asking("late");
    uint8_t rgb[EACH] = { 0 };
    float logit[OUTPUTS];
    spot_predictor *p;

    CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
    c.stop = &stop;
    stop = 1;
    assert_int_equal(spot_predict(&c, p, &(spot_prediction){ rgb, 1, SIDE, logit, NULL, NULL }), SPOT_STOPPED);
    stop = 0;
    spot_forget(&c);
    spot_predictor_close(&c, p);
    check_no_zombie();
}

/* -- weights and functions ----------------------------------------------------------------------------------------- */

/* Random weights in a file; m, in a, is freed with a. */
static const char *put_weights(spot_arena *a, spot_model *m, int outputs)
{
    static char path[96];
    spot_ctx c = check_ctx(1);

    CHECK_OK(&c, spot_arena_open(&c, a, 256 << 20));
    CHECK_OK(&c, spot_model_take(&c, a, m, SPOT_ARCH_RESNET18, 16, outputs));
    fill_model(m);
    m->batches_tracked = 0;
    snprintf(path, sizeof path, "%s/%d.safetensors", root, outputs);
    CHECK_OK(&c, spot_model_save(&c, path, m));
    return path;
}

TEST_IN_FOLDER(weights_answer_as_the_network)
{
    enum { OUT = 5, WIDE = 128, ALL = 61 * 16 };
    uint8_t *rgb = noise_pictures(N);
    float logit[2][N * OUT], feature[2][N * WIDE], *channel = malloc(2 * N * ALL * sizeof *channel);
    spot_predictor_options o = { .kind = SPOT_PREDICTOR_WEIGHTS, .side = SIDE };
    const spot_predictor_info *about;
    spot_ctx c = check_ctx(2);
    spot_predictor *p;
    spot_model m;
    spot_arena a;

    o.weights = put_weights(&a, &m, OUT);
    CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
    about = spot_predictor_about(p);
    assert_true(about->outputs == OUT && about->dim == WIDE && about->channels == ALL && about->bytes > 1 << 20);
    assert_int_equal(strncmp(about->identity, "resnet-", 7), 0);
    CHECK_OK(&c, spot_predict(&c, p, &(spot_prediction){ rgb, N, SIDE, logit[0], feature[0], channel }));
    CHECK_OK(&c, spot_model_infer(&c, &a, logit[1], feature[1], &m, rgb, N, SIDE));
    assert_memory_equal(logit[0], logit[1], sizeof *logit);
    assert_memory_equal(feature[0], feature[1], sizeof *feature);
    for (int i = 0; i < N * ALL; i++) assert_true(channel[i] >= 0 && channel[i] <= 1);
    for (int i = N - 1; i >= 0; i -= 23) {      /* alone, and without the others' arrays */
        CHECK_OK(&c, spot_predict(&c, p, &(spot_prediction){ rgb + i * EACH, 1, SIDE, logit[1], NULL, channel + N * ALL }));
        assert_memory_equal(logit[0] + i * OUT, logit[1], OUT * sizeof **logit);
        assert_memory_equal(channel + i * ALL, channel + N * ALL, ALL * sizeof *channel);
    }
    spot_predictor_close(&c, p);
    spot_arena_close(&a);
    free(channel);
    free(rgb);
}

/* The identity follows the file, the command, or the word that the user gives. */
TEST_IN_FOLDER(identities)
{
    spot_ctx c = check_ctx(1);
    char seen[11][48];
    spot_arena a, b;
    spot_model m;
    char *path[] = { strdup(put_weights(&a, &m, 2)), strdup(put_weights(&b, &m, 3)) };
    const spot_predictor_options o[] = {
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[0], .side = 32 },
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[0], .side = 64, .identity = "another" },
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[1], .side = 32 },
        asking("bare"), asking("bare"), asking("bare"), asking("loud bare"), asking("loud bare"),
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[0], .side = 32, .input = { .mean = "0.485,0.456,0.406" } },
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[0], .side = 32, .input = { .mean = "0.5" } },
        { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = path[0], .side = 32, .input = { .std = "0.5" } },
    };

    for (int i = 0; i < LEN(o); i++) {
        spot_predictor_options this = o[i];
        spot_predictor *p;
        if (i >= 3 && i < 8) this.command = command_of(i < 6 ? "bare" : "loud bare");
        if (i == 5 || i == 7) this.identity = "epoch 3";
        CHECK_OK(&c, spot_predictor_open(&c, &p, &this));
        snprintf(seen[i], sizeof *seen, "%s", spot_predictor_about(p)->identity);
        assert_int_equal(strncmp(seen[i], i < 3 || i > 7 ? "resnet-" : "command-", 7), 0);
        spot_predictor_close(&c, p);
    }
    assert_string_equal(seen[0], seen[1]);
    assert_string_equal(seen[0], seen[8]);
    assert_true(strcmp(seen[0], seen[9]) && strcmp(seen[0], seen[10]) && strcmp(seen[9], seen[10]));
    assert_string_equal(seen[3], seen[4]);
    assert_string_equal(seen[5], seen[7]);
    assert_true(strcmp(seen[0], seen[2]) && strcmp(seen[3], seen[5]) && strcmp(seen[3], seen[6]) && strcmp(seen[6], seen[7]));
    for (int i = 0; i < 2; i++) free(path[i]);
    spot_arena_close(&a), spot_arena_close(&b);
}

static spot_status brightness(spot_ctx *c, void *user, const spot_prediction *p)
{
    int *calls = user;

    assert_true(p->n <= 8 && p->side == SIDE && p->embedding && !p->channel);
    if (++*calls == 35) return spot_fail(c, SPOT_NUMERIC, "{test.enough} enough for today");
    for (int i = 0; i < p->n; i++) {
        p->logit[i] = *calls == 30 && i == 2 ? INFINITY : p->rgb[(size_t)i * EACH];
        p->embedding[i] = (float)*calls;
    }
    return SPOT_OK;
}

TEST(functions)
{
    int calls = 0;
    spot_predictor_options o = { .kind = SPOT_PREDICTOR_FUNCTION, .function = brightness, .user = &calls, .outputs = 1,
                                 .dim = 1, .side = SIDE, .batch = 8, .identity = "brightness" };
    uint8_t *rgb = noise_pictures(N);
    float logit[N], embedding[N];
    const spot_prediction q = { rgb, N, SIDE, logit, embedding, NULL };
    char identity[2][48];
    spot_ctx c = check_ctx(1);
    spot_predictor *p;

    CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
    assert_int_equal(calls, 0);
    for (int i = 0; i < 3; i++) CHECK_OK(&c, spot_predict(&c, p, &q));
    for (int i = 0; i < N; i++) assert_true(logit[i] == rgb[(size_t)i * EACH] && embedding[i] == (float)(19 + i / 8));
    CHECK_FAILS(&c, spot_predict(&c, p, &q), SPOT_INPUT, "predictor.value: brightness | logits | picture 18");
    CHECK_FAILS(&c, spot_predict(&c, p, &q), SPOT_NUMERIC, "test.enough");
    spot_predictor_close(&c, p);
    o.identity = "";
    for (int i = 0; i < 2; i++) {
        CHECK_OK(&c, spot_predictor_open(&c, &p, &o));
        snprintf(identity[i], sizeof *identity, "%s", spot_predictor_about(p)->identity);
        spot_predictor_close(&c, p);
    }
    assert_true(strcmp(identity[0], identity[1]));
    free(rgb);
}

TEST(options_that_are_none)
{
    static const struct { spot_predictor_options o; spot_status status; const char *words; } cases[] = {
        { { .kind = 3, .side = 32 }, SPOT_INVALID, "predictor.kind: 3" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 48, .weights = "x" }, SPOT_USAGE, "predictor.weights_size: 48" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32, .weights = "/no/such" }, SPOT_IO, "file.unopened: /no/such" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32, .weights = "checks.h" }, SPOT_INPUT,
          "safetensors.header_length: checks.h" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32 }, SPOT_USAGE, "predictor.no_weights" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32, .weights = "x", .input = { .std = "0" } }, SPOT_USAGE, "input.std: 0" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32, .weights = "x.onnx", .input = { .mean = "1,2" } }, SPOT_USAGE,
          "input.three: mean | 1,2" },
        { { .kind = SPOT_PREDICTOR_WEIGHTS, .side = 32, .weights = "program:true", .input = { .scale = 1 } }, SPOT_USAGE,
          "input.program: true" },
        { { .kind = SPOT_PREDICTOR_COMMAND, .side = 32, .command = "true", .input = { .mean = "1" } }, SPOT_USAGE,
          "input.program: true" },
        { { .kind = SPOT_PREDICTOR_FUNCTION, .side = 32, .function = brightness, .outputs = 1, .input = { .mean = "1" } },
          SPOT_USAGE, "input.program: the function" },
        { { .kind = SPOT_PREDICTOR_COMMAND, .side = 32 }, SPOT_USAGE, "predictor.no_command" },
        { { .kind = SPOT_PREDICTOR_COMMAND, .side = 0, .command = "true" }, SPOT_USAGE, "predictor.batch: 0" },
        { { .kind = SPOT_PREDICTOR_COMMAND, .side = 32, .batch = -1, .command = "true" }, SPOT_USAGE, "predictor.batch: -1" },
        { { .kind = SPOT_PREDICTOR_FUNCTION, .side = 32, .outputs = 1 }, SPOT_INVALID, "predictor.sizes: 1" },
        { { .kind = SPOT_PREDICTOR_FUNCTION, .side = 32, .function = brightness }, SPOT_INVALID, "predictor.sizes: 0" },
        { { .kind = SPOT_PREDICTOR_FUNCTION, .side = 32, .function = brightness, .outputs = 1, .dim = -1 }, SPOT_INVALID,
          "predictor.sizes: -1" },
    };
    spot_ctx c = check_ctx(1);
    spot_predictor *p;

    for (int i = 0; i < LEN(cases); i++)
        CHECK_FAILS(&c, spot_predictor_open(&c, &p, &cases[i].o), cases[i].status, cases[i].words);
    spot_predictor_close(&c, NULL);
}

/* -- against an outside implementation ----------------------------------------------------------------------------- */

/* The greatest difference, on the scale of b's greatest number. */
static double largest_gap(const float *a, const float *b, size_t n)
{
    double gap = 0, most = 0;

    for (size_t i = 0; i < n; i++) {
        gap = fmax(gap, fabs((double)a[i] - b[i]));
        most = fmax(most, fabs((double)b[i]));
    }
    return gap / most;
}

/* WEIGHTS COMMAND SIDE: both answer the same pictures; prints how far their logits, embeddings and channels are apart. in: how
 * pictures enter the weights. */
static int compare(const char *weights, const char *command, int side, spot_picture_input in)
{
    enum { PICTURES = 6 };
    spot_predictor_options o[2] = { { .kind = SPOT_PREDICTOR_WEIGHTS, .weights = weights, .side = side, .input = in },
                                    { .kind = SPOT_PREDICTOR_COMMAND, .command = command, .side = side, .batch = 4 } };
    size_t bytes = (size_t)PICTURES * 3 * (size_t)side * (size_t)side;
    uint8_t *rgb = malloc(bytes);
    const spot_predictor_info *about;
    spot_ctx c = check_ctx(2);
    float *v[2][3];
    int columns[3] = { 0 };

    for (size_t i = 0; i < bytes; i++) rgb[i] = (uint8_t)(255 * unit(9, i / 40));
    for (int k = 0; k < 2; k++) {
        spot_predictor *p;
        spot_status s = spot_predictor_open(&c, &p, &o[k]);
        if (s) return fprintf(stderr, "%s\n", spot_message(&c, s)), 1;
        about = spot_predictor_about(p);
        for (int i = 0; i < 3; i++) {
            int n = (const int[]){ about->outputs, about->dim, about->channels }[i];
            if (k && n != columns[i]) return fprintf(stderr, "%d columns and %d\n", columns[i], n), 1;
            columns[i] = n;
            v[k][i] = malloc((size_t)PICTURES * (size_t)n * sizeof(float));
        }
        s = spot_predict(&c, p, &(spot_prediction){ rgb, PICTURES, side, v[k][0], v[k][1], v[k][2] });
        if (s) return fprintf(stderr, "%s\n", spot_message(&c, s)), 1;
        spot_predictor_close(&c, p);
    }
    for (int i = 0; i < 3; i++) {
        printf("%d %.3g\n", columns[i], largest_gap(v[0][i], v[1][i], (size_t)PICTURES * (size_t)columns[i]));
        free(v[0][i]), free(v[1][i]);
    }
    free(rgb);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--serve")) return serve(argc - 2, argv + 2);
    if (argc == 7)
        return compare(argv[1], argv[2], atoi(argv[3]), (spot_picture_input){ argv[4], argv[5], atof(argv[6]), 0, 0, 0 });
    return argc == 4 ? compare(argv[1], argv[2], atoi(argv[3]), (spot_picture_input){ 0 }) : run_all_tests();
}
