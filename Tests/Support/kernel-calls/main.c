// Follows every thread of one program and either kills it at its N-th call that changes a file, or writes down all
// such calls with their data. Children of the program run untouched: the codec keeps its confinement.
//
//     kernel-calls kill N REPORT PROGRAM ARGUMENT...
//     kernel-calls record ROOT LOG DATA PROGRAM ARGUMENT...
//
// kill: the program dies by SIGKILL while the thread that makes the N-th call is stopped at its entry, so that the
// call doesn't happen; with N = 0 it lives. REPORT gets a line for each call up to that one. The status is the
// program's; 137 where it was killed.
//
// record: LOG gets a line for each call that succeeded, in the order in which the calls returned; only files on the
// file system of ROOT are written down. Fields end with a tab: the number of lines that were there when the call
// began, the operation, and then
//
//     create INODE DIRECTORY NAME      a new file                  truncate INODE LENGTH
//     unnamed INODE                    a new file without a name   write INODE OFFSET LENGTH POSITION
//     mkdir INODE DIRECTORY NAME                                   sync INODE
//     link INODE DIRECTORY NAME                                    output LENGTH POSITION   to standard output
//     rename DIRECTORY NAME DIRECTORY NAME                         exit STATUS
//     unlink DIRECTORY NAME                                        sent LENGTH POSITION     to a socket
//
// with directories as inodes, and POSITION telling where in DATA the bytes are. What another process wrote into a file
// (a codec into its output) shows as one write just before the file is synced or named. A SIGTERM goes on to the program.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: The calls

enum kind {
    K_WRITE, K_WRITE_AT, K_COPY, K_SYNC, K_TRUNCATE, K_OPEN, K_LINK, K_RENAME, K_UNLINK, K_MKDIR,
};

struct call {
    const char *name;
    long number;
    enum kind kind;
    // Which arguments are what; -1 where there is none. A directory of -1 is the working directory.
    int file, directory, path, new_directory, new_path;
};

static const struct call calls[] = {
    {"write", SYS_write, K_WRITE, 0, -1, -1, -1, -1},
    {"writev", SYS_writev, K_WRITE, 0, -1, -1, -1, -1},
    {"pwrite64", SYS_pwrite64, K_WRITE_AT, 0, -1, -1, -1, -1},
    {"pwritev", SYS_pwritev, K_WRITE_AT, 0, -1, -1, -1, -1},
    {"pwritev2", SYS_pwritev2, K_WRITE_AT, 0, -1, -1, -1, -1},
    {"copy_file_range", SYS_copy_file_range, K_COPY, 2, -1, -1, -1, -1},
    {"sendfile", SYS_sendfile, K_COPY, 0, -1, -1, -1, -1},
    {"fsync", SYS_fsync, K_SYNC, 0, -1, -1, -1, -1},
    {"fdatasync", SYS_fdatasync, K_SYNC, 0, -1, -1, -1, -1},
    {"ftruncate", SYS_ftruncate, K_TRUNCATE, 0, -1, -1, -1, -1},
    {"fallocate", SYS_fallocate, K_TRUNCATE, 0, -1, -1, -1, -1},
    {"openat", SYS_openat, K_OPEN, -1, 0, 1, -1, -1},
    {"openat2", SYS_openat2, K_OPEN, -1, 0, 1, -1, -1},
    {"linkat", SYS_linkat, K_LINK, -1, 0, 1, 2, 3},
    {"renameat2", SYS_renameat2, K_RENAME, -1, 0, 1, 2, 3},
    {"unlinkat", SYS_unlinkat, K_UNLINK, -1, 0, 1, -1, -1},
    {"mkdirat", SYS_mkdirat, K_MKDIR, -1, 0, 1, -1, -1},
#ifdef SYS_renameat
    {"renameat", SYS_renameat, K_RENAME, -1, 0, 1, 2, 3},
#endif
#ifdef SYS_open
    {"open", SYS_open, K_OPEN, -1, -1, 0, -1, -1},
    {"link", SYS_link, K_LINK, -1, -1, 0, -1, 1},
    {"rename", SYS_rename, K_RENAME, -1, -1, 0, -1, 1},
    {"unlink", SYS_unlink, K_UNLINK, -1, -1, 0, -1, -1},
    {"rmdir", SYS_rmdir, K_UNLINK, -1, -1, 0, -1, -1},
    {"mkdir", SYS_mkdir, K_MKDIR, -1, -1, 0, -1, -1},
#endif
};

