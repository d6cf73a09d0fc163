// The costly loops of scaling, included once for every kind of vectors: KERNEL(name) is the name for that kind.

INLINE float4 KERNEL(load4)(const float *from) {
    float4 value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE float8 KERNEL(load8)(const float *from) {
    float8 value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE float8 KERNEL(convert8)(const unsigned char *from) {
    byte8 value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, float8);
}

/// The sum of each of four vectors.
INLINE float4 KERNEL(sums)(float8 a, float8 b, float8 c, float8 d) {
    float4 first = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
    float4 second = __builtin_shufflevector(b, b, 0, 1, 2, 3) + __builtin_shufflevector(b, b, 4, 5, 6, 7);
    float4 third = __builtin_shufflevector(c, c, 0, 1, 2, 3) + __builtin_shufflevector(c, c, 4, 5, 6, 7);
    float4 fourth = __builtin_shufflevector(d, d, 0, 1, 2, 3) + __builtin_shufflevector(d, d, 4, 5, 6, 7);
    float4 x = __builtin_shufflevector(first, second, 0, 4, 1, 5) + __builtin_shufflevector(first, second, 2, 6, 3, 7);
    float4 y = __builtin_shufflevector(third, fourth, 0, 4, 1, 5) + __builtin_shufflevector(third, fourth, 2, 6, 3, 7);
    return __builtin_shufflevector(x, y, 0, 1, 4, 5) + __builtin_shufflevector(x, y, 2, 3, 6, 7);
}

static void KERNEL(rows_add_bytes)(
    const unsigned char *rows, size_t stride, int count, const float *weights, float *sum, size_t width) {
    for (size_t i = 0; i < width; i += 32) {
        float8 a = KERNEL(load8)(sum + i), b = KERNEL(load8)(sum + i + 8), c = KERNEL(load8)(sum + i + 16), d = KERNEL(load8)(sum + i + 24);
        const unsigned char *from = rows + i;
        for (int row = 0; row < count; row++, from += stride) {
            a += KERNEL(convert8)(from) * weights[row];
            b += KERNEL(convert8)(from + 8) * weights[row];
            c += KERNEL(convert8)(from + 16) * weights[row];
            d += KERNEL(convert8)(from + 24) * weights[row];
        }
        memcpy(sum + i, &a, sizeof a);
        memcpy(sum + i + 8, &b, sizeof b);
        memcpy(sum + i + 16, &c, sizeof c);
        memcpy(sum + i + 24, &d, sizeof d);
    }
}

static void KERNEL(row_convolve)(
    const float *row, int bands, const int32_t *starts, const int32_t *counts, const float *weights, int taps, float *to,
    int width) {
    for (int x = 0; x < width; x++, weights += taps, to += bands) {
        const float *from = row + (size_t)starts[x] * (size_t)bands;
        int count = counts[x];
        if (bands == 3 || bands == 4) {
            float4 even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
            int i = 0;
            for (; i + 1 < count; i += 2) {
                even += KERNEL(load4)(from + i * bands) * weights[i];
                odd += KERNEL(load4)(from + (i + 1) * bands) * weights[i + 1];
            }
            if (i < count) even += KERNEL(load4)(from + i * bands) * weights[i];
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

static void KERNEL(lines_convolve)(
    const float *first, const float *second, const float *third, const float *fourth, const int32_t *starts,
    const int32_t *counts, const float *weights, int taps, float *to, size_t stride, int width) {
    for (int x = 0; x < width; x++, weights += taps) {
        float8 a = {0}, b = {0}, c = {0}, d = {0};
        int count = counts[x], start = starts[x];
        for (int i = 0; i < count; i += 8) {
            float8 weight = KERNEL(load8)(weights + i);
            a += KERNEL(load8)(first + start + i) * weight;
            b += KERNEL(load8)(second + start + i) * weight;
            c += KERNEL(load8)(third + start + i) * weight;
            d += KERNEL(load8)(fourth + start + i) * weight;
        }
        float4 result = KERNEL(sums)(a, b, c, d);
        to[x] = result[0];
        to[x + stride] = result[1];
        to[x + 2 * stride] = result[2];
        to[x + 3 * stride] = result[3];
    }
}

INLINE void KERNEL(rgb)(
    const unsigned char *restrict luma, const unsigned char *restrict blue, const unsigned char *restrict red,
    unsigned char *restrict to, size_t width, int shift) {
    for (size_t x = 0; x < width; x++) {
        // In parts of 65,536, as libjpeg has it.
        int light = (luma[x] << 16) + 32768, b = blue[x >> shift] - 128, r = red[x >> shift] - 128;
        to[3 * x] = byte((light + 91881 * r) >> 16);
        to[3 * x + 1] = byte((light - 22554 * b - 46802 * r) >> 16);
        to[3 * x + 2] = byte((light + 116130 * b) >> 16);
    }
}

static void KERNEL(row_rgb)(
    const unsigned char *luma, const unsigned char *blue, const unsigned char *red, unsigned char *to, size_t width,
    int is_halved) {
    // Twice, so that each loop is as plain as can be.
    if (is_halved) KERNEL(rgb)(luma, blue, red, to, width, 1);
    else KERNEL(rgb)(luma, blue, red, to, width, 0);
}
