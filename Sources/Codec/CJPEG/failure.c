#include "failure.h"

#include <string.h>
// Behind jpeglib.h, whose types it needs.
#include <jpegint.h>

/// As libvips has it. The largest files of encoders have 10 to 20 scans; each costs a pass over the whole picture.
static const int most_scans = 100;

static void leave(j_common_ptr info) {
    satchel_jpeg_failure *failure = (satchel_jpeg_failure *)info->err;
    info->err->format_message(info, failure->message);
    longjmp(failure->out, 1);
}

/// Whether libjpeg says that it needs bits which aren't there, or found some that mean nothing.
static int is_damage(j_common_ptr info) {
    switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        return 1;
    // Before a restart; elsewhere cameras leave bytes that mean nothing.
    case JWRN_EXTRANEOUS_DATA:
        return ((satchel_jpeg_failure *)info->err)->is_within_scan;
    default:
        return 0;
    }
}

/// Bytes before a marker that no code asked for, where they aren't all padding: codes that were changed may have taken too
/// few bits, and show something else all the same.
static size_t left_over(j_decompress_ptr info) {
    size_t count = (size_t)info->marker->discarded_bytes;
    const JOCTET *end = info->src->next_input_byte;
    for (size_t i = 1; i <= count; i++)
        if (end[-(ptrdiff_t)i] != 0 && end[-(ptrdiff_t)i] != 0xff) return count;
    return 0;
}

/// What is missing or damaged is an error and not a grey area; what else libjpeg wonders at, cameras write.
static void warn(j_common_ptr info, int level) {
    if (level >= 0) return;
    satchel_jpeg_failure *failure = (satchel_jpeg_failure *)info->err;
    int is_fatal = is_damage(info);
    failure->warnings++;
    if (info->err->msg_code == JWRN_JPEG_EOF) {
        failure->is_cut = 1;
        // Nothing else says that scans are missing; of a single scan that is known when its bits are needed.
        is_fatal = info->is_decompressor && ((j_decompress_ptr)info)->inputctl->has_multiple_scans;
    }
    if (info->err->msg_code == JWRN_EXTRANEOUS_DATA && info->is_decompressor)
        failure->left_over += left_over((j_decompress_ptr)info);
    if (info->err->msg_code == JWRN_HIT_MARKER && info->err->num_warnings == 0) {
        failure->is_short = 1;
        if (info->is_decompressor) {
            j_decompress_ptr decompress = (j_decompress_ptr)info;
            // A marker that was found is passed.
            failure->behind = decompress->src->bytes_in_buffer + (decompress->unread_marker ? 2 : 0);
        }
    }
    // Counts what is damaged, and nothing else.
    if (is_damage(info)) info->err->num_warnings++;
    if (is_fatal && !failure->is_lenient) leave(info);
}

static void say_nothing(j_common_ptr info) { (void)info; }

struct jpeg_error_mgr *satchel_jpeg_catch(satchel_jpeg_failure *failure) {
    struct jpeg_error_mgr *manager = jpeg_std_error(&failure->manager);
    manager->error_exit = leave;
    manager->emit_message = warn;
    manager->output_message = say_nothing;
    failure->message[0] = 0;
    failure->is_lenient = failure->is_within_scan = failure->is_cut = failure->is_short = failure->warnings = 0;
    failure->left_over = failure->behind = 0;
    return manager;
}

static void look(j_common_ptr info) {
    satchel_jpeg_progress *progress = (satchel_jpeg_progress *)info->progress;
    const char *reason = NULL;
    if (progress->began) {
        void (*began)(j_common_ptr) = progress->began;
        progress->began = NULL;
        began(info);
    }
    if (progress->stops()) reason = "no time is left";
    if (info->is_decompressor && ((j_decompress_ptr)info)->input_scan_number > most_scans) reason = "too many scans";
    if (!reason) return;
    satchel_jpeg_failure *failure = (satchel_jpeg_failure *)info->err;
    strcpy(failure->message, reason);
    longjmp(failure->out, 1);
}

void satchel_jpeg_watch(satchel_jpeg_progress *progress, j_common_ptr info, satchel_jpeg_stops stops) {
    progress->stops = stops;
    progress->began = NULL;
    progress->manager.progress_monitor = look;
    info->progress = &progress->manager;
}
