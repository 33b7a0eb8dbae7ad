#pragma once

// The few vector instructions that the tile path needs and that Swift's own vectors don't become. They are SSE2, which
// every x86-64 processor has, and the same in plain C for all others (little-endian).

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define BILLOW_INLINE static inline __attribute__((always_inline))

typedef int32_t billow_int4 __attribute__((ext_vector_type(4)));

/// In each lane of `a`: its lower half times the lower half of `b`, plus its upper half times the upper half of `b`.
/// All four are 16-bit numbers with their signs.
BILLOW_INLINE billow_int4 billow_multiply_pairs(billow_int4 a, uint32_t b) {
#if defined(__SSE2__)
    return (billow_int4)_mm_madd_epi16((__m128i)a, _mm_set1_epi32((int)b));
#else
    return ((a << 16) >> 16) * (int32_t)(int16_t)b + (a >> 16) * ((int32_t)b >> 16);
#endif
}

/// The four lanes cut to 0…255, the first in the lowest byte.
BILLOW_INLINE uint32_t billow_clamped_bytes(billow_int4 a) {
#if defined(__SSE2__)
    __m128i words = _mm_packs_epi32((__m128i)a, (__m128i)a);
    return (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(words, words));
#else
    uint32_t bytes = 0;
    for (int lane = 0; lane < 4; lane++) {
        uint32_t byte = a[lane] < 0 ? 0 : a[lane] > 255 ? 255 : (uint32_t)a[lane];
        bytes |= byte << (8 * lane);
    }
    return bytes;
#endif
}

/// A bit for each of 64 bytes, the first lowest: whether it is the same in both places.
BILLOW_INLINE uint64_t billow_equal_bytes(const uint8_t *a, const uint8_t *b) {
    uint64_t bits = 0;
#if defined(__SSE2__)
    for (int part = 0; part < 4; part++) {
        __m128i left = _mm_loadu_si128((const __m128i *)(a + 16 * part));
        __m128i right = _mm_loadu_si128((const __m128i *)(b + 16 * part));
        bits |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(left, right)) << (16 * part);
    }
#else
    const uint64_t low = 0x7F7F7F7F7F7F7F7FULL;
    for (int part = 0; part < 8; part++) {
        uint64_t left, right;
        memcpy(&left, a + 8 * part, 8);
        memcpy(&right, b + 8 * part, 8);
        uint64_t other = left ^ right;
        // The highest bit of each byte that is 0, then from byte k bit k.
        uint64_t zero = ~(((other & low) + low) | other | low) >> 7;
        bits |= ((zero * 0x0102040810204080ULL) >> 56) << (8 * part);
    }
#endif
    return bits;
}

/// For each of `count` columns (pairs of doubles sine, cosine): the index of the grid point that
/// (x + radius × sine, y − radius × cosine) lies in, row by row; −1 outside of `width` × `height` points.
BILLOW_INLINE void billow_nearest_cells(
    double x, double y, double radius, const double *columns, long count, int32_t width, int32_t height,
    int32_t *cells
) {
    long place = 0;
#if defined(__SSE2__)
    const __m128d x0 = _mm_set1_pd(x), y0 = _mm_set1_pd(y), r = _mm_set1_pd(radius), zero = _mm_setzero_pd();
    const __m128d w = _mm_set1_pd(width), h = _mm_set1_pd(height);
    const __m128i across = _mm_set1_epi32(width), ones = _mm_set1_epi32(-1);
    for (; place + 2 <= count; place += 2) {
        __m128d first = _mm_loadu_pd(columns + 2 * place), second = _mm_loadu_pd(columns + 2 * place + 2);
        __m128d px = _mm_add_pd(x0, _mm_mul_pd(r, _mm_unpacklo_pd(first, second)));
        __m128d py = _mm_sub_pd(y0, _mm_mul_pd(r, _mm_unpackhi_pd(first, second)));
        __m128d isInside = _mm_and_pd(
            _mm_and_pd(_mm_cmpge_pd(px, zero), _mm_cmplt_pd(px, w)),
            _mm_and_pd(_mm_cmpge_pd(py, zero), _mm_cmplt_pd(py, h)));
        // Lanes 0 and 2 have the two whole numbers.
        __m128i column = _mm_shuffle_epi32(_mm_cvttpd_epi32(px), 0x50);
        __m128i row = _mm_shuffle_epi32(_mm_cvttpd_epi32(py), 0x50);
        __m128i cell = _mm_add_epi32(_mm_mul_epu32(row, across), column);
        __m128i mask = _mm_castpd_si128(isInside);
        cell = _mm_or_si128(_mm_and_si128(mask, cell), _mm_andnot_si128(mask, ones));
        _mm_storel_epi64((__m128i *)(cells + place), _mm_shuffle_epi32(cell, 0x08));
    }
#endif
    for (; place < count; place++) {
        double px = x + radius * columns[2 * place], py = y - radius * columns[2 * place + 1];
        cells[place] = px >= 0 && px < width && py >= 0 && py < height
            ? (int32_t)py * width + (int32_t)px : -1;
    }
}
