#pragma once

/// Lets the threads of this process allocate from so many heaps together, main's besides. By itself glibc gives each thread one of its
/// own, up to eight for each processor, and what one has free no other uses. Counts for heaps that aren't there yet.
void csandbox_limit_heaps(int most);

/// Lets go of the program's own pages that nobody can have written: they are in its file, and come back one by one when they are used
/// again. Those of libraries stay.
void csandbox_release_program(void);
