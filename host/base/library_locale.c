/* library_locale.c - libspotter.so reads and writes numbers, and compares letters, as in the locale "C", whatever locale the
 * process has set: Python under a locale with a decimal comma gets the same JSON and the same keys.
 *
 * The linker puts the functions below in place of the C library's wherever the library calls these (--wrap, library.cmake), so
 * that no call can be forgotten; tests/test_library.sh looks for functions that are missing here. Each switches the locale of
 * its own thread, for the call alone. The program and the tests do not need it: they never set a locale. */
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static locale_t       plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void) { plain = newlocale(LC_ALL_MASK, "C", NULL); }

static locale_t enter(void)
{
    pthread_once(&once, make_locale);
    return uselocale(plain);
}

/* ---- text from numbers and numbers from text ---- */

int    __wrap_vsnprintf(char *to, size_t size, const char *fmt, va_list args);
int    __wrap_vfprintf(FILE *f, const char *fmt, va_list args);
int    __wrap_snprintf(char *to, size_t size, const char *fmt, ...);
int    __wrap_sprintf(char *to, const char *fmt, ...);
int    __wrap_fprintf(FILE *f, const char *fmt, ...);
int    __wrap___isoc99_sscanf(const char *from, const char *fmt, ...);
int    __wrap___isoc99_fscanf(FILE *f, const char *fmt, ...);
double __wrap_strtod(const char *text, char **end);

int    __real_vsnprintf(char *to, size_t size, const char *fmt, va_list args);
int    __real_vfprintf(FILE *f, const char *fmt, va_list args);

int __wrap_vsnprintf(char *to, size_t size, const char *fmt, va_list args)
{
    const locale_t before = enter();
    const int n = __real_vsnprintf(to, size, fmt, args);

    uselocale(before);
    return n;
}

int __wrap_vfprintf(FILE *f, const char *fmt, va_list args)
{
    const locale_t before = enter();
    const int n = __real_vfprintf(f, fmt, args);

    uselocale(before);
    return n;
}

int __wrap_snprintf(char *to, size_t size, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = __wrap_vsnprintf(to, size, fmt, args);
    va_end(args);
    return n;
}

int __wrap_sprintf(char *to, const char *fmt, ...)
{
    const locale_t before = enter();
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsprintf(to, fmt, args);
    va_end(args);
    uselocale(before);
    return n;
}

int __wrap_fprintf(FILE *f, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = __wrap_vfprintf(f, fmt, args);
    va_end(args);
    return n;
}

int __wrap___isoc99_sscanf(const char *from, const char *fmt, ...)
{
    const locale_t before = enter();
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsscanf(from, fmt, args);
    va_end(args);
    uselocale(before);
    return n;
}

int __wrap___isoc99_fscanf(FILE *f, const char *fmt, ...)
{
    const locale_t before = enter();
    va_list args;
    int n;

    va_start(args, fmt);
    n = vfscanf(f, fmt, args);
    va_end(args);
    uselocale(before);
    return n;
}

double __wrap_strtod(const char *text, char **end)
{
    pthread_once(&once, make_locale);
    return strtod_l(text, end, plain);
}

/* ---- letters: in Turkish, I is not the capital of i ---- */

int __wrap_strcasecmp(const char *a, const char *b);
int __wrap_strncasecmp(const char *a, const char *b, size_t n);

int __wrap_strcasecmp(const char *a, const char *b)
{
    pthread_once(&once, make_locale);
    return strcasecmp_l(a, b, plain);
}

int __wrap_strncasecmp(const char *a, const char *b, size_t n)
{
    pthread_once(&once, make_locale);
    return strncasecmp_l(a, b, n, plain);
}

/* glibc's isalpha() and its kin read tables at these addresses; "C" has tables that live as long as the process. */
const unsigned short **__wrap___ctype_b_loc(void);
const int            **__wrap___ctype_tolower_loc(void);
const unsigned short **__real___ctype_b_loc(void);
const int            **__real___ctype_tolower_loc(void);

static const unsigned short *kinds;
static const int            *small;
static pthread_once_t        tables = PTHREAD_ONCE_INIT;

static void find_tables(void)
{
    const locale_t before = enter();

    kinds = *__real___ctype_b_loc();
    small = *__real___ctype_tolower_loc();
    uselocale(before);
}

const unsigned short **__wrap___ctype_b_loc(void)
{
    pthread_once(&tables, find_tables);
    return &kinds;
}

const int **__wrap___ctype_tolower_loc(void)
{
    pthread_once(&tables, find_tables);
    return &small;
}
