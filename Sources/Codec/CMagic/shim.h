#ifndef SATCHEL_CMAGIC_H
#define SATCHEL_CMAGIC_H

// Nothing of libmagic is variadic; the header is all that Swift needs.
#include <magic.h>

#endif
