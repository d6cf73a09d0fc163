#define _GNU_SOURCE
#include "writeback.h"

#include <fcntl.h>

void csandbox_begin_writeback(int descriptor, int64_t offset, int64_t bytes) {
    (void)sync_file_range(descriptor, offset, bytes, SYNC_FILE_RANGE_WRITE);
}

void csandbox_give_back(int descriptor, int64_t offset, int64_t bytes) {
    (void)fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}
