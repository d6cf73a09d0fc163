// Half of what a photograph costs is decoding its Huffman codes. libjpeg-turbo reads bytes one by one and looks up a code's
// length and symbol, then the bits of the value behind it. Here the bytes that are stuffed behind each 0xFF go first, many at
// a time; then eight bytes are read at once, without a branch (Giesen, "Reading bits in far too many ways", variant 4), and
// one look gives the next two coefficients that are not zero, with how many are zero before each. It takes 0.6 of
// libjpeg-turbo's time, with what follows (the transforms) included.
//
// ITU-T T.81: F.2.2 for the codes, B.1.1.5 for the stuffing, E.2.4 for restarts.

#include "huffman.h"

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// Behind jpeglib.h, whose types they need.
#include <jerror.h>
#include <jpegint.h>

// What is used here is private to libjpeg-turbo, and may mean something else in another version. A new one gets its line when
// HuffmanTests and half an hour of `make fuzz-huffman` have passed with it.

#if LIBJPEG_TURBO_VERSION_NUMBER == 2001005  // Debian 12 and 13
#define TRIED_COPYRIGHT "Copyright (C) 1991-2023 The libjpeg-turbo Project and many others"
#endif

#ifdef TRIED_COPYRIGHT

int satchel_jpeg_huffman_is_tried(void) {
    // The linker may find another version than the compiler did, and none tells its number; but its messages tell 2.1.5 from
    // those before by their year, and from those behind by their count.
    struct jpeg_error_mgr manager;
    jpeg_std_error(&manager);
    return manager.last_jpeg_message == JMSG_LASTMSGCODE - 1 &&
           !strcmp(manager.jpeg_message_table[JMSG_COPYRIGHT], TRIED_COPYRIGHT);
}

enum {
    /// Bits of a look: nearly all codes with their values are shorter, and a table of 16 kB stays near. Measured on
    /// photographs: 10 bits cost 4 % more, 9 bits a quarter, 12 bits as much.
    look = 11,
    /// Blocks have 64 coefficients of at most 16 + 15 bits, and an MCU at most 10 blocks.
    most_mcu_bytes = D_MAX_BLOCKS_IN_MCU * DCTSIZE2 * 31 / 8 + 8,
    window_bytes = 32 << 10,
};

/// What a look gives.
typedef struct {
    /// Where the value is not in the look: its bits.
    int16_t value;
    /// Coefficients before it that are zero; 64 ends the block.
    uint8_t zeros;
    /// Bits of the code and of the value behind it, or of the code and ``without_value``; 0 where the code is longer.
    uint8_t length;
} looked;

enum { without_value = 0x80 };

/// What a look at a block's coefficients gives: one, and the one behind it where both are in the look.
typedef struct {
    looked first;
    int16_t value;
    uint8_t zeros;
    /// Bits of both; the first's where there is no second.
    uint8_t length;
} looked_twice;

/// A code's symbols beyond a look.
typedef struct {
    /// By length: one more than the last code, in 16 bits, and what its index in `symbols` is more than the code.
    uint32_t ends[17];
    int32_t offsets[17];
    const uint8_t *symbols;
} long_codes;

typedef struct {
    looked looks[1 << look];
    long_codes longer;
} dc_table;

typedef struct {
    looked_twice looks[1 << look];
    long_codes longer;
} ac_table;

typedef struct {
    boolean (*original)(j_decompress_ptr, JBLOCKROW *);
    /// MCUs that were decoded.
    unsigned long done;
    /// The rest of the file as it is.
    const uint8_t *at, *end;
    /// Bits that come next, the first one highest.
    uint64_t bits;
    /// How many of them were read.
    unsigned left;
    /// The rest of the window, without stuffing.
    const uint8_t *next, *filled;
    /// Whether a marker, or the file's end, follows the window.
    int is_last;
    /// Whether it is the file's end, or none that libjpeg takes for a marker.
    int is_cut;
    unsigned restarts_in, restart;
    int dc[MAX_COMPS_IN_SCAN];
    dc_table dc_tables[NUM_HUFF_TBLS];
    ac_table ac_tables[NUM_HUFF_TBLS];
    uint8_t window[window_bytes + most_mcu_bytes + 16];
} decoder;

/// Where in a block each coefficient of the zigzag is; runs that are too long end on the last.
static const uint8_t places[64 + 80] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,
    7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46,
    53, 60, 61, 54, 47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63,
};

