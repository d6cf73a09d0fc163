#define _GNU_SOURCE
#include "sandbox_packets.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 16

int sandbox_packet_pair(int sockets[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0 ? 0 : errno;
}

int sandbox_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count, bool wait) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > MOST_DESCRIPTORS) return EINVAL;
    if (count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    }
    for (;;) {
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
        if (sent >= 0) return 0;
        if (errno != EINTR) return errno;
    }
}

ssize_t sandbox_receive(int socket, void *bytes, size_t capacity, int *descriptors, size_t descriptor_capacity,
                        size_t *descriptor_count, bool wait) {
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct iovec part = {.iov_base = bytes, .iov_len = capacity};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    *descriptor_count = 0;
    if (descriptor_capacity > MOST_DESCRIPTORS) return -EINVAL;
    if (descriptor_capacity > 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(descriptor_capacity * sizeof(int));
    }
    ssize_t length;
    do {
        length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    } while (length < 0 && errno == EINTR);
    if (length < 0) return -errno;

    int received[MOST_DESCRIPTORS + 1];
    size_t count = 0;
    if (descriptor_capacity > 0) {
        for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
            if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
            size_t held = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (size_t index = 0; index < held && count <= MOST_DESCRIPTORS; index++, count++)
                memcpy(&received[count], CMSG_DATA(header) + index * sizeof(int), sizeof(int));
        }
    }
    // The padding of CMSG_SPACE can hold one more than was asked for.
    int refused = 0;
    if (message.msg_flags & MSG_TRUNC) refused = EMSGSIZE;
    if ((message.msg_flags & MSG_CTRUNC) || count > descriptor_capacity) refused = EPROTO;
    if (refused) {
        for (size_t index = 0; index < count; index++) close(received[index]);
        return -refused;
    }
    for (size_t index = 0; index < count; index++) descriptors[index] = received[index];
    *descriptor_count = count;
    return length;
}
