/* bpe_read.c - vocabularies from files. Every name, id and merge is checked before it is used. */
#define _GNU_SOURCE                    /* memmem */
#include "formats/bpe_table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <yajl/yajl_tree.h>
#include <zlib.h>

#include "base/json_tree.h"
#include "formats/formats.h"

/* Limits: bytes of a file, unpacked; ids; merges that OpenAI's code reads of a file (its file has 262,144). */
enum { MOST_BYTES = 1 << 26, MOST_IDS = 1 << 20, USUAL_MERGES = 48894, NAME = 40 };

#define WORD_END "</w>"

typedef struct { const char *name; size_t n; int32_t id; } symbol;

typedef struct {
    spot_ctx   *c;
    spot_bpe   *t;
    const char *file;                  /* the file that is read, for errors */
    char        path[1200];
    spot_text   bytes, more;           /* of the file, and of merges.txt */
    yajl_val    tree;
    spot_text   joined;                /* (most) bytes of names that merges make */
    symbol     *symbol;                /* (symbols, room for most) */
    uint32_t   *slot;                  /* (slots) symbol + 1 */
    size_t      slots;
    int         symbols, most;
    const char *unit;                  /* of a merge's place in the file: "line", "merge" */
} bpe_reader;

/* The reader's sentence begins with the file and ends with what to do. */
__attribute__((format(printf, 2, 3)))
static spot_status refuse(bpe_reader *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    spot_fail_args(r->c, SPOT_INPUT, fmt, args);
    va_end(args);
    return spot_fail(r->c, SPOT_INPUT, "%s: %s; take CLIP's own vocabulary", r->file, spot_take_message(r->c, SPOT_INPUT));
}

static spot_status no_memory(bpe_reader *r)
{
    return spot_fail(r->c, SPOT_NOMEM, "%s: no memory for its vocabulary", r->file);
}

/* -- symbols --------------------------------------------------------------------------------------------------------- */

static spot_status begin_symbols(bpe_reader *r, size_t most)
{
    if (most > 2 * MOST_IDS) return refuse(r, "it has %zu symbols; at most %d are read", most, MOST_IDS);
    r->most = (int)most;
    for (r->slots = 16; r->slots < 2 * most; r->slots *= 2) {}
    r->symbol = malloc(most * sizeof *r->symbol + 1);
    r->slot = calloc(r->slots, sizeof *r->slot);
    return r->symbol && r->slot ? SPOT_OK : no_memory(r);
}

/* The slot of a name, or the empty one where it belongs. */
static uint32_t *find_slot(const bpe_reader *r, const char *name, size_t n)
{
    size_t at = (size_t)XXH3_64bits(name, n) & (r->slots - 1);

    while (r->slot[at]) {
        const symbol *s = &r->symbol[r->slot[at] - 1];
        if (s->n == n && !memcmp(s->name, name, n)) break;
        at = (at + 1) & (r->slots - 1);
    }
    return &r->slot[at];
}

/* The number of a symbol; -1: there is none. */
static int find_symbol(const bpe_reader *r, const char *name, size_t n) { return (int)*find_slot(r, name, n) - 1; }

/* name must outlive the reader. A known one gets the new id, as in OpenAI's code. */
static int add_symbol(bpe_reader *r, const char *name, size_t n, int32_t id)
{
    uint32_t *slot = find_slot(r, name, n);

    if (!*slot) {
        r->symbol[r->symbols] = (symbol){ name, n, id };
        *slot = (uint32_t)++r->symbols;
    }
    r->symbol[*slot - 1].id = id;
    return (int)*slot - 1;
}

/* The letter that stands for a byte in all these files: itself where it prints, else one from U+0100 on. */
static void name_of_byte(char name[8], int byte)
{
    int letter = byte;

    if (byte < 33 || (byte > 126 && byte < 161) || byte == 173)
        letter = 256 + (byte < 33 ? byte : byte < 161 ? byte - 127 + 33 : 67);
    if (letter < 128) snprintf(name, 8, "%c", letter);
    else snprintf(name, 8, "%c%c", 0xc0 | letter >> 6, 0x80 | (letter & 63));
}

/* The symbols of all bytes, within a word and at its end. */
static spot_status find_bytes(bpe_reader *r)
{
    for (int b = 0; b < 256; b++) {
        char name[8], last[16];
        name_of_byte(name, b);
        snprintf(last, sizeof last, "%s" WORD_END, name);
        r->t->plain[b] = find_symbol(r, name, strlen(name));
        r->t->last[b] = find_symbol(r, last, strlen(last));
        if (r->t->plain[b] < 0 || r->t->last[b] < 0)
            return refuse(r, "{vocabulary.byte_missing} it lacks \"%s\", the symbol of byte %d",
                          r->t->plain[b] < 0 ? name : last, b);
    }
    return SPOT_OK;
}