/// The value that `size` bits mean (F.2.2.1, EXTEND).
static inline int extended(unsigned bits, unsigned size) {
    return size && bits < 1u << (size - 1) ? (int)bits - (1 << size) + 1 : (int)bits;
}

/// A symbol's zeros, and its value's bits (F.1.2.1.1, F.1.2.2.1).
static looked meaning(unsigned symbol, int is_dc) {
    unsigned size = symbol & 15, zeros = symbol >> 4;
    if (is_dc) zeros = 0;
    else if (!size) zeros = zeros == 15 ? 15 : 64;
    return (looked){.value = (int16_t)size, .zeros = (uint8_t)zeros};
}

/// Makes what looks give, one coefficient each, and what finds longer codes.
///
/// - `is_dc`: a symbol is a size alone, and not zeros and a size.
static void prepare(looked *looks, long_codes *longer, const JHUFF_TBL *codes, int is_dc) {
    memset(looks, 0, sizeof(looked) << look);
    longer->symbols = codes->huffval;
    uint32_t code = 0;
    int index = 0;
    for (unsigned length = 1; length <= 16; length++) {
        longer->offsets[length] = index - (int)code;
        for (int i = 0; i < codes->bits[length] && index < 256; i++, index++, code++) {
            if (length > look || code >> length) continue;
            looked symbol = meaning(codes->huffval[index], is_dc);
            unsigned size = (unsigned)symbol.value, spare = look - length;
            looked *same = &looks[code << spare];
            for (unsigned rest = 0; rest < 1u << spare; rest++) {
                same[rest] = symbol;
                same[rest].length = (uint8_t)(length | without_value);
                if (size > spare) continue;
                same[rest].value = (int16_t)extended(rest >> (spare - size), size);
                same[rest].length = (uint8_t)(length + size);
            }
        }
        longer->ends[length] = code << (16 - length);
        code <<= 1;
    }
}

/// Whether a look gives a coefficient with its value.
static inline int is_complete(looked found) { return found.length - 1u < without_value - 1u; }

/// The same for a block's coefficients, two of them where both are in a look.
static void prepare_twice(ac_table *made, const JHUFF_TBL *codes) {
    looked looks[1 << look];
    prepare(looks, &made->longer, codes, 0);
    for (unsigned bits = 0; bits < 1u << look; bits++) {
        looked first = looks[bits];
        made->looks[bits] = (looked_twice){.first = first, .length = first.length};
        if (!is_complete(first) || first.zeros == 64) continue;
        looked second = looks[bits << first.length & ((1u << look) - 1)];
        if (!is_complete(second) || first.length + second.length > look) continue;
        made->looks[bits].value = second.value;
        made->looks[bits].zeros = second.zeros;
        made->looks[bits].length = (uint8_t)(first.length + second.length);
    }
}

/// Fills the window as far as data goes.
static void fill(decoder *state) {
    size_t kept = (size_t)(state->filled - state->next);
    memmove(state->window, state->next, kept);
    uint8_t *to = state->window + kept, *limit = state->window + window_bytes;
    while (to < limit && !state->is_last) {
        size_t room = (size_t)(limit - to), rest = (size_t)(state->end - state->at), most = room < rest ? room : rest;
        const uint8_t *stop = memchr(state->at, 0xff, most);
        size_t count = stop ? (size_t)(stop - state->at) : most;
        memcpy(to, state->at, count);
        to += count;
        state->at += count;
        if (!stop && count != rest) break;
        // A marker may have more of them before it (B.1.1.2); what a zero means then, libjpeg itself isn't sure of.
        while (state->end - state->at >= 2 && state->at[1] == 0xff) state->at++;
        if (state->at == stop && state->end - stop >= 2 && !stop[1]) {
            *to++ = 0xff;
            state->at += 2;
        } else {
            state->is_last = 1;
            state->is_cut = state->end - state->at < 2 || !state->at[1];
        }
    }
    // What is read beyond the end is noticed after the MCU.
    if (state->is_last) memset(to, 0, most_mcu_bytes + 16);
    state->next = state->window;
    state->filled = to;
}

static inline uint64_t eight(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return be64toh(word);
}

/// Bits in registers while an MCU is decoded.
typedef struct {
    uint64_t bits;
    unsigned left;
    const uint8_t *next;
} reading;

/// At least 56 bits.
static inline void refill(reading *from) {
    from->bits |= eight(from->next) >> from->left;
    from->next += (63 - from->left) >> 3;
    from->left |= 56;
}

