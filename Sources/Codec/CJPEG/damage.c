// libjpeg decodes what is damaged as far as it goes, and says where it begins. Each MCU is decoded through a function of ours,
// which counts what comes after such a word: up to the next restart, else to the end of the scan.

#include <stdlib.h>
#include <string.h>

#include "failure.h"
// Behind jpeglib.h, whose types it needs.
#include <jpegint.h>

typedef struct {
    boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW *);
    void (*start_pass)(j_decompress_ptr);
    /// MCUs of the scan that were decoded.
    size_t done;
    int is_damaged;
    /// Which components any scan had.
    int seen[MAX_COMPONENTS];
    /// Of the picture: another frame's header behind it may change what libjpeg says.
    JDIMENSION image_width, image_height;
    /// Of each of the largest MCUs, whether any scan lacks something of it.
    size_t columns, rows;
    unsigned char damaged[];
} damage_search;

/// Takes note that `count` MCUs from `first` on are damaged.
static void note(damage_search *state, const struct jpeg_decompress_struct *info, size_t first, size_t count) {
    for (size_t at = first; at < first + count; at++) {
        size_t row = at / info->MCUs_per_row, column = at % info->MCUs_per_row;
        // A component alone has blocks for MCUs, as many of them in one of the largest MCUs as its share.
        if (info->comps_in_scan == 1) {
            row /= (size_t)info->cur_comp_info[0]->v_samp_factor;
            column /= (size_t)info->cur_comp_info[0]->h_samp_factor;
        }
        if (row < state->rows && column < state->columns) state->damaged[row * state->columns + column] = 1;
    }
}

/// Whether an MCU is lighter or darker by far than any picture can be: its codes were changed, or those of one before it.
static int is_impossible(const struct jpeg_decompress_struct *info, const JBLOCKROW *blocks) {
    if (info->progressive_mode) return 0;
    for (int i = 0; i < info->blocks_in_MCU; i++) {
        const JQUANT_TBL *table = info->cur_comp_info[info->MCU_membership[i]]->quant_table;
        if (!blocks[i] || !table) continue;
        // Eight times as much as 128, with as much again for whoever sharpens.
        int step = table->quantval[0], level = abs((*blocks[i])[0]) * step;
        if (level > 2 * DCTSIZE * CENTERJSAMPLE + step) return 1;
    }
    return 0;
}

static boolean decode_mcu(j_decompress_ptr info, JBLOCKROW *blocks) {
    damage_search *state = info->client_data;
    unsigned interval = info->restart_interval;
    int restarts = interval && state->done && state->done % interval == 0;
    int was_damaged = state->is_damaged;
    if (restarts) state->is_damaged = 0;
    long before = info->err->num_warnings;
    boolean result = state->decode_mcu(info, blocks);
    if (info->err->num_warnings != before) {
        state->is_damaged = 1;
        // What is left over before a restart, or a restart that isn't due, speaks of the part before it too, where that
        // hasn't spoken for itself from where it is damaged.
        if (restarts && !was_damaged) note(state, info, state->done - interval, interval);
    }
    // Arithmetic codes go on as zeros where the file ends, without a word.
    if (info->arith_code && ((satchel_jpeg_failure *)info->err)->is_cut) state->is_damaged = 1;
    if (result && !state->is_damaged && is_impossible(info, blocks)) state->is_damaged = 1;
    if (state->is_damaged) note(state, info, state->done, 1);
    state->done++;
    return result;
}

/// Of the scan that libjpeg has set up.
static void begin_scan(j_decompress_ptr info) {
    damage_search *state = info->client_data;
    // Only decoders of progressive and arithmetic codes set their function anew for each scan; else it is still ours.
    if (info->entropy->decode_mcu != decode_mcu) state->decode_mcu = info->entropy->decode_mcu;
    info->entropy->decode_mcu = decode_mcu;
    state->done = 0;
    state->is_damaged = 0;
    for (int i = 0; i < info->comps_in_scan; i++) state->seen[info->cur_comp_info[i]->component_index] = 1;
}

static void start_pass(j_decompress_ptr info) {
    ((damage_search *)info->client_data)->start_pass(info);
    begin_scan(info);
}

static void began(j_common_ptr common) {
    j_decompress_ptr info = (j_decompress_ptr)common;
    size_t width = (size_t)info->max_h_samp_factor * DCTSIZE;
    size_t columns = (info->image_width + width - 1) / width, rows = info->total_iMCU_rows;
    // At most a byte for 64 pixels. It is read when the picture is finished, and what is the image's is gone.
    damage_search *state = info->mem->alloc_large(common, JPOOL_PERMANENT, sizeof(damage_search) + columns * rows);
    *state = (damage_search){
        .start_pass = info->entropy->start_pass,
        .image_width = info->image_width,
        .image_height = info->image_height,
        .columns = columns,
        .rows = rows,
    };
    memset(state->damaged, 0, columns * rows);
    info->client_data = state;
    info->entropy->start_pass = start_pass;
    begin_scan(info);
}

