#include "tracing_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

/// A traced file. SQLite's own file follows it in memory.
typedef struct {
    sqlite3_file base;
    const char *path;
} TracedFile;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs tracing_vfs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char traced_folder[1024];
static TracingObserver traced_observer;
static void *traced_context;

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((TracedFile *)file + 1); }

static int is_traced(const char *path) {
    pthread_mutex_lock(&lock);
    size_t length = strlen(traced_folder);
    int result = path && length && strncmp(path, traced_folder, length) == 0;
    pthread_mutex_unlock(&lock);
    return result;
}

static void observe(const char *path, TracedOperation operation, int64_t offset, const void *bytes, int32_t count) {
    pthread_mutex_lock(&lock);
    if (traced_observer) traced_observer(traced_context, path, operation, offset, bytes, count);
    pthread_mutex_unlock(&lock);
}

// The rest of this file hands each call on to SQLite's own file.

static int traced_close(sqlite3_file *file) { return real(file)->pMethods->xClose(real(file)); }

static int traced_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return real(file)->pMethods->xRead(real(file), bytes, count, offset);
}

static int traced_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int result = real(file)->pMethods->xWrite(real(file), bytes, count, offset);
    if (result == SQLITE_OK) observe(((TracedFile *)file)->path, tracing_write, offset, bytes, count);
    return result;
}

static int traced_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int result = real(file)->pMethods->xTruncate(real(file), size);
    if (result == SQLITE_OK) observe(((TracedFile *)file)->path, tracing_truncate, size, NULL, 0);
    return result;
}

static int traced_sync(sqlite3_file *file, int flags) {
    int result = real(file)->pMethods->xSync(real(file), flags);
    if (result == SQLITE_OK) observe(((TracedFile *)file)->path, tracing_sync, 0, NULL, 0);
    return result;
}

static int traced_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}

static int traced_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }

static int traced_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }

static int traced_check_reserved(sqlite3_file *file, int *result) {
    return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int traced_control(sqlite3_file *file, int operation, void *argument) {
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int traced_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int traced_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int traced_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **address) {
    return real(file)->pMethods->xShmMap(real(file), region, size, extend, address);
}

static int traced_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}

static void traced_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int traced_shm_unmap(sqlite3_file *file, int deletes) {
    return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static int traced_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **address) {
    return real(file)->pMethods->xFetch(real(file), offset, count, address);
}

static int traced_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *address) {
    return real(file)->pMethods->xUnfetch(real(file), offset, address);
}

static const sqlite3_io_methods methods = {
    3,
    traced_close,
    traced_read,
    traced_write,
    traced_truncate,
    traced_sync,
    traced_size,
    traced_lock,
    traced_unlock,
    traced_check_reserved,
    traced_control,
    traced_sector_size,
    traced_characteristics,
    traced_shm_map,
    traced_shm_lock,
    traced_shm_barrier,
    traced_shm_unmap,
    traced_fetch,
    traced_unfetch,
};

static int tracing_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *result_flags) {
    (void)vfs;
    if (!is_traced(path)) return system_vfs->xOpen(system_vfs, path, file, flags, result_flags);
    // The path lives as long as the file.
    ((TracedFile *)file)->path = path;
    real(file)->pMethods = NULL;
    int result = system_vfs->xOpen(system_vfs, path, real(file), flags, result_flags);
    file->pMethods = real(file)->pMethods ? &methods : NULL;
    return result;
}

static int tracing_delete_file(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    (void)vfs;
    int result = system_vfs->xDelete(system_vfs, path, syncs_folder);
    if (result == SQLITE_OK && is_traced(path)) {
        observe(path, syncs_folder ? tracing_durable_delete : tracing_delete, 0, NULL, 0);
    }
    return result;
}

static void make_vfs(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    tracing_vfs = *system_vfs;
    tracing_vfs.pNext = NULL;
    tracing_vfs.zName = "tracing";
    tracing_vfs.szOsFile = (int)sizeof(TracedFile) + system_vfs->szOsFile;
    tracing_vfs.xOpen = tracing_open;
    tracing_vfs.xDelete = tracing_delete_file;
}

int tracing_vfs_begin(const char *folder, TracingObserver observer, void *context) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (strlen(folder) >= sizeof traced_folder) return SQLITE_TOOBIG;
    int result = sqlite3_initialize();
    if (result != SQLITE_OK) return result;
    pthread_once(&once, make_vfs);
    pthread_mutex_lock(&lock);
    strcpy(traced_folder, folder);
    traced_observer = observer;
    traced_context = context;
    pthread_mutex_unlock(&lock);
    // As the default, so that the store opens its files as ever. Registering it again changes nothing.
    return sqlite3_vfs_register(&tracing_vfs, 1);
}

void tracing_vfs_end(void) {
    pthread_mutex_lock(&lock);
    traced_folder[0] = 0;
    traced_observer = NULL;
    traced_context = NULL;
    pthread_mutex_unlock(&lock);
}