/* -- merges ---------------------------------------------------------------------------------------------------------- */

static spot_status begin_merges(bpe_reader *r, size_t merges, size_t joined)
{
    spot_bpe *t = r->t;

    for (t->slots = 16; t->slots < 2 * merges; t->slots *= 2) {}
    t->merge = malloc(t->slots * sizeof *t->merge);
    r->joined.bytes = malloc(joined + 1);
    r->joined.size = joined;
    if (!t->merge || !r->joined.bytes) return no_memory(r);
    for (size_t i = 0; i < t->slots; i++) t->merge[i].rank = -1;
    return SPOT_OK;
}

static spot_status refuse_part(bpe_reader *r, const char *name, size_t n, int place, bool makes)
{
    return refuse(r, "{vocabulary.merge_part} %s %d merges \"%.*s\", which is %s", r->unit, place, (int)(n < NAME ? n : NAME),
                  name,
                  makes ? "neither a byte nor made above" : "no symbol of the vocabulary");
}

/* One merge. place: its line or number. makes: its result is a new symbol; else the file has it already. */
static spot_status add_merge(bpe_reader *r, const char *left, size_t n, const char *right, size_t m, int place, bool makes)
{
    spot_bpe *t = r->t;
    int a = find_symbol(r, left, n), b = find_symbol(r, right, m), made;
    char *name = r->joined.bytes + r->joined.used;
    spot_bpe_merge *slot;

    if (a < 0) return refuse_part(r, left, n, place, makes);
    if (b < 0) return refuse_part(r, right, m, place, makes);
    slot = spot_bpe_find(t, a, b);
    if (slot->rank >= 0) return refuse(r, "{vocabulary.merge_twice} %s %d repeats merge %d of the file", r->unit, place,
                                       slot->rank + 1);
    memcpy(name, left, n);
    memcpy(name + n, right, m);
    made = makes ? add_symbol(r, name, n + m, t->about.merges + 512) : find_symbol(r, name, n + m);
    if (makes) r->joined.used += n + m;
    if (made < 0)
        return refuse(r, "{vocabulary.merge_result} %s %d makes \"%.*s\", which is no symbol of the vocabulary", r->unit, place,
                      (int)(n + m < NAME ? n + m : NAME), name);
    *slot = (spot_bpe_merge){ a, b, t->about.merges++, made };
    return SPOT_OK;
}

/* Lines of a text. */
typedef struct { const char *at, *end; int number; } lines;

/* The next line, without its end and the first if it is a header; false: there is none. Empty lines are left out. */
static bool next_line(lines *l, const char **line, size_t *n)
{
    while (l->at < l->end) {
        const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at)), *from = l->at;
        size_t bytes = (size_t)((stop ? stop : l->end) - from);
        l->at = stop ? stop + 1 : l->end;
        l->number++;
        if (bytes && from[bytes - 1] == '\r') bytes--;
        if (!bytes || (l->number == 1 && memmem(from, bytes, "#version", 8))) continue;
        *line = from;
        *n = bytes;
        return true;
    }
    return false;
}

static size_t count_lines(const spot_text *text)
{
    lines l = { text->bytes, text->bytes + text->used, 0 };
    const char *line;
    size_t n, count = 0;

    while (next_line(&l, &line, &n)) count++;
    return count;
}

/* Reads at most `most` merges, one a line: "left right". */
static spot_status read_merges(bpe_reader *r, const spot_text *text, size_t most, bool makes)
{
    lines l = { text->bytes, text->bytes + text->used, 0 };
    const char *line;
    size_t n;

    r->unit = "line";
    for (size_t k = 0; k < most && next_line(&l, &line, &n); k++) {
        const char *space = memchr(line, ' ', n);
        size_t left = space ? (size_t)(space - line) : 0;
        if (!left || left + 1 == n || memchr(space + 1, ' ', n - left - 1))
            return refuse(r, "{vocabulary.merge_pair} line %d is no pair of two symbols with a space between", l.number);
        SPOT_TRY(add_merge(r, line, left, space + 1, n - left - 1, l.number, makes));
    }
    return SPOT_OK;
}

/* -- OpenAI's file --------------------------------------------------------------------------------------------------- */

