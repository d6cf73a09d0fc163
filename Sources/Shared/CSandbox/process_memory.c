#define _GNU_SOURCE
#include "process_memory.h"

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void csandbox_limit_heaps(int most) {
    (void)mallopt(M_ARENA_MAX, most);
}

/// The first object is the program; a segment that may be written, or that the linker writes before it is protected, has PF_W.
static int release(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W)) continue;
        const uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        const uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_filesz;
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1;
}

void csandbox_release_program(void) {
    (void)dl_iterate_phdr(release, 0);
}
