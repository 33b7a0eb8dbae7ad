#ifndef BILLOW_TRACING_VFS_H
#define BILLOW_TRACING_VFS_H

#include <stdint.h>

/// What SQLite does to a file on a disk.
typedef enum {
    tracing_write,
    tracing_truncate,
    tracing_sync,
    tracing_delete,
    tracing_durable_delete,
} TracedOperation;

/// Receives each operation after it has succeeded, in the order in which SQLite makes them.
///
/// `offset` is the place of a write, or the size after a truncation. `bytes` are those of a write.
typedef void (*TracingObserver)(void *context, const char *path, TracedOperation operation, int64_t offset,
                                const void *bytes, int32_t count);

/// Reports the operations on files whose paths begin with a folder's. Other files go to SQLite's own file system.
/// One folder is traced at a time. Returns 0, or a result code of SQLite.
///
/// Source: https://sqlite.org/vfs.html
int tracing_vfs_begin(const char *folder, TracingObserver observer, void *context);

/// Ends the trace. Connections to traced files must be closed before.
void tracing_vfs_end(void);

#endif
