// FFmpeg's functions under their own names, each a jump to where its library was loaded.
//
// What Windows' and Apple's linkers do for a library that is loaded on demand, ELF's doesn't: these few instructions are
// that. Arguments stay where they are, so that one form serves every function, variadic ones too.

#include "include/CFFmpeg.h"

#include <dlfcn.h>
#include <libavutil/macros.h>
#include <stdio.h>
#include <stdlib.h>

static void not_loaded(void) {
    fputs("a function of FFmpeg was called, whose libraries are not loaded\n", stderr);
    abort();
}

// Where each function is, `ffmpeg_NAME`.
#define FUNCTION(library, name) __attribute__((used)) static void *ffmpeg_##name = not_loaded;
#include "functions.h"
#undef FUNCTION

// Hidden: the libraries call each other, not these.
#if defined(__x86_64__)
#define JUMP(name) "jmp *ffmpeg_" #name "(%rip)\n"
#elif defined(__aarch64__)
// x16 is the linker's to use between a call and its function (AAPCS64, 6.1.1).
#define JUMP(name) "adrp x16, ffmpeg_" #name "\nldr x16, [x16, :lo12:ffmpeg_" #name "]\nbr x16\n"
#else
#error "a jump through memory, for this processor"
#endif
#define FUNCTION(library, name)                                                                                          \
    __asm__(".pushsection .text\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n" JUMP(name) \
            ".size " #name ", . - " #name "\n.popsection\n");
#include "functions.h"
#undef FUNCTION

#define LIBRARY(name, version) "lib" #name ".so." AV_STRINGIFY(version)
enum { avutil, swresample, swscale, avcodec, avformat, avfilter, libraries };
static const char *const names[libraries] = {
    [avutil] = LIBRARY(avutil, LIBAVUTIL_VERSION_MAJOR),
    [swresample] = LIBRARY(swresample, LIBSWRESAMPLE_VERSION_MAJOR),
    [swscale] = LIBRARY(swscale, LIBSWSCALE_VERSION_MAJOR),
    [avcodec] = LIBRARY(avcodec, LIBAVCODEC_VERSION_MAJOR),
    [avformat] = LIBRARY(avformat, LIBAVFORMAT_VERSION_MAJOR),
    [avfilter] = LIBRARY(avfilter, LIBAVFILTER_VERSION_MAJOR),
};

const char *satchel_load_ffmpeg(void) {
    void *opened[libraries];
    for (int library = 0; library < libraries; library++) {
        opened[library] = dlopen(names[library], RTLD_NOW | RTLD_LOCAL);
        if (!opened[library]) return dlerror();
    }
#define FUNCTION(library, name) \
    if (!(ffmpeg_##name = dlsym(opened[library], #name))) return dlerror();
#include "functions.h"
#undef FUNCTION
    return NULL;
}
