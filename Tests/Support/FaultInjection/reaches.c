#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "FaultInjection.h"

// Newer than Debian 12's headers, or left out by them.
#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static int outcome(long result) { return result >= 0 ? 0 : errno; }

// What is given to each: the descriptor of the source, and of the conversation's socket.
#define REACH(name) static int name(int source, int conversation)
#define CALL(name, ...)                                     \
    REACH(name) {                                           \
        (void)source;                                       \
        (void)conversation;                                 \
        return outcome(syscall(__VA_ARGS__));               \
    }

// MARK: Descriptors and files

/// Whether there is any but three that lead nowhere, the conversation's and the source's.
REACH(inherited_descriptors) {
    for (int number = 0; number < 4096; number++) {
        if (number == source || number == conversation || fcntl(number, F_GETFD) < 0) continue;
        struct stat status;
        if (number > 2 || fstat(number, &status) != 0 || status.st_rdev != makedev(1, 3)) return 0;
    }
    return EBADF;
}

CALL(open_file, SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY)
CALL(open_directory, SYS_openat, AT_FDCWD, "/", O_RDONLY | O_DIRECTORY)
CALL(create_file, SYS_openat, AT_FDCWD, "/tmp/satchel-was-here", O_WRONLY | O_CREAT, 0600)
CALL(unnamed_file, SYS_openat, AT_FDCWD, "/tmp", O_WRONLY | O_TMPFILE, 0600)
CALL(proc_environment, SYS_openat, AT_FDCWD, "/proc/self/environ", O_RDONLY)
CALL(proc_memory, SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR)
CALL(proc_parent, SYS_openat, AT_FDCWD, "/proc/1/maps", O_RDONLY)
CALL(open_by_handle, SYS_open_by_handle_at, AT_FDCWD, NULL, O_RDONLY)
CALL(remove_file, SYS_unlinkat, AT_FDCWD, "/tmp/satchel-is-not-here", 0)
CALL(make_link, SYS_symlinkat, "/etc/passwd", AT_FDCWD, "/tmp/satchel-was-here")
CALL(change_directory, SYS_chdir, "/")
CALL(change_root, SYS_chroot, "/")
CALL(mount_something, SYS_mount, "none", "/", "tmpfs", 0, NULL)
CALL(watch_files, SYS_inotify_init1, 0)
CALL(watch_everything, SYS_fanotify_init, 0, 0)

REACH(write_source) {
    (void)conversation;
    return outcome(write(source, "x", 1));
}

REACH(map_source_writable) {
    (void)conversation;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, source, 0);
    return memory == MAP_FAILED ? errno : 0;
}

REACH(change_source_mode) {
    (void)conversation;
    return outcome(fchmod(source, 0777));
}

REACH(lock_source) {
    (void)conversation;
    return outcome(syscall(SYS_flock, source, 2));
}

REACH(lease_source) {
    (void)conversation;
    return outcome(fcntl(source, F_SETLEASE, F_RDLCK));
}

REACH(mark_source) {
    (void)conversation;
    return outcome(syscall(SYS_fsetxattr, source, "user.satchel", "x", 1, 0));
}

REACH(control_source) {
    (void)conversation;
    int flags = 0;
    return outcome(ioctl(source, _IOR('f', 1, long), &flags));
}

REACH(splice_source) {
    return outcome(syscall(SYS_splice, source, NULL, conversation, NULL, 1, 0));
}

// MARK: Sockets

CALL(internet_socket, SYS_socket, AF_INET, SOCK_STREAM, 0)
CALL(raw_socket, SYS_socket, AF_INET, SOCK_RAW, 1)
CALL(netlink_socket, SYS_socket, AF_NETLINK, SOCK_RAW, 0)
CALL(machine_socket, SYS_socket, AF_VSOCK, SOCK_STREAM, 0)
CALL(packet_socket, SYS_socket, AF_PACKET, SOCK_RAW, 0)
CALL(local_socket, SYS_socket, AF_UNIX, SOCK_STREAM, 0)

