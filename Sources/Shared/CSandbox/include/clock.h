#pragma once

/// Whether something keeps the machine's clock right, as the kernel was told: adjtimex(2).
/// Returns 1 or 0, or a negative errno where it isn't told.
int csandbox_clock_is_synchronised(void);
