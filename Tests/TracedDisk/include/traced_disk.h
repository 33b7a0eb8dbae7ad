#ifndef BILLOW_TRACED_DISK_H
#define BILLOW_TRACED_DISK_H

#include <stdint.h>

/// What a program does to the files and folders of a disk.
typedef enum {
    /// A new file with a name.
    traced_create,
    /// A new folder with a name.
    traced_make_folder,
    traced_write,
    /// Any change of a file's size.
    traced_truncate,
    /// fsync or fdatasync of a file or a folder.
    traced_sync,
    /// A second name of a file.
    traced_link,
    traced_rename,
    /// The end of a file's or folder's name.
    traced_remove,
} TracedKind;

/// One operation. Unused members are 0.
typedef struct {
    TracedKind kind;
    /// The file or folder.
    uint64_t device, inode;
    /// The name; of a renaming the previous one.
    const char *path;
    /// The new name of a renaming.
    const char *new_path;
    /// The place of a write, or the size after a truncation.
    int64_t offset;
    const void *bytes;
    uint64_t count;
} TracedOperation;

/// Receives each operation after it has succeeded, in order. It must not use a traced file.
typedef void (*TracedObserver)(void *context, const TracedOperation *operation);

/// Reports the operations on the files in a folder, which must be named by absolute paths without links: those of
/// SQLite, Foundation and Billow. It replaces the system's functions for this process, so that none is missed, except
/// writes into memory that is mapped to a file.
/// Without hard links (`has_links` is 0), `link` fails in the folder as on FAT and exFAT, with EPERM.
/// Returns a number for the end, or -1 if it is not available or too many folders are traced.
int traced_disk_begin(const char *folder, int has_links, TracedObserver observer, void *context);

/// Ends a trace.
void traced_disk_end(int number);

#endif
