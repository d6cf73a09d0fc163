#pragma once

/// A new file in memory that has no name, open for reading and writing, closed on exec; -1 where there is none, as
/// `errno` says.
int csandbox_memory_file(void);
