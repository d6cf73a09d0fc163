#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sandbox_namespace {
    sandbox_namespace_user = 1,
    sandbox_namespace_network = 2,
    sandbox_namespace_mount = 4,
    sandbox_namespace_ipc = 8,
    sandbox_namespace_process = 16,
};

/// How entering each namespace went: 0 (also where it wasn't wanted), or the errno.
struct sandbox_namespaces {
    int user;
    int network;
    int mount;
    int ipc;
    int process;
    /// Whether the root directory is empty.
    bool empty_root;
};

/// Whether a user id exists in the user namespace of the caller. Needs /proc.
bool sandbox_user_exists(uint32_t first, uint32_t count);

/// Whether root of the caller's user namespace is root outside it too: in a container of one ordinary user, and under
/// `unshare --map-root-user`, it is that user. Needs /proc; in doubt it is.
bool sandbox_root_is_root(void);

/// Moves the single-threaded caller into those new namespaces of `wanted` that it may enter, and gives it an empty root directory. Its
/// own user id stays what it is; with `count` it keeps the ids from `first` on, too, which only root can. The next fork becomes
/// the process namespace's process 1.
struct sandbox_namespaces sandbox_enter_namespaces(uint32_t wanted, uint32_t first, uint32_t count);
