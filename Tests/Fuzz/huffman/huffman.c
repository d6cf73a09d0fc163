// Both decoders of Huffman codes on the same bytes. `make fuzz-huffman` gives it bytes that libFuzzer makes of the corpus;
// CodecsTests gives it the corpus.

#include "HuffmanFuzz.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"
#include "huffman.h"
// Behind jpeglib.h, whose types it needs.
#include <jpegint.h>

enum {
    most_mcus = 4096,
    most_samples = 1 << 20,
};

// MARK: Coefficients

/// What comes of a JPEG up to its last MCU.
typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf out;
    /// Of warnings in their order, with their figures.
    uint64_t warnings;
    /// libjpeg's last word, where it fails.
    char failure[JMSG_LENGTH_MAX];
    /// Bytes behind the last MCU; `unknown` of our own decoder where it left the rest to libjpeg's.
    size_t left_over;
    unsigned count;
    /// Of the coefficients, and of the warnings so far.
    uint64_t mcus[most_mcus];
} outcome;

static const size_t unknown = SIZE_MAX;

/// FNV-1a.
static uint64_t mixed(uint64_t hash, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return hash;
}

static void leave(j_common_ptr info) {
    outcome *result = (outcome *)info->err;
    info->err->format_message(info, result->failure);
    longjmp(result->out, 1);
}

static void hear(j_common_ptr info, int level) {
    if (level >= 0) return;
    char text[JMSG_LENGTH_MAX] = {0};
    info->err->format_message(info, text);
    outcome *result = (outcome *)info->err;
    result->warnings = mixed(result->warnings, text, strlen(text));
}

/// libjpeg's decoder of Huffman codes, as far as it is needed here: private to the library, and so of the version tried alone.
typedef struct {
    struct jpeg_entropy_decoder known;
    size_t bits;
    int bits_left;
} plain_decoder;

/// What lies behind the MCUs that libjpeg has decoded, up to the next marker: in its bits, then in the file.
static size_t plainly_left_over(const struct jpeg_decompress_struct *info) {
    const plain_decoder *state = (const plain_decoder *)info->entropy;
    size_t count = 0;
    int means_something = 0;
    for (int left = state->bits_left / 8; left > 0; left--, count++) {
        uint8_t byte = (uint8_t)(state->bits >> (8 * (left - 1)));
        means_something |= byte != 0 && byte != 0xff;
    }
    const uint8_t *byte = info->src->next_input_byte, *end = byte + info->src->bytes_in_buffer;
    // A marker that it has met already is passed.
    while (!info->unread_marker && byte < end) {
        int is_stuffed = *byte == 0xff;
        while (byte < end && *byte == 0xff) byte++;
        if (is_stuffed && (byte == end || *byte)) break;
        means_something |= *byte != 0 && *byte != 0xff;
        count++;
        byte++;
    }
    return means_something ? count : 0;
}

static void decode_coefficients(const uint8_t *bytes, size_t count, int is_own, outcome *result) {
    memset(result, 0, sizeof *result);
    result->left_over = unknown;
    struct jpeg_decompress_struct info = {.err = jpeg_std_error(&result->manager)};
    result->manager.error_exit = leave;
    result->manager.emit_message = hear;
    if (!setjmp(result->out)) {
        jpeg_create_decompress(&info);
        jpeg_mem_src(&info, bytes, count);
        jpeg_read_header(&info, TRUE);
        // Others are left alone, and have nothing to compare.
        if (!info.progressive_mode && !info.arith_code && !info.inputctl->has_multiple_scans) {
            jpeg_start_decompress(&info);
            if (is_own) satchel_jpeg_decode_huffman(&info);
            unsigned long mcus = (unsigned long)info.MCUs_per_row * info.MCU_rows_in_scan;
            while (result->count < mcus && result->count < most_mcus) {
                JBLOCK blocks[D_MAX_BLOCKS_IN_MCU] = {0};
                JBLOCKROW rows[D_MAX_BLOCKS_IN_MCU];
                for (int i = 0; i < D_MAX_BLOCKS_IN_MCU; i++) rows[i] = &blocks[i];
                if (!info.entropy->decode_mcu(&info, rows)) break;
                result->mcus[result->count++] = mixed(result->warnings, blocks, sizeof blocks);
            }
            if (!is_own) result->left_over = plainly_left_over(&info);
            else if (satchel_jpeg_huffman_is_decoding(&info)) result->left_over = satchel_jpeg_huffman_left_over(&info);
        }
    }
    jpeg_destroy_decompress(&info);
}

static const char *coefficient_difference(const uint8_t *bytes, size_t count) {
    // Tests of the corpus run side by side, and these are too large for their stacks.
    static _Thread_local outcome own, plain;
    static _Thread_local char text[100];
    decode_coefficients(bytes, count, 1, &own);
    decode_coefficients(bytes, count, 0, &plain);
    if (strcmp(own.failure, plain.failure)) return "the failures differ";
    if (own.count != plain.count) return "one ends before the other";
    for (unsigned i = 0; i < own.count; i++) {
        if (own.mcus[i] == plain.mcus[i]) continue;
        snprintf(text, sizeof text, "coefficients or warnings differ from MCU %u on", i);
        return text;
    }
    if (own.warnings != plain.warnings) return "the last warnings differ";
    if (own.left_over == unknown || own.left_over == plain.left_over) return NULL;
    snprintf(text, sizeof text, "%zu bytes are left over, and %zu by libjpeg", own.left_over, plain.left_over);
    return text;
}

