#ifndef SATCHEL_CJPEG_FAILURE_H
#define SATCHEL_CJPEG_FAILURE_H

#include <setjmp.h>
#include <stdio.h>
// jpeglib.h needs FILE.
#include <jerror.h>
#include <jpeglib.h>

#include "CJPEG.h"

/// Where libjpeg's errors go. The first member is what libjpeg knows.
typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf out;
    char message[JMSG_LENGTH_MAX];
} satchel_jpeg_failure;

/// Has errors leave through `failure->out`, which must be set before libjpeg is called.
struct jpeg_error_mgr *satchel_jpeg_catch(satchel_jpeg_failure *failure);

/// libjpeg's progress, with whom to ask about stopping.
typedef struct {
    struct jpeg_progress_mgr manager;
    satchel_jpeg_stops stops;
} satchel_jpeg_progress;

/// Has `info` stop where `stops` says so, and where a JPEG has more scans than any that was made to be seen.
void satchel_jpeg_watch(satchel_jpeg_progress *progress, j_common_ptr info, satchel_jpeg_stops stops);

#endif
