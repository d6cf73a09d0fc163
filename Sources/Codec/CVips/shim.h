#ifndef SATCHEL_CVIPS_H
#define SATCHEL_CVIPS_H

// libvips' operations are variadic, which Swift cannot call: each one that is used is wrapped here, once, with the
// options that are used.
//
// Where an operation has an `out`, it is set only when 0 is returned, and the caller owns the reference. On any other
// return vips_error_buffer() says why; the buffer is global and keeps old text until vips_error_clear().

#include <gio/gio.h>
#include <gmodule.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <vips/vips.h>
// libvips gives all of a WebP or nothing.
#include <webp/decode.h>

#pragma clang assume_nonnull begin

// MARK: Ownership

static inline int satchel_unmap(void *start, void *area) { return munmap(start, ((VipsArea *)area)->length); }

/// A blob that owns `length` bytes from `start` on, which mmap gave, and unmaps them with its last reference.
static inline VipsBlob *satchel_blob_mapped(void *start, size_t length) {
    return vips_blob_new(satchel_unmap, start, length);
}

static inline void satchel_blob_unref(VipsBlob *blob) {
    vips_area_unref(VIPS_AREA(blob));
}

// MARK: Start and errors

static inline void satchel_ignore_log(
    const gchar *_Nullable domain, GLogLevelFlags level, const gchar *_Nullable text, gpointer _Nullable data) {
    (void)domain, (void)level, (void)text, (void)data;
}

/// Starts libvips without any of its modules; it then says nothing on stderr: what a file provokes is a fact about the file. It
/// may be called again.
static inline int satchel_vips_start(void) {
    g_log_set_handler(
        "VIPS", (GLogLevelFlags)(G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO | G_LOG_LEVEL_DEBUG),
        satchel_ignore_log, NULL);
    // It looks for modules under that directory, and there is nothing.
    g_setenv("VIPSHOME", "/nonexistent", TRUE);
    int result = VIPS_INIT("satchel");
    g_unsetenv("VIPSHOME");
    return result;
}

/// glibc's Dl_info: what dladdr tells of an address. Asking for it by _GNU_SOURCE would change types of the system's headers
/// that other modules have, too.
typedef struct {
    const char *file;
    void *base;
    const char *_Nullable symbol;
    void *_Nullable address;
} satchel_library;

int satchel_dladdr(const void *address, satchel_library *library) __asm__("dladdr");

/// Loads one of libvips' modules for good, from the directory that belongs to the library; nothing happens where there is none
/// of this name, as in a build that has the format in the library itself.
static inline void satchel_load_module(const char *name) {
    satchel_library library;
    if (!satchel_dladdr((const void *)vips_version, &library)) return;
    char *directory = g_path_get_dirname(library.file);
    char *path = g_strdup_printf("%s/vips-modules-%d.%d/vips-%s.so", directory, vips_version(0), vips_version(1), name);
    GModule *module = g_module_open(path, G_MODULE_BIND_LAZY);
    if (module) g_module_make_resident(module);
    g_free(path);
    g_free(directory);
}

/// Sets up an operation for good, loading its module where it has one, so that a fork doesn't; 0 where there is none of
/// this name.
static inline int satchel_operation_prepare(const char *name) {
    GType type = vips_type_find("VipsOperation", name);
    if (type == 0) return 0;
    // Never given back: an operation stays set up as long as somebody holds its class.
    g_type_class_ref(type);
    return 1;
}

/// What decoders complain of beside their errors.
struct satchel_warnings {
    /// How many there were; and those that say of a row that it can't be read.
    long count, rows;
    /// The texts, a line each, as far as there is room; ends with a zero.
    char text[16 << 10];
    size_t length;
    guint handler;
};

