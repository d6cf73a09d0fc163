#define _GNU_SOURCE
#include "FaultInjection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int outcome(long result) {
    return result >= 0 ? 0 : errno;
}

int fault_open(const char *path) {
    return outcome(open(path, O_RDONLY));
}

int fault_write_file(const char *path) {
    return outcome(open(path, O_WRONLY | O_CREAT, 0600));
}

int fault_connect(uint16_t port) {
    int number = socket(AF_INET, SOCK_STREAM, 0);
    if (number < 0) return errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return outcome(connect(number, (struct sockaddr *)&address, sizeof address));
}

int fault_fork(void) {
    for (int count = 0; count < 100; count++) {
        pid_t child = fork();
        if (child < 0) return errno;
        if (child == 0) pause();
    }
    return 0;
}

int fault_exec(const char *path) {
    char *arguments[] = {(char *)path, NULL};
    return outcome(execv(path, arguments));
}

int fault_ptrace(int process) {
    return outcome(ptrace(PTRACE_ATTACH, process, NULL, NULL));
}

int fault_signal(int process) {
    return outcome(kill(process, SIGKILL));
}

int fault_read_memory(int process) {
    char byte;
    struct iovec mine = {&byte, 1}, theirs = {(void *)outcome, 1};
    return outcome(process_vm_readv(process, &mine, 1, &theirs, 1, 0));
}

int fault_limit(int process) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    return outcome(prlimit(process, RLIMIT_CPU, &limit, NULL));
}

int fault_become_root(void) {
    return outcome(setuid(0));
}

int fault_namespace(void) {
    return outcome(unshare(CLONE_NEWUSER));
}

int fault_dumpable(void) {
    return outcome(prctl(PR_SET_DUMPABLE, 1));
}

void fault_eat_memory(void) {
    for (;;) {
        size_t size = 16 << 20;
        char *block = malloc(size);
        // As g_malloc and operator new do.
        if (!block) abort();
        memset(block, 1, size);
    }
}

void fault_segfault(void) {
    *(volatile int *)16 = 1;
}

void fault_trap(void) {
    __builtin_trap();
}

int fault_send(int socket, const void *bytes, size_t length) {
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return outcome(sendmsg(socket, &message, 0));
}

int fault_send_descriptor(int socket, int descriptor) {
    char byte = '{';
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr aligned;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return outcome(sendmsg(socket, &message, 0));
}
