#ifndef BILLOW_CBUILD_H
#define BILLOW_CBUILD_H

/// The commit that the build was told of by the variable BUILD_COMMIT; empty where it was told of none.
const char *billow_build_commit(void);

#endif
