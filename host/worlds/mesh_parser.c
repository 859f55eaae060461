/* mesh_parser.c - the program spotter-mesh: a model file -> triangles, by assimp, whose parsers are not made for hostile files.
 *
 * It gives up memory, time and files before it reads a byte of a model: limits by setrlimit, and a filter of system calls that
 * leaves it little more than reading, writing and memory. Files come from the reader by the pipe (mesh_wire.h). It is a program
 * of its own and uses nothing of the library. */
#define _GNU_SOURCE
#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worlds/mesh_parser_ends.h"
#include "worlds/mesh_parser_flat.h"
#include "worlds/mesh_parser_scene.h"

/* -- pipes ---------------------------------------------------------------------------------------------------------------- */

/* The reader is gone, or there is no memory: nobody waits for an answer. */
_Noreturn void spot_parser_give_up(void) { _exit(1); }

static void take(void *out, size_t n)
{
    if (n && fread(out, 1, n, stdin) != n) spot_parser_give_up();
}

void spot_parser_put(const void *bytes, size_t n)
{
    if (n && fwrite(bytes, 1, n, stdout) != n) spot_parser_give_up();
}

static void flush(void)
{
    if (fflush(stdout)) spot_parser_give_up();
}

static void put_frame(uint32_t kind, const void *bytes, size_t n)
{
    spot_parser_put(&(spot_wire_frame){ kind, (uint32_t)n }, sizeof(spot_wire_frame));
    spot_parser_put(bytes, n);
}

_Noreturn void spot_parser_fail(const char *sentence)
{
    put_frame(SPOT_WIRE_FAIL, sentence, strnlen(sentence, SPOT_WIRE_SENTENCE));
    flush();
    _exit(0);
}

/* -- files ---------------------------------------------------------------------------------------------------------------- */

/* Files stay in memory: assimp opens the model several times. */
typedef struct stored { struct stored *next; char *name, *bytes; size_t size; bool found; } stored;
static stored *files;

typedef struct { const stored *of; size_t at; } place;

/* Tells how the files of the model were mended. */
static struct { spot_mtl_places places; uint32_t lost; } mended;

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);

    return n >= m && !strcasecmp(name + n - m, ending);
}

/* UTF-32, which assimp makes UTF-8 itself. */
static bool is_widest(const stored *f)
{
    return f->size >= 4 && (!memcmp(f->bytes, "\xff\xfe\0\0", 4) || !memcmp(f->bytes, "\0\0\xfe\xff", 4));
}

static bool is_wide(const stored *f)
{
    return f->size >= 2 && (!memcmp(f->bytes, "\xff\xfe", 2) || !memcmp(f->bytes, "\xfe\xff", 2));
}

static void replace(stored *f, char *text, size_t size)
{
    if (!text) spot_parser_give_up();
    free(f->bytes);
    f->bytes = text, f->size = size;
}

/* STL as bytes says how many triangles it has, and may begin with anything. */
static bool is_binary_stl(const stored *f)
{
    uint32_t triangles;

    if (!ends_with(f->name, ".stl") || f->size < 84) return false;
    memcpy(&triangles, f->bytes + 80, sizeof triangles);
    return f->size == 84 + 50 * (size_t)triangles;
}

/* Whether a file of a format that may be a text is in UTF-16. glTF is UTF-8 by its standard (mesh_gltf.c). */
static bool is_wide_text(const stored *f)
{
    static const char *const ending[] = { ".obj", ".mtl", ".dae", ".fbx", ".ply", ".off", ".stl" };

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (ends_with(f->name, ending[i])) return is_wide(f) && !is_widest(f) && !is_binary_stl(f);
    return false;
}

/* Takes away a byte order mark, makes texts UTF-8, and puts right what assimp 5.2 would read wrongly. */
static void mend(stored *f)
{
    const bool obj = ends_with(f->name, ".obj"), mtl = ends_with(f->name, ".mtl"), dae = ends_with(f->name, ".dae");
    size_t size = 0;
    char *text;

    if (ends_with(f->name, ".3ds")) spot_3ds_mend(f->bytes, f->size);
    if (f->size >= 3 && !memcmp(f->bytes, "\xef\xbb\xbf", 3)) memmove(f->bytes, f->bytes + 3, (f->size -= 3) + 1);
    if (is_wide(f) && is_binary_stl(f)) memset(f->bytes, ' ', 4);       /* assimp takes its title for a mark */
    if (is_wide_text(f)) {
        text = spot_narrow(f->bytes, f->size, &size);
        replace(f, text, size);
    }
    if (dae) spot_dae_mend(f->bytes, &f->size);
    if (is_widest(f) || (!obj && !mtl)) return;
    text = obj ? spot_obj_mend(f->bytes, f->size, &size, &mended.lost)
               : spot_mtl_mend(f->bytes, f->size, &size, &mended.places);
    replace(f, text, size);
}

