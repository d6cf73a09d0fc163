#ifndef HUFFMAN_FUZZ_H
#define HUFFMAN_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

/// Decodes a JPEG with our decoder of Huffman codes and with libjpeg's, and compares all that comes of it: coefficients with
/// warnings, as far as libjpeg goes on behind damage, and how many bytes are left over behind them; and planes with failures,
/// as the codec decodes them. Then counts what is damaged, in all scans.
///
/// Returns what differs, or a null pointer.
const char *_Nullable huffman_difference(const uint8_t *bytes, size_t count);

#pragma clang assume_nonnull end

#endif
