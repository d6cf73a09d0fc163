#define _GNU_SOURCE
#include "sandbox_syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif

// Work on memory, on descriptors that were handed over, on the process's own threads, and the time.
static const int allowed[] = {
    SCMP_SYS(brk), SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise),
    SCMP_SYS(mincore), SCMP_SYS(membarrier),

    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(pwrite64),
    SCMP_SYS(preadv), SCMP_SYS(pwritev), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(close), SCMP_SYS(close_range),
    SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(ftruncate), SCMP_SYS(fallocate), SCMP_SYS(fadvise64),
    SCMP_SYS(fsync), SCMP_SYS(fdatasync),

    // The conversation, and GLib's and FFmpeg's threads waking each other. There is no way to a new socket.
    SCMP_SYS(sendmsg), SCMP_SYS(recvmsg), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(select), SCMP_SYS(pselect6),
    SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(eventfd2),

    SCMP_SYS(futex), SCMP_SYS(futex_waitv), SCMP_SYS(set_robust_list), SCMP_SYS(get_robust_list), SCMP_SYS(rseq),
    SCMP_SYS(set_tid_address), SCMP_SYS(arch_prctl), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(sched_getparam), SCMP_SYS(sched_getscheduler), SCMP_SYS(sched_getattr),
    SCMP_SYS(sched_get_priority_max), SCMP_SYS(sched_get_priority_min), SCMP_SYS(getpriority), SCMP_SYS(getcpu),

    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(rt_sigpending), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(rt_sigsuspend), SCMP_SYS(restart_syscall),

    SCMP_SYS(clock_gettime), SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(times), SCMP_SYS(getrusage), SCMP_SYS(getrandom),

    SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getppid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
    SCMP_SYS(getegid), SCMP_SYS(getresuid), SCMP_SYS(getresgid), SCMP_SYS(capget), SCMP_SYS(uname),
    SCMP_SYS(sysinfo), SCMP_SYS(umask), SCMP_SYS(getrlimit),
    // Its own limits only, and those only downwards.
    SCMP_SYS(setrlimit),
};

struct refusal {
    int call;
    int code;
};

// What well-behaved libraries try and can do without. Everything else that isn't allowed ends the process.
static const struct refusal refused[] = {
    {SCMP_SYS(open), EACCES}, {SCMP_SYS(openat), EACCES}, {SCMP_SYS(openat2), EACCES}, {SCMP_SYS(creat), EACCES},
    {SCMP_SYS(access), EACCES}, {SCMP_SYS(faccessat), EACCES}, {SCMP_SYS(faccessat2), EACCES},
    {SCMP_SYS(stat), EACCES}, {SCMP_SYS(lstat), EACCES}, {SCMP_SYS(statx), ENOSYS}, {SCMP_SYS(statfs), EACCES},
    {SCMP_SYS(fstatfs), EACCES}, {SCMP_SYS(readlink), EACCES}, {SCMP_SYS(readlinkat), EACCES},
    {SCMP_SYS(getcwd), EACCES}, {SCMP_SYS(getdents64), EACCES}, {SCMP_SYS(mkdir), EACCES},
    {SCMP_SYS(mkdirat), EACCES}, {SCMP_SYS(unlink), EACCES}, {SCMP_SYS(unlinkat), EACCES},
    {SCMP_SYS(rename), EACCES}, {SCMP_SYS(renameat), EACCES}, {SCMP_SYS(renameat2), EACCES},
    {SCMP_SYS(chmod), EACCES}, {SCMP_SYS(fchmod), EPERM}, {SCMP_SYS(fchmodat), EACCES},
    {SCMP_SYS(flock), EPERM}, {SCMP_SYS(utimensat), EACCES}, {SCMP_SYS(memfd_create), EPERM},

    {SCMP_SYS(socket), EPERM}, {SCMP_SYS(socketpair), EPERM}, {SCMP_SYS(connect), EPERM}, {SCMP_SYS(bind), EPERM},
    {SCMP_SYS(getpeername), EPERM}, {SCMP_SYS(getsockname), EPERM}, {SCMP_SYS(getsockopt), EPERM},
    {SCMP_SYS(setsockopt), EPERM},

    {SCMP_SYS(fork), EPERM}, {SCMP_SYS(vfork), EPERM},
    // glibc then falls back to clone, whose flags can be looked at.
    {SCMP_SYS(clone3), ENOSYS},
    {SCMP_SYS(sched_setscheduler), EPERM}, {SCMP_SYS(sched_setparam), EPERM}, {SCMP_SYS(sched_setaffinity), EPERM},
    {SCMP_SYS(sched_setattr), EPERM}, {SCMP_SYS(get_mempolicy), ENOSYS}, {SCMP_SYS(set_mempolicy), ENOSYS},
    {SCMP_SYS(mbind), ENOSYS}, {SCMP_SYS(mlock), EPERM},
    // Whether a descriptor is a terminal: it isn't.
    {SCMP_SYS(ioctl), ENOTTY},
};

