// What it costs and what it brings to keep a JPEG's chroma at full resolution, from a sample of a picture's blocks.

#include "CJPEG.h"

#include <math.h>
#include <string.h>

// Vectors that functions here hand to each other don't leave this file, where all of them are inlined.
#pragma clang diagnostic ignored "-Wpsabi"

/// The tables of ITU-T T.81, annex K, at a quality as libjpeg has it.
static void make_tables(int quality, float *luma, float *chroma) {
    static const unsigned char luma_steps[64] = {
        16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,  14, 13, 16, 24, 40,  57,
        69, 56, 14, 17, 22,  29,  51,  87,  80, 62, 18, 22, 37,  56,  68,  109, 103, 77, 24, 35, 55,  64,
        81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
    static const unsigned char chroma_steps[16] = {17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99};
    double scale = quality < 50 ? 5000.0 / (quality < 1 ? 1 : quality) : 200.0 - 2.0 * quality;
    for (int i = 0; i < 64; i++) {
        int chroma_step = i / 8 < 4 && i % 8 < 4 ? chroma_steps[i / 8 * 4 + i % 8] : 99;
        luma[i] = (float)fmin(fmax(floor((luma_steps[i] * scale + 50) / 100), 1), 255);
        chroma[i] = (float)fmin(fmax(floor((chroma_step * scale + 50) / 100), 1), 255);
        luma[64 + i] = 1 / luma[i];
        chroma[64 + i] = 1 / chroma[i];
    }
}

/// One row of a block.
typedef float row __attribute__((vector_size(32)));
typedef int32_t whole_row __attribute__((vector_size(32)));

static inline row load(const float *from) {
    row value;
    memcpy(&value, from, sizeof value);
    return value;
}

/// Transforms and quantises 8 by 8 values that lie `stride` apart, and adds up. A code takes about 3½ bits besides its
/// value's, and each block 3.
///
/// - `cosines`: of the transform: by frequency and place, then by place and frequency.
/// - `steps`: of the quantisation, then one divided by them.
static void add_block(
    const float *from, int stride, const float *cosines, const float *steps, double weight, satchel_jpeg_cost *cost) {
    row across[8];
    for (int y = 0; y < 8; y++) {
        across[y] = load(cosines + 64) * from[y * stride];
        for (int x = 1; x < 8; x++) across[y] += load(cosines + 64 + x * 8) * from[y * stride + x];
    }
    row error = {0}, bits = {0};
    for (int v = 0; v < 8; v++) {
        row sum = across[0] * cosines[v * 8];
        for (int y = 1; y < 8; y++) sum += across[y] * cosines[v * 8 + y];
        // A number this large has no room for parts: what is added to it is rounded.
        row level = sum * load(steps + 64 + v * 8) + 0x1.8p23f;
        level -= 0x1.8p23f;
        row rest = sum - level * load(steps + v * 8);
        error += rest * rest;
        // The exponent is the logarithm, and its sign bit doesn't count.
        whole_row exponent = (((whole_row)level & 0x7fffffff) >> 23) - 127;
        row length = __builtin_convertvector(exponent, row) + 4.5f;
        whole_row is_coded = level != 0;
        bits += (row)((whole_row)length & is_coded);
    }
    for (int i = 0; i < 8; i++) {
        cost->error += weight * error[i];
        cost->bits += bits[i];
    }
    cost->bits += 3;
}

/// Adds up one chroma plane of 16 by 16 values in both ways: as it is, and halved.
static void add_chroma(
    const float *plane, const float *cosines, const float *steps, double weight, satchel_jpeg_cost *full,
    satchel_jpeg_cost *half) {
    for (int i = 0; i < 4; i++) {
        add_block(plane + i / 2 * 128 + i % 2 * 8, 16, cosines, steps, weight, full);
    }
    float small[64];
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) {
            const float *from = plane + y * 32 + x * 2;
            small[y * 8 + x] = (from[0] + from[1] + from[16] + from[17]) / 4;
        }
    }
    add_block(small, 8, cosines, steps, weight * 4, half);
    // As decoders make it large again: three parts of the nearest value, one of the next.
    for (int y = 0; y < 16; y++) {
        int near_y = y / 2, far_y = y % 2 ? (near_y < 7 ? near_y + 1 : 7) : (near_y > 0 ? near_y - 1 : 0);
        for (int x = 0; x < 16; x++) {
            int near_x = x / 2, far_x = x % 2 ? (near_x < 7 ? near_x + 1 : 7) : (near_x > 0 ? near_x - 1 : 0);
            float near_row = 0.75f * small[near_y * 8 + near_x] + 0.25f * small[near_y * 8 + far_x];
            float far_row = 0.75f * small[far_y * 8 + near_x] + 0.25f * small[far_y * 8 + far_x];
            float rest = plane[y * 16 + x] - 0.75f * near_row - 0.25f * far_row;
            half->error += weight * rest * rest;
        }
    }
}

void satchel_jpeg_costs(
    const unsigned char *pixels, int width, int height, int quality, satchel_jpeg_cost *full,
    satchel_jpeg_cost *half) {
    float cosines[128], luma_steps[128], chroma_steps[128], planes[3][256];
    make_tables(quality, luma_steps, chroma_steps);
    for (int i = 0; i < 64; i++) {
        cosines[i] = (float)(cos((2 * (i % 8) + 1) * (i / 8) * M_PI / 16) * (i < 8 ? sqrt(0.125) : 0.5));
        cosines[64 + i % 8 * 8 + i / 8] = cosines[i];
    }
    int across = width / 16 < 12 ? width / 16 : 12, down = height / 16 < 12 ? height / 16 : 12;
    satchel_jpeg_cost luma = {0, 0};
    *full = *half = luma;
    for (int i = 0; i < across * down; i++) {
        // Spread evenly, on the encoder's own grid.
        int left = i % across * (width / 16) / across * 16, top = i / across * (height / 16) / down * 16;
        for (int at = 0; at < 256; at++) {
            const unsigned char *pixel = pixels + 3 * ((size_t)(top + at / 16) * (size_t)width + (size_t)(left + at % 16));
            float red = pixel[0], green = pixel[1], blue = pixel[2];
            planes[0][at] = 0.299f * red + 0.587f * green + 0.114f * blue - 128;
            planes[1][at] = -0.168736f * red - 0.331264f * green + 0.5f * blue;
            planes[2][at] = 0.5f * red - 0.418688f * green - 0.081312f * blue;
        }
        for (int block = 0; block < 4; block++) {
            add_block(planes[0] + block / 2 * 128 + block % 2 * 8, 16, cosines, luma_steps, 3, &luma);
        }
        // What an error of chroma is in red, green and blue together.
        add_chroma(planes[1], cosines, chroma_steps, 3.258, full, half);
        add_chroma(planes[2], cosines, chroma_steps, 2.476, full, half);
    }
    full->error += luma.error;
    full->bits += luma.bits;
    half->error += luma.error;
    half->bits += luma.bits;
}
