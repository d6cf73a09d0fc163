#pragma once

/// The version of Landlock that the kernel has; 0 for none.
int sandbox_landlock_version(void);

/// Denies the calling thread every access to files by path and, as the kernel's version has it, TCP, abstract sockets
/// and signals to the outside. 0, or the errno.
int sandbox_landlock_deny_all(void);