static inline void drop(reading *from, unsigned count) {
    from->bits <<= count;
    from->left -= count;
}

/// A code of more bits than a look has, or its beginning where there is none: then `length` is 0.
static looked longer(uint64_t bits, const long_codes *codes, int is_dc) {
    uint32_t next = (uint32_t)(bits >> 48);
    unsigned length = look + 1;
    while (length <= 16 && next >= codes->ends[length]) length++;
    if (length > 16) return (looked){0};
    looked found = meaning(codes->symbols[(int)(next >> (16 - length)) + codes->offsets[length]], is_dc);
    found.length = (uint8_t)(length | without_value);
    return found;
}

/// The next coefficient that is not zero, or what ends the block; of a code that is none, `length` is 0. At least 31 bits
/// must have been read where the look doesn't do, else as many as a look has.
static inline looked complete(reading *from, looked found, const long_codes *codes, int is_dc) {
    if (!found.length) found = longer(from->bits, codes, is_dc);
    if (!found.length) return found;
    unsigned size = (unsigned)found.value;
    drop(from, found.length & ~without_value);
    // In two steps, as a shift by 64 is none.
    found.value = (int16_t)extended((unsigned)(from->bits >> 1 >> (63 - size)), size);
    drop(from, size);
    return found;
}

/// Returns 0 where a code is none.
static inline int decode_block(reading *from, const dc_table *dc_codes, const ac_table *ac_codes, int *dc, JCOEF *block) {
    refill(from);
    looked level = dc_codes->looks[from->bits >> (64 - look)];
    if (is_complete(level)) {
        drop(from, level.length);
    } else {
        level = complete(from, level, &dc_codes->longer, 1);
        if (!level.length) return 0;
    }
    *dc += level.value;
    block[0] = (JCOEF)*dc;
    for (unsigned at = 1; at < DCTSIZE2;) {
        refill(from);
        // Four looks take at most 44 bits.
        for (int i = 0; i < 4 && at < DCTSIZE2; i++) {
            const looked_twice *found = &ac_codes->looks[from->bits >> (64 - look)];
            looked first = found->first;
            if (!is_complete(first)) {
                refill(from);
                first = complete(from, first, &ac_codes->longer, 0);
                if (!first.length) return 0;
                at += first.zeros;
                block[places[at++]] = first.value;
                break;
            }
            at += first.zeros;
            // Where the block ends, or 16 are zero, this writes a zero to what is zero.
            block[places[at++]] = first.value;
            if (at >= DCTSIZE2) {
                drop(from, first.length);
                break;
            }
            // As this does where there is no second.
            block[places[at + found->zeros]] = found->value;
            at += found->zeros + (found->length != first.length);
            drop(from, found->length);
        }
    }
    return 1;
}

/// Goes over to the part behind the marker that is due. Returns 0 where there is another or none.
static int restart(decoder *state, const struct jpeg_decompress_struct *info) {
    size_t unread = (size_t)(state->filled - state->next) + state->left / 8;
    if (unread || state->end - state->at < 2 || state->at[0] != 0xff || state->at[1] != JPEG_RST0 + state->restart)
        return 0;
    state->at += 2;
    state->restart = (state->restart + 1) & 7;
    state->restarts_in = info->restart_interval;
    state->bits = 0;
    state->left = 0;
    state->is_last = 0;
    state->next = state->filled = state->window;
    memset(state->dc, 0, sizeof state->dc);
    return 1;
}

/// Returns 0 where something is odd.
static int decode_quickly(decoder *state, struct jpeg_decompress_struct *info, JBLOCKROW *blocks) {
    if (info->restart_interval) {
        if (!state->restarts_in && !restart(state, info)) return 0;
        state->restarts_in--;
    }
    if (state->filled - state->next < most_mcu_bytes) {
        if (!state->is_last) fill(state);
        // libjpeg reads ahead, and finds the file's end before it needs what is missing.
        if (state->is_cut && state->filled - state->next < most_mcu_bytes) return 0;
    }
    reading from = {state->bits, state->left, state->next};
    for (int i = 0; i < info->blocks_in_MCU; i++) {
        int component = info->MCU_membership[i];
        const jpeg_component_info *facts = info->cur_comp_info[component];
        if (!decode_block(
                &from, &state->dc_tables[facts->dc_tbl_no], &state->ac_tables[facts->ac_tbl_no], &state->dc[component],
                *blocks[i]))
            return 0;
        if (state->dc[component] != (JCOEF)state->dc[component]) return 0;
    }
    // More bits than there are.
    if (from.next > state->filled && (size_t)(from.next - state->filled) * 8 > from.left) return 0;
    state->bits = from.bits;
    state->left = from.left;
    state->next = from.next;
    return 1;
}