static inline void satchel_on_warning(
    const gchar *_Nullable domain, GLogLevelFlags level, const gchar *_Nullable text, gpointer _Nullable data) {
    (void)domain, (void)level;
    struct satchel_warnings *warnings = (struct satchel_warnings *)data;
    if (!warnings || !text) return;
    warnings->count++;
    // A checksum is not of a row.
    if (!strstr(text, "CRC")) warnings->rows++;
    size_t length = strlen(text);
    if (length + 2 > sizeof warnings->text - warnings->length) return;
    memcpy(warnings->text + warnings->length, text, length);
    warnings->length += length;
    warnings->text[warnings->length++] = '\n';
    warnings->text[warnings->length] = 0;
}

/// Gathers warnings until satchel_stop_listening; NULL where there is no memory.
static inline struct satchel_warnings *_Nullable satchel_listen(void) {
    struct satchel_warnings *warnings = (struct satchel_warnings *)calloc(1, sizeof *warnings);
    if (warnings) {
        warnings->handler =
            g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, satchel_on_warning, warnings);
    }
    return warnings;
}

static inline const char *satchel_warnings_text(const struct satchel_warnings *warnings) {
    return warnings->text;
}

/// Ends listening and frees what was gathered.
static inline void satchel_stop_listening(struct satchel_warnings *warnings) {
    g_log_remove_handler("VIPS", warnings->handler);
    free(warnings);
}

// MARK: Stopping

/// Anything but 0 stops the work.
typedef int (*satchel_stops)(void);

static inline void satchel_on_progress(VipsImage *image, void *progress, void *stops) {
    (void)progress;
    if (((satchel_stops)stops)()) vips_image_set_kill(image, TRUE);
}

/// Has `stops` asked again and again while the pixels of `image`, or of anything made of it, are computed. Once it said
/// so, they fail with an error and will not be computed any more.
static inline void satchel_stop_when(VipsImage *image, satchel_stops stops) {
    vips_image_set_progress(image, TRUE);
    g_signal_connect(image, "eval", G_CALLBACK(satchel_on_progress), (void *)stops);
}

// A decoder that reads all of a file before its first row (progressive JPEG, interlaced PNG) shows no progress, but it
// asks for bytes.

struct satchel_reading {
    VipsBlob *blob;
    gint64 position;
    satchel_stops stops;
};

static inline void satchel_reading_free(void *data) {
    vips_area_unref(VIPS_AREA(((struct satchel_reading *)data)->blob));
    g_free(data);
}

static inline gint64 satchel_on_read(VipsSourceCustom *source, void *to, gint64 length, struct satchel_reading *reading) {
    (void)source;
    size_t bytes = 0;
    const char *start = (const char *)vips_blob_get(reading->blob, &bytes);
    gint64 left = (gint64)bytes - reading->position;
    if (length < 0 || reading->stops()) return -1;
    if (length > left) length = left > 0 ? left : 0;
    memcpy(to, start + reading->position, (size_t)length);
    reading->position += length;
    return length;
}

static inline gint64 satchel_on_seek(VipsSourceCustom *source, gint64 offset, int whence, struct satchel_reading *reading) {
    (void)source;
    size_t bytes = 0;
    vips_blob_get(reading->blob, &bytes);
    gint64 base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? reading->position : (gint64)bytes;
    gint64 target = 0;
    if (__builtin_add_overflow(base, offset, &target) || target < 0 || target > (gint64)bytes) return -1;
    return reading->position = target;
}

/// A source over a blob, of which it holds a reference, that ends with an error once `stops` says so. NULL where there
/// is no memory.
static inline VipsSource *_Nullable satchel_stopping_source(VipsBlob *blob, satchel_stops stops) {
    VipsSourceCustom *source = vips_source_custom_new();
    if (!source) return NULL;
    struct satchel_reading *reading = g_new0(struct satchel_reading, 1);
    vips_area_copy(VIPS_AREA(blob));
    reading->blob = blob;
    reading->stops = stops;
    g_object_set_data_full(G_OBJECT(source), "satchel-reading", reading, satchel_reading_free);
    g_signal_connect(source, "read", G_CALLBACK(satchel_on_read), reading);
    g_signal_connect(source, "seek", G_CALLBACK(satchel_on_seek), reading);
    return VIPS_SOURCE(source);
}

