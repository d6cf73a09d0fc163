#include <stdlib.h>

#include "failure.h"

/// The first member is what libjpeg knows.
typedef struct {
    struct jpeg_compress_struct info;
    satchel_jpeg_failure failure;
    satchel_jpeg_progress progress;
    struct jpeg_destination_mgr destination;
    unsigned char *bytes;
    size_t capacity;
} satchel_jpeg_writer;

// libjpeg's own destination in memory loses its buffer where an encode is left in the middle.

static void begin(j_compress_ptr info) {
    satchel_jpeg_writer *writer = (satchel_jpeg_writer *)info;
    writer->destination.next_output_byte = writer->bytes;
    writer->destination.free_in_buffer = writer->capacity;
}

static boolean grow(j_compress_ptr info) {
    satchel_jpeg_writer *writer = (satchel_jpeg_writer *)info;
    unsigned char *larger = realloc(writer->bytes, writer->capacity * 2);
    if (!larger) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    writer->bytes = larger;
    writer->destination.next_output_byte = larger + writer->capacity;
    writer->destination.free_in_buffer = writer->capacity;
    writer->capacity *= 2;
    return TRUE;
}

static void end(j_compress_ptr info) { (void)info; }

/// Spectral selection alone: what comes near libjpeg's ten scans in bytes, without their passes over single bits.
static const jpeg_scan_info scans[] = {
    {3, {0, 1, 2}, 0, 0, 0, 0},
    {1, {0}, 1, 5, 0, 0},
    {1, {2}, 1, 63, 0, 0},
    {1, {1}, 1, 63, 0, 0},
    {1, {0}, 6, 63, 0, 0},
};

static void encode(
    satchel_jpeg_writer *writer, const unsigned char *pixels, int width, int height, satchel_jpeg_form form,
    satchel_jpeg_stops stops) {
    struct jpeg_compress_struct *info = &writer->info;
    jpeg_create_compress(info);
    satchel_jpeg_watch(&writer->progress, (j_common_ptr)info, stops);
    writer->destination.init_destination = begin;
    writer->destination.empty_output_buffer = grow;
    writer->destination.term_destination = end;
    info->dest = &writer->destination;
    info->image_width = (JDIMENSION)width;
    info->image_height = (JDIMENSION)height;
    info->input_components = 3;
    info->in_color_space = JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, form.quality, TRUE);
    info->optimize_coding = form.is_optimised || form.is_progressive;
    info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = form.has_full_chroma ? 1 : 2;
    if (form.is_progressive) {
        info->scan_info = scans;
        info->num_scans = sizeof scans / sizeof *scans;
    }
    jpeg_start_compress(info, TRUE);
    while (info->next_scanline < info->image_height) {
        JSAMPROW rows[16];
        int count = 0;
        for (JDIMENSION row = info->next_scanline; count < 16 && row < info->image_height; row++) {
            rows[count++] = (JSAMPROW)(pixels + (size_t)row * (size_t)width * 3);
        }
        jpeg_write_scanlines(info, rows, (JDIMENSION)count);
    }
    jpeg_finish_compress(info);
}

int satchel_jpeg_write(
    const unsigned char *pixels, int width, int height, satchel_jpeg_form form, satchel_jpeg_stops stops,
    unsigned char **bytes, size_t *count) {
    // Not on the stack: what lies there may be lost where libjpeg leaves by longjmp.
    satchel_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return -1;
    writer->capacity = (size_t)1 << 16;
    writer->bytes = malloc(writer->capacity);
    writer->info.err = satchel_jpeg_catch(&writer->failure);
    int result = -1;
    if (writer->bytes && setjmp(writer->failure.out) == 0) {
        encode(writer, pixels, width, height, form, stops);
        *bytes = writer->bytes;
        *count = writer->capacity - writer->destination.free_in_buffer;
        writer->bytes = NULL;
        result = 0;
    }
    jpeg_destroy_compress(&writer->info);
    free(writer->bytes);
    free(writer);
    return result;
}