/* The printing bytes come first, in both groups. */
static spot_status add_bytes(bpe_reader *r, char (*name)[16])
{
    int32_t id = 0;

    for (int end = 0; end < 2; end++)
        for (int group = 0; group < 2; group++)
            for (int b = 0; b < 256; b++) {
                char *at = name[256 * end + b];
                char letter[8];
                name_of_byte(letter, b);
                if (((unsigned char)letter[0] == (b < 128 ? b : 0xc0 | b >> 6)) != !group) continue;
                snprintf(at, sizeof *name, "%s%s", letter, end ? WORD_END : "");
                add_symbol(r, at, strlen(at), id++);
            }
    return id == 512 ? SPOT_OK : refuse(r, "the bytes have %d symbols", id);
}

static spot_status read_text(bpe_reader *r, char (*name)[16], int size)
{
    size_t listed = count_lines(&r->bytes), merges = listed < USUAL_MERGES ? listed : USUAL_MERGES;

    if (size) merges = size < 514 ? 0 : (size_t)size - 514;
    if (size && (size < 514 || merges > listed))
        return refuse(r, "{vocabulary.few_merges} it has %zu merges, so %zu tokens at most, and the model has %d", listed,
                      listed + 514, size);
    SPOT_TRY(begin_symbols(r, 512 + merges));
    SPOT_TRY(add_bytes(r, name));
    SPOT_TRY(begin_merges(r, merges, r->bytes.used));
    SPOT_TRY(read_merges(r, &r->bytes, merges, true));
    r->t->about.start = 512 + r->t->about.merges;
    r->t->about.end = r->t->about.start + 1;
    return SPOT_OK;
}

/* -- Hugging Face's files -------------------------------------------------------------------------------------------- */

/* A member of an object, or NULL. */
static yajl_val member(yajl_val v, const char *key)
{
    return v ? yajl_tree_get(v, (const char *[]){ key, NULL }, yajl_t_any) : NULL;
}

/* A text's characters; "" for any other value. */
static const char *words_of(yajl_val v) { return v && YAJL_IS_STRING(v) ? v->u.string : ""; }

static spot_status check_id(bpe_reader *r, const char *name, yajl_val id, char *taken)
{
    long long v = YAJL_IS_INTEGER(id) ? id->u.number.i : -1;

    if (v < 0 || v >= MOST_IDS) return refuse(r, "{vocabulary.id} the id of \"%.*s\" is no number from 0 to %d", NAME, name,
                                              MOST_IDS - 1);
    if (taken[v]) return refuse(r, "{vocabulary.id_twice} \"%.*s\" has the id %lld, and so has another symbol", NAME, name, v);
    taken[v] = 1;
    return SPOT_OK;
}

static spot_status read_ids(bpe_reader *r, yajl_val vocab, char *taken)
{
    for (size_t i = 0; i < vocab->u.object.len; i++) {
        const char *name = vocab->u.object.keys[i];
        yajl_val id = vocab->u.object.values[i];
        if (find_symbol(r, name, strlen(name)) >= 0) return refuse(r, "{vocabulary.symbol_twice} it has \"%.*s\" twice", NAME,
                                                                   name);
        SPOT_TRY(check_id(r, name, id, taken));
        add_symbol(r, name, strlen(name), (int32_t)id->u.number.i);
    }
    return SPOT_OK;
}

static spot_status read_vocab(bpe_reader *r, yajl_val vocab)
{
    char *taken;
    spot_status s;

    if (!vocab || !YAJL_IS_OBJECT(vocab)) return refuse(r, "it has no object of symbols and ids");
    SPOT_TRY(begin_symbols(r, vocab->u.object.len));
    taken = calloc(MOST_IDS, 1);
    s = taken ? read_ids(r, vocab, taken) : no_memory(r);
    free(taken);
    return s;
}

/* An id among the vocabulary's, or in tokenizer.json's list of added tokens. */
static spot_status find_special(bpe_reader *r, const char *name, int *id)
{
    yajl_val list = member(r->tree, "added_tokens");
    int k = find_symbol(r, name, strlen(name));

    *id = k < 0 ? -1 : r->symbol[k].id;
    for (size_t i = 0; list && YAJL_IS_ARRAY(list) && i < list->u.array.len && *id < 0; i++) {
        yajl_val token = list->u.array.values[i], v = member(token, "id");
        if (strcmp(words_of(member(token, "content")), name) || !v || !YAJL_IS_INTEGER(v)) continue;
        if (v->u.number.i < 0 || v->u.number.i >= MOST_IDS) return refuse(r, "the id of \"%s\" is out of range", name);
        *id = (int)v->u.number.i;
    }
    return *id < 0 ? refuse(r, "it lacks \"%s\"", name) : SPOT_OK;
}