static stored *ask_for(const char *name)
{
    stored *f = calloc(1, sizeof *f);
    uint64_t size;

    if (!f || !(f->name = strdup(name))) spot_parser_give_up();
    put_frame(SPOT_WIRE_OPEN, name, strlen(name));
    flush();
    take(&size, sizeof size);
    f->found = size != SPOT_WIRE_NO_FILE;
    f->size = f->found ? (size_t)size : 0;
    f->bytes = malloc(f->size + 1);
    if (!f->bytes) {
        fprintf(stderr, "no memory for the %zu bytes of %.100s\n", f->size, name);
        spot_parser_give_up();
    }
    take(f->bytes, f->size);
    f->bytes[f->size] = 0;
    if (f->found) mend(f);
    f->next = files;
    return files = f;
}

static size_t read_file(struct aiFile *file, char *out, size_t size, size_t count)
{
    place *p = (place *)(void *)file->UserData;
    const size_t left = size ? (p->of->size - p->at) / size : 0, n = count < left ? count : left;

    memcpy(out, p->of->bytes + p->at, n * size);
    p->at += n * size;
    return n;
}

static size_t write_file(struct aiFile *file, const char *bytes, size_t size, size_t count)
{
    (void)file, (void)bytes, (void)size, (void)count;
    return 0;
}

static size_t tell(struct aiFile *file) { return ((place *)(void *)file->UserData)->at; }
static size_t size_of(struct aiFile *file) { return ((place *)(void *)file->UserData)->of->size; }
static void   flush_file(struct aiFile *file) { (void)file; }

static enum aiReturn seek(struct aiFile *file, size_t to, enum aiOrigin from)
{
    place *p = (place *)(void *)file->UserData;
    const size_t base = from == aiOrigin_SET ? 0 : from == aiOrigin_CUR ? p->at : p->of->size, at = base + to;

    if (at > p->of->size) return aiReturn_FAILURE;         /* also a sum that has wrapped below 0 */
    p->at = at;
    return aiReturn_SUCCESS;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *name, const char *mode)
{
    const stored *f = files;
    struct aiFile *file;
    place *p;

    (void)io;
    while (*name == '.' && name[1] == '/') name += 2;
    if (strchr(mode, 'w') || !*name || strlen(name) > SPOT_WIRE_NAME) return NULL;
    while (f && strcmp(f->name, name)) f = f->next;
    if (!f) f = ask_for(name);
    if (!f->found) return NULL;
    file = calloc(1, sizeof *file);
    p = calloc(1, sizeof *p);
    if (!file || !p) spot_parser_give_up();
    p->of = f;
    *file = (struct aiFile){ read_file, write_file, tell, size_of, seek, flush_file, (aiUserData)(void *)p };
    return file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    free(file->UserData);
    free(file);
}

/* -- the whole ------------------------------------------------------------------------------------------------------------ */

/* A parser that a broken file leads astray ends with a sentence, too. Its stack may be full. */
static void on_fault(int number)
{
    static const char text[] = "the file breaks the parser: it is damaged or cut short";
    const spot_wire_frame frame = { SPOT_WIRE_FAIL, sizeof text - 1 };

    (void)number;
    if (write(1, &frame, sizeof frame) != (ssize_t)sizeof frame || write(1, text, frame.length) < 0) _exit(1);
    _exit(0);
}

static void catch_faults(bool yes)
{
    static const int fault[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
    static char stack[65536];
    struct sigaction how = { .sa_flags = yes ? SA_ONSTACK : 0 };

    if (yes) how.sa_handler = on_fault;
    else how.sa_handler = SIG_DFL;
    sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = sizeof stack }, NULL);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) sigaction(fault[i], &how, NULL);
}

