#ifndef SATCHEL_CJPEG_HUFFMAN_H
#define SATCHEL_CJPEG_HUFFMAN_H

#include <stdio.h>
// jpeglib.h needs FILE.
#include <jpeglib.h>

/// Whether this was compiled for a version of libjpeg-turbo that it was tried with, and runs with it.
int satchel_jpeg_huffman_is_tried(void);

/// Whether the readers that are opened decode by this, if they aren't told otherwise.
extern int satchel_jpeg_huffman_is_used;

/// Has `info`, which has just been started, decode its Huffman codes by tables that give a whole coefficient at a time, where
/// it is a baseline JPEG of one scan out of memory; other JPEGs, and other versions of libjpeg-turbo, are left alone.
///
/// What comes out is the same to the bit. Where anything is odd (a code that is none, a marker where none belongs, a file
/// that ends), libjpeg's own decoder goes over the scan again up to there, and has the rest with all it warns of.
void satchel_jpeg_decode_huffman(struct jpeg_decompress_struct *info);

/// Whether nothing odd was found, so far.
int satchel_jpeg_huffman_is_decoding(const struct jpeg_decompress_struct *info);

/// Bytes of data behind the MCUs that were decoded, up to the next marker and without stuffing, where they aren't all padding;
/// 0 where libjpeg decodes them.
size_t satchel_jpeg_huffman_left_over(const struct jpeg_decompress_struct *info);

/// Has libjpeg go on where the data ends, for which all MCUs were decoded. From the scan's start, where it stands itself, it would look for
/// the next marker byte by byte: 3 ms of a photograph of 6 megapixels, half of what scaling it takes.
void satchel_jpeg_huffman_hand_back(struct jpeg_decompress_struct *info);

#endif