REACH(socket_pair) {
    (void)source;
    (void)conversation;
    int sockets[2];
    return outcome(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
}

/// A name of an abstract socket, which no file system guards.
static const struct sockaddr_un abstract_name = {.sun_family = AF_UNIX, .sun_path = "\0satchel"};

REACH(bind_abstract) {
    (void)source;
    return outcome(bind(conversation, (const struct sockaddr *)&abstract_name, sizeof abstract_name));
}

REACH(connect_abstract) {
    (void)source;
    return outcome(connect(conversation, (const struct sockaddr *)&abstract_name, sizeof abstract_name));
}

REACH(accept_connection) {
    (void)source;
    return outcome(syscall(SYS_accept4, conversation, NULL, NULL, 0));
}

REACH(send_to_name) {
    (void)source;
    return outcome(syscall(SYS_sendto, conversation, "x", 1, 0, &abstract_name, sizeof abstract_name));
}

// MARK: Processes

CALL(new_process, SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)
CALL(new_process_newer, SYS_clone3, NULL, 0)
CALL(new_namespace_thread, SYS_clone, CLONE_THREAD | CLONE_SIGHAND | CLONE_VM | CLONE_NEWUSER, NULL, NULL, NULL, NULL)
CALL(new_namespace, SYS_unshare, CLONE_NEWUSER)
CALL(other_namespace, SYS_setns, 0, 0)

REACH(run_program) {
    (void)source;
    (void)conversation;
    char *arguments[] = {"/bin/true", NULL};
    return outcome(execv(arguments[0], arguments));
}

REACH(run_descriptor) {
    (void)conversation;
    char *arguments[] = {"x", NULL};
    return outcome(syscall(SYS_execveat, source, "", arguments, NULL, AT_EMPTY_PATH));
}

// Signal 0 only asks whether another could be sent.
CALL(signal_parent, SYS_kill, getppid(), 0)
CALL(signal_all, SYS_kill, -1, 0)
CALL(signal_thread, SYS_tgkill, 1, 1, 0)
CALL(signal_itself, SYS_tgkill, getpid(), gettid(), 0)
CALL(process_descriptor, SYS_pidfd_open, 1, 0)
CALL(foreign_descriptor, SYS_pidfd_getfd, 0, 0, 0)

REACH(signal_by_owner) {
    (void)source;
    return outcome(fcntl(conversation, F_SETOWN, 1));
}

CALL(trace_parent, SYS_ptrace, PTRACE_ATTACH, getppid(), NULL, NULL)
CALL(trace_itself, SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL)

REACH(read_memory) {
    (void)source;
    (void)conversation;
    char byte;
    struct iovec mine = {&byte, 1}, theirs = {&byte, 1};
    return outcome(syscall(SYS_process_vm_readv, 1, &mine, 1, &theirs, 1, 0));
}

REACH(write_memory) {
    (void)source;
    (void)conversation;
    char byte = 0;
    struct iovec mine = {&byte, 1}, theirs = {&byte, 1};
    return outcome(syscall(SYS_process_vm_writev, 1, &mine, 1, &theirs, 1, 0));
}

REACH(limit_another) {
    (void)source;
    (void)conversation;
    struct rlimit limit;
    return outcome(syscall(SYS_prlimit64, 1, RLIMIT_CPU, NULL, &limit));
}

REACH(raise_limit) {
    (void)source;
    (void)conversation;
    struct rlimit limit = {1 << 16, 1 << 16};
    return outcome(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, NULL));
}

CALL(raise_priority, SYS_setpriority, PRIO_PROCESS, 0, -5)
CALL(lower_another, SYS_setpriority, PRIO_PROCESS, 1, 5)
CALL(real_time, SYS_sched_setscheduler, 0, 1, NULL)
CALL(wait_for_another, SYS_wait4, -1, NULL, 1, NULL)

// MARK: Rights

CALL(become_root, SYS_setuid, 0)
CALL(change_groups, SYS_setgroups, 0, NULL)
CALL(take_capabilities, SYS_capset, NULL, NULL)
CALL(become_traceable, SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)
CALL(allow_tracer, SYS_prctl, PR_SET_PTRACER, -1L, 0, 0, 0)
CALL(outlive_parent, SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0)
CALL(another_filter, SYS_seccomp, 1, 0, NULL)
CALL(personality_of_old, SYS_personality, 0x0400000)

// MARK: The kernel

CALL(io_uring, SYS_io_uring_setup, 1, NULL)
CALL(page_faults, SYS_userfaultfd, 0)
CALL(kernel_program, SYS_bpf, BPF_MAP_CREATE, NULL, 0)
CALL(performance_events, SYS_perf_event_open, NULL, 0, -1, -1, 0)
CALL(add_to_keyring, SYS_add_key, "user", "satchel", "x", 1, -3)
CALL(ask_keyring, SYS_request_key, "user", "satchel", NULL, -3)
CALL(control_keyring, SYS_keyctl, 0, -3, 0)
CALL(shared_memory, SYS_shmget, 1, 4096, 0600)
CALL(message_queue, SYS_msgget, 1, 0600)
CALL(named_queue, SYS_mq_open, "satchel", O_RDWR | O_CREAT, 0600, NULL)
CALL(kernel_module, SYS_finit_module, -1, "", 0)
CALL(kernel_log, SYS_syslog, 3, NULL, 0)
CALL(another_kernel, SYS_kexec_load, 0, 0, NULL, 0)
CALL(set_clock, SYS_clock_settime, 0, NULL)
CALL(set_host_name, SYS_sethostname, NULL, 0)
CALL(timer_descriptor, SYS_timerfd_create, 0, 0)
CALL(event_poll, SYS_epoll_create1, 0)
CALL(new_ruleset, SYS_landlock_create_ruleset, NULL, 0, 1)
#if defined(__x86_64__)
CALL(other_table, 0x40000000 | SYS_getpid)

