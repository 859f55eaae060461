/* fuzz_clip.c - the header of CLIP's weights and the configs beside it: either one sentence, or a network that can be computed.
 *
 * The first byte says whose names the tensors have, the towers that are there, the config's name, and whether the header is
 * any text, behind which the second byte times 128 bytes follow. Else the second byte counts changes of the tensors of a small
 * whole file, four bytes each: which tensor, what of it, and the value. Then come the config, behind a NUL
 * preprocessor_config.json, and behind another NUL the text of the header.
 * fuzz: -max_len=4096 */
#include "fuzz/fuzz_file.h"

#include <math.h>

#include "core/ops.h"
#include "formats/safetensors.h"
#include "spotter/encoder.h"

enum { OPENAI = 1, IMAGES = 2, TEXTS = 4, OPEN_CONFIG = 8, CUSTOM = 16, GIVEN = 32, TEXT = 128, WIDTH = 8, DIM = 4, HIDDEN = 16,
       WORDS = 600, CONTEXT = 6, MOST = 64, HEADER = 1 << 15, ZEROS = 1 << 20 };

typedef struct { char name[256]; const char *type; int rank; long dim[5]; bool gone; } entry;

static entry table[MOST];
static int entries;

static void add(const char *start, const char *name, int rank, long a, long b)
{
    entry *e = &table[entries++];

    if (entries > MOST) abort();
    snprintf(e->name, sizeof e->name, "%s%s", start, name);
    e->type = "F32", e->rank = rank, e->dim[0] = a, e->dim[1] = b, e->dim[2] = e->dim[3] = 2, e->gone = false;
}

static void add_pair(const char *start, const char *name, int out, int in)
{
    char text[96];

    snprintf(text, sizeof text, "%s%s", start, name);
    add(text, ".weight", in ? 2 : 1, out, in);
    add(text, ".bias", 1, out, 0);
}

static void add_block(const char *start, bool openai)
{
    static const char *const norm[2][2] = { { "layer_norm1", "layer_norm2" }, { "ln_1", "ln_2" } };
    static const char *const part[] = { "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj" };

    for (int i = 0; i < 2; i++) add_pair(start, norm[openai][i], WIDTH, 0);
    for (int i = 0; i < 3 && !openai; i++) add_pair(start, part[i], WIDTH, WIDTH);
    if (openai) add(start, "attn.in_proj_weight", 2, 3 * WIDTH, WIDTH), add(start, "attn.in_proj_bias", 1, 3 * WIDTH, 0);
    add_pair(start, openai ? "attn.out_proj" : "self_attn.out_proj", WIDTH, WIDTH);
    add_pair(start, openai ? "mlp.c_fc" : "mlp.fc1", HIDDEN, WIDTH);
    add_pair(start, openai ? "mlp.c_proj" : "mlp.fc2", WIDTH, HIDDEN);
}

/* The tensors of a whole file: pictures of 4 pixels a side, patches of 2. */
static void list_tensors(int kind)
{
    const bool openai = kind & OPENAI;
    const char *text = kind & CUSTOM ? "text." : "";
    char name[96];

    entries = 0;
    if (kind & IMAGES) {
        add(openai ? "visual." : "vision_model.embeddings.", "class_embedding", 1, WIDTH, 0);
        add("", openai ? "visual.conv1.weight" : "vision_model.embeddings.patch_embedding.weight", 4, WIDTH, 3);
        add("", openai ? "visual.positional_embedding" : "vision_model.embeddings.position_embedding.weight", 2, 5, WIDTH);
        add_pair("", openai ? "visual.ln_pre" : "vision_model.pre_layrnorm", WIDTH, 0);
        add_block(openai ? "visual.transformer.resblocks.0." : "vision_model.encoder.layers.0.", openai);
        add_pair("", openai ? "visual.ln_post" : "vision_model.post_layernorm", WIDTH, 0);
        add("", openai ? "visual.proj" : "visual_projection.weight", 2, openai ? WIDTH : DIM, openai ? DIM : WIDTH);
    }
    if (kind & TEXTS) {
        add(openai ? text : "text_model.embeddings.", "token_embedding.weight", 2, WORDS, WIDTH);
        add(openai ? text : "text_model.embeddings.", openai ? "positional_embedding" : "position_embedding.weight", 2, CONTEXT,
            WIDTH);
        snprintf(name, sizeof name, "%stransformer.resblocks.0.", text);
        add_block(openai ? name : "text_model.encoder.layers.0.", openai);
        add_pair(openai ? text : "text_model.", openai ? "ln_final" : "final_layer_norm", WIDTH, 0);
        add(openai ? text : "", openai ? "text_projection" : "text_projection.weight", 2, openai ? WIDTH : DIM,
            openai ? DIM : WIDTH);
    }
    add("", "logit_scale", 0, 0, 0);
}

