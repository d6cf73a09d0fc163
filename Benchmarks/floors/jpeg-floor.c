// What decoding and encoding themselves cost: the least that anybody who makes small JPEGs of large ones with libjpeg
// has to spend, in one process, with nothing around it.
//
//   jpeg-floor DIRECTORY QUALITY SIZE[,SIZE…] INPUT…
//
// Decodes each input once, as far scaled (M/8) as the largest size allows, and encodes a picture of each size (its
// longest side in pixels). Pixels between are taken from the nearest, which is not counted. Prints for each input the
// processor time in milliseconds: of decoding, and of encoding.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

// libjpeg's default error handler ends the program with a message: what can't be decoded has no floor.

static FILE *opened(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (file) return file;
    perror(path);
    exit(1);
}

static unsigned char *decode(const char *path, int longest, int *width, int *height) {
    FILE *file = opened(path, "rb");
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    decoder.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&decoder);
    jpeg_stdio_src(&decoder, file);
    jpeg_read_header(&decoder, TRUE);
    decoder.out_color_space = JCS_RGB;
    decoder.scale_denom = 8;
    for (decoder.scale_num = 1; decoder.scale_num < 8; decoder.scale_num++) {
        jpeg_calc_output_dimensions(&decoder);
        int side = decoder.output_width > decoder.output_height ? decoder.output_width : decoder.output_height;
        if (side >= longest) break;
    }
    jpeg_start_decompress(&decoder);
    *width = decoder.output_width;
    *height = decoder.output_height;
    size_t stride = (size_t)*width * 3;
    unsigned char *pixels = malloc(stride * *height);
    if (!pixels) exit(1);
    while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW rows[8];
        for (int i = 0; i < 8; i++) rows[i] = pixels + stride * (decoder.output_scanline + i);
        unsigned left = decoder.output_height - decoder.output_scanline;
        jpeg_read_scanlines(&decoder, rows, left < 8 ? left : 8);
    }
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
    fclose(file);
    return pixels;
}

static void encode(const char *path, unsigned char *pixels, int width, int height, int quality) {
    FILE *file = opened(path, "wb");
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    jpeg_stdio_dest(&encoder, file);
    encoder.image_width = width;
    encoder.image_height = height;
    encoder.input_components = 3;
    encoder.in_color_space = JCS_RGB;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, quality, TRUE);
    jpeg_start_compress(&encoder, TRUE);
    while (encoder.next_scanline < encoder.image_height) {
        JSAMPROW row = pixels + (size_t)width * 3 * encoder.next_scanline;
        jpeg_write_scanlines(&encoder, &row, 1);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    fclose(file);
}

int main(int count, char **arguments) {
    if (count < 5) {
        fprintf(stderr, "usage: jpeg-floor DIRECTORY QUALITY SIZE[,SIZE...] INPUT...\n");
        return 2;
    }
    int sizes[8], sizeCount = 0, longest = 0;
    for (char *word = strtok(arguments[3], ","); word && sizeCount < 8; word = strtok(NULL, ",")) {
        sizes[sizeCount] = atoi(word);
        if (sizes[sizeCount] < 1) return 2;
        if (sizes[sizeCount] > longest) longest = sizes[sizeCount];
        sizeCount++;
    }
    for (int i = 4; i < count; i++) {
        int width, height;
        double start = milliseconds();
        unsigned char *pixels = decode(arguments[i], longest, &width, &height);
        double decoding = milliseconds() - start, encoding = 0;
        int side = width > height ? width : height;
        for (int j = 0; j < sizeCount; j++) {
            int size = sizes[j] < side ? sizes[j] : side;
            int w = ((long)width * size + side / 2) / side, h = ((long)height * size + side / 2) / side;
            unsigned char *small = malloc((size_t)w * h * 3);
            if (!small) return 1;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    memcpy(
                        small + ((size_t)y * w + x) * 3,
                        pixels + ((size_t)((long)y * height / h) * width + (long)x * width / w) * 3, 3);
            const char *name = strrchr(arguments[i], '/');
            char path[4096];
            int length = snprintf(
                path, sizeof path, "%s/%s-%d.jpg", arguments[1], name ? name + 1 : arguments[i], sizes[j]);
            if (length >= (int)sizeof path) return 1;
            start = milliseconds();
            encode(path, small, w, h, atoi(arguments[2]));
            encoding += milliseconds() - start;
            free(small);
        }
        free(pixels);
        printf("%.3f %.3f\n", decoding, encoding);
    }
    return 0;
}
