/* gif.c - see gif.h. giflib decodes line by line. */
#include "formats/gif.h"

#include <string.h>

#include <gif_lib.h>

#include "formats/byte_scan.h"

typedef struct { const uint8_t *at; size_t left; } source;

static int next_bytes(GifFileType *gif, GifByteType *out, int n)
{
    source *s = gif->UserData;
    const int have = (size_t)n < s->left ? n : (int)s->left;

    memcpy(out, s->at, (size_t)have);
    s->at += have;
    s->left -= (size_t)have;
    return have;
}

/* The transparent colour of an extension, if it names one. */
static bool read_extension(GifFileType *gif, int *transparent)
{
    GifByteType *block;
    int code;

    if (DGifGetExtension(gif, &code, &block) == GIF_ERROR) return false;
    if (code == GRAPHICS_EXT_FUNC_CODE && block && block[0] >= 4 && block[1] & 1) *transparent = block[4];
    while (block)
        if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) return false;
    return true;
}

/* Up to the first frame. */
static bool find_frame(GifFileType *gif, int *transparent)
{
    GifRecordType kind;

    while (DGifGetRecordType(gif, &kind) == GIF_OK && kind != TERMINATE_RECORD_TYPE) {
        if (kind == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
        if (kind == EXTENSION_RECORD_TYPE && !read_extension(gif, transparent)) return false;
    }
    return false;
}

/* Without a palette colours are greys; those that a palette does not have are black, as in PIL. */
static void take_palette(uint8_t palette[256][3], const GifFileType *gif)
{
    const ColorMapObject *map = gif->Image.ColorMap ? gif->Image.ColorMap : gif->SColorMap;

    for (int i = 0; i < 256; i++) memset(palette[i], map ? 0 : i, 3);
    for (int i = 0; map && i < map->ColorCount && i < 256; i++)
        memcpy(palette[i], (uint8_t[]){ map->Colors[i].Red, map->Colors[i].Green, map->Colors[i].Blue }, 3);
}

/* The row behind y of an interlaced frame: each eighth from 0 and from 4, each fourth from 2, then the odd ones. */
static int next_row(int y, int height, int *pass)
{
    static const int first[] = { 0, 4, 2, 1 }, step[] = { 8, 8, 4, 2 };

    y += step[*pass];
    while (y >= height && *pass < 3) y = first[++*pass];
    return y;
}

static spot_status read_frame(spot_ctx *c, spot_picture *p, GifFileType *gif, int transparent, const char *name)
{
    const GifImageDesc *f = &gif->Image;
    const uint64_t right = (uint64_t)f->Left + (uint64_t)f->Width, low = (uint64_t)f->Top + (uint64_t)f->Height;
    uint8_t palette[256][3];

    SPOT_TRY(spot_picture_start(c, p, right > (uint64_t)gif->SWidth ? right : (uint64_t)gif->SWidth,
                                low > (uint64_t)gif->SHeight ? low : (uint64_t)gif->SHeight, name));
    SPOT_TRY(spot_room_need(c, &p->line, (size_t)f->Width + 1));
    take_palette(palette, gif);
    if (f->Width != p->width || f->Height != p->height)
        for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; i++)
            memcpy(p->rgb + 3 * i, palette[transparent < 0 ? 0 : transparent], 3);
    for (int n = 0, y = 0, pass = 0; n < f->Height; n++, y = f->Interlace ? next_row(y, f->Height, &pass) : n) {
        uint8_t *row = p->rgb + 3 * ((size_t)p->width * (size_t)(f->Top + y) + (size_t)f->Left);
        const uint8_t *line = p->line.at;
        if (DGifGetLine(gif, p->line.at, f->Width) == GIF_ERROR)
            return spot_fail(c, SPOT_INPUT, "{gif.damaged} %s is no GIF that can be read: its pixels are damaged or cut short",
                             name);
        for (int x = 0; x < f->Width; x++) memcpy(row + 3 * x, palette[line[x]], 3);
    }
    return SPOT_OK;
}

spot_status spot_gif_decode(spot_ctx *c, spot_picture *p, const uint8_t *file, size_t size, const char *name)
{
    source from = { file, size };
    int failed = 0, transparent = -1;
    GifFileType *gif = DGifOpen(&from, next_bytes, &failed);
    spot_status s;

    if (gif && find_frame(gif, &transparent)) s = read_frame(c, p, gif, transparent, name);
    else s = spot_fail(c, SPOT_INPUT, "{gif.damaged} %s is no GIF that can be read: it has no picture, or is cut short", name);
    if (gif) DGifCloseFile(gif, &failed);
    return s;
}
