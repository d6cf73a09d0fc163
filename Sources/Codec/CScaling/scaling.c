#include "CScaling.h"

#include <string.h>

typedef float float4 __attribute__((vector_size(16)));
typedef float float8 __attribute__((vector_size(32)));
typedef unsigned char byte8 __attribute__((vector_size(8)));

// Vectors that functions here hand to each other don't leave this file, where all of them are inlined.
#pragma clang diagnostic ignored "-Wpsabi"
#define INLINE static inline __attribute__((always_inline))

INLINE unsigned char byte(int value) { return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value); }

// MARK: The costly ones, for the vectors that every machine has and for AVX2

#define KERNEL(name) plain_##name
#include "kernels.h"
#undef KERNEL

#if defined(__x86_64__)
#define KERNEL(name) avx2_##name
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#include "kernels.h"
#pragma clang attribute pop
#undef KERNEL

static int has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#define CHOOSE(name, ...) has_avx2() ? avx2_##name(__VA_ARGS__) : plain_##name(__VA_ARGS__)
#else
#define CHOOSE(name, ...) plain_##name(__VA_ARGS__)
#endif

void satchel_rows_add_bytes(
    const unsigned char *rows, size_t stride, int count, const float *weights, float *sum, size_t width) {
    CHOOSE(rows_add_bytes, rows, stride, count, weights, sum, width);
}

void satchel_row_convolve(
    const float *row, int bands, const int32_t *starts, const int32_t *counts, const float *weights, int taps, float *to,
    int width) {
    CHOOSE(row_convolve, row, bands, starts, counts, weights, taps, to, width);
}

void satchel_lines_convolve(
    const float *first, const float *second, const float *third, const float *fourth, const int32_t *starts,
    const int32_t *counts, const float *weights, int taps, float *to, size_t stride, int width) {
    CHOOSE(lines_convolve, first, second, third, fourth, starts, counts, weights, taps, to, stride, width);
}

void satchel_row_rgb(
    const unsigned char *luma, const unsigned char *blue, const unsigned char *red, unsigned char *to, size_t width,
    int is_halved) {
    CHOOSE(row_rgb, luma, blue, red, to, width, is_halved);
}

void satchel_row_to_bytes(const float *restrict from, unsigned char *restrict to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float value = from[i] + 0.5f;
        to[i] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}
