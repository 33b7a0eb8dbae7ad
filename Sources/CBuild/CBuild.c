#include "CBuild.h"

#ifndef BILLOW_BUILD_COMMIT
#define BILLOW_BUILD_COMMIT ""
#endif

const char *billow_build_commit(void) { return BILLOW_BUILD_COMMIT; }