static const int file_commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};
static const int process_questions[] = {
    PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_GET_SECCOMP, PR_CAPBSET_READ,
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

// Stands for the number of the process that loads the filter: more than any process's.
#define OWN_NUMBER 0x7ACE0FF5

// Compiled once, in the zygote; each fork puts its number in and loads it.
static struct sock_fprog program;
static struct sock_filter *place_of_number;

static int fill(scmp_filter_ctx filter) {
    int code;
    // A tree instead of a list: every system call pays for its depth.
    if ((code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)) != 0) return code;
    for (size_t index = 0; index < COUNT(allowed); index++)
        if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[index], 0)) != 0) return code;
    for (size_t index = 0; index < COUNT(refused); index++)
        if ((code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(refused[index].code), refused[index].call, 0)) != 0)
            return code;
    for (size_t index = 0; index < COUNT(file_commands); index++)
        if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1,
                                     SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)file_commands[index]))) != 0)
            return code;
    for (size_t index = 0; index < COUNT(process_questions); index++)
        if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
                                     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)process_questions[index]))) != 0)
            return code;
    // glibc names its mappings where the kernel takes names.
    if ((code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EINVAL), SCMP_SYS(prctl), 1,
                                 SCMP_A0(SCMP_CMP_EQ, PR_SET_VMA))) != 0)
        return code;

    // fstat of glibc; with a path it is refused.
    if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
                                 SCMP_A3(SCMP_CMP_EQ, AT_EMPTY_PATH))) != 0 ||
        (code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(newfstatat), 1,
                                 SCMP_A3(SCMP_CMP_NE, AT_EMPTY_PATH))) != 0)
        return code;

    // Limits of its own, not of another process.
    if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1, SCMP_A0(SCMP_CMP_EQ, 0))) != 0)
        return code;

    // A lower priority for itself; a higher one takes a right that it doesn't have.
    if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setpriority), 2,
                                 SCMP_A0(SCMP_CMP_EQ, PRIO_PROCESS), SCMP_A1(SCMP_CMP_EQ, 0))) != 0 ||
        (code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpriority), 1,
                                 SCMP_A0(SCMP_CMP_NE, PRIO_PROCESS))) != 0 ||
        (code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(setpriority), 1,
                                 SCMP_A1(SCMP_CMP_NE, 0))) != 0)
        return code;

    // Threads, not processes.
    scmp_datum_t namespaces =
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    if ((code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, namespaces | CLONE_THREAD, CLONE_THREAD))) != 0 ||
        (code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0))) != 0)
        return code;

    // abort() signals its own thread.
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, OWN_NUMBER));
}

// Keeps what libseccomp compiled of a filter.
static int keep(scmp_filter_ctx filter) {
    int file = memfd_create("filter", MFD_CLOEXEC);
    if (file < 0) return -errno;
    int code = seccomp_export_bpf(filter, file);
    off_t length = code == 0 ? lseek(file, 0, SEEK_END) : 0;
    if (code == 0 && length > 0) {
        program.filter = malloc((size_t)length);
        if (!program.filter)
            code = -ENOMEM;
        else if (pread(file, program.filter, (size_t)length, 0) != length)
            code = -EIO;
        program.len = (unsigned short)((size_t)length / sizeof *program.filter);
    }
    close(file);
    if (code != 0) return code;

    size_t places = 0;
    for (size_t index = 0; index < program.len; index++) {
        if (program.filter[index].k != OWN_NUMBER) continue;
        place_of_number = &program.filter[index];
        places++;
    }
    return places == 1 && place_of_number->code == (BPF_JMP | BPF_JEQ | BPF_K) ? 0 : -EPROTO;
}

int sandbox_prepare_syscalls(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (!filter) return ENOMEM;
    int code = fill(filter);
    if (code == 0) code = keep(filter);
    seccomp_release(filter);
    if (code != 0) place_of_number = NULL;
    return -code;
}

int sandbox_confine_syscalls(void) {
    if (!place_of_number) return EINVAL;
    place_of_number->k = (unsigned)getpid();
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    // Above 0: a thread that it can't be given to.
    return result == 0 ? 0 : result < 0 ? errno : EBUSY;
}

bool sandbox_has_confined_syscalls(void) {
    return prctl(PR_GET_SECCOMP) == 2;
}
