// Whether our decoder of Huffman codes is used, which is decided once in a process.

#include <string.h>

#include "failure.h"
#include "huffman.h"
#include "picture.h"
// Behind jpeglib.h, whose types it needs.
#include <jpegint.h>

int satchel_jpeg_huffman_is_used = 0;

enum { picture_mcus = 4, mcu_blocks = 6 };

/// What comes of the embedded picture, or of its beginning.
typedef struct {
    int mcus, is_own;
    char message[JMSG_LENGTH_MAX];
    JBLOCK blocks[picture_mcus][mcu_blocks];
} decoded;

static void decode(const unsigned char *bytes, size_t count, int is_own, decoded *result) {
    struct jpeg_decompress_struct info = {0};
    satchel_jpeg_failure failure;
    memset(result, 0, sizeof *result);
    info.err = satchel_jpeg_catch(&failure);
    if (!setjmp(failure.out)) {
        jpeg_create_decompress(&info);
        jpeg_mem_src(&info, bytes, count);
        jpeg_read_header(&info, TRUE);
        jpeg_start_decompress(&info);
        failure.is_within_scan = 1;
        if (is_own) satchel_jpeg_decode_huffman(&info);
        for (; result->mcus < picture_mcus; result->mcus++) {
            JBLOCKROW blocks[mcu_blocks];
            for (int i = 0; i < mcu_blocks; i++) blocks[i] = &result->blocks[result->mcus][i];
            info.entropy->decode_mcu(&info, blocks);
        }
        result->is_own = satchel_jpeg_huffman_is_decoding(&info);
    }
    strcpy(result->message, failure.message);
    jpeg_destroy_decompress(&info);
}

int satchel_jpeg_version(void) { return LIBJPEG_TURBO_VERSION_NUMBER; }

static int is_right(void) {
    static const size_t middle = sizeof picture - 64;
    // As it is with a marker where none belongs, without its end, and whole, which needs no help of libjpeg's.
    for (int trial = 0; trial < 3; trial++) {
        unsigned char bytes[sizeof picture];
        memcpy(bytes, picture, sizeof bytes);
        if (trial == 0) memcpy(bytes + middle, "\xff\xd9", 2);
        size_t count = trial == 1 ? middle : sizeof bytes;
        decoded own, plain;
        decode(bytes, count, 1, &own);
        decode(bytes, count, 0, &plain);
        if (own.is_own != (trial == 2) || own.mcus != plain.mcus || strcmp(own.message, plain.message) ||
            memcmp(own.blocks, plain.blocks, sizeof own.blocks))
            return 0;
    }
    return 1;
}

int satchel_jpeg_use_own_huffman(void) {
    int is_tried = satchel_jpeg_huffman_is_tried();
    satchel_jpeg_huffman_is_used = is_tried && is_right();
    return satchel_jpeg_huffman_is_used ? 1 : is_tried ? -1 : 0;
}
