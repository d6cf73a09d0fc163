#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A pair of connected SOCK_SEQPACKET sockets, closed on exec. 0, or the errno.
int sandbox_packet_pair(int sockets[_Nonnull 2]);

/// Sends one packet and `count` (at most 16) descriptors with it. Raises no SIGPIPE. 0, or the errno; without `wait`
/// EAGAIN where the other side doesn't take its packets.
int sandbox_send(int socket, const void *_Nonnull bytes, size_t length, const int *_Nullable descriptors, size_t count,
                 bool wait);

/// Receives one packet, and up to `descriptor_capacity` (at most 16) descriptors, closed on exec, of which the caller
/// becomes the owner.
///
/// Returns the packet's length, 0 at the end, or a negative errno: EMSGSIZE for a packet that is longer than
/// `capacity`, EPROTO where more descriptors came than there is room for; nothing is then handed over.
ssize_t sandbox_receive(int socket, void *_Nonnull bytes, size_t capacity, int *_Nullable descriptors,
                        size_t descriptor_capacity, size_t *_Nonnull descriptor_count, bool wait);
