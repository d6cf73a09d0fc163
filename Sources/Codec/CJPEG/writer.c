#include <stdlib.h>

#include "writer.h"

/// The first member is what libjpeg knows.
typedef struct {
    struct jpeg_compress_struct info;
    satchel_jpeg_failure failure;
    satchel_jpeg_progress progress;
    satchel_jpeg_output output;
} satchel_jpeg_writer;

// libjpeg's own destination in memory loses its buffer where an encode is left in the middle.

static void begin(j_compress_ptr info) {
    satchel_jpeg_output *output = (satchel_jpeg_output *)info->dest;
    output->manager.next_output_byte = output->bytes;
    output->manager.free_in_buffer = output->capacity;
}

static boolean grow(j_compress_ptr info) {
    satchel_jpeg_output *output = (satchel_jpeg_output *)info->dest;
    unsigned char *larger = realloc(output->bytes, output->capacity * 2);
    if (!larger) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    output->bytes = larger;
    output->manager.next_output_byte = larger + output->capacity;
    output->manager.free_in_buffer = output->capacity;
    output->capacity *= 2;
    return TRUE;
}

static void end(j_compress_ptr info) { (void)info; }

int satchel_jpeg_collect(satchel_jpeg_output *output, struct jpeg_compress_struct *info) {
    output->manager.init_destination = begin;
    output->manager.empty_output_buffer = grow;
    output->manager.term_destination = end;
    output->capacity = (size_t)1 << 16;
    output->bytes = malloc(output->capacity);
    info->dest = &output->manager;
    return output->bytes != NULL;
}

void satchel_jpeg_hand_over(satchel_jpeg_output *output, unsigned char **bytes, size_t *count) {
    *bytes = output->bytes;
    *count = output->capacity - output->manager.free_in_buffer;
    output->bytes = NULL;
}

/// Spectral selection alone: what comes near libjpeg's ten scans in bytes, without their passes over single bits.
static const jpeg_scan_info scans[] = {
    {3, {0, 1, 2}, 0, 0, 0, 0},
    {1, {0}, 1, 5, 0, 0},
    {1, {2}, 1, 63, 0, 0},
    {1, {1}, 1, 63, 0, 0},
    {1, {0}, 6, 63, 0, 0},
};

static const jpeg_scan_info grey_scans[] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 5, 0, 0}, {1, {0}, 6, 63, 0, 0}};

void satchel_jpeg_use_scans(struct jpeg_compress_struct *info) {
    int is_grey = info->num_components == 1;
    info->scan_info = is_grey ? grey_scans : scans;
    info->num_scans = is_grey ? sizeof grey_scans / sizeof *grey_scans : sizeof scans / sizeof *scans;
}

static void encode(
    satchel_jpeg_writer *writer, const unsigned char *pixels, int width, int height, satchel_jpeg_form form,
    satchel_jpeg_stops stops) {
    struct jpeg_compress_struct *info = &writer->info;
    jpeg_create_compress(info);
    satchel_jpeg_watch(&writer->progress, (j_common_ptr)info, stops);
    if (!satchel_jpeg_collect(&writer->output, info)) ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    info->image_width = (JDIMENSION)width;
    info->image_height = (JDIMENSION)height;
    info->input_components = 3;
    info->in_color_space = JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, form.quality, TRUE);
    info->optimize_coding = form.is_optimised || form.is_progressive;
    info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = form.has_full_chroma ? 1 : 2;
    if (form.is_progressive) satchel_jpeg_use_scans(info);
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
    writer->info.err = satchel_jpeg_catch(&writer->failure);
    int result = -1;
    if (setjmp(writer->failure.out) == 0) {
        encode(writer, pixels, width, height, form, stops);
        satchel_jpeg_hand_over(&writer->output, bytes, count);
        result = 0;
    }
    jpeg_destroy_compress(&writer->info);
    free(writer->output.bytes);
    free(writer);
    return result;
}
