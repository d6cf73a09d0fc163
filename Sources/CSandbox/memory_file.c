#define _GNU_SOURCE
#include "memory_file.h"

#include <sys/mman.h>

int csandbox_memory_file(void) {
    return memfd_create("satchel", MFD_CLOEXEC);
}
