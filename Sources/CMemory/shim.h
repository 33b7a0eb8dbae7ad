#ifndef BILLOW_CMEMORY_SHIM_H
#define BILLOW_CMEMORY_SHIM_H

#include <sqlite3.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Blocks of `mapped_from` bytes and more get pages of their own, which return to the system as soon as they are freed.
/// Free memory at the end of the heap returns from four times that size on. Threads share two arenas. Elsewhere than on
/// glibc nothing happens. Source: mallopt(3)
static inline void billow_memory_return(int mapped_from) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, mapped_from);
    mallopt(M_TRIM_THRESHOLD, 4 * mapped_from);
    mallopt(M_ARENA_MAX, 2);
#else
    (void)mapped_from;
#endif
}

/// Gives the system back what lies free between what is in use. Source: malloc_trim(3)
static inline void billow_memory_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/// SQLite no longer counts its memory. Does nothing once SQLite is in use.
/// Source: https://sqlite.org/c3ref/c_config_covering_index_scan.html (SQLITE_CONFIG_MEMSTATUS)
static inline void billow_sqlite_omit_statistics(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

#endif
