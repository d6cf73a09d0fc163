// Coefficients are what a JPEG has lost nothing of: coded anew they show the same, to the bit. Turned by whole blocks they show
// it upright, where no block is left over at the side that becomes the left or the upper one.

#include <stdlib.h>
#include <string.h>

#include "writer.h"

typedef struct {
    struct jpeg_decompress_struct from;
    struct jpeg_compress_struct to;
    satchel_jpeg_failure failure;
    satchel_jpeg_progress reading, writing;
    satchel_jpeg_output output;
} satchel_jpeg_keeper;

/// How a picture becomes upright: rows for columns first, then mirrored.
typedef struct {
    int transposes, mirrors_columns, mirrors_rows;
} satchel_jpeg_turn;

static satchel_jpeg_turn turn_by(int orientation) {
    static const satchel_jpeg_turn turns[] = {
        {0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1},
    };
    return turns[orientation >= 1 && orientation <= 8 ? orientation - 1 : 0];
}

static int is_turn(satchel_jpeg_turn turn) { return turn.transposes || turn.mirrors_columns || turn.mirrors_rows; }

/// Whether the sides that are mirrored end with whole MCUs.
static int is_exact(const struct jpeg_decompress_struct *from, satchel_jpeg_turn turn) {
    int is_grey = from->num_components == 1;
    JDIMENSION across = DCTSIZE * (JDIMENSION)(is_grey ? 1 : from->max_h_samp_factor);
    JDIMENSION down = DCTSIZE * (JDIMENSION)(is_grey ? 1 : from->max_v_samp_factor);
    int mirrors_width = turn.transposes ? turn.mirrors_rows : turn.mirrors_columns;
    int mirrors_height = turn.transposes ? turn.mirrors_columns : turn.mirrors_rows;
    return !(mirrors_width && from->image_width % across) && !(mirrors_height && from->image_height % down);
}

static JDIMENSION rounded(JDIMENSION count, int part) {
    JDIMENSION unit = (JDIMENSION)part;
    return (count + unit - 1) / unit * unit;
}

/// Memory for the turned coefficients, which comes to be with the source's.
static void request(j_decompress_ptr from, satchel_jpeg_turn turn, jvirt_barray_ptr *turned) {
    for (int i = 0; i < from->num_components; i++) {
        const jpeg_component_info *component = &from->comp_info[i];
        int across = turn.transposes ? component->v_samp_factor : component->h_samp_factor;
        int down = turn.transposes ? component->h_samp_factor : component->v_samp_factor;
        JDIMENSION width = turn.transposes ? component->height_in_blocks : component->width_in_blocks;
        JDIMENSION height = turn.transposes ? component->width_in_blocks : component->height_in_blocks;
        turned[i] = from->mem->request_virt_barray(
            (j_common_ptr)from, JPOOL_IMAGE, TRUE, rounded(width, across), rounded(height, down), (JDIMENSION)down);
    }
}

static void turn_block(const JCOEF *from, JCOEF *to, satchel_jpeg_turn turn) {
    for (int v = 0; v < DCTSIZE; v++) {
        for (int u = 0; u < DCTSIZE; u++) {
            JCOEF value = turn.transposes ? from[u * DCTSIZE + v] : from[v * DCTSIZE + u];
            // What is odd changes its sign in a mirror.
            int changes = (turn.mirrors_columns & u) ^ (turn.mirrors_rows & v);
            to[v * DCTSIZE + u] = (JCOEF)(changes & 1 ? -value : value);
        }
    }
}

static void turn_blocks(j_decompress_ptr from, jvirt_barray_ptr *stored, satchel_jpeg_turn turn, jvirt_barray_ptr *turned) {
    for (int i = 0; i < from->num_components; i++) {
        const jpeg_component_info *component = &from->comp_info[i];
        JDIMENSION width = turn.transposes ? component->height_in_blocks : component->width_in_blocks;
        JDIMENSION height = turn.transposes ? component->width_in_blocks : component->height_in_blocks;
        for (JDIMENSION y = 0; y < height; y++) {
            JBLOCKROW to = from->mem->access_virt_barray((j_common_ptr)from, turned[i], y, 1, TRUE)[0];
            JDIMENSION row = turn.mirrors_rows ? height - 1 - y : y;
            for (JDIMENSION x = 0; x < width; x++) {
                JDIMENSION column = turn.mirrors_columns ? width - 1 - x : x;
                JBLOCKROW blocks = from->mem->access_virt_barray(
                    (j_common_ptr)from, stored[i], turn.transposes ? column : row, 1, FALSE)[0];
                turn_block(blocks[turn.transposes ? row : column], to[x], turn);
            }
        }
    }
}