// What would change files and is not understood above: the program must not make such a call unnoticed.
static const struct { const char *name; long number; } refused[] = {
    {"truncate", SYS_truncate}, {"sync_file_range", SYS_sync_file_range},
    {"msync", SYS_msync}, {"sync", SYS_sync}, {"syncfs", SYS_syncfs}, {"symlinkat", SYS_symlinkat},
#ifdef SYS_creat
    {"creat", SYS_creat}, {"symlink", SYS_symlink},
#endif
};

static const struct call *call_of(uint64_t number) {
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if ((uint64_t)calls[i].number == number) return &calls[i];
    return NULL;
}

// MARK: State

struct thread {
    pid_t tid;
    const struct call *call;  // the one that is under way, where it matters
    uint64_t arguments[6];
    long began;               // lines in the log at its entry
    bool existed;             // what an opening would create was there
};

static struct thread threads[1024];
static pid_t program;
static bool recording;
static long limit, counted, lines;
static FILE *out, *data_out;
static long position;
static dev_t device;

// Files that the program itself wrote, or whose content is in the log already.
static ino_t known[1 << 16];
static size_t known_count;

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "kernel-calls: %s: %s\n", what, strerror(errno));
    exit(125);
}

static struct thread *thread_of(pid_t tid) {
    struct thread *empty = NULL;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        if (threads[i].tid == tid) return &threads[i];
        if (!empty && threads[i].tid == 0) empty = &threads[i];
    }
    if (!empty) { errno = EMFILE; fail("too many threads"); }
    *empty = (struct thread){.tid = tid};
    return empty;
}

static bool is_known(ino_t inode) {
    for (size_t i = known_count; i > 0; i--)
        if (known[i - 1] == inode) return true;
    return false;
}

static void set_known(ino_t inode, bool value) {
    if (value && !is_known(inode)) {
        if (known_count == sizeof known / sizeof *known) { errno = ENFILE; fail("too many files"); }
        known[known_count++] = inode;
    }
    if (!value)
        for (size_t i = 0; i < known_count; i++)
            if (known[i] == inode) { known[i] = known[--known_count]; return; }
}

// MARK: Looking into the program

static void read_path(pid_t tid, uint64_t address, char path[PATH_MAX]) {
    size_t length = 0;
    while (length < PATH_MAX - 1) {
        size_t part = 256 - (address + length) % 256;
        if (part > PATH_MAX - 1 - length) part = PATH_MAX - 1 - length;
        struct iovec here = {path + length, part}, there = {(void *)(uintptr_t)(address + length), part};
        if (process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)part) break;
        if (memchr(path + length, 0, part)) return;
        length += part;
    }
    path[length] = 0;
}

static void descriptor_path(pid_t tid, uint64_t descriptor, char *path) {
    snprintf(path, 64, "/proc/%d/fd/%d", tid, (int)descriptor);
}

// A path as this process can use it.
static void whole_path(const struct thread *thread, int directory, int path, char whole[2 * PATH_MAX]) {
    char given[PATH_MAX];
    read_path(thread->tid, thread->arguments[path], given);
    if (given[0] == '/') {
        snprintf(whole, 2 * PATH_MAX, "%s", given);
    } else if (directory < 0 || (int)thread->arguments[directory] == AT_FDCWD) {
        snprintf(whole, 2 * PATH_MAX, "/proc/%d/cwd/%s", thread->tid, given);
    } else {
        snprintf(whole, 2 * PATH_MAX, "/proc/%d/fd/%d/%s", thread->tid, (int)thread->arguments[directory], given);
    }
    size_t length = strlen(whole);
    while (length > 1 && whole[length - 1] == '/') whole[--length] = 0;
}

// The inode of the directory that holds `path`, whose last part `name` points to then; 0 where it doesn't matter.
static ino_t parent_of(char *path, const char **name) {
    char *slash = strrchr(path, '/');
    *name = slash + 1;
    struct stat status;
    char directory[2 * PATH_MAX];
    snprintf(directory, sizeof directory, "%.*s/", (int)(slash - path), path);
    if (stat(directory, &status) != 0 || status.st_dev != device) return 0;
    return status.st_ino;
}

