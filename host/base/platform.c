/* platform.c - asks the libraries for their versions and instruction sets. */
#define _GNU_SOURCE
#include "base/platform.h"

#include <cblas.h>
#include <dnnl.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "commit.h"
#include "core/device.h"

static const char *instruction_set(void)
{
    static const struct { dnnl_cpu_isa_t isa; const char *name; } known[] = {
        { dnnl_cpu_isa_sse41, "sse41" },
        { dnnl_cpu_isa_avx, "avx" },
        { dnnl_cpu_isa_avx2, "avx2" },
        { dnnl_cpu_isa_avx2_vnni, "avx2_vnni" },
        { dnnl_cpu_isa_avx512_core, "avx512_core" },
        { dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni" },
        { dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16" },
        { dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx" },
    };
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();
    static char number[24];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].isa == isa) return known[i].name;
    snprintf(number, sizeof number, "isa 0x%x", (unsigned)isa);        /* a newer oneDNN */
    return number;
}

const char *spot_platform(spot_ctx *c, char *text, size_t size)
{
    const dnnl_version_t *v = dnnl_version();
    char blas[64] = "", gpu[256];

    spot_device_about(c, gpu, sizeof gpu, NULL, 0);
    sscanf(openblas_get_config(), "OpenBLAS %63s", blas);
    snprintf(text, size, "%s%s%scpu %s; oneDNN %d.%d.%d, OpenBLAS %s %s, glibc %s", *gpu ? "cuda " : "", gpu, *gpu ? "; " : "",
             instruction_set(), v->major, v->minor, v->patch, blas, openblas_get_corename(), gnu_get_libc_version());
    return text;
}

/* "575.51.03": in the kernel module's description, the first word that begins with a number and a dot. */
static void driver_version(char *text, size_t size)
{
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    char word[64];
    int dot = 0;

    text[0] = 0;
    while (f && !dot && fscanf(f, "%63s", word) == 1)
        if (sscanf(word, "%*d.%n", &dot) == 0 && dot) snprintf(text, size, "%s", word);
    if (f) fclose(f);
}

const char *spot_platform_unit(spot_ctx *c, char *text, size_t size)
{
    char version[64];
    size_t n;

    spot_device_about(c, NULL, 0, text, size);
    driver_version(version, sizeof version);
    n = strlen(text);
    if (n && *version) snprintf(text + n, size - n, ", driver %s", version);
    return text;
}

const char *spot_made_by(void) { return *SPOT_COMMIT ? SPOT_VERSION " " SPOT_COMMIT : SPOT_VERSION; }

enum { MOST_HASH = 16 };       /* bytes of a hash that tell binaries apart */

typedef struct { const unsigned char *id; size_t n; } note;

/* Finds the note with the linker's hash in the first object, which is the program. */
static int find_note(struct dl_phdr_info *o, size_t size, void *user)
{
    note *found = user;
    (void)size;

    for (int i = 0; i < o->dlpi_phnum && !found->id; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        const unsigned char *at = (const unsigned char *)o->dlpi_addr + p->p_vaddr, *end = at + p->p_memsz;
        ElfW(Nhdr) h;
        for (; p->p_type == PT_NOTE && at + sizeof h < end; at += (h.n_descsz + 3) & ~3u) {
            memcpy(&h, at, sizeof h);
            at += sizeof h + ((h.n_namesz + 3) & ~3u);
            if (h.n_type == NT_GNU_BUILD_ID) {
                *found = (note){ at, h.n_descsz };
                break;
            }
        }
    }
    return 1;
}

const char *spot_build(char *text, size_t size)
{
    note found = { 0 };
    size_t n = (size_t)snprintf(text, size, "%s", spot_made_by());

    dl_iterate_phdr(find_note, &found);
    for (size_t i = 0; i < found.n && i < MOST_HASH && n + 4 < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%02x", i ? "" : " ", found.id[i]);
    return text;
}