static void change(const uint8_t how[4])
{
    static const char *const type[] = { "F16", "BF16", "F64", "I64" };
    static const char *const name[] = { "visual.conv2.weight", "text_model.encoder.layers.1.layer_norm1.weight", "x" };
    entry *e = &table[how[0] % entries];
    const long value = how[2] | how[3] << 8;

    switch (how[1] % 6) {
    case 0: e->rank = (int)value % 5; break;
    case 1: e->type = type[value % 4]; break;
    case 2: e->dim[how[1] / 6 % 4] = value; break;
    case 3: e->dim[how[1] / 6 % 4] = value << 16; break;
    case 4: e->gone = true; break;
    case 5: snprintf(e->name, sizeof e->name, "%s", name[value % 3]); break;
    }
}

/* The header of the table; *data: how many bytes of tensors follow. 0: a tensor is larger than the zeros here. */
static size_t write_header(char *out, size_t room, size_t *data)
{
    size_t n = (size_t)snprintf(out, room, "{"), at = 0;

    for (int i = 0; i < entries; i++) {
        const entry *e = &table[i];
        size_t bytes = e->type[0] == 'F' && e->type[1] == '3' ? 4 : strstr(e->type, "64") ? 8 : 2;
        if (e->gone) continue;
        n += (size_t)snprintf(out + n, room - n, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", n > 1 ? "," : "", e->name, e->type);
        for (int k = 0; k < e->rank; k++) {
            n += (size_t)snprintf(out + n, room - n, "%s%ld", k ? "," : "", e->dim[k]);
            if (e->dim[k] && bytes > ZEROS / (size_t)e->dim[k]) return 0;
            bytes *= (size_t)e->dim[k];
        }
        n += (size_t)snprintf(out + n, room - n, "],\"data_offsets\":[%zu,%zu]}", at, at + bytes);
        at += bytes;
    }
    n += (size_t)snprintf(out + n, room - n, "}");
    *data = at;
    return at > ZEROS || n >= room ? 0 : n;
}

static void look_at_tower(const spot_clip_tower *t)
{
    fuzz_within(t->width, 1, 1 << 14);
    fuzz_within(t->layers, 1, 1 << 10);
    fuzz_within(t->hidden, 1, 1 << 17);
    fuzz_within(t->heads, 1, t->width);
    fuzz_within(t->width % t->heads, 0, 0);
    fuzz_within((int)t->activation, SPOT_CLIP_QUICK_GELU, SPOT_CLIP_GELU);
    if (!(t->eps > 0 && t->eps < 1)) abort();
}

static void look(const spot_clip_info *i)
{
    if (!i->has_images && !i->has_texts) abort();
    fuzz_within(i->dim, 1, 1 << 14);
    if (!isnan(i->scale) && !(i->scale > 0 && isfinite(i->scale))) abort();
    if (i->has_images) {
        look_at_tower(&i->image);
        fuzz_within(i->patch, 1, 1 << 10);
        fuzz_within(i->side, i->patch, 1 << 26);
        for (int k = 0; k < 3; k++)
            if (!(i->pixels.std[k] > 0) || !isfinite(1 / i->pixels.std[k]) || !isfinite(i->pixels.mean[k])) abort();
    }
    if (!i->has_texts) return;
    look_at_tower(&i->text);
    fuzz_within(i->vocabulary, 1, 1 << 24);
    fuzz_within(i->context, 1, 1 << 16);
    if (i->end == SPOT_CLIP_FIRST_END) fuzz_within(i->end_id, 0, i->vocabulary - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char config[4200], colours[4200];
    static uint8_t file[8 + HEADER + ZEROS];
    static size_t used;
    spot_arena counted = spot_arena_counting();
    spot_ctx c = { .ops = &spot_ops_cpu, .threads = 1 };
    spot_clip_options o = { 0 };
    spot_clip_info info;
    spot_clip *clip;
    size_t bytes = 0, changes;
    uint64_t header;
    int kind;

    if (size < 2) return 0;
    kind = *data++, changes = *data++, size -= 2;
    list_tensors(kind);
    for (; changes && size >= 4 && !(kind & TEXT); changes--, data += 4, size -= 4) change(data);
    fuzz_text(config, sizeof config, &data, &size);
    fuzz_text(colours, sizeof colours, &data, &size);
    if (used) memset(file + 8, 0, used);
    if (kind & TEXT) {
        header = size < HEADER ? size : HEADER;
        if (header) memcpy(file + 8, data, header);
        bytes = 128 * changes;
    } else if (!(header = write_header((char *)file + 8, HEADER, &bytes))) return 0;
    memcpy(file, &header, 8);
    used = header;
    fuzz_file(0, "net/model.safetensors", file, 8 + header + bytes);
    fuzz_file(1, kind & OPEN_CONFIG ? "net/open_clip_config.json" : *config ? "net/config.json" : "", config, strlen(config));
    fuzz_file(2, *colours ? "net/preprocessor_config.json" : "", colours, strlen(colours));
    if (kind & GIVEN) o.image_heads = 2, o.text_heads = 4, o.activation = SPOT_CLIP_GELU, o.end = SPOT_CLIP_GREATEST_ID;
    if (spot_clip_describe(&c, &info, "net/model.safetensors", &o)) {
        fuzz_said(&c);
        return 0;
    }
    look(&info);
    if (spot_clip_open(&c, &counted, &clip, "net/model.safetensors", &o) || clip) abort();
    return 0;
}
