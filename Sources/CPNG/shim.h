#ifndef BILLOW_CPNG_SHIM_H
#define BILLOW_CPNG_SHIM_H

#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// libpng reports errors by longjmp. Every function here creates, uses and destroys its libpng structs by itself. So the
// jump starts and lands inside one C frame (and libpng's below it), and never crosses a Swift one.

enum { BILLOW_PNG_MESSAGE = 128 };

/// A malloc'ed block that grows; `billow_png_free` gives it back.
typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t capacity;
} BillowPNGBuffer;

/// What to write. Rows are top-down; `row_bytes` apart. Indexed: one byte a pixel, packed by libpng to `bit_depth`.
typedef struct {
    uint32_t width;
    uint32_t height;
    int bit_depth;
    int colour_type;
    int level;
    const uint8_t *pixels;
    size_t row_bytes;
    /// Red, green, blue a colour.
    const uint8_t *palette;
    int palette_count;
    const uint8_t *transparency;
    int transparency_count;
} BillowPNGPicture;

typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t offset;
} BillowPNGSource;

static inline void billow_png_fail(png_structp png, png_const_charp message) {
    char *out = (char *)png_get_error_ptr(png);
    if (out) {
        strncpy(out, message ? message : "unknown error", BILLOW_PNG_MESSAGE - 1);
        out[BILLOW_PNG_MESSAGE - 1] = 0;
    }
    png_longjmp(png, 1);
}

static inline void billow_png_warn(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static inline void billow_png_append(png_structp png, png_bytep bytes, size_t count) {
    BillowPNGBuffer *buffer = (BillowPNGBuffer *)png_get_io_ptr(png);
    if (count > SIZE_MAX / 4 - buffer->count) png_error(png, "picture too large");
    if (buffer->count + count > buffer->capacity) {
        size_t capacity = (buffer->count + count) * 2;
        uint8_t *grown = (uint8_t *)realloc(buffer->bytes, capacity);
        if (!grown) png_error(png, "out of memory");
        buffer->bytes = grown;
        buffer->capacity = capacity;
    }
    memcpy(buffer->bytes + buffer->count, bytes, count);
    buffer->count += count;
}

static inline void billow_png_flush(png_structp png) { (void)png; }

static inline void billow_png_take(png_structp png, png_bytep bytes, size_t count) {
    BillowPNGSource *source = (BillowPNGSource *)png_get_io_ptr(png);
    if (count > source->count - source->offset) png_error(png, "the data ends too early");
    memcpy(bytes, source->bytes + source->offset, count);
    source->offset += count;
}

static inline void billow_png_free(uint8_t *bytes) { free(bytes); }

/// Writes a PNG into `out`, whose bytes the caller frees. 1, or 0 with `message` set and nothing to free.
static inline int billow_png_write(const BillowPNGPicture *picture, BillowPNGBuffer *out,
                                   char message[BILLOW_PNG_MESSAGE]) {
    png_color colours[256];
    // Outside the jump's reach: set before setjmp, or volatile.
    png_infop volatile info = NULL;
    memset(out, 0, sizeof *out);
    message[0] = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, message, billow_png_fail, billow_png_warn);
    if (!png) {
        strcpy(message, "out of memory");
        return 0;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_infop made = info;
        png_destroy_write_struct(&png, &made);
        free(out->bytes);
        memset(out, 0, sizeof *out);
        return 0;
    }
    info = png_create_info_struct(png);
    if (!info) png_error(png, "out of memory");
    png_set_write_fn(png, out, billow_png_append, billow_png_flush);
    png_set_compression_level(png, picture->level);
    png_set_IHDR(png, info, picture->width, picture->height, picture->bit_depth, picture->colour_type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (picture->colour_type == PNG_COLOR_TYPE_PALETTE) {
        if (picture->palette_count < 1 || picture->palette_count > 256) png_error(png, "palette of 1 to 256 colours");
        for (int i = 0; i < picture->palette_count; i++) {
            colours[i].red = picture->palette[3 * i];
            colours[i].green = picture->palette[3 * i + 1];
            colours[i].blue = picture->palette[3 * i + 2];
        }
        png_set_PLTE(png, info, colours, picture->palette_count);
        if (picture->transparency_count > 0)
            png_set_tRNS(png, info, picture->transparency, picture->transparency_count, NULL);
        png_set_filter(png, 0, PNG_FILTER_NONE);
    }
    png_write_info(png, info);
    png_set_packing(png);
    for (uint32_t y = 0; y < picture->height; y++) png_write_row(png, picture->pixels + (size_t)y * picture->row_bytes);
    png_write_end(png, info);
    png_infop made = info;
    png_destroy_write_struct(&png, &made);
    return 1;
}

/// Reads any PNG into straight RGBA of 8 bits, top-down, without gaps; colour space and gamma chunks are not applied.
/// The caller frees `out`'s bytes. At most `limit` pixels a side. 1, or 0 with `message` set and nothing to free.
static inline int billow_png_read(const uint8_t *bytes, size_t count, uint32_t limit, BillowPNGBuffer *out,
                                  uint32_t *width, uint32_t *height, char message[BILLOW_PNG_MESSAGE]) {
    BillowPNGSource source = {bytes, count, 0};
    png_infop volatile info = NULL;
    png_bytep *volatile rows = NULL;
    memset(out, 0, sizeof *out);
    message[0] = 0;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, message, billow_png_fail, billow_png_warn);
    if (!png) {
        strcpy(message, "out of memory");
        return 0;
    }
    if (setjmp(png_jmpbuf(png))) {
        png_infop made = info;
        png_destroy_read_struct(&png, &made, NULL);
        free((void *)rows);
        free(out->bytes);
        memset(out, 0, sizeof *out);
        return 0;
    }
    info = png_create_info_struct(png);
    if (!info) png_error(png, "out of memory");
    png_set_user_limits(png, limit, limit);
    png_set_read_fn(png, &source, billow_png_take);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    *width = png_get_image_width(png, info);
    *height = png_get_image_height(png, info);
    size_t row_bytes = (size_t)*width * 4;
    if (png_get_rowbytes(png, info) != row_bytes) png_error(png, "unexpected row size");
    out->count = out->capacity = row_bytes * *height;
    out->bytes = (uint8_t *)malloc(out->count);
    rows = (png_bytep *)malloc(sizeof(png_bytep) * *height);
    if (!out->bytes || !rows) png_error(png, "out of memory");
    for (uint32_t y = 0; y < *height; y++) rows[y] = out->bytes + y * row_bytes;
    png_read_image(png, rows);
    png_read_end(png, info);
    png_infop made = info;
    png_destroy_read_struct(&png, &made, NULL);
    free((void *)rows);
    return 1;
}

#endif