// MARK: Loading

/// What a loader is asked for. What is 1 is left to it: most have no such option.
typedef struct {
    /// Goes as far as it can: rows that can't be decoded are complained of, and hold anything. Else damage is an error.
    int is_lenient;
    /// From the first on, one above the other; -1 for all.
    int pages;
    int shrink;
    double scale;
} satchel_loading;

/// Gives `to` a copy of the colour profile that `from` has, if any.
static inline void satchel_copy_profile(VipsImage *from, VipsImage *to) {
    const void *profile;
    size_t size;
    if (vips_image_get_typeof(from, VIPS_META_ICC_NAME) &&
        vips_image_get_blob(from, VIPS_META_ICC_NAME, &profile, &size) == 0) {
        vips_image_set_blob_copy(to, VIPS_META_ICC_NAME, profile, size);
    }
}

enum { satchel_profile_of_others = 1, satchel_profile_of_inks = 2 };

/// Takes the colour profile from an image that nothing else has yet, and sets the field `sign` in its place, which says what
/// it was for.
static inline void satchel_replace_profile(VipsImage *image, const char *sign) {
    const void *profile;
    size_t size;
    int is_of_inks = vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &size) == 0 && size >= 20 &&
        memcmp((const char *)profile + 16, "CMYK", 4) == 0;
    vips_image_remove(image, VIPS_META_ICC_NAME);
    vips_image_set_int(image, sign, is_of_inks ? satchel_profile_of_inks : satchel_profile_of_others);
}

/// By the operation of that name. Pixels are read in order, once.
static inline int satchel_load(
    const char *loader, VipsSource *source, VipsImage *_Nullable *_Nonnull out, satchel_loading loading) {
    VipsOperation *operation = vips_operation_new(loader);
    if (!operation) return -1;
    g_object_set(
        operation, "source", source, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
        loading.is_lenient ? VIPS_FAIL_ON_NONE : VIPS_FAIL_ON_ERROR, NULL);
    if (loading.pages != 1) g_object_set(operation, "n", loading.pages, NULL);
    if (loading.shrink != 1) g_object_set(operation, "shrink", loading.shrink, NULL);
    if (loading.scale != 1) g_object_set(operation, "scale", loading.scale, NULL);
    int result = vips_cache_operation_buildp(&operation);
    if (result == 0) {
        g_object_get(operation, "out", out, NULL);
        // That of HEIF lies in memory that ends with this image (seen with libvips 8.14), while images made of it point there.
        satchel_copy_profile(*out, *out);
    }
    vips_object_unref_outputs(VIPS_OBJECT(operation));
    g_object_unref(operation);
    return result;
}

/// Savers write it out: 72 to the inch, as where nothing is known.
static inline void satchel_forget_resolution(VipsImage *image) { image->Xres = image->Yres = 72.0 / 25.4; }

/// A copy of `height` rows of `width` pixels of `bands` bytes, as sRGB.
static inline VipsImage *_Nullable satchel_image_from_bytes(
    const void *bytes, size_t length, int width, int height, int bands) {
    VipsImage *image = vips_image_new_from_memory_copy(bytes, length, width, height, bands, VIPS_FORMAT_UCHAR);
    if (image) {
        image->Type = VIPS_INTERPRETATION_sRGB;
        satchel_forget_resolution(image);
    }
    return image;
}

static inline void satchel_free_pixels(VipsImage *image, void *bytes) {
    (void)image;
    free(bytes);
}

/// `height` rows of `width` pixels of RGB, as sRGB; takes over the memory, which malloc gave.
static inline VipsImage *_Nullable satchel_image_owning(void *bytes, size_t length, int width, int height) {
    VipsImage *image = vips_image_new_from_memory(bytes, length, width, height, 3, VIPS_FORMAT_UCHAR);
    if (!image) {
        free(bytes);
        return NULL;
    }
    image->Type = VIPS_INTERPRETATION_sRGB;
    satchel_forget_resolution(image);
    g_signal_connect(image, "postclose", G_CALLBACK(satchel_free_pixels), bytes);
    return image;
}

