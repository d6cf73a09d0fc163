#pragma once

/// A new file in memory that has no name, open for reading and writing, closed on exec; -1 where there is none, as
/// `errno` says.
int csandbox_memory_file(void);

/// The same, for `csandbox_seal_memory_file`.
int csandbox_sealable_memory_file(void);

/// Makes a file's bytes final: no descriptor writes, shortens or lengthens it any more. -1 where it can't be, as `errno`
/// says.
int csandbox_seal_memory_file(int file);
