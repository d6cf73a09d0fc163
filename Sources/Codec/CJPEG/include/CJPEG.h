#ifndef SATCHEL_CJPEG_H
#define SATCHEL_CJPEG_H

// libjpeg-turbo's planes: what its colour conversion and its interpolation of colours would only make larger, before they
// do. Its errors leave by longjmp, which stays in here.

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// A JPEG that is being decoded.
typedef struct satchel_jpeg_reader satchel_jpeg_reader;

/// Asked while there is something to wait for: whether to stop.
typedef int (*satchel_jpeg_stops)(void);

/// One component of a JPEG, as it comes out of the inverse transform.
typedef struct {
    /// Samples that show something.
    int width, height;
    /// Samples from one row to the next, of which those at the end show nothing.
    size_t stride;
    /// How many rows come at once.
    int rows;
    /// How many pixels of the picture a sample stands for, in each direction: `across / 8`.
    int across, down;
} satchel_jpeg_plane;

/// Opens a JPEG for decoding `1 / shrink` of its sides.
///
/// - `bytes`: live until the reader is closed.
/// - `shrink`: 1, 2, 4 or 8.
/// Returns a null pointer where there is no memory.
satchel_jpeg_reader *_Nullable satchel_jpeg_open(
    const unsigned char *bytes, size_t count, int shrink, satchel_jpeg_stops stops);

/// Has the readers that are opened from now on decode Huffman codes by our own decoder, in six tenths of libjpeg's time, where
/// libjpeg-turbo is a version that it was tried with and an embedded picture comes out the same both ways. Until then
/// libjpeg decodes them.
///
/// Starts no thread, and takes a third of a millisecond. Returns 1 where they do, 0 where the version wasn't tried, -1 where
/// the picture came out differently.
int satchel_jpeg_use_own_huffman(void);

/// The version of libjpeg-turbo that this was compiled for: 2001005 is 2.1.5. Libraries don't tell theirs.
int satchel_jpeg_version(void);

/// Leaves the decoding of Huffman codes to libjpeg, with the same results in more time; to compare with.
void satchel_jpeg_decode_plainly(satchel_jpeg_reader *reader);

/// Decodes what is damaged or ends too early as far as it goes; what is missing is grey.
void satchel_jpeg_tolerate(satchel_jpeg_reader *reader);

/// Reads the header: 1 where the JPEG has the three components of YCbCr, 8 bits each; 0 where it has others; -1 on failure.
int satchel_jpeg_read_header(satchel_jpeg_reader *reader);

/// Begins to decode, and says what the planes are; of a progressive JPEG it reads all scans. Returns 0, or -1 on failure.
///
/// - `has_small_colours`: colours keep their share of light's samples; else they have as many as the transform can give.
int satchel_jpeg_start(satchel_jpeg_reader *reader, int has_small_colours, satchel_jpeg_plane *planes);

/// Decodes the next rows of all planes into buffers of `stride * rows` bytes. Returns 0, or -1 on failure.
int satchel_jpeg_read(
    satchel_jpeg_reader *reader, unsigned char *first, unsigned char *second, unsigned char *third);

/// Whether the file has its end marker; asked after the last row. It costs nothing then.
int satchel_jpeg_has_end(satchel_jpeg_reader *reader);

/// Bytes of data behind the last row's that aren't all padding; asked after `satchel_jpeg_has_end`. Codes that were changed
/// are often codes too, and take other bits than were meant. Where libjpeg decodes the codes, the seven bytes at most that it
/// has read ahead aren't among them, and those of stuffing are.
size_t satchel_jpeg_left_over(const satchel_jpeg_reader *reader);

/// What libjpeg said of a failure.
const char *satchel_jpeg_message(const satchel_jpeg_reader *reader);

void satchel_jpeg_close(satchel_jpeg_reader *reader);

