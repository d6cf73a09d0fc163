#define _GNU_SOURCE
#include "memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>

int csandbox_memory_file(void) {
    return memfd_create("satchel", MFD_CLOEXEC);
}

int csandbox_sealable_memory_file(void) {
    return memfd_create("satchel", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int csandbox_seal_memory_file(int file) {
    return fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
