#include "CScaling.h"

#include <math.h>

void satchel_lanczos_weights(
    double start, double scale, const int32_t *starts, const int32_t *counts, int taps, float *weights, int width) {
    double step = scale > 1 ? 1 / scale : 1;
    // With c = cos(2πx/3) the kernel, sinc(x) sinc(x/3), is 1.5 (1 - c) (1 + 2c) / (πx)²: and the angle is turned from
    // sample to sample, in the place of two sines for each.
    double turn_cosine = cos(2 * M_PI / 3 * step), turn_sine = sin(2 * M_PI / 3 * step);
    for (int pixel = 0; pixel < width; pixel++, weights += taps) {
        double x = (starts[pixel] + 0.5 - (start + (pixel + 0.5) * scale)) * step, sum = 0;
        double cosine = cos(2 * M_PI / 3 * x), sine = sin(2 * M_PI / 3 * x);
        int count = counts[pixel];
        for (int i = 0; i < count; i++, x += step) {
            double square = M_PI * M_PI * x * x, value = 1.5 * (1 - cosine) * (1 + 2 * cosine) / square;
            // Near the middle it is 1, less the first term of its series.
            if (square < 1e-5) value = 1 - square * 5 / 27;
            if (fabs(x) >= 3) value = 0;
            weights[i] = (float)value;
            sum += value;
            double next = cosine * turn_cosine - sine * turn_sine;
            sine = sine * turn_cosine + cosine * turn_sine;
            cosine = next;
        }
        // A line of one sample lies outside every kernel's middle.
        if (sum <= 0.01) {
            for (int i = 0; i < count; i++) weights[i] = 1;
            sum = count;
        }
        float share = (float)(1 / sum);
        for (int i = 0; i < count; i++) weights[i] *= share;
    }
}