/// The pixels of an image that has all of them in memory, in rows without gaps; a null pointer for others.
static inline const unsigned char *_Nullable satchel_pixels(VipsImage *image) {
    int is_in_memory = image->dtype == VIPS_IMAGE_SETBUF || image->dtype == VIPS_IMAGE_SETBUF_FOREIGN;
    return is_in_memory && image->Coding == VIPS_CODING_NONE ? image->data : NULL;
}

/// A copy of `height` rows of `width` pixels with the format, bands, colour space, colour profile and orientation of
/// another image, and nothing else of it.
static inline int satchel_image_like(
    VipsImage *original, const void *bytes, size_t length, int width, int height, VipsImage *_Nullable *_Nonnull out) {
    VipsImage *image =
        vips_image_new_from_memory_copy(bytes, length, width, height, original->Bands, original->BandFmt);
    if (!image) return -1;
    image->Type = original->Type;
    satchel_forget_resolution(image);
    satchel_copy_profile(original, image);
    vips_image_set_int(image, VIPS_META_ORIENTATION, vips_image_get_orientation(original));
    *out = image;
    return 0;
}

/// Rows as far as a decoder gives them.
struct satchel_rows_found {
    /// The first row that is missing; the height where none is.
    int first_missing;
    /// What is complained of while a row is decoded; NULL where a decoder fails instead.
    const struct satchel_warnings *_Nullable warnings;
};

/// Rows in strips of this height come from libvips' PNG loader at once.
enum { satchel_strip_height = 16 };

static inline int satchel_generate_found(
    VipsRegion *region, void *_Nullable sequence, void *_Nullable image, void *_Nullable context,
    gboolean *_Nullable stop) {
    (void)image, (void)stop;
    VipsRegion *from = (VipsRegion *)sequence;
    struct satchel_rows_found *found = (struct satchel_rows_found *)context;
    VipsRect *area = &region->valid;
    size_t length = VIPS_REGION_SIZEOF_LINE(region);
    for (int y = area->top; y < area->top + area->height; y++) {
        VipsRect row = {area->left, y, area->width, 1};
        long before = found->warnings ? found->warnings->rows : 0;
        if (y < found->first_missing && vips_region_prepare(from, &row)) {
            found->first_missing = y;
            vips_error_clear();
        }
        long rows = found->warnings ? found->warnings->rows - before : 0;
        if (rows > 0 && y < found->first_missing) {
            // One for each row that is missing, up to the strip's end.
            int end = y - y % satchel_strip_height + satchel_strip_height;
            if (end > region->im->Ysize) end = region->im->Ysize;
            found->first_missing = rows < end - y ? end - (int)rows : y;
        }
        // Grey, as libjpeg has it, or transparent.
        VipsPel *to = VIPS_REGION_ADDR(region, area->left, y);
        if (y < found->first_missing) memcpy(to, VIPS_REGION_ADDR(from, area->left, y), length);
        else memset(to, vips_image_hasalpha(region->im) ? 0 : 0x80, length);
    }
    return 0;
}

/// `in` with its rows as far as they can be decoded; `found`, whose `first_missing` is the height at first, must outlive it.
static inline int satchel_find_rows(VipsImage *in, VipsImage *_Nullable *_Nonnull out, struct satchel_rows_found *found) {
    VipsImage *image = vips_image_new();
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL) ||
        vips_image_generate(
            image, vips_start_one, (VipsGenerateFn)satchel_generate_found, vips_stop_one, in, found)) {
        g_object_unref(image);
        return -1;
    }
    // Scaling asks for rows again.
    int failed = vips_sequential(image, out, "tile_height", satchel_strip_height, NULL);
    g_object_unref(image);
    return failed;
}