/// What of a JPEG can't be decoded.
typedef struct {
    /// Rows of the picture, and how many of them are missing: what is missing of each row, added up and rounded up.
    int rows, missing;
    /// Whether the file ends before its end marker.
    int is_cut;
    /// Whether the data of a scan or an interval ended too early, which what is above may be to blame for.
    int ends_early;
    /// Whether that is so because a marker stands in the midst of the data.
    int has_stray_marker;
    /// Bytes of data behind a row's or a scan's that aren't all padding.
    size_t left_over;
    /// Whether it is coded in several scans, of which any may lack something of a row.
    int has_several_scans;
} satchel_jpeg_damage;

/// Decodes all of a JPEG, with any number of components, to find what is missing. Returns 0, or -1 where nothing can be
/// decoded at all or `stops` said so.
int satchel_jpeg_find_damage(
    const unsigned char *bytes, size_t count, satchel_jpeg_stops stops, satchel_jpeg_damage *damage);

/// How a JPEG is written.
typedef struct {
    /// 1 to 100.
    int quality;
    /// In scans: fewer bytes, twice the work.
    int is_progressive;
    /// With Huffman tables of its own: fewer bytes, some more work.
    int is_optimised;
    /// Colours at the full resolution, not the half.
    int has_full_chroma;
} satchel_jpeg_form;

/// Encodes RGB of 8 bits without gaps into memory that the caller frees. Returns 0, or -1 where there is no memory left or
/// `stops` said so.
int satchel_jpeg_write(
    const unsigned char *pixels, int width, int height, satchel_jpeg_form form, satchel_jpeg_stops stops,
    unsigned char *_Nullable *_Nonnull bytes, size_t *count);

/// In how many passes a JPEG is coded anew.
typedef enum {
    /// One scan of all: the fewest bytes for small pictures.
    SATCHEL_JPEG_SEQUENTIAL,
    /// Those of pictures that are encoded.
    SATCHEL_JPEG_PROGRESSIVE,
    /// libjpeg's ten, bit by bit: 3 % fewer bytes at twice the work.
    SATCHEL_JPEG_SUCCESSIVE,
} satchel_jpeg_scans;

/// How a JPEG is coded anew without loss.
typedef struct {
    /// EXIF's, 1 to 8: the picture is turned upright.
    int orientation;
    satchel_jpeg_scans scans;
    /// An ICC profile to be written; NULL for none.
    const unsigned char *_Nullable profile;
    size_t profile_count;
} satchel_jpeg_keeping;

/// What came of coding a JPEG anew.
typedef enum {
    SATCHEL_JPEG_IS_KEPT,
    /// It is neither grey nor YCbCr of 8 bits.
    SATCHEL_JPEG_IS_OTHER,
    /// A side that would be mirrored doesn't end with a whole MCU.
    SATCHEL_JPEG_TURN_IS_INEXACT,
    /// libjpeg wondered at something.
    SATCHEL_JPEG_IS_ODD,
    /// It is damaged or ends too early, there is no memory left, or `stops` said so.
    SATCHEL_JPEG_FAILED,
} satchel_jpeg_kept;

/// Codes the coefficients of a JPEG anew, with tables of their own and without any metadatum, into memory that the caller
/// frees. Holds all of them meanwhile, two bytes for each, and as much again where they are turned.
satchel_jpeg_kept satchel_jpeg_keep(
    const unsigned char *bytes, size_t count, satchel_jpeg_keeping form, satchel_jpeg_stops stops,
    unsigned char *_Nullable *_Nonnull kept, size_t *kept_count);

/// Squared error in RGB, and bits, of blocks as JPEG codes them.
typedef struct {
    double error;
    double bits;
} satchel_jpeg_cost;

/// What a picture costs with chroma at its full and at half its resolution, from at most 12 by 12 squares of 16 by 16
/// pixels of RGB of 8 bits, without gaps.
void satchel_jpeg_costs(
    const unsigned char *pixels, int width, int height, int quality, satchel_jpeg_cost *full, satchel_jpeg_cost *half);

#pragma clang assume_nonnull end

#endif