static bool status_of(pid_t tid, uint64_t descriptor, struct stat *status) {
    char path[64];
    descriptor_path(tid, descriptor, path);
    return stat(path, status) == 0;
}

static uint64_t open_flags(const struct thread *thread) {
    if (thread->call->number == SYS_openat2) {
        uint64_t flags = 0;
        struct iovec here = {&flags, sizeof flags}, there = {(void *)(uintptr_t)thread->arguments[2], sizeof flags};
        return process_vm_readv(thread->tid, &here, 1, &there, 1, 0) == sizeof flags ? flags : 0;
    }
    return thread->arguments[thread->call->path + 1];
}

static bool is_unnamed(uint64_t flags) { return (flags & O_TMPFILE) == O_TMPFILE; }

// Whether a call that was found by its number is one that changes a file.
static bool matters(const struct thread *thread) {
    struct stat status;
    switch (thread->call->kind) {
    case K_WRITE:
    case K_WRITE_AT:
    case K_COPY:
        if (thread->arguments[thread->call->file] == STDOUT_FILENO) return true;
        return status_of(thread->tid, thread->arguments[thread->call->file], &status)
            && (S_ISREG(status.st_mode) || (recording && S_ISSOCK(status.st_mode)));
    case K_OPEN: {
        uint64_t flags = open_flags(thread);
        return (flags & (O_CREAT | O_TRUNC)) || is_unnamed(flags);
    }
    default:
        return true;
    }
}

// MARK: Writing down

static void begin_line(const struct thread *thread, const char *operation) {
    fprintf(out, "%ld\t%s\t", thread->began, operation);
}

static void end_line(void) {
    fputc('\n', out);
    lines++;
}

// Copies a part of a file to the data; tells how much.
static long copy_data(const char *path, long offset, long length) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(path);
    long copied = 0;
    char buffer[1 << 16];
    while (copied < length) {
        long part = length - copied < (long)sizeof buffer ? length - copied : (long)sizeof buffer;
        ssize_t count = pread(file, buffer, part, offset + copied);
        if (count <= 0) break;
        if (fwrite(buffer, 1, count, data_out) != (size_t)count) fail("write the data");
        copied += count;
    }
    close(file);
    position += copied;
    return copied;
}

static void write_down(const struct thread *thread, const char *path, ino_t inode, long offset, long length) {
    long start = position;
    length = copy_data(path, offset, length);
    begin_line(thread, "write");
    fprintf(out, "%ju\t%ld\t%ld\t%ld\t", (uintmax_t)inode, offset, length, start);
    end_line();
}

static long file_position(pid_t tid, uint64_t descriptor) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", tid, (int)descriptor);
    FILE *info = fopen(path, "re");
    long value = -1;
    if (!info || fscanf(info, "pos: %ld", &value) != 1) fail(path);
    fclose(info);
    return value;
}

// What another process wrote, before it is synced or named.
static void write_down_foreign(const struct thread *thread, const char *path) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_dev != device) return;
    if (is_known(status.st_ino)) return;
    set_known(status.st_ino, true);
    write_down(thread, path, status.st_ino, 0, status.st_size);
}

static void note_entry(struct thread *thread) {
    struct stat status;
    char path[2 * PATH_MAX];
    thread->began = lines;
    if (thread->call->kind == K_SYNC) {
        descriptor_path(thread->tid, thread->arguments[0], path);
        write_down_foreign(thread, path);
    }
    if (thread->call->kind == K_OPEN) {
        whole_path(thread, thread->call->directory, thread->call->path, path);
        thread->existed = stat(path, &status) == 0;
    }
    thread->began = lines;
}

