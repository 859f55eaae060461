/* fuzz_cli.c - any words as a command line: refused with exit code 2, or taken, and then the command ends before it does
 * anything. Words end in NUL; those that begin with a capital and hold a = are the environment, the first other one is the
 * command. In place of glibc's argp, which leaks what it holds when a command refuses a word, stands one of a few lines; the
 * commands' own tables and their parser are the real ones.
 * fuzz: -max_len=256 -close_fd_mask=3 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>

#define main spotter_main
#include "cli/main.c"
#undef main

enum { WORDS = 24, REFUSED = 1, TAKEN, LEFT };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
_Noreturn void __wrap_argp_error(const struct argp_state *state, const char *format, ...);
_Noreturn void __wrap_exit(int code);
_Noreturn void __real_exit(int code);
_Noreturn spot_status __wrap_cli_open(spot_ctx *c, const cli_machine *m);
error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *at, void *input);

static jmp_buf out;
static char *variable_of[WORDS];
static int variables;
static bool running;

void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
    char text[4096];
    va_list args;

    (void)state;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!*text) abort();
    longjmp(out, REFUSED);
}

void __wrap_exit(int code)
{
    if (!running) __real_exit(code);                   /* the fuzzer's own */
    if (code != spot_exit_code(SPOT_USAGE)) abort();
    longjmp(out, LEFT);
}

spot_status __wrap_cli_open(spot_ctx *c, const cli_machine *m)
{
    (void)c;
    if (m->threads < 0) abort();
    longjmp(out, TAKEN);
}

/* As the words before the command say. */
char *__wrap_getenv(const char *name);
char *__real_getenv(const char *name);
char *__wrap_getenv(const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < variables; i++)
        if (!strncmp(variable_of[i], name, n) && variable_of[i][n] == '=') return variable_of[i] + n + 1;
    return variables ? NULL : __real_getenv(name);
}

error_t __wrap_argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *at, void *input)
{
    char *operand[WORDS + 1] = { NULL };
    struct argp_state state = { .root_argp = argp, .argv = operand, .flags = flags, .input = input };

    (void)at;
    argp->parser(ARGP_KEY_INIT, NULL, &state);
    for (int i = 1; i < argc; i++) {
        const struct argp_option *o = argp->options;
        if (strncmp(argv[i], "--", 2)) {
            operand[state.argc++] = argv[i];
            continue;
        }
        while ((o->name || o->doc) && (!o->name || strcmp(o->name, argv[i] + 2))) o++;
        if (!o->name || (o->arg && i + 1 == argc)) longjmp(out, REFUSED);
        if (argp->parser(o->key, o->arg ? argv[++i] : NULL, &state)) longjmp(out, REFUSED);
    }
    if (state.argc) argp->parser(ARGP_KEY_ARGS, NULL, &state);
    argp->parser(ARGP_KEY_END, NULL, &state);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[512];
    char *argv[WORDS + 1] = { NULL };
    int argc = 0;

    if (!size || size >= sizeof text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    variables = 0;
    for (char *p = text; p < text + size && argc < WORDS && variables < WORDS; p += strlen(p) + 1)
        if (!argc && *p >= 'A' && *p <= 'Z' && strchr(p, '=')) variable_of[variables++] = p;
        else argv[argc++] = p;
    running = true;
    if (argc && !setjmp(out) && run_command(argv[0], argc, argv) != spot_exit_code(SPOT_USAGE)) abort();
    variables = 0;
    running = false;
    return 0;
}
