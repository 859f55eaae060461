/* test_mesh_corpus.c - every file of Debian's assimp-testmodels through spot_mesh_read, and so through spotter-mesh: the models
 * of our formats by their own names, and the bytes of every other file by a name of each format. Each ends in a mesh or in a
 * sentence, within time and memory. 77: the package is not there. ctest: heavy, long */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "check_folder.h"
#include "spotter/mesh.h"

#define MODELS "/usr/share/assimp/models"

enum { MOST_FILES = 4000, PATIENCE = 90, READER = 1 << 20 };           /* READER: KiB that a reader may hold, with its mesh */

static const char *const format[] = { ".obj", ".ply", ".gltf", ".glb", ".stl", ".off", ".dae", ".3ds", ".fbx" };
static char *file[MOST_FILES];
static int files;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)at;
    if (type != FTW_F) return 0;
    assert_true(files < MOST_FILES);
    file[files++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int find_files(void)
{
    if (!files && !access(MODELS, R_OK)) {
        assert_int_equal(nftw(MODELS, add_file, 16, FTW_PHYS), 0);
        qsort(file, (size_t)files, sizeof *file, by_name);
    }
    return files;
}

/* -- one file ------------------------------------------------------------------------------------------------------------- */

/* The answer of a reader in a process of its own, so that its crash is an answer, too. */
typedef struct {
    spot_status status;
    int  triangles;
    long reader, parser;                   /* KiB */
    double seconds;
    bool finite;
    char sentence[600];
} found;

static bool is_finite(const spot_mesh *m)
{
    for (int i = 0; i < 3 * m->vertices; i++)
        if (!isfinite(m->place[i]) || !isfinite(m->normal[i])) return false;
    for (int i = 0; i < 3 * m->triangles; i++)
        if (m->corner[i] >= (uint32_t)m->vertices) return false;
    return m->vertices > 0 && m->triangles > 0;
}

static void read_one(int to, const char *folder, const char *name)
{
    const double start = spot_clock();
    found got = { 0 };
    spot_ctx c = check_ctx(1);
    spot_mesh_files *f;
    struct rusage own, child;
    spot_mesh m = { 0 };

    alarm(PATIENCE);
    got.status = spot_mesh_files_open(&c, &f, folder);
    if (got.status == SPOT_OK) got.status = spot_mesh_read(&c, &m, f, name, NULL);
    got.seconds = spot_clock() - start;
    getrusage(RUSAGE_SELF, &own), getrusage(RUSAGE_CHILDREN, &child);
    got.reader = own.ru_maxrss, got.parser = child.ru_maxrss;
    got.triangles = m.triangles;
    got.finite = got.status != SPOT_OK || is_finite(&m);
    snprintf(got.sentence, sizeof got.sentence, "%s", got.status == SPOT_OK ? "" : spot_message(&c, got.status));
    _exit(write(to, &got, sizeof got) != sizeof got);
}

typedef struct { bool shows; int reads, meshes, sentences, died; long reader, parser; double slowest; char slow[300]; } tally;

/* Fails unless it ends in a mesh, or in a sentence about the file. */
static void try_one(tally *t, const char *folder, const char *name, const char *words)
{
    int end[2], ended;
    ssize_t n;
    found got;
    pid_t pid;

    assert_int_equal(pipe(end), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) read_one(end[1], folder, name);
    close(end[1]);
    n = read(end[0], &got, sizeof got);
    close(end[0]);
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    if (n != sizeof got || ended)
        fail_msg("%s as %s: the reader %s %d", words, name, WIFSIGNALED(ended) ? "was ended by signal" : "ended with",
                 WIFSIGNALED(ended) ? WTERMSIG(ended) : WEXITSTATUS(ended));
    if (got.status != SPOT_OK && (got.status != SPOT_INPUT || strncmp(got.sentence, "the model ", 10)))
        fail_msg("%s as %s: %s: %s", words, name, spot_status_name(got.status), got.sentence);
    if (!got.finite) fail_msg("%s as %s: a mesh without triangles or with a number that is not finite", words, name);
    if (t->shows && got.status == SPOT_OK) print_message("%s: %d triangles\n", words + sizeof MODELS, got.triangles);
    if (t->shows && got.status != SPOT_OK) print_message("%s: %s\n", words + sizeof MODELS, got.sentence);
    t->died += strstr(got.sentence, "was ended by signal") != NULL;
    t->reads++, t->meshes += got.status == SPOT_OK, t->sentences += got.status != SPOT_OK;
    t->reader = got.reader > t->reader ? got.reader : t->reader;
    t->parser = got.parser > t->parser ? got.parser : t->parser;
    if (got.seconds > t->slowest) {
        t->slowest = got.seconds;
        snprintf(t->slow, sizeof t->slow, "%s as %s", words, name);
    }
}

static void check_tally(const tally *t)
{
    const long most = (long)(spot_mesh_defaults().memory >> 10);

    print_message("%d reads: %d meshes, %d sentences, %d of them about a parser that died; at most %.0f MB of the parser's "
                  "%.0f, %.0f MB of the reader, %.2f s (%s)\n", t->reads, t->meshes, t->sentences, t->died,
                  (double)t->parser / 1024, (double)most / 1024, (double)t->reader / 1024, t->slowest, t->slow);
    assert_true(t->parser <= most);
    assert_true(t->reader <= READER);
    assert_true(t->slowest < spot_mesh_defaults().seconds + 5);
}

/* -- all ------------------------------------------------------------------------------------------------------------------ */

static const char *ending(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');

    return dot && dot > slash ? dot : "";
}

static int format_of(const char *path)
{
    for (int i = 0; i < LEN(format); i++)
        if (!strcasecmp(ending(path), format[i])) return i;
    return -1;
}

TEST(models_of_our_formats)
{
    tally t = { .shows = true };

    if (!find_files()) skip();
    for (int i = 0; i < files; i++) {
        char folder[300];
        const char *slash = strrchr(file[i], '/');
        if (format_of(file[i]) < 0) continue;
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - file[i]), file[i]);
        try_one(&t, folder, slash + 1, file[i]);
    }
    check_tally(&t);
    assert_true(t.reads >= 80);
    assert_true(t.meshes >= t.reads / 2);
    assert_true(t.sentences > 0);
}

static void copy_to(const char *to, const char *from)
{
    char block[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t n;

    assert_true(in && out);
    while ((n = fread(block, 1, sizeof block, in)) > 0) assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

TEST_IN_FOLDER(bytes_of_other_files)
{
    tally t = { 0 };

    if (!find_files()) skip();
    for (int i = 0; i < files; i++)
        for (int k = 0; k < LEN(format); k++) {
            char name[16], path[128];
            if (format_of(file[i]) == k) continue;
            snprintf(name, sizeof name, "x%s", format[k]);
            snprintf(path, sizeof path, "%s/%s", root, name);
            copy_to(path, file[i]);
            try_one(&t, root, name, file[i]);
            remove(path);
        }
    check_tally(&t);
    assert_true(t.reads > 1500);
}

/* Under any other name a file is refused before it is read. */
TEST(other_names_are_refused)
{
    tally t = { 0 };

    if (!find_files()) skip();
    for (int i = 0; i < files; i++)
        if (format_of(file[i]) < 0) try_one(&t, MODELS, file[i] + sizeof MODELS, file[i]);
    check_tally(&t);
    assert_int_equal(t.meshes, 0);
    for (int i = 0; i < files; i++) free(file[i]);
    files = 0;
}

int main(void)
{
    return access(MODELS, R_OK) ? 77 : run_all_tests();
}