// What went out through a socket; from the program's memory, which it doesn't touch before the call returns.
static void write_down_sent(const struct thread *thread, long length) {
    struct iovec parts[1024] = {{(void *)(uintptr_t)thread->arguments[1], (size_t)thread->arguments[2]}};
    size_t count = 1;
    if (thread->call->number == SYS_writev) {
        count = thread->arguments[2] < 1024 ? thread->arguments[2] : 1024;
        struct iovec here = {parts, count * sizeof *parts};
        struct iovec there = {(void *)(uintptr_t)thread->arguments[1], count * sizeof *parts};
        if (process_vm_readv(thread->tid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len) fail("read what is sent");
    } else if (thread->call->number != SYS_write) {
        return;
    }
    long start = position;
    for (size_t i = 0; i < count && length > 0; i++) {
        char buffer[1 << 16];
        for (size_t at = 0; at < parts[i].iov_len && length > 0;) {
            size_t part = parts[i].iov_len - at < sizeof buffer ? parts[i].iov_len - at : sizeof buffer;
            if ((long)part > length) part = length;
            struct iovec here = {buffer, part}, there = {(char *)parts[i].iov_base + at, part};
            if (process_vm_readv(thread->tid, &here, 1, &there, 1, 0) != (ssize_t)part) fail("read what is sent");
            if (fwrite(buffer, 1, part, data_out) != part) fail("write the data");
            at += part;
            length -= part;
            position += part;
        }
    }
    begin_line(thread, "sent");
    fprintf(out, "%ld\t%ld\t", position - start, start);
    end_line();
}

static void write_down_name(const struct thread *thread, const char *operation, int directory, int path_index) {
    char path[2 * PATH_MAX];
    const char *name;
    struct stat status;
    whole_path(thread, directory, path_index, path);
    ino_t parent = parent_of(path, &name);
    if (!parent || lstat(path, &status) != 0) return;
    begin_line(thread, operation);
    fprintf(out, "%ju\t%ju\t%s\t", (uintmax_t)status.st_ino, (uintmax_t)parent, name);
    end_line();
}

static void write_down_exit(struct thread *thread, int64_t answer) {
    const struct call *call = thread->call;
    char path[2 * PATH_MAX], other[2 * PATH_MAX];
    const char *name, *other_name;
    struct stat status;
    uint64_t descriptor = call->file >= 0 ? thread->arguments[call->file] : 0;
    switch (call->kind) {
    case K_WRITE:
    case K_WRITE_AT:
    case K_COPY: {
        if (!status_of(thread->tid, descriptor, &status) || answer == 0) return;
        if (descriptor == STDOUT_FILENO) {
            long start = position;
            long end = file_position(thread->tid, descriptor);
            descriptor_path(thread->tid, descriptor, path);
            long length = copy_data(path, end - answer, answer);
            begin_line(thread, "output");
            fprintf(out, "%ld\t%ld\t", length, start);
            end_line();
            return;
        }
        if (S_ISSOCK(status.st_mode)) {
            write_down_sent(thread, answer);
            return;
        }
        if (status.st_dev != device) return;
        bool is_at = call->kind == K_WRITE_AT;
        long offset = is_at ? (long)thread->arguments[3] : file_position(thread->tid, descriptor) - answer;
        set_known(status.st_ino, true);
        descriptor_path(thread->tid, descriptor, path);
        write_down(thread, path, status.st_ino, offset, answer);
        return;
    }
    case K_SYNC:
        if (!status_of(thread->tid, descriptor, &status) || status.st_dev != device) return;
        begin_line(thread, "sync");
        fprintf(out, "%ju\t", (uintmax_t)status.st_ino);
        end_line();
        return;
    case K_TRUNCATE:
        if (!status_of(thread->tid, descriptor, &status) || status.st_dev != device) return;
        begin_line(thread, "truncate");
        fprintf(out, "%ju\t%ld\t", (uintmax_t)status.st_ino, (long)status.st_size);
        end_line();
        return;
    case K_OPEN: {
        uint64_t flags = open_flags(thread);
        if (!status_of(thread->tid, answer, &status) || status.st_dev != device || !S_ISREG(status.st_mode)) return;
        if (is_unnamed(flags)) {
            set_known(status.st_ino, false);
            begin_line(thread, "unnamed");
            fprintf(out, "%ju\t", (uintmax_t)status.st_ino);
            end_line();
        } else if (!thread->existed) {
            set_known(status.st_ino, false);
            write_down_name(thread, "create", call->directory, call->path);
        } else if (flags & O_TRUNC) {
            begin_line(thread, "truncate");
            fprintf(out, "%ju\t0\t", (uintmax_t)status.st_ino);
            end_line();
        }
        return;
    }
    case K_LINK:
        whole_path(thread, call->new_directory, call->new_path, path);
        write_down_foreign(thread, path);
        write_down_name(thread, "link", call->new_directory, call->new_path);
        return;
    case K_MKDIR:
        write_down_name(thread, "mkdir", call->directory, call->path);
        return;
    case K_RENAME: {
        whole_path(thread, call->directory, call->path, path);
        whole_path(thread, call->new_directory, call->new_path, other);
        ino_t from = parent_of(path, &name), to = parent_of(other, &other_name);
        if (!from || !to) return;
        begin_line(thread, "rename");
        fprintf(out, "%ju\t%s\t%ju\t%s\t", (uintmax_t)from, name, (uintmax_t)to, other_name);
        end_line();
        return;
    }
    case K_UNLINK: {
        whole_path(thread, call->directory, call->path, path);
        ino_t parent = parent_of(path, &name);
        if (!parent) return;
        begin_line(thread, "unlink");
        fprintf(out, "%ju\t%s\t", (uintmax_t)parent, name);
        end_line();
        return;
    }
    }
}

// MARK: Following

static void at_entry(struct thread *thread, const struct __ptrace_syscall_info *info) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if ((uint64_t)refused[i].number == info->entry.nr) {
            fprintf(stderr, "kernel-calls: the program calls %s, which is not understood\n", refused[i].name);
            exit(125);
        }
    thread->call = call_of(info->entry.nr);
    if (!thread->call) return;
    memcpy(thread->arguments, info->entry.args, sizeof thread->arguments);
    if (!matters(thread)) {
        thread->call = NULL;
        return;
    }
    if (recording) {
        note_entry(thread);
        return;
    }
    counted++;
    fprintf(out, "%ld\t%s\n", counted, thread->call->name);
    fflush(out);
    if (counted == limit) kill(program, SIGKILL);
}