/* merges of tokenizer.json: "left right", or in newer files a list of the two. */
static spot_status read_pairs(bpe_reader *r, yajl_val list)
{
    size_t longest = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < list->u.array.len; i++) {
            yajl_val v = list->u.array.values[i], *two = YAJL_IS_ARRAY(v) && v->u.array.len == 2 ? v->u.array.values : NULL;
            bool pair = two && YAJL_IS_STRING(two[0]) && YAJL_IS_STRING(two[1]);
            const char *left = words_of(pair ? two[0] : v), *space = strchr(left, ' ');
            const char *right = pair ? words_of(two[1]) : space ? space + 1 : "";
            size_t n = pair ? strlen(left) : strcspn(left, " "), m = strlen(right);
            if (!n || !m || strchr(right, ' ')) return refuse(r, "{vocabulary.merge_pair} merge %zu is no pair of two symbols",
                                                              i + 1);
            if (n + m > longest) longest = n + m;
            if (pass) SPOT_TRY(add_merge(r, left, n, right, m, (int)i + 1, false));
        }
        if (!pass) SPOT_TRY(begin_merges(r, list->u.array.len, longest));
    }
    return SPOT_OK;
}

static spot_status read_tokenizer(bpe_reader *r, yajl_val model)
{
    yajl_val type = member(model, "type"), merges = member(model, "merges");

    r->unit = "merge";
    if ((type && strcmp(words_of(type), "BPE")) || strcmp(words_of(member(model, "end_of_word_suffix")), WORD_END))
        return refuse(r,
                      "{vocabulary.kind} it is another kind of tokenizer: CLIP's model is BPE and ends words with " WORD_END);
    if (!merges || !YAJL_IS_ARRAY(merges)) return refuse(r, "{vocabulary.no_merges} its model has no list of merges");
    SPOT_TRY(read_vocab(r, member(model, "vocab")));
    return read_pairs(r, merges);
}

/* -- files ----------------------------------------------------------------------------------------------------------- */

static spot_status inflate_text(bpe_reader *r, spot_text *text)
{
    spot_text out = { 0 };
    z_stream z = { .next_in = (Bytef *)text->bytes, .avail_in = (uInt)text->used };
    int e = inflateInit2(&z, 15 + 16);

    while (e == Z_OK && out.used <= MOST_BYTES && !out.status) {
        char piece[1 << 14];
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        e = inflate(&z, Z_NO_FLUSH);
        spot_text_add(&out, piece, sizeof piece - z.avail_out);
        if (e == Z_BUF_ERROR || (e == Z_OK && !z.avail_in && z.avail_out)) e = Z_DATA_ERROR;
    }
    inflateEnd(&z);
    spot_text_free(text);
    *text = out;
    if (out.status) return no_memory(r);
    if (out.used > MOST_BYTES) return refuse(r, "it has more than %d bytes when unpacked", MOST_BYTES);
    return e == Z_STREAM_END ? SPOT_OK : refuse(r, "{vocabulary.gzip} it is packed by gzip, and damaged or cut short");
}

/* Reads a file whole, unpacked, with a NUL behind it. */
static spot_status load_file(bpe_reader *r, spot_text *text)
{
    spot_blob in;
    spot_status s = SPOT_OK;

    SPOT_TRY(spot_blob_open(r->c, &in, r->file));
    if (in.size > MOST_BYTES) s = refuse(r, "it has %" PRIu64 " bytes; at most %d are read", in.size, MOST_BYTES);
    else if (!(text->bytes = malloc((size_t)in.size + 1))) s = no_memory(r);
    else s = spot_blob_read(r->c, &in, 0, text->bytes, text->used = text->size = (size_t)in.size);
    spot_blob_close(&in);
    if (!s && text->used > 2 && !memcmp(text->bytes, "\x1f\x8b", 2)) s = inflate_text(r, text);
    if (!s) spot_text_add(text, "", 1);
    if (!s && text->status) s = no_memory(r);
    if (!s) text->used--;
    return s;
}

/* The file of this name in `folder`, of which n bytes count. */
static bool set_path(bpe_reader *r, const char *folder, size_t n, const char *name)
{
    r->file = r->path;
    return snprintf(r->path, sizeof r->path, "%.*s%s%s", (int)n, folder, n ? "/" : "", name) < (int)sizeof r->path &&
           !access(r->path, F_OK);
}

