#pragma once

#include <stdint.h>

/// Has the disk begin to write `bytes` from `offset` of a file, without waiting for it. A hint, with no promise: what is
/// durable is what a sync says.
void csandbox_begin_writeback(int descriptor, int64_t offset, int64_t bytes);

/// Gives back the room of `bytes` from `offset` of a file, which read as zeros from then on; its length stays. A hint: not every
/// file system can.
void csandbox_give_back(int descriptor, int64_t offset, int64_t bytes);
