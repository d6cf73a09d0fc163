#ifndef SATCHEL_CPOSTGRES_H
#define SATCHEL_CPOSTGRES_H

// Nothing of libpq that is used is variadic; the header is all that Swift needs.
#include <libpq-fe.h>

#endif
