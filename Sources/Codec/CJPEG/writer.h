#ifndef SATCHEL_CJPEG_WRITER_H
#define SATCHEL_CJPEG_WRITER_H

#include "failure.h"

/// Where a JPEG goes: memory that grows. The first member is what libjpeg knows.
typedef struct {
    struct jpeg_destination_mgr manager;
    /// The owner's, to be freed whatever became of the encode.
    unsigned char *bytes;
    size_t capacity;
} satchel_jpeg_output;

/// Has `info` write into memory. Returns 0 where there is none.
int satchel_jpeg_collect(satchel_jpeg_output *output, struct jpeg_compress_struct *info);

/// Has `info`, whose components are known, write one or three of them in several scans.
void satchel_jpeg_use_scans(struct jpeg_compress_struct *info);

/// Hands over what was written. The caller frees it.
void satchel_jpeg_hand_over(satchel_jpeg_output *output, unsigned char **bytes, size_t *count);

#endif