static void at_stop(struct thread *thread) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread->tid, sizeof info, &info) <= 0) return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        at_entry(thread, &info);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && thread->call) {
        if (recording && !info.exit.is_error) write_down_exit(thread, info.exit.rval);
        thread->call = NULL;
    }
}

static int follow(void) {
    while (true) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0) {
            if (errno == EINTR) continue;
            fail("wait for the program");
        }
        struct thread *thread = thread_of(tid);
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            thread->tid = 0;
            if (tid == program) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int stop = WSTOPSIG(status), event = status >> 16;
        long signal_to_deliver = 0;
        if (stop == (SIGTRAP | 0x80)) {
            at_stop(thread);
        } else if (event == 0) {
            signal_to_deliver = stop;
        }
        // Fails only where the thread was killed meanwhile, which the next wait tells.
        ptrace(PTRACE_SYSCALL, tid, 0, signal_to_deliver);
    }
}

static void start(char **command) {
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) fail("make a pipe");
    program = fork();
    if (program < 0) fail("fork");
    if (program == 0) {
        char byte;
        if (read(ready[0], &byte, 1) != 1) _exit(125);
        execv(command[0], command);
        _exit(126);
    }
    // New threads are followed, new processes not.
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, program, 0, options) != 0) fail("follow the program");
    if (ptrace(PTRACE_INTERRUPT, program, 0, 0) != 0) fail("stop the program");
    if (write(ready[1], "x", 1) != 1) fail("let the program go");
    close(ready[0]);
    close(ready[1]);
}

// Whoever ends this one means the program.
static void pass_on(int number) { kill(program, number); }

int main(int count, char **arguments) {
    signal(SIGPIPE, SIG_IGN);
    if (count >= 5 && strcmp(arguments[1], "kill") == 0) {
        limit = atol(arguments[2]);
        out = fopen(arguments[3], "we");
        if (!out) fail(arguments[3]);
        start(arguments + 4);
        return follow();
    }
    if (count >= 6 && strcmp(arguments[1], "record") == 0) {
        recording = true;
        struct stat root;
        if (stat(arguments[2], &root) != 0) fail(arguments[2]);
        device = root.st_dev;
        out = fopen(arguments[3], "we");
        data_out = fopen(arguments[4], "we");
        if (!out || !data_out) fail(arguments[3]);
        start(arguments + 5);
        // Whoever started this one may have had it blocked.
        sigset_t ends;
        sigemptyset(&ends);
        sigaddset(&ends, SIGTERM);
        signal(SIGTERM, pass_on);
        sigprocmask(SIG_UNBLOCK, &ends, NULL);
        int status = follow();
        fprintf(out, "%ld\texit\t%d\t\n", lines, status);
        if (fclose(out) != 0 || fclose(data_out) != 0) fail("write the log");
        return status;
    }
    fprintf(stderr, "usage: kernel-calls kill N REPORT PROGRAM... | record ROOT LOG DATA PROGRAM...\n");
    return 125;
}
