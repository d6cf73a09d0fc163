#define _GNU_SOURCE
#include "sandbox_namespaces.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

bool sandbox_user_exists(uint32_t first, uint32_t count) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map) return false;
    unsigned inside, outside, length;
    bool found = false;
    while (!found && fscanf(map, "%u %u %u", &inside, &outside, &length) == 3)
        found = first >= inside && (uint64_t)first + count <= (uint64_t)inside + length;
    fclose(map);
    return found;
}

bool sandbox_root_is_root(void) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (!map) return true;
    unsigned inside, outside, length;
    bool is_user = false;
    while (!is_user && fscanf(map, "%u %u %u", &inside, &outside, &length) == 3) is_user = inside == 0 && outside != 0;
    fclose(map);
    return !is_user;
}

static int write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return errno;
    int result = write(file, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : errno;
    close(file);
    return result;
}

// Several ids can only be mapped from the namespace outside: a process that stays there writes the maps.
static int enter_user_namespace_as_root(uint32_t first, uint32_t count) {
    int entered[2], mapped[2];
    if (pipe2(entered, O_CLOEXEC) != 0) return errno;
    if (pipe2(mapped, O_CLOEXEC) != 0) {
        int code = errno;
        close(entered[0]);
        close(entered[1]);
        return code;
    }
    pid_t caller = getpid();
    pid_t helper = fork();
    if (helper == 0) {
        char word = 0, path[64], map[96];
        close(entered[1]);
        int result = EPIPE;
        if (read(entered[0], &word, 1) == 1) {
            if (first == 0)
                snprintf(map, sizeof map, "0 0 1\n");
            else
                snprintf(map, sizeof map, "0 0 1\n%u %u %u\n", first, first, count);
            snprintf(path, sizeof path, "/proc/%d/uid_map", (int)caller);
            result = write_file(path, map);
            snprintf(path, sizeof path, "/proc/%d/gid_map", (int)caller);
            if (result == 0) result = write_file(path, map);
        }
        ssize_t ignored = write(mapped[1], &result, sizeof result);
        (void)ignored;
        _exit(0);
    }
    int result = helper < 0 ? errno : 0;
    close(entered[0]);
    close(mapped[1]);
    if (result == 0 && unshare(CLONE_NEWUSER) != 0) result = errno;
    bool inside = result == 0;
    if (inside && write(entered[1], "e", 1) != 1) result = errno;
    close(entered[1]);
    int answer = 0;
    if (inside && result == 0) result = read(mapped[0], &answer, sizeof answer) == sizeof answer ? answer : EIO;
    close(mapped[0]);
    if (helper > 0) waitpid(helper, NULL, 0);
    // In a namespace without maps nothing works any more: the caller must not go on.
    if (inside && result != 0) _exit(88);
    return result;
}

static int enter_user_namespace_as_user(void) {
    char map[64];
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWUSER) != 0) return errno;
    int result = write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "%u %u 1\n", user, user);
    if (result == 0) result = write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "%u %u 1\n", group, group);
    if (result == 0) result = write_file("/proc/self/gid_map", map);
    return result;
}

static bool empty_root(void) {
    // Any directory will do to stand on.
    static const char *const places[] = {"/tmp", "/proc", "/usr", "/var"};
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return false;
    for (size_t index = 0; index < sizeof places / sizeof *places; index++) {
        unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
        if (mount("none", places[index], "tmpfs", flags, "size=4k,nr_inodes=2,mode=0555") != 0) continue;
        if (chdir(places[index]) != 0) return false;
        if (syscall(SYS_pivot_root, ".", ".") != 0) return false;
        if (umount2(".", MNT_DETACH) != 0) return false;
        if (chdir("/") != 0) return false;
        return mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY | flags, NULL) == 0;
    }
    return false;
}

struct sandbox_namespaces sandbox_enter_namespaces(uint32_t wanted, uint32_t first, uint32_t count) {
    struct sandbox_namespaces result = {0};
    if (wanted & sandbox_namespace_user)
        result.user = count > 0 ? enter_user_namespace_as_root(first, count) : enter_user_namespace_as_user();
    if (wanted & sandbox_namespace_network) result.network = unshare(CLONE_NEWNET) == 0 ? 0 : errno;
    if (wanted & sandbox_namespace_ipc) result.ipc = unshare(CLONE_NEWIPC) == 0 ? 0 : errno;
    if (wanted & sandbox_namespace_mount) {
        result.mount = unshare(CLONE_NEWNS) == 0 ? 0 : errno;
        if (result.mount == 0) result.empty_root = empty_root();
    }
    if (wanted & sandbox_namespace_process) result.process = unshare(CLONE_NEWPID) == 0 ? 0 : errno;
    return result;
}