/// Decodes a still WebP as far as it goes into `height` rows of RGB, or RGBA where it has 4 `bands`, without gaps.
///
/// Returns how many rows were decoded; -1 where it has another size or nothing can be decoded.
static inline int satchel_webp_rows(
    const unsigned char *bytes, size_t count, int bands, unsigned char *pixels, int width, int height) {
    int stride = width * bands, rows = 0, wide = 0, high = 0;
    WebPIDecoder *decoder =
        WebPINewRGB(bands == 4 ? MODE_RGBA : MODE_RGB, pixels, (size_t)stride * (size_t)height, stride);
    if (!decoder) return -1;
    VP8StatusCode status = WebPIUpdate(decoder, bytes, count);
    int is_begun = WebPIDecGetRGB(decoder, &rows, &wide, &high, NULL) != NULL;
    WebPIDelete(decoder);
    if (status == VP8_STATUS_OK) return height;
    return is_begun && wide == width && high == height ? rows : -1;
}

/// Whether bytes are a stream of zlib's from its start to its end, with the checksum of what it holds. More than `most` bytes of
/// that aren't looked at.
static inline int satchel_zlib_is_sound(const unsigned char *bytes, size_t count, size_t most, satchel_stops stops) {
    GConverter *inflater = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
    enum { room = 64 << 10 };
    char *to = g_malloc(room);
    GConverterResult result = G_CONVERTER_CONVERTED;
    for (size_t done = 0; result == G_CONVERTER_CONVERTED && done <= most && !stops();) {
        gsize read = 0, written = 0;
        result = g_converter_convert(
            inflater, bytes, count, to, room, G_CONVERTER_INPUT_AT_END, &read, &written, NULL);
        bytes += read, count -= read, done += written;
    }
    g_free(to);
    g_object_unref(inflater);
    return result == G_CONVERTER_FINISHED;
}

// MARK: Metadata

/// Drops every field that is not part of the image's shape, and what is said of its resolution. The image must be the
/// caller's alone.
static inline void satchel_remove_fields(VipsImage *image) {
    satchel_forget_resolution(image);
    gchar **fields = vips_image_get_fields(image);
    for (gchar **field = fields; field && *field; field++) {
        vips_image_remove(image, *field);
    }
    g_strfreev(fields);
}

// MARK: Geometry

static inline int satchel_copy(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    return vips_copy(in, out, NULL);
}