/// Whether the scans up to the end of the file hold all that scans can: of a file that was cut, there may have been more.
static int has_all_scans(const struct jpeg_decompress_struct *info) {
    const damage_search *state = info->client_data;
    for (int i = 0; i < info->num_components; i++) {
        if (!state->seen[i]) return 0;
        for (int at = 0; info->coef_bits && at < DCTSIZE2; at++)
            if (info->coef_bits[i][at]) return 0;
    }
    return 1;
}

static int missing_rows(const struct jpeg_decompress_struct *info) {
    const damage_search *state = info->client_data;
    unsigned long long missing = 0;
    size_t width = (size_t)info->max_h_samp_factor * DCTSIZE, height = (size_t)info->max_v_samp_factor * DCTSIZE;
    for (size_t row = 0; row < state->rows; row++) {
        size_t below = state->image_height - row * height;
        for (size_t column = 0; column < state->columns; column++) {
            if (!state->damaged[row * state->columns + column]) continue;
            size_t beside = state->image_width - column * width;
            missing += (unsigned long long)(below < height ? below : height) * (beside < width ? beside : width);
        }
    }
    return (int)((missing + state->image_width - 1) / state->image_width);
}

/// Whether more of the data follows the first marker in `bytes`, up to the end marker: then it stands where none belongs. Behind
/// a picture's own end come other pictures, films or nothing. Where the data has restarts (`restarts`), those are a part of it.
static int is_stray(const unsigned char *bytes, size_t count, int restarts) {
    /// Fewer may be what was left over.
    enum { least = 64 };
    size_t first = count;
    for (size_t at = 0; at + 1 < count; at++) {
        if (bytes[at] != 0xff || bytes[at + 1] == 0 || bytes[at + 1] == 0xff) continue;
        int is_restart = restarts && bytes[at + 1] >= JPEG_RST0 && bytes[at + 1] < JPEG_RST0 + 8;
        if (first == count) {
            // What ran short is an interval, which a restart ends.
            if (is_restart) return 0;
            first = at++;
        } else if (is_restart) {
            at++;
        } else {
            return bytes[at + 1] == JPEG_EOI && at - first >= least;
        }
    }
    return 0;
}

int satchel_jpeg_find_damage(
    const unsigned char *bytes, size_t count, satchel_jpeg_stops stops, satchel_jpeg_damage *damage) {
    struct jpeg_decompress_struct info = {0};
    satchel_jpeg_failure failure;
    satchel_jpeg_progress progress;
    info.err = satchel_jpeg_catch(&failure);
    failure.is_lenient = 1;
    if (setjmp(failure.out)) {
        jpeg_destroy_decompress(&info);
        return -1;
    }
    jpeg_create_decompress(&info);
    satchel_jpeg_watch(&progress, (j_common_ptr)&info, stops);
    jpeg_mem_src(&info, bytes, count);
    jpeg_read_header(&info, TRUE);
    // As little as can be besides the codes.
    info.out_color_space = info.jpeg_color_space;
    info.scale_denom = 8;
    info.do_fancy_upsampling = FALSE;
    info.do_block_smoothing = FALSE;
    progress.began = began;
    jpeg_start_decompress(&info);
    int has_several_scans = info.inputctl->has_multiple_scans;
    if (!has_several_scans) {
        if (progress.began) began((j_common_ptr)&info);
        progress.began = NULL;
        failure.is_within_scan = 1;
        JSAMPARRAY row = info.mem->alloc_sarray(
            (j_common_ptr)&info, JPOOL_IMAGE, info.output_width * (JDIMENSION)info.output_components, 1);
        while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, row, 1);
        failure.is_within_scan = 0;
        // What follows the last row's data may be odd.
        if (!setjmp(failure.out)) jpeg_finish_decompress(&info);
    }
    *damage = (satchel_jpeg_damage){
        .rows = (int)((const damage_search *)info.client_data)->image_height,
        .missing = missing_rows(&info),
        .is_cut = failure.is_cut,
        .ends_early = failure.is_short,
        .has_stray_marker =
            failure.is_short && is_stray(bytes + count - failure.behind, failure.behind, info.restart_interval > 0),
        .left_over = failure.left_over,
        .has_several_scans = has_several_scans,
    };
    if (has_several_scans && failure.is_cut && !has_all_scans(&info)) damage->missing = damage->rows;
    jpeg_destroy_decompress(&info);
    return 0;
}