// MARK: Planes

static int goes_on(void) { return 0; }

typedef struct {
    int result, has_end;
    char message[JMSG_LENGTH_MAX];
    /// Of all planes' rows.
    uint64_t samples;
    int rows;
} rendered;

static rendered decode_planes(const uint8_t *bytes, size_t count, int is_own, int shrink, int has_small_colours) {
    rendered result = {.result = -1};
    satchel_jpeg_plane planes[3];
    satchel_jpeg_reader *reader = satchel_jpeg_open(bytes, count, shrink, goes_on);
    if (!reader) return result;
    if (!is_own) satchel_jpeg_decode_plainly(reader);
    result.result = satchel_jpeg_read_header(reader);
    if (result.result == 1) result.result = satchel_jpeg_start(reader, has_small_colours, planes);
    else if (result.result == 0) result.result = 1;
    if (result.result == 0 && (long)planes[0].width * planes[0].height <= most_samples) {
        unsigned char *rows[3];
        for (int i = 0; i < 3; i++) rows[i] = calloc(planes[i].stride, (size_t)planes[i].rows);
        while (result.result == 0 && result.rows < planes[0].height) {
            result.result = satchel_jpeg_read(reader, rows[0], rows[1], rows[2]);
            if (result.result) break;
            for (int i = 0; i < 3; i++)
                result.samples = mixed(result.samples, rows[i], planes[i].stride * (size_t)planes[i].rows);
            result.rows += planes[0].rows;
        }
        for (int i = 0; i < 3; i++) free(rows[i]);
        if (result.result == 0) result.has_end = satchel_jpeg_has_end(reader);
    }
    if (result.result < 0) strcpy(result.message, satchel_jpeg_message(reader));
    satchel_jpeg_close(reader);
    return result;
}

static const char *plane_difference(const uint8_t *bytes, size_t count) {
    int shrink = 1 << (count & 3), has_small_colours = count >> 2 & 1;
    rendered own = decode_planes(bytes, count, 1, shrink, has_small_colours);
    rendered plain = decode_planes(bytes, count, 0, shrink, has_small_colours);
    if (own.result != plain.result || strcmp(own.message, plain.message)) return "planes fail differently";
    if (own.rows != plain.rows) return "one has more rows than the other";
    if (own.samples != plain.samples) return "samples differ";
    // What is left over is compared with the coefficients: here libjpeg tells of it by warnings alone, which count what is stuffed and
    // leave out what it has read ahead.
    return own.has_end == plain.has_end ? NULL : "one finds the end, and one doesn't";
}

/// Whether the first frame's header says no more pixels than the fuzzer has time for.
static int is_small(const uint8_t *bytes, size_t count) {
    for (size_t at = 2; at + 9 <= count && bytes[at] == 0xff; at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]))
        if ((bytes[at + 1] & 0xf0) == 0xc0 && bytes[at + 1] != 0xc4 && bytes[at + 1] != 0xcc)
            return (long)(bytes[at + 5] << 8 | bytes[at + 6]) * (bytes[at + 7] << 8 | bytes[at + 8]) <= most_samples;
    return 0;
}

/// Decodes all scans as far as they go and counts what is damaged, which ends within its bounds.
static const char *damage_difference(const uint8_t *bytes, size_t count) {
    satchel_jpeg_damage damage = {0};
    if (!is_small(bytes, count) || satchel_jpeg_find_damage(bytes, count, goes_on, &damage)) return NULL;
    return damage.missing < 0 || damage.missing > damage.rows ? "more rows are damaged than there are" : NULL;
}

const char *huffman_difference(const uint8_t *bytes, size_t count) {
    const char *difference = coefficient_difference(bytes, count);
    if (!difference) difference = plane_difference(bytes, count);
    return difference ? difference : damage_difference(bytes, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const char *difference = huffman_difference(bytes, count);
    if (difference) {
        fprintf(stderr, "%s\n", difference);
        abort();
    }
    return 0;
}

// MARK: Mutation

/// Where the first scan's data begins; 0 where there is none.
static size_t scan_start(const uint8_t *bytes, size_t count) {
    for (size_t at = 2; at + 4 <= count && bytes[at] == 0xff;) {
        size_t next = at + 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        if (bytes[at + 1] == 0xda) return next < count ? next : 0;
        at = next;
    }
    return 0;
}

/// Where the last scan's header begins, of one scan or several; 0 where there is none.
static size_t last_scan(const uint8_t *bytes, size_t count) {
    for (size_t at = count; at-- > 2;)
        if (bytes[at - 1] == 0xff && bytes[at] == 0xda) return at + 1 < count ? at + 1 : 0;
    return 0;
}

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t count, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned seed);

/// Mostly of what Huffman codes are read from: of changed headers most are refused before it comes to that.
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t most, unsigned seed) {
    size_t start = seed % 4 == 0 ? 0 : seed % 4 == 1 ? last_scan(bytes, count) : scan_start(bytes, count);
    return start + LLVMFuzzerMutate(bytes + start, count - start, most - start);
}