static const struct aiScene *read_flat(const char *name, spot_parser_scene *s)
{
    static spot_flat flat;
    const stored *f = ask_for(name);

    if (ends_with(name, ".ply")) spot_ply_read(&flat, f->bytes, f->size);
    else spot_off_read(&flat, f->bytes, f->size);
    s->picture = flat.picture;
    s->white = ends_with(name, ".ply");
    return spot_flat_scene(&flat);
}

/* assimp takes some files that are cut short for whole. */
static void check_end(const char *name)
{
    static const struct { const char *ending; void (*check)(const char *text, size_t n); } row[] = {
        { ".stl", spot_stl_check }, { ".fbx", spot_fbx_check },
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (!ends_with(name, row[i].ending)) continue;
        const stored *f = ask_for(name);
        row[i].check(f->bytes, f->size);
    }
}

static const struct aiScene *read_by_assimp(const char *name)
{
    struct aiFileIO io = { open_file, close_file, NULL };
    const struct aiScene *scene;

    check_end(name);
    catch_faults(true);
    scene = aiImportFileEx(name, 0, &io);
    catch_faults(false);
    if (!scene && strstr(aiGetErrorString(), "bad_alloc"))
        spot_parser_fail("it asks for more memory than a parser may take: it is damaged, or too large");
    if (!scene) spot_parser_fail(aiGetErrorString());
    return scene;
}

static void read_model(const char *name, const spot_wire_start *start)
{
    spot_parser_scene s = { .most = start->triangles, .materials = start->materials, .turn = spot_axes_none };

    s.linear = ends_with(name, ".gltf") || ends_with(name, ".glb");
    s.scene = ends_with(name, ".ply") || ends_with(name, ".off") ? read_flat(name, &s) : read_by_assimp(name);
    if (ends_with(name, ".fbx")) s.turn = spot_fbx_turn(s.scene);
    s.reverses = ends_with(name, ".dae");
    s.shows = s.reverses || ends_with(name, ".fbx");
    s.upright = s.replaces = s.shows || ends_with(name, ".3ds");
    s.places = mended.places, s.lost = mended.lost;
    spot_parser_put_scene(&s);
    flush();
}

static void limit(int what, rlim_t most)
{
    if (setrlimit((__rlimit_resource_t)what, &(struct rlimit){ most, most })) {
        fprintf(stderr, "cannot limit itself: %s\n", strerror(errno));
        spot_parser_give_up();
    }
}

/* Calls that are not in the list fail with EPERM. Where the kernel has no filters the limits alone hold. */
static void filter_calls(void)
{
    static const int allowed[] = {
        SYS_read, SYS_write, SYS_brk, SYS_mmap, SYS_munmap, SYS_mremap, SYS_mprotect, SYS_madvise, SYS_futex, SYS_exit,
        SYS_exit_group, SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_getpid, SYS_gettid, SYS_tgkill,
        SYS_clock_gettime, SYS_getrandom, SYS_fstat, SYS_newfstatat, SYS_lseek, SYS_sched_yield, SYS_sigaltstack,
    };
    enum { CALLS = sizeof allowed / sizeof *allowed };
    struct sock_filter f[CALLS + 5];
    struct sock_fprog program = { CALLS + 5, f };
#if defined(__x86_64__)
    const uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    const uint32_t machine = AUDIT_ARCH_AARCH64;
#else
    return;
#endif
    f[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    f[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine, 0, CALLS + 1);
    f[2] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++)
        f[3 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], (uint8_t)(CALLS - i), 0);
    f[CALLS + 3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    f[CALLS + 4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
    char name[SPOT_WIRE_NAME + 1];
    spot_wire_start start;

    if (isatty(0)) {
        fputs("spotter-mesh is started by Spotter, which tells it by a pipe what to read\n", stderr);
        return 2;
    }
    take(&start, sizeof start);
    if (start.magic != SPOT_WIRE_MAGIC || start.name > SPOT_WIRE_NAME) {
        fputs("spotter-mesh is of another version than the program that started it\n", stderr);
        return 2;
    }
    take(name, start.name);
    name[start.name] = 0;
#ifndef __SANITIZE_ADDRESS__                               /* which reserves terabytes of addresses */
    limit(RLIMIT_AS, start.memory);
#endif
    limit(RLIMIT_CPU, start.seconds);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NOFILE, 3);
    filter_calls();
    read_model(name, &start);
    _exit(0);
}
