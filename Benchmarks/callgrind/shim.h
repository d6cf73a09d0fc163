// What a program says to callgrind while it runs under it; nothing happens elsewhere.
#include <valgrind/callgrind.h>

static inline void bench_start_counting(void) { CALLGRIND_START_INSTRUMENTATION; }

static inline void bench_stop_counting(void) { CALLGRIND_STOP_INSTRUMENTATION; }

// Writes down what was counted, under a name, and begins again at zero.
static inline void bench_write_count(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