/* path, or a file in it if it is a folder. */
static spot_status choose_file(bpe_reader *r, const char *path)
{
    static const char *const names[] = { "tokenizer.json", "vocab.json", "bpe_simple_vocab_16e6.txt.gz",
                                         "bpe_simple_vocab_16e6.txt", "merges.txt" };
    struct stat st;

    r->file = path;
    if (stat(path, &st) || !S_ISDIR(st.st_mode)) return SPOT_OK;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (set_path(r, path, strlen(path), names[k])) return SPOT_OK;
    r->file = path;
    return spot_fail(r->c, SPOT_INPUT, "{vocabulary.missing} %s holds no vocabulary of CLIP: no tokenizer.json, vocab.json, "
                     "merges.txt or bpe_simple_vocab_16e6.txt.gz", path);
}

static spot_status read_beside(bpe_reader *r, const char *vocab)
{
    const char *slash = strrchr(vocab, '/');
    char folder[1200];

    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - vocab) : 1, slash ? vocab : ".");
    if (!set_path(r, folder, strlen(folder), "merges.txt"))
        return spot_fail(r->c, SPOT_INPUT, "{vocabulary.no_merges_file} %s has the ids of a vocabulary, and no merges.txt lies "
                         "beside it; put it there", vocab);
    SPOT_TRY(load_file(r, &r->more));
    SPOT_TRY(begin_merges(r, count_lines(&r->more), r->more.used));
    return read_merges(r, &r->more, SIZE_MAX, false);
}

static spot_status read_json(bpe_reader *r)
{
    yajl_val model;
    char why[256], vocab[1200];

    r->tree = spot_tree_parse(r->bytes.bytes, r->bytes.used, why, sizeof why);
    if (!r->tree) return refuse(r, "{vocabulary.json} it is no JSON: %s", why);
    model = member(r->tree, "model");
    if (model && YAJL_IS_OBJECT(model)) return read_tokenizer(r, model);
    SPOT_TRY(read_vocab(r, r->tree));
    snprintf(vocab, sizeof vocab, "%s", r->file);
    return read_beside(r, vocab);
}

/* -- whole ----------------------------------------------------------------------------------------------------------- */

/* Copies the ids and finds the tokens that every text needs. size: the model's tokens, or 0. */
static spot_status finish(bpe_reader *r, int size)
{
    spot_bpe *t = r->t;
    int most;

    SPOT_TRY(find_bytes(r));
    if (!t->about.end) {
        SPOT_TRY(find_special(r, "<|startoftext|>", &t->about.start));
        SPOT_TRY(find_special(r, "<|endoftext|>", &t->about.end));
    }
    most = t->about.start > t->about.end ? t->about.start : t->about.end;
    t->id = malloc((size_t)r->symbols * sizeof *t->id);
    if (!t->id) return no_memory(r);
    for (int i = 0; i < r->symbols; i++) {
        t->id[i] = r->symbol[i].id;
        if (t->id[i] > most) most = t->id[i];
    }
    t->about.size = most + 1;
    if (size && t->about.size > size) return refuse(r, "{vocabulary.ids} it has ids up to %d, and the model has %d tokens",
                                                    most, size);
    return SPOT_OK;
}

static spot_status read_whole(bpe_reader *r, const char *path, int size)
{
    char names[512][16];
    size_t first;

    SPOT_TRY(choose_file(r, path));
    SPOT_TRY(load_file(r, &r->bytes));
    first = strspn(r->bytes.bytes, " \t\r\n");
    if (r->bytes.bytes[first] == '{') SPOT_TRY(read_json(r));
    else SPOT_TRY(read_text(r, names, size));
    return finish(r, size);
}

spot_status spot_bpe_open(spot_ctx *c, spot_bpe **out, const char *path, int size)
{
    bpe_reader r = { .c = c, .file = path, .t = calloc(1, sizeof *r.t) };
    spot_status s;

    *out = NULL;
    if (size < 0) {
        free(r.t);
        return spot_fail(c, SPOT_INVALID, "{vocabulary.size} a vocabulary of %d tokens cannot be opened", size);
    }
    s = r.t ? read_whole(&r, path, size) : no_memory(&r);
    yajl_tree_free(r.tree);
    spot_text_free(&r.bytes);
    spot_text_free(&r.more);
    spot_text_free(&r.joined);
    free(r.symbol);
    free(r.slot);
    if (s) {
        spot_bpe_close(r.t);
        return s;
    }
    *out = r.t;
    return SPOT_OK;
}
