#ifndef SATCHEL_CVIPS_SCALING_H
#define SATCHEL_CVIPS_SCALING_H

// The inner loops of scaling: in C, because they are as quick in an unoptimised build, and because their vectors become
// the machine's own.
//
// A row has `count` floats: the pixels' bands, one pixel after the other.

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#pragma clang assume_nonnull begin

typedef float satchel_float4 __attribute__((vector_size(16)));

static inline satchel_float4 satchel_load4(const float *from) {
    satchel_float4 value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void satchel_row_from_bytes(const unsigned char *restrict from, float *restrict to, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = from[i];
}

static inline void satchel_row_from_shorts(const unsigned char *restrict from, float *restrict to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint16_t value;
        memcpy(&value, from + 2 * i, 2);
        to[i] = value;
    }
}

/// What is no number becomes 0, because it would spread.
static inline void satchel_row_from_floats(const unsigned char *restrict from, float *restrict to, size_t count) {
    memcpy(to, from, count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(to[i])) to[i] = 0;
    }
}

/// Multiplies the bands of each pixel by its last one, which is its alpha.
static inline void satchel_row_premultiply(float *row, size_t pixels, int bands) {
    for (size_t i = 0; i < pixels; i++, row += bands) {
        for (int band = 0; band < bands - 1; band++) row[band] *= row[bands - 1];
    }
}

/// Takes back satchel_row_premultiply. Where alpha is under `least`, all bands become 0.
static inline void satchel_row_unpremultiply(float *row, size_t pixels, int bands, float least) {
    for (size_t i = 0; i < pixels; i++, row += bands) {
        float alpha = row[bands - 1];
        for (int band = 0; band < bands - 1; band++) row[band] = alpha < least ? 0 : row[band] / alpha;
        if (alpha < least) row[bands - 1] = 0;
    }
}

/// Adds `weight` times a row to a sum. `count` is rounded up to a multiple of 8: both have room for that.
static inline void satchel_row_add(const float *restrict row, float weight, float *restrict sum, size_t count) {
    for (size_t i = 0; i < count; i += 8) {
        satchel_float4 first = satchel_load4(sum + i) + satchel_load4(row + i) * weight;
        satchel_float4 second = satchel_load4(sum + i + 4) + satchel_load4(row + i + 4) * weight;
        memcpy(sum + i, &first, sizeof first);
        memcpy(sum + i + 4, &second, sizeof second);
    }
}

/// Makes `width` pixels of a row: each is the sum of `counts` pixels from `starts` on, by its `taps` weights.
///
/// `taps` is a multiple of 4, and weights beyond a pixel's count are 0. `row` has four floats more than its pixels.
static inline void satchel_row_convolve(
    const float *restrict row, int bands, const int32_t *starts, const int32_t *counts, const float *weights, int taps,
    float *restrict to, int width) {
    for (int x = 0; x < width; x++, weights += taps, to += bands) {
        const float *from = row + (size_t)starts[x] * (size_t)bands;
        int count = counts[x];
        if (bands == 1) {
            satchel_float4 sum = {0, 0, 0, 0};
            for (int i = 0; i < count; i += 4) sum += satchel_load4(from + i) * satchel_load4(weights + i);
            to[0] = sum[0] + sum[1] + sum[2] + sum[3];
        } else if (bands == 3 || bands == 4) {
            satchel_float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
            int i = 0;
            for (; i + 1 < count; i += 2) {
                even += satchel_load4(from + i * bands) * weights[i];
                odd += satchel_load4(from + (i + 1) * bands) * weights[i + 1];
            }
            if (i < count) even += satchel_load4(from + i * bands) * weights[i];
            even += odd;
            for (int band = 0; band < bands; band++) to[band] = even[band];
        } else {
            for (int band = 0; band < bands; band++) {
                float sum = 0;
                for (int i = 0; i < count; i++) sum += from[i * bands + band] * weights[i];
                to[band] = sum;
            }
        }
    }
}

static inline void satchel_row_to_bytes(const float *restrict from, unsigned char *restrict to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float value = from[i] + 0.5f;
        to[i] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}

static inline void satchel_row_to_shorts(const float *restrict from, unsigned char *restrict to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float value = from[i] + 0.5f;
        uint16_t rounded = (uint16_t)(value < 0 ? 0 : value > 65535 ? 65535 : value);
        memcpy(to + 2 * i, &rounded, 2);
    }
}

static inline void satchel_row_to_floats(const float *restrict from, unsigned char *restrict to, size_t count) {
    memcpy(to, from, count * sizeof(float));
}

#pragma clang assume_nonnull end

#endif
