#pragma once

/// Ends the process when a thread can't be started, whichever library asks for it: with `exit_code`, or with
/// `memory_code` where there is no memory for its stack.
///
/// Libraries report a missing thread as a broken file, or not at all. A second passes before the process ends, because
/// its neighbors may end meanwhile. Does nothing under a sanitizer, which has a `pthread_create` of its own.
void sandbox_exit_when_out_of_threads(int exit_code, int memory_code);

/// The number of threads, up to `most`, that can be started beside those that run. They end before this returns.
int sandbox_startable_threads(int most);
