// Runs a program to which the kernel refuses some calls, as it does on file systems that have no such thing.
//
//   refuse-calls KIND[,KIND ...] PROGRAM [ARGUMENT ...]
//
// copying: copy_file_range, as between two file systems (EXDEV). unnamed: files without a name, O_TMPFILE (EOPNOTSUPP).
// links: second names (EPERM). leases, delegations: read leases, as where there are none (EINVAL) or a server would have
// to grant them (EAGAIN). What the program starts is refused the same.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Without O_DIRECTORY, which it contains.
#define UNNAMED (O_TMPFILE & ~O_DIRECTORY)

static int refuse(scmp_filter_ctx filter, const char *kind) {
    if (strcmp(kind, "copying") == 0)
        return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EXDEV), SCMP_SYS(copy_file_range), 0);
    if (strcmp(kind, "unnamed") == 0) {
        int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(openat), 1,
                                      SCMP_A2(SCMP_CMP_MASKED_EQ, UNNAMED, UNNAMED));
        return result != 0 ? result
                           : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EOPNOTSUPP), SCMP_SYS(open), 1,
                                              SCMP_A1(SCMP_CMP_MASKED_EQ, UNNAMED, UNNAMED));
    }
    if (strcmp(kind, "links") == 0) {
        int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(linkat), 0);
        return result != 0 ? result : seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(link), 0);
    }
    if (strcmp(kind, "leases") == 0 || strcmp(kind, "delegations") == 0)
        return seccomp_rule_add(filter, SCMP_ACT_ERRNO(kind[0] == 'l' ? EINVAL : EAGAIN), SCMP_SYS(fcntl), 1,
                                SCMP_A1(SCMP_CMP_EQ, F_SETLEASE));
    return -EINVAL;
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: refuse-calls KIND[,KIND ...] PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter) return 1;
    // Root needs no promise to gain no rights, and the program may want to change its user.
    if (geteuid() == 0) seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 0);
    for (char *kind = strtok(arguments[1], ","); kind; kind = strtok(NULL, ",")) {
        int result = refuse(filter, kind);
        if (result != 0) {
            fprintf(stderr, "refuse-calls: %s: %s\n", kind, strerror(-result));
            return 2;
        }
    }
    int result = seccomp_load(filter);
    seccomp_release(filter);
    if (result != 0) {
        fprintf(stderr, "refuse-calls: %s\n", strerror(-result));
        return 1;
    }
    execvp(arguments[2], arguments + 2);
    fprintf(stderr, "refuse-calls: %s: %s\n", arguments[2], strerror(errno));
    return 127;
}