/// A call of 32 bits, whose numbers mean others.
REACH(old_table) {
    (void)source;
    (void)conversation;
    long result = 20;
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    return result >= 0 ? 0 : (int)-result;
}
#endif

// MARK: Memory and the machine

CALL(memory_file, SYS_memfd_create, "x", 0)
CALL(secret_memory, SYS_memfd_secret, 0)

REACH(executable_memory) {
    (void)source;
    (void)conversation;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

REACH(source_as_code) {
    (void)conversation;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, source, 0);
    return memory == MAP_FAILED ? errno : 0;
}

static void *nothing(void *argument) { return argument; }

REACH(new_thread) {
    (void)source;
    (void)conversation;
    pthread_t thread;
    int code = pthread_create(&thread, NULL, nothing, NULL);
    if (code == 0) pthread_join(thread, NULL);
    return code;
}

REACH(machine_facts) {
    (void)source;
    (void)conversation;
    struct utsname name;
    return outcome(uname(&name));
}

CALL(random_bytes, SYS_getrandom, (char[8]){0}, 8, 0)

// MARK: The table

static const struct {
    const char *name;
    int (*reach)(int source, int conversation);
} reaches[] = {
#define ROW(name) {#name, name}
    ROW(inherited_descriptors), ROW(open_file), ROW(open_directory), ROW(create_file), ROW(unnamed_file),
    ROW(proc_environment), ROW(proc_memory), ROW(proc_parent), ROW(open_by_handle), ROW(remove_file), ROW(make_link),
    ROW(change_directory), ROW(change_root), ROW(mount_something), ROW(watch_files), ROW(watch_everything),
    ROW(write_source), ROW(map_source_writable), ROW(change_source_mode), ROW(lock_source), ROW(lease_source),
    ROW(mark_source), ROW(control_source), ROW(splice_source), ROW(internet_socket), ROW(raw_socket),
    ROW(netlink_socket), ROW(machine_socket), ROW(packet_socket), ROW(local_socket), ROW(socket_pair),
    ROW(bind_abstract), ROW(connect_abstract), ROW(accept_connection), ROW(send_to_name), ROW(new_process),
    ROW(new_process_newer), ROW(new_namespace_thread), ROW(new_namespace), ROW(other_namespace), ROW(run_program),
    ROW(run_descriptor), ROW(signal_parent), ROW(signal_all), ROW(signal_thread), ROW(signal_itself),
    ROW(process_descriptor), ROW(foreign_descriptor), ROW(signal_by_owner), ROW(trace_parent), ROW(trace_itself),
    ROW(read_memory), ROW(write_memory), ROW(limit_another), ROW(raise_limit), ROW(raise_priority),
    ROW(lower_another), ROW(real_time), ROW(wait_for_another), ROW(become_root), ROW(change_groups),
    ROW(take_capabilities), ROW(become_traceable), ROW(allow_tracer), ROW(outlive_parent), ROW(another_filter),
    ROW(personality_of_old), ROW(io_uring), ROW(page_faults), ROW(kernel_program), ROW(performance_events),
    ROW(add_to_keyring), ROW(ask_keyring), ROW(control_keyring), ROW(shared_memory), ROW(message_queue),
    ROW(named_queue), ROW(kernel_module), ROW(kernel_log), ROW(another_kernel), ROW(set_clock), ROW(set_host_name),
    ROW(timer_descriptor), ROW(event_poll), ROW(new_ruleset), ROW(memory_file), ROW(secret_memory),
    ROW(executable_memory), ROW(source_as_code), ROW(new_thread), ROW(machine_facts), ROW(random_bytes),
#if defined(__x86_64__)
    ROW(other_table), ROW(old_table),
#endif
};

const char *fault_reach_name(size_t index) {
    return index < sizeof reaches / sizeof *reaches ? reaches[index].name : NULL;
}

int fault_reach(const char *name, int source, int conversation) {
    for (size_t index = 0; index < sizeof reaches / sizeof *reaches; index++)
        if (strcmp(reaches[index].name, name) == 0) return reaches[index].reach(source, conversation);
    return ENOSYS;
}

const char *fault_errno_name(int code) { return strerrorname_np(code); }
