#ifndef SATCHEL_CSCALING_H
#define SATCHEL_CSCALING_H

// The inner loops of scaling: in C, where vectors become the machine's own, and are chosen where the program runs.
//
// A row has `count` values: the pixels' bands, one pixel after the other.

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// The weights of Lanczos 3, stretched by the scale where a line becomes shorter: the one kernel of all that scales here.
///
/// - `start`, `scale`: The pixel `i` of the result, of `width`, has its centre at `start + (i + 0.5) * scale` of the line.
/// - `starts`, `counts`: By pixel, the first sample that it takes, and how many, at most `taps`.
/// - `weights`: By pixel, `taps` of them; the sum of the first of each, as many as it takes, becomes 1. Others stay as they are.
void satchel_lanczos_weights(
    double start, double scale, const int32_t *starts, const int32_t *counts, int taps, float *weights, int width);

/// Adds rows of bytes that lie `stride` apart to a sum, each times its weight. Reads and writes up to 31 values more than
/// `width`: rows and sum have room for them.
void satchel_rows_add_bytes(
    const unsigned char *rows, size_t stride, int count, const float *weights, float *sum, size_t width);

/// Makes `width` pixels of a row: each is the sum of `counts` pixels from `starts` on, by its `taps` weights.
///
/// `taps` is a multiple of 8, and weights beyond a pixel's count are 0. `row` has eight floats more than its pixels.
void satchel_row_convolve(
    const float *row, int bands, const int32_t *starts, const int32_t *counts, const float *weights, int taps, float *to,
    int width);
/// Four rows of one band at once; the results lie `stride` apart.
void satchel_lines_convolve(
    const float *first, const float *second, const float *third, const float *fourth, const int32_t *starts,
    const int32_t *counts, const float *weights, int taps, float *to, size_t stride, int width);

void satchel_row_to_bytes(const float *from, unsigned char *to, size_t count);

/// RGB from YCbCr, as JFIF has it; with colours for every two pixels where `is_halved`.
void satchel_row_rgb(
    const unsigned char *luma, const unsigned char *blue, const unsigned char *red, unsigned char *to, size_t width,
    int is_halved);

#pragma clang assume_nonnull end

#endif
