#include <stdlib.h>

#include "failure.h"
#include "huffman.h"
// Behind jpeglib.h, whose types it needs.
#include <jpegint.h>

struct satchel_jpeg_reader {
    struct jpeg_decompress_struct info;
    satchel_jpeg_failure failure;
    satchel_jpeg_progress progress;
    const unsigned char *bytes;
    size_t count;
    int shrink;
    /// Whether Huffman codes are left to libjpeg.
    int decodes_plainly;
    size_t left_over;
};

enum { most_rows = 4 * DCTSIZE };

satchel_jpeg_reader *satchel_jpeg_open(
    const unsigned char *bytes, size_t count, int shrink, satchel_jpeg_stops stops) {
    satchel_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->shrink = shrink;
    reader->decodes_plainly = !satchel_jpeg_huffman_is_used;
    reader->info.err = satchel_jpeg_catch(&reader->failure);
    if (setjmp(reader->failure.out)) {
        satchel_jpeg_close(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->info);
    satchel_jpeg_watch(&reader->progress, (j_common_ptr)&reader->info, stops);
    return reader;
}

void satchel_jpeg_decode_plainly(satchel_jpeg_reader *reader) { reader->decodes_plainly = 1; }

void satchel_jpeg_tolerate(satchel_jpeg_reader *reader) {
    reader->failure.is_lenient = 1;
    reader->decodes_plainly = 1;
}

int satchel_jpeg_read_header(satchel_jpeg_reader *reader) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.out)) return -1;
    jpeg_mem_src(info, reader->bytes, reader->count);
    jpeg_read_header(info, TRUE);
    if (info->num_components != 3 || info->jpeg_color_space != JCS_YCbCr || info->data_precision != 8) return 0;
    for (int i = 0; i < 3; i++) {
        // Then no pixel lies between two samples of a component that has fewer.
        if (info->max_h_samp_factor % info->comp_info[i].h_samp_factor) return 0;
        if (info->max_v_samp_factor % info->comp_info[i].v_samp_factor) return 0;
    }
    // Light is never coarser than colours; where it is, the planes' sizes say nothing of what is seen.
    return info->comp_info[0].h_samp_factor == info->max_h_samp_factor &&
           info->comp_info[0].v_samp_factor == info->max_v_samp_factor;
}

/// `count * part / whole`, rounded up; at most 65,535 pixels and four parts of 64.
static int samples(JDIMENSION count, int part, int whole) {
    return (int)((count * (JDIMENSION)part + (JDIMENSION)whole - 1) / (JDIMENSION)whole);
}

int satchel_jpeg_start(satchel_jpeg_reader *reader, int has_small_colours, satchel_jpeg_plane *planes) {
    struct jpeg_decompress_struct *info = &reader->info;
    if (setjmp(reader->failure.out)) return -1;
    info->scale_num = 1;
    info->scale_denom = (unsigned)reader->shrink;
    info->raw_data_out = TRUE;
    info->out_color_space = JCS_YCbCr;
    info->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(info);
    reader->failure.is_within_scan = !info->inputctl->has_multiple_scans;
    if (!reader->decodes_plainly) satchel_jpeg_decode_huffman(info);
    if (has_small_colours) {
        // Else those that have fewer samples come out larger than light's part of them where the transform can do it.
        for (int i = 1; i < 3; i++) {
            jpeg_component_info *component = &info->comp_info[i];
            component->DCT_scaled_size = info->comp_info[0].DCT_scaled_size;
            // Of what comes in several scans nothing is decoded by MCUs, and a component that none of them has has no width.
            if (!info->inputctl->has_multiple_scans)
                component->MCU_sample_width = component->MCU_width * component->DCT_scaled_size;
        }
        info->idct->start_pass(info);
    }
    for (int i = 0; i < 3; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        int size = component->DCT_scaled_size;
        planes[i] = (satchel_jpeg_plane){
            .width = samples(info->image_width, component->h_samp_factor * size, info->max_h_samp_factor * DCTSIZE),
            .height = samples(info->image_height, component->v_samp_factor * size, info->max_v_samp_factor * DCTSIZE),
            .stride = (size_t)component->width_in_blocks * (size_t)size,
            .rows = component->v_samp_factor * size,
            .across = DCTSIZE * DCTSIZE * info->max_h_samp_factor / (component->h_samp_factor * size),
            .down = DCTSIZE * DCTSIZE * info->max_v_samp_factor / (component->v_samp_factor * size),
        };
    }
    return 0;
}

int satchel_jpeg_read(
    satchel_jpeg_reader *reader, unsigned char *first, unsigned char *second, unsigned char *third) {
    struct jpeg_decompress_struct *info = &reader->info;
    unsigned char *buffers[3] = {first, second, third};
    JSAMPROW rows[3][most_rows];
    JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
    for (int i = 0; i < 3; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        size_t stride = (size_t)component->width_in_blocks * (size_t)component->DCT_scaled_size;
        int count = component->v_samp_factor * component->DCT_scaled_size;
        for (int row = 0; row < count; row++) rows[i][row] = buffers[i] + (size_t)row * stride;
    }
    if (setjmp(reader->failure.out)) return -1;
    jpeg_read_raw_data(info, planes, most_rows);
    return 0;
}

int satchel_jpeg_has_end(satchel_jpeg_reader *reader) {
    reader->failure.is_within_scan = 0;
    reader->left_over = satchel_jpeg_huffman_left_over(&reader->info);
    int is_own = satchel_jpeg_huffman_is_decoding(&reader->info);
    satchel_jpeg_huffman_hand_back(&reader->info);
    // What follows the last row's data may be odd.
    if (!setjmp(reader->failure.out)) jpeg_finish_decompress(&reader->info);
    // What our own decoder has read ahead, libjpeg doesn't see.
    if (!is_own) reader->left_over = reader->failure.left_over;
    return !reader->failure.is_cut;
}

size_t satchel_jpeg_left_over(const satchel_jpeg_reader *reader) { return reader->left_over; }

const char *satchel_jpeg_message(const satchel_jpeg_reader *reader) { return reader->failure.message; }

void satchel_jpeg_close(satchel_jpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->info);
    free(reader);
}