/// Swaps what a picture of rows for columns has the other way round.
static void transpose_parameters(j_compress_ptr to) {
    JDIMENSION width = to->image_width;
    to->image_width = to->image_height;
    to->image_height = width;
    for (int i = 0; i < to->num_components; i++) {
        jpeg_component_info *component = &to->comp_info[i];
        int across = component->h_samp_factor;
        component->h_samp_factor = component->v_samp_factor;
        component->v_samp_factor = across;
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        JQUANT_TBL *table = to->quant_tbl_ptrs[i];
        for (int v = 0; table && v < DCTSIZE; v++) {
            for (int u = 0; u < v; u++) {
                UINT16 value = table->quantval[v * DCTSIZE + u];
                table->quantval[v * DCTSIZE + u] = table->quantval[u * DCTSIZE + v];
                table->quantval[u * DCTSIZE + v] = value;
            }
        }
    }
}

static satchel_jpeg_kept keep(
    satchel_jpeg_keeper *keeper, const unsigned char *bytes, size_t count, satchel_jpeg_keeping form,
    satchel_jpeg_stops stops) {
    j_decompress_ptr from = &keeper->from;
    j_compress_ptr to = &keeper->to;
    satchel_jpeg_turn turn = turn_by(form.orientation);
    jvirt_barray_ptr turned[MAX_COMPONENTS];
    jpeg_create_decompress(from);
    jpeg_create_compress(to);
    satchel_jpeg_watch(&keeper->reading, (j_common_ptr)from, stops);
    satchel_jpeg_watch(&keeper->writing, (j_common_ptr)to, stops);
    jpeg_mem_src(from, bytes, count);
    jpeg_read_header(from, TRUE);
    int is_grey = from->num_components == 1 && from->jpeg_color_space == JCS_GRAYSCALE;
    int is_colour = from->num_components == 3 && from->jpeg_color_space == JCS_YCbCr;
    if (from->data_precision != 8 || !(is_grey || is_colour)) return SATCHEL_JPEG_IS_OTHER;
    if (!is_exact(from, turn)) return SATCHEL_JPEG_TURN_IS_INEXACT;
    if (is_turn(turn)) request(from, turn, turned);
    jvirt_barray_ptr *stored = jpeg_read_coefficients(from);
    if (keeper->failure.warnings) return SATCHEL_JPEG_IS_ODD;
    if (is_turn(turn)) turn_blocks(from, stored, turn, turned);
    jpeg_copy_critical_parameters(from, to);
    // A component alone is coded block by block, whatever its share is said to be.
    if (is_grey) to->comp_info[0].h_samp_factor = to->comp_info[0].v_samp_factor = 1;
    if (turn.transposes) transpose_parameters(to);
    to->JFIF_major_version = to->JFIF_minor_version = 1;
    to->density_unit = 0;
    to->X_density = to->Y_density = 1;
    to->optimize_coding = TRUE;
    if (form.scans == SATCHEL_JPEG_PROGRESSIVE) satchel_jpeg_use_scans(to);
    if (form.scans == SATCHEL_JPEG_SUCCESSIVE) jpeg_simple_progression(to);
    if (!satchel_jpeg_collect(&keeper->output, to)) ERREXIT1(to, JERR_OUT_OF_MEMORY, 0);
    jpeg_write_coefficients(to, is_turn(turn) ? turned : stored);
    if (form.profile) jpeg_write_icc_profile(to, form.profile, (unsigned)form.profile_count);
    jpeg_finish_compress(to);
    return SATCHEL_JPEG_IS_KEPT;
}

satchel_jpeg_kept satchel_jpeg_keep(
    const unsigned char *bytes, size_t count, satchel_jpeg_keeping form, satchel_jpeg_stops stops,
    unsigned char **kept, size_t *kept_count) {
    // Not on the stack: what lies there may be lost where libjpeg leaves by longjmp.
    satchel_jpeg_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper) return SATCHEL_JPEG_FAILED;
    keeper->from.err = keeper->to.err = satchel_jpeg_catch(&keeper->failure);
    volatile satchel_jpeg_kept result = SATCHEL_JPEG_FAILED;
    if (setjmp(keeper->failure.out) == 0) {
        result = keep(keeper, bytes, count, form, stops);
        if (result == SATCHEL_JPEG_IS_KEPT) satchel_jpeg_hand_over(&keeper->output, kept, kept_count);
    }
    // The turned coefficients are the source's.
    jpeg_destroy_compress(&keeper->to);
    jpeg_destroy_decompress(&keeper->from);
    free(keeper->output.bytes);
    free(keeper);
    return result;
}
