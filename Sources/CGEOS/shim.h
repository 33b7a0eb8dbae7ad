// Only the functions that take a context, so that threads share nothing.
#define GEOS_USE_ONLY_R_API
#include <geos_c.h>
