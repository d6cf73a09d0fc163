#pragma once

#include <stdint.h>

/// Has the disk begin to write `bytes` from `offset` of a file, without waiting for it. A hint, with no promise: what is
/// durable is what a sync says.
void csandbox_begin_writeback(int descriptor, int64_t offset, int64_t bytes);