/// In the place of libjpeg's.
static boolean decode_mcu(struct jpeg_decompress_struct *info, JBLOCKROW *blocks) {
    decoder *state = info->client_data;
    if (decode_quickly(state, info, blocks)) {
        state->done++;
        return TRUE;
    }
    // Its own state and place in the file are those at the scan's start.
    info->entropy->decode_mcu = state->original;
    for (unsigned long i = 0; i < state->done; i++) state->original(info, blocks);
    for (int i = 0; i < info->blocks_in_MCU; i++) memset(*blocks[i], 0, sizeof(JBLOCK));
    return state->original(info, blocks);
}

void satchel_jpeg_decode_huffman(struct jpeg_decompress_struct *info) {
    if (info->progressive_mode || info->arith_code || info->inputctl->has_multiple_scans) return;
    decoder *state = info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE, sizeof(decoder));
    memset(state, 0, offsetof(decoder, dc_tables));
    state->at = info->src->next_input_byte;
    state->end = state->at + info->src->bytes_in_buffer;
    state->next = state->filled = state->window;
    state->restarts_in = info->restart_interval;
    for (int i = 0; i < info->comps_in_scan; i++) {
        const jpeg_component_info *facts = info->cur_comp_info[i];
        dc_table *dc = &state->dc_tables[facts->dc_tbl_no];
        prepare(dc->looks, &dc->longer, info->dc_huff_tbl_ptrs[facts->dc_tbl_no], 1);
        prepare_twice(&state->ac_tables[facts->ac_tbl_no], info->ac_huff_tbl_ptrs[facts->ac_tbl_no]);
    }
    state->original = info->entropy->decode_mcu;
    info->client_data = state;
    info->entropy->decode_mcu = decode_mcu;
}

int satchel_jpeg_huffman_is_decoding(const struct jpeg_decompress_struct *info) {
    return info->entropy->decode_mcu == decode_mcu;
}

static int is_padding(uint8_t byte) { return byte == 0 || byte == 0xff; }

size_t satchel_jpeg_huffman_left_over(const struct jpeg_decompress_struct *info) {
    if (!satchel_jpeg_huffman_is_decoding(info)) return 0;
    const decoder *state = info->client_data;
    size_t count = 0;
    int means_something = 0;
    // A byte that was begun is filled up with ones.
    uint64_t bits = state->left % 8 ? state->bits << state->left % 8 : state->bits;
    size_t beyond = state->next > state->filled ? (size_t)(state->next - state->filled) : 0;
    for (size_t left = state->left / 8; left > beyond; left--, bits <<= 8, count++)
        means_something |= !is_padding((uint8_t)(bits >> 56));
    for (const uint8_t *byte = state->next; byte < state->filled; byte++, count++) means_something |= !is_padding(*byte);
    // Behind the window, up to the next marker as libjpeg takes them: of bytes of 255 before a zero one is data.
    for (const uint8_t *byte = state->at; byte < state->end; byte++, count++) {
        if (*byte != 0xff) {
            means_something |= !is_padding(*byte);
            continue;
        }
        while (byte < state->end && *byte == 0xff) byte++;
        if (byte == state->end || *byte) break;
    }
    return means_something ? count : 0;
}

void satchel_jpeg_huffman_hand_back(struct jpeg_decompress_struct *info) {
    if (!satchel_jpeg_huffman_is_decoding(info)) return;
    const decoder *state = info->client_data;
    info->src->next_input_byte = state->at;
    info->src->bytes_in_buffer = (size_t)(state->end - state->at);
}

#else

int satchel_jpeg_huffman_is_tried(void) { return 0; }

void satchel_jpeg_huffman_hand_back(struct jpeg_decompress_struct *info) { (void)info; }

size_t satchel_jpeg_huffman_left_over(const struct jpeg_decompress_struct *info) { return info == NULL; }

void satchel_jpeg_decode_huffman(struct jpeg_decompress_struct *info) { (void)info; }

int satchel_jpeg_huffman_is_decoding(const struct jpeg_decompress_struct *info) { return info == NULL; }

#endif
