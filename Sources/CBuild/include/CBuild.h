#ifndef BILLOW_CBUILD_H
#define BILLOW_CBUILD_H

/// The commit in the build's variable BUILD_COMMIT; empty without it.
const char *billow_build_commit(void);

#endif