static inline int satchel_extract(
    VipsImage *in, VipsImage *_Nullable *_Nonnull out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

/// How an image is scaled: to `width` × `height`, by Lanczos 3 over averages of whole pixels that leave it `gap` times
/// larger at least.
struct satchel_scaling {
    int width, height;
    double gap;
    /// Else in the image's own format, which is that of bytes.
    int in_floats;
    /// Alpha of what is opaque.
    double most_alpha;
};

/// Scales an image. Integers of 8 and 16 bits stay what they are; what is no number in others becomes 0, because it would
/// spread. Colours are multiplied by alpha meanwhile.
static inline int satchel_scale(
    VipsImage *in, VipsImage *_Nullable *_Nonnull out, struct satchel_scaling form) {
    VipsImage *owner = vips_image_new(), *image = in;
    VipsImage **made = (VipsImage **)vips_object_local_array(VIPS_OBJECT(owner), 12);
    VipsBandFormat format = in->BandFmt;
    int is_short = format == VIPS_FORMAT_UCHAR || format == VIPS_FORMAT_USHORT;
    int has_alpha = vips_image_hasalpha(in), is_float = form.in_floats || has_alpha || !is_short, failed = 0;
    if (is_float) failed = vips_cast_float(image, &made[0], NULL), image = made[0];
    if (!failed && !is_short) {
        failed = vips_abs(image, &made[1], NULL) || vips_lesseq_const1(made[1], &made[2], 3e38, NULL) ||
            !(made[3] = vips_image_new_from_image1(image, 0)) ||
            vips_ifthenelse(made[2], image, made[3], &made[4], NULL);
        image = made[4];
    }
    if (!failed && has_alpha) {
        failed = vips_premultiply(image, &made[5], "max_alpha", form.most_alpha, NULL), image = made[5];
    }
    if (!failed) {
        failed = vips_resize(
            image, &made[6], (double)form.width / in->Xsize, "vscale", (double)form.height / in->Ysize, "gap", form.gap,
            NULL);
        image = made[6];
    }
    if (!failed && has_alpha) {
        failed = vips_unpremultiply(image, &made[7], "max_alpha", form.most_alpha, NULL), image = made[7];
    }
    // Half a step more, because a cast to integers cuts off.
    if (!failed && is_float && is_short) {
        failed = vips_linear1(image, &made[8], 1, 0.5, NULL) || vips_cast(made[8], &made[9], format, NULL);
        image = made[9];
    }
    if (!failed) failed = vips_copy(image, out, "interpretation", in->Type, NULL);
    g_object_unref(owner);
    return failed;
}

/// Turns the image upright by EXIF's orientation.
static inline int satchel_upright(VipsImage *in, VipsImage *_Nullable *_Nonnull out, int orientation) {
    VipsImage *copy;
    if (vips_copy(in, &copy, NULL)) return -1;
    vips_image_set_int(copy, VIPS_META_ORIENTATION, orientation);
    int failed = vips_autorot(copy, out, NULL);
    g_object_unref(copy);
    return failed;
}

/// The part of this size that catches the eye.
static inline int satchel_attention(VipsImage *in, VipsImage *_Nullable *_Nonnull out, int width, int height) {
    return vips_smartcrop(in, out, width, height, "interesting", VIPS_INTERESTING_ATTENTION, NULL);
}

// MARK: Colour

static inline int satchel_unpremultiply(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    return vips_unpremultiply(in, out, NULL);
}

static inline int satchel_cast(VipsImage *in, VipsImage *_Nullable *_Nonnull out, VipsBandFormat format) {
    return vips_cast(in, out, format, NULL);
}

/// To sRGB with 8 bits through the embedded profile, which must have the intent: libvips leaves out one that hasn't.
static inline int satchel_icc_to_srgb(VipsImage *in, VipsImage *_Nullable *_Nonnull out, VipsIntent intent) {
    return vips_icc_transform(
        in, out, "srgb", "embedded", TRUE, "intent", intent, "black_point_compensation", TRUE, "depth", 8, NULL);
}

/// One of libvips' own profiles, by its name.
static inline int satchel_profile(const char *name, VipsBlob *_Nullable *_Nonnull out) {
    return vips_profile_load(name, out, NULL);
}

/// The same pixels with a colour profile.
static inline int satchel_with_profile(
    VipsImage *in, VipsImage *_Nullable *_Nonnull out, const void *profile, size_t length) {
    if (vips_copy(in, out, NULL))
        return -1;
    vips_image_set_blob_copy(*out, VIPS_META_ICC_NAME, profile, length);
    return 0;
}

/// To sRGB by what the image says of itself.
static inline int satchel_to_srgb(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    return vips_colourspace(in, out, VIPS_INTERPRETATION_sRGB, NULL);
}

static inline int satchel_extract_bands(VipsImage *in, VipsImage *_Nullable *_Nonnull out, int first, int count) {
    return vips_extract_band(in, out, first, "n", count, NULL);
}

/// Colours of 8 bits with the last band of `in` as their alpha, which goes from 0 to `most` there.
static inline int satchel_join_alpha(
    VipsImage *colours, VipsImage *in, VipsImage *_Nullable *_Nonnull out, double most) {
    VipsImage *alpha = NULL, *bytes = NULL;
    // Half a step more, because a cast to bytes cuts off.
    int result = vips_extract_band(in, &alpha, in->Bands - 1, NULL) ||
        vips_linear1(alpha, &bytes, 255 / most, 0.5, "uchar", TRUE, NULL) ||
        vips_bandjoin2(colours, bytes, out, NULL);
    if (bytes) g_object_unref(bytes);
    if (alpha) g_object_unref(alpha);
    return result;
}

/// Integers of 32 bits, or floats from 0 to 1, as integers of 16 bits that are the same share of the most there is.
static inline int satchel_scale_to_shorts(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    VipsImage *scaled = NULL, *shorts = NULL;
    int result = vips_linear1(in, &scaled, in->BandFmt == VIPS_FORMAT_FLOAT ? 65535 : 1.0 / 65537, 0.5, NULL) ||
        vips_cast(scaled, &shorts, VIPS_FORMAT_USHORT, NULL) ||
        vips_copy(
            shorts, out, "interpretation",
            in->Bands < 3 ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_RGB16, NULL);
    if (shorts) g_object_unref(shorts);
    if (scaled) g_object_unref(scaled);
    return result;
}

/// The first band of sRGB without colours as grey, with the alpha of `in` where it has any.
static inline int satchel_grey(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    VipsImage *grey = NULL, *alpha = NULL, *joined = NULL;
    int result = vips_extract_band(in, &grey, 0, NULL) ||
        (in->Bands == 4 && (vips_extract_band(in, &alpha, 3, NULL) || vips_bandjoin2(grey, alpha, &joined, NULL))) ||
        vips_copy(
            joined ? joined : grey, out, "interpretation",
            in->BandFmt == VIPS_FORMAT_USHORT ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W, NULL);
    if (joined) g_object_unref(joined);
    if (alpha) g_object_unref(alpha);
    if (grey) g_object_unref(grey);
    return result;
}

/// Makes the colours 0 where the last band, alpha, is 0.
static inline int satchel_clear_hidden(VipsImage *in, VipsImage *_Nullable *_Nonnull out) {
    VipsImage *alpha = NULL, *mask = NULL;
    int result = vips_extract_band(in, &alpha, in->Bands - 1, NULL) ||
        vips_relational_const1(alpha, &mask, VIPS_OPERATION_RELATIONAL_NOTEQ, 0, NULL) ||
        vips_boolean(in, mask, out, VIPS_OPERATION_BOOLEAN_AND, NULL);
    if (mask) g_object_unref(mask);
    if (alpha) g_object_unref(alpha);
    return result;
}

static inline int satchel_minimum(VipsImage *in, double *out) {
    return vips_min(in, out, NULL);
}

/// Lays the image over a colour, 0…255 each.
static inline int satchel_flatten(
    VipsImage *in, VipsImage *_Nullable *_Nonnull out, double red, double green, double blue) {
    double colour[] = {red, green, blue};
    VipsArrayDouble *background = vips_array_double_new(colour, 3);
    int result = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return result;
}

// MARK: Rows in order

/// Gives the bytes of `height` whole rows from `top` on, `stride` bytes apart; anything but 0 is a failure.
typedef int (*satchel_rows)(void *context, int top, int height, unsigned char *to, size_t stride);

static inline int satchel_generate(
    VipsRegion *region, void *_Nullable sequence, void *_Nullable context, void *_Nullable rows,
    gboolean *_Nullable stop) {
    (void)sequence, (void)stop;
    VipsRect *area = &region->valid;
    if (area->left != 0 || area->width != region->im->Xsize) {
        vips_error("satchel", "rows are given whole");
        return -1;
    }
    return ((satchel_rows)rows)(
        context, area->top, area->height, VIPS_REGION_ADDR(region, 0, area->top), VIPS_REGION_LSKIP(region));
}

/// An sRGB image whose rows `rows` gives when they are asked for; `context` must outlive it. NULL on failure.
static inline VipsImage *_Nullable satchel_image_from_rows(
    int width, int height, int bands, satchel_rows rows, void *context) {
    VipsImage *image = vips_image_new();
    vips_image_init_fields(
        image, width, height, bands, VIPS_FORMAT_UCHAR, VIPS_CODING_NONE, VIPS_INTERPRETATION_sRGB, 1, 1);
    if (vips_image_pipelinev(image, VIPS_DEMAND_STYLE_THINSTRIP, NULL) ||
        vips_image_generate(image, NULL, satchel_generate, NULL, context, (void *)rows)) {
        g_object_unref(image);
        return NULL;
    }
    return image;
}

/// Computes `height` rows from `top` on into `to`, without gaps.
///
/// The region lives no longer than the call, because it belongs to the thread that made it.
static inline int satchel_read_rows(VipsImage *image, int top, int height, unsigned char *to) {
    VipsRegion *region = vips_region_new(image);
    VipsRect area = {0, top, image->Xsize, height};
    int result = vips_region_prepare(region, &area);
    if (result == 0) {
        size_t row = VIPS_IMAGE_SIZEOF_LINE(image);
        for (int y = 0; y < height; y++) {
            memcpy(to + y * row, VIPS_REGION_ADDR(region, 0, top + y), row);
        }
    }
    g_object_unref(region);
    return result;
}

// MARK: Saving

// The buffers are the caller's, to be given back with g_free. What is saved has had its metadata removed; the savers of
// stills are told to strip besides, but for a profile that satchel_with_profile gave; those of animations would drop the delays.

static inline int satchel_is_stripped(VipsImage *in) {
    return vips_image_get_typeof(in, VIPS_META_ICC_NAME) == 0;
}

/// Without loss. `filters`: whether each row is filtered as libpng guesses. `bits`: of a sample, fewer than 8 (1, 2, 4) for
/// grey without alpha alone, whose lower ones are cut off.
static inline int satchel_save_png(
    VipsImage *in, void *_Nullable *_Nonnull buffer, size_t *length, int compression, int filters, int bits) {
    return vips_pngsave_buffer(
        in, buffer, length, "compression", compression, "filter",
        filters ? VIPS_FOREIGN_PNG_FILTER_ALL : VIPS_FOREIGN_PNG_FILTER_NONE, "bitdepth", bits, "strip",
        satchel_is_stripped(in), NULL);
}

/// At most 256 colours, quantised at `quality`.
static inline int satchel_save_quantised_png(
    VipsImage *in, void *_Nullable *_Nonnull buffer, size_t *length, int compression, int quality) {
    return vips_pngsave_buffer(
        in, buffer, length, "compression", compression, "filter", VIPS_FOREIGN_PNG_FILTER_NONE, "palette", TRUE, "Q",
        quality, "effort", 3, "strip", TRUE, NULL);
}

/// An image of at most 2, 4, 16 or 256 colours, as `bits` (1, 2, 4, 8) has it, without loss: its colours become the
/// palette.
///
/// Below 7 libimagequant ignores the lowest bit of each channel, and below quality 100 it saves colours.
static inline int satchel_save_indexed_png(
    VipsImage *in, void *_Nullable *_Nonnull buffer, size_t *length, int compression, int bits) {
    return vips_pngsave_buffer(
        in, buffer, length, "compression", compression, "filter", VIPS_FOREIGN_PNG_FILTER_NONE, "palette", TRUE,
        "bitdepth", bits, "Q", 100, "dither", 0.0, "effort", 7, "strip", satchel_is_stripped(in), NULL);
}

/// Stills and, where the image has a page height, animations.
static inline int satchel_save_webp(
    VipsImage *in, void *_Nullable *_Nonnull buffer, size_t *length, int quality, int effort) {
    return vips_webpsave_buffer(in, buffer, length, "Q", quality, "effort", effort, NULL);
}

/// Frames by the image's page height, `delay` and `loop`, each with a palette of at most 2 to the `depth` colours of its own.
/// What differs by `error` at most from the frame before stays as it was.
static inline int satchel_save_gif(
    VipsImage *in, void *_Nullable *_Nonnull buffer, size_t *length, int depth, double error) {
    return vips_gifsave_buffer(
        in, buffer, length, "effort", 7, "dither", 0.0, "bitdepth", depth, "interframe_maxerror", error,
        "interpalette_maxerror", 0.0,
#if VIPS_MAJOR_VERSION > 8 || VIPS_MINOR_VERSION >= 17
        "keep_duplicate_frames", TRUE,
#endif
        NULL);
}

#pragma clang assume_nonnull end

#endif
