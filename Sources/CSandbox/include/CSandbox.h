#pragma once

#include "clock.h"
#include "memory_file.h"
#include "openat2.h"
#include "sandbox_landlock.h"
#include "sandbox_namespaces.h"
#include "sandbox_packets.h"
#include "sandbox_process.h"
#include "sandbox_rights.h"
#include "sandbox_spawn.h"
#include "sandbox_syscalls.h"
#include "copy.h"
#include "writeback.h"
