#ifndef BILLOW_CFREETYPE_SHIM_H
#define BILLOW_CFREETYPE_SHIM_H

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include <stdint.h>
#include <string.h>

// FreeType's names are macros and its records are deep; these few functions are what Swift needs of it. Every function
// returns FreeType's error code, 0 for success. A font belongs to one thread at a time.

typedef struct {
    FT_Library library;
    FT_Face face;
} BillowFont;

/// One glyph's 8-bit coverage; `pixels` belongs to the font and is good until its next call. Row r starts at
/// `pixels + r * pitch`. `left` is from the pen's pixel, `top` from the baseline up to the first row.
typedef struct {
    int left;
    int top;
    int width;
    int rows;
    int pitch;
    const uint8_t *pixels;
} BillowGlyph;

static inline int billow_font_open(const char *path, BillowFont *font) {
    memset(font, 0, sizeof *font);
    FT_Error error = FT_Init_FreeType(&font->library);
    if (error) return error;
    error = FT_New_Face(font->library, path, 0, &font->face);
    if (!error && !FT_IS_SCALABLE(font->face)) error = FT_Err_Unknown_File_Format;
    if (error) {
        FT_Done_FreeType(font->library);
        memset(font, 0, sizeof *font);
    }
    return error;
}

static inline void billow_font_close(BillowFont *font) {
    FT_Done_Face(font->face);
    FT_Done_FreeType(font->library);
    memset(font, 0, sizeof *font);
}

/// `size`: pixels an em, in 1/64.
static inline int billow_font_set_size(BillowFont *font, int size) {
    return FT_Set_Char_Size(font->face, 0, size, 72, 72);
}

static inline uint32_t billow_font_glyph(BillowFont *font, uint32_t character) {
    return FT_Get_Char_Index(font->face, character);
}

/// The way from `before` (0: none) to after `glyph` without hinting, with kerning, in 1/64 pixel. And the height of the
/// glyph's ink above the baseline.
static inline int billow_font_measure(BillowFont *font, uint32_t before, uint32_t glyph, int *kerning, int *advance,
                                      int *height) {
    FT_Vector kern = {0, 0};
    *kerning = *advance = *height = 0;
    if (before) {
        FT_Error error = FT_Get_Kerning(font->face, before, glyph, FT_KERNING_UNFITTED, &kern);
        if (error) return error;
    }
    FT_Error error = FT_Load_Glyph(font->face, glyph, FT_LOAD_NO_BITMAP | FT_LOAD_NO_HINTING);
    if (error) return error;
    *kerning = (int)kern.x;
    *advance = (int)(font->face->glyph->linearHoriAdvance / 1024);
    *height = (int)font->face->glyph->metrics.horiBearingY;
    return 0;
}

/// Draws a glyph whose pen stands `fraction` (0 to 63, 1/64 pixel) right of a pixel's left edge. Hinted lightly: only
/// vertically, so that horizontal strokes are crisp and the spacing stays true.
static inline int billow_font_draw(BillowFont *font, uint32_t glyph, int fraction, BillowGlyph *out) {
    memset(out, 0, sizeof *out);
    FT_Error error = FT_Load_Glyph(font->face, glyph, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT);
    if (error) return error;
    FT_GlyphSlot slot = font->face->glyph;
    if (slot->format != FT_GLYPH_FORMAT_OUTLINE) return FT_Err_Invalid_Glyph_Format;
    FT_Outline_Translate(&slot->outline, fraction, 0);
    error = FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL);
    if (error) return error;
    if (slot->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY && slot->bitmap.rows > 0) return FT_Err_Invalid_Glyph_Format;
    out->left = slot->bitmap_left;
    out->top = slot->bitmap_top;
    out->width = (int)slot->bitmap.width;
    out->rows = (int)slot->bitmap.rows;
    out->pitch = slot->bitmap.pitch;
    out->pixels = slot->bitmap.buffer;
    return 0;
}

#endif
