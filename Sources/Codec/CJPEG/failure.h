#ifndef SATCHEL_CJPEG_FAILURE_H
#define SATCHEL_CJPEG_FAILURE_H

#include <setjmp.h>
#include <stdio.h>
// jpeglib.h needs FILE, and jerror.h what it configures.
#include <jpeglib.h>

#include <jerror.h>

#include "CJPEG.h"

/// Where libjpeg's errors go. The first member is what libjpeg knows.
typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf out;
    char message[JMSG_LENGTH_MAX];
    /// Whether what is damaged or missing is decoded as far as it goes.
    int is_lenient;
    /// Whether nothing but restarts can look for a marker.
    int is_within_scan;
    /// Whether the file ended before its end marker.
    int is_cut;
    /// Whether the first damage was that a marker came before the data that was due.
    int is_short;
    /// Bytes of the file from where that was noticed.
    size_t behind;
    /// Bytes of data that nothing asked for and that aren't all padding: behind a restart's or the last row's.
    size_t left_over;
    /// How often libjpeg wondered at anything.
    int warnings;
} satchel_jpeg_failure;

/// Has errors leave through `failure->out`, which must be set before libjpeg is called; so does what is missing or damaged
/// in the data, unless `is_lenient` is set.
struct jpeg_error_mgr *satchel_jpeg_catch(satchel_jpeg_failure *failure);

/// libjpeg's progress, with whom to ask about stopping.
typedef struct {
    struct jpeg_progress_mgr manager;
    satchel_jpeg_stops stops;
    /// Called once, when libjpeg is set up to decode and before it does where it reads all scans at once.
    void (*began)(j_common_ptr info);
} satchel_jpeg_progress;

/// Has `info` stop where `stops` says so, and where a JPEG has more scans than any that was made to be seen.
void satchel_jpeg_watch(satchel_jpeg_progress *progress, j_common_ptr info, satchel_jpeg_stops stops);

#endif
