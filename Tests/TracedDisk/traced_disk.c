#define _GNU_SOURCE
#include "traced_disk.h"

#ifdef __linux__

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// A program's own functions come before those of the system's libraries, also for other libraries. So each function
// here receives the calls of the whole process, and hands them on.
//
// Source: ELF symbol lookup, https://man7.org/linux/man-pages/man3/dlsym.3.html (RTLD_NEXT)

/// Declares `real_NAME`, which returns the system's function, or that of a sanitizer.
#define REAL(result, name, ...)                                                                                        \
    extern result __interceptor_##name(__VA_ARGS__) __attribute__((weak));                                             \
    typedef result (*name##_function)(__VA_ARGS__);                                                                    \
    static name##_function real_##name(void) {                                                                         \
        static _Atomic(name##_function) known;                                                                         \
        name##_function function = atomic_load_explicit(&known, memory_order_acquire);                                 \
        if (!function) {                                                                                               \
            function = __interceptor_##name ? __interceptor_##name : (name##_function)dlsym(RTLD_NEXT, #name);         \
            atomic_store_explicit(&known, function, memory_order_release);                                             \
        }                                                                                                              \
        return function;                                                                                               \
    }

REAL(int, open, const char *, int, ...)
REAL(int, open64, const char *, int, ...)
REAL(int, openat, int, const char *, int, ...)
REAL(int, close, int)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(int, ftruncate, int, off_t)
REAL(int, ftruncate64, int, off64_t)
REAL(int, truncate, const char *, off_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, link, const char *, const char *)
REAL(int, rename, const char *, const char *)
REAL(int, renameat2, int, const char *, int, const char *, unsigned int)
REAL(int, unlink, const char *)
REAL(int, unlinkat, int, const char *, int)
REAL(int, remove, const char *)
REAL(int, rmdir, const char *)
REAL(int, mkdir, const char *, mode_t)

enum { longest_trace_count = 64, descriptor_count = 1 << 16 };

typedef struct {
    char folder[PATH_MAX];
    int has_links;
    TracedObserver observer;
    void *context;
} Trace;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Trace traces[longest_trace_count];
/// The number of running traces. Without any, calls cost nothing.
static atomic_int trace_count;
/// One more than the index of the trace of each open file.
static atomic_uchar traced_descriptors[descriptor_count];

static int is_idle(void) { return atomic_load_explicit(&trace_count, memory_order_acquire) == 0; }

/// The index of the trace of a path; -1 if it has none.
static int trace_of_path(const char *path) {
    if (is_idle() || !path || path[0] != '/') return -1;
    int index = -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < longest_trace_count && index < 0; i++) {
        size_t length = strlen(traces[i].folder);
        if (!traces[i].observer || strncmp(path, traces[i].folder, length) != 0) continue;
        if (path[length] == '/' || path[length] == 0) index = i;
    }
    pthread_mutex_unlock(&lock);
    return index;
}

/// The index of the trace of an open file; -1 if it has none.
static int trace_of_descriptor(int descriptor) {
    if (is_idle() || descriptor < 0 || descriptor >= descriptor_count) return -1;
    return (int)atomic_load(&traced_descriptors[descriptor]) - 1;
}

static void tell(Trace *trace, TracedOperation operation, const struct stat *status) {
    if (!trace->observer) return;
    if (status) {
        operation.device = (uint64_t)status->st_dev;
        operation.inode = (uint64_t)status->st_ino;
    }
    trace->observer(trace->context, &operation);
}

static void tell_descriptor(Trace *trace, int descriptor, TracedOperation operation) {
    struct stat status;
    if (fstat(descriptor, &status) == 0) tell(trace, operation, &status);
}

static void tell_path(Trace *trace, const char *path, TracedOperation operation) {
    struct stat status;
    if (lstat(path, &status) == 0) tell(trace, operation, &status);
}

/// Runs an expression with the lock, so that the operations of one file are reported in their order. `errno` stays.
#define LOCKED(...)                                                                                                    \
    do {                                                                                                               \
        pthread_mutex_lock(&lock);                                                                                     \
        __VA_ARGS__;                                                                                                   \
        int error = errno;                                                                                             \
        pthread_mutex_unlock(&lock);                                                                                   \
        errno = error;                                                                                                 \
    } while (0)

// MARK: Opening

/// Whether an open call has a mode.
static int has_mode(int flags) { return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE; }

static void note_open(int index, const char *path, int flags, int existed, int descriptor) {
    if (descriptor < 0 || descriptor >= descriptor_count) return;
    atomic_store(&traced_descriptors[descriptor], (unsigned char)(index + 1));
    if (index < 0) return;
    if (!existed) {
        tell_descriptor(&traces[index], descriptor, (TracedOperation){.kind = traced_create, .path = path});
    } else if (flags & O_TRUNC) {
        tell_descriptor(&traces[index], descriptor, (TracedOperation){.kind = traced_truncate});
    }
}

/// Opens without the lock if the path isn't traced, because a pipe may wait for its other end.
#define OPEN(path, flags, call)                                                                                        \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    mode_t mode = has_mode(flags) ? (mode_t)va_arg(arguments, int) : 0;                                                \
    va_end(arguments);                                                                                                 \
    int index = trace_of_path(path);                                                                                   \
    int result;                                                                                                        \
    if (index < 0) {                                                                                                   \
        result = call;                                                                                                 \
        if (!is_idle()) note_open(-1, path, flags, 1, result);                                                         \
        return result;                                                                                                 \
    }                                                                                                                  \
    LOCKED({                                                                                                           \
        struct stat status;                                                                                            \
        int existed = stat(path, &status) == 0;                                                                        \
        result = call;                                                                                                 \
        int error = errno;                                                                                             \
        note_open(index, path, flags, existed, result);                                                                \
        errno = error;                                                                                                 \
    });                                                                                                                \
    return result;

int open(const char *path, int flags, ...) { OPEN(path, flags, real_open()(path, flags, mode)) }

int open64(const char *path, int flags, ...) { OPEN(path, flags, real_open64()(path, flags, mode)) }

int openat(int folder, const char *path, int flags, ...) {
    OPEN(path, flags, real_openat()(folder, path, flags, mode))
}

int close(int descriptor) {
    if (trace_of_descriptor(descriptor) >= 0) atomic_store(&traced_descriptors[descriptor], 0);
    return real_close()(descriptor);
}

// MARK: Contents

#define WRITE(descriptor, call, place)                                                                                 \
    int index = trace_of_descriptor(descriptor);                                                                       \
    if (index < 0) return call;                                                                                        \
    ssize_t result;                                                                                                    \
    LOCKED({                                                                                                           \
        result = call;                                                                                                 \
        int error = errno;                                                                                             \
        if (result > 0) {                                                                                              \
            TracedOperation operation = {.kind = traced_write, .offset = place, .bytes = bytes};                       \
            operation.count = (uint64_t)result;                                                                        \
            tell_descriptor(&traces[index], descriptor, operation);                                                    \
        }                                                                                                              \
        errno = error;                                                                                                 \
    });                                                                                                                \
    return result;

ssize_t write(int descriptor, const void *bytes, size_t count) {
    WRITE(descriptor, real_write()(descriptor, bytes, count), lseek(descriptor, 0, SEEK_CUR) - result)
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    WRITE(descriptor, real_pwrite()(descriptor, bytes, count, offset), offset)
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    WRITE(descriptor, real_pwrite64()(descriptor, bytes, count, offset), offset)
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    if (trace_of_descriptor(descriptor) < 0) return real_writev()(descriptor, parts, count);
    ssize_t sum = 0;
    for (int i = 0; i < count; i++) {
        ssize_t written = write(descriptor, parts[i].iov_base, parts[i].iov_len);
        if (written < 0) return sum ? sum : written;
        sum += written;
        if ((size_t)written < parts[i].iov_len) break;
    }
    return sum;
}

/// Runs an expression that returns 0, then reports an operation on an open file.
#define ON_DESCRIPTOR(descriptor, call, ...)                                                                           \
    int index = trace_of_descriptor(descriptor);                                                                       \
    if (index < 0) return call;                                                                                        \
    int result;                                                                                                        \
    LOCKED({                                                                                                           \
        result = call;                                                                                                 \
        if (result == 0) tell_descriptor(&traces[index], descriptor, (TracedOperation){__VA_ARGS__});                  \
    });                                                                                                                \
    return result;

int ftruncate(int descriptor, off_t size) {
    ON_DESCRIPTOR(descriptor, real_ftruncate()(descriptor, size), .kind = traced_truncate, .offset = size)
}

int ftruncate64(int descriptor, off64_t size) {
    ON_DESCRIPTOR(descriptor, real_ftruncate64()(descriptor, size), .kind = traced_truncate, .offset = size)
}

int fsync(int descriptor) { ON_DESCRIPTOR(descriptor, real_fsync()(descriptor), .kind = traced_sync) }

int fdatasync(int descriptor) { ON_DESCRIPTOR(descriptor, real_fdatasync()(descriptor), .kind = traced_sync) }

// MARK: Names

/// Runs an expression that returns 0, then reports an operation on a path.
#define ON_PATH(traced, call, report)                                                                                  \
    int index = trace_of_path(traced);                                                                                 \
    if (index < 0) return call;                                                                                        \
    Trace *trace = &traces[index];                                                                                     \
    int result;                                                                                                        \
    LOCKED({                                                                                                           \
        result = call;                                                                                                 \
        if (result == 0) report;                                                                              \
    });                                                                                                                \
    return result;

#define TELL(...) tell(trace, (TracedOperation){__VA_ARGS__}, NULL)

int truncate(const char *path, off_t size) {
    ON_PATH(path, real_truncate()(path, size),
            tell_path(trace, path, ((TracedOperation){.kind = traced_truncate, .offset = size})))
}

/// Fails as a file system without hard links does.
///
/// Source: Linux, https://man7.org/linux/man-pages/man2/link.2.html, EPERM
static int link_in_trace(const Trace *trace, const char *path, const char *new_path) {
    if (trace->has_links) return real_link()(path, new_path);
    errno = EPERM;
    return -1;
}

int link(const char *path, const char *new_path) {
    int traced = trace_of_path(new_path);
    if (traced < 0) return real_link()(path, new_path);
    ON_PATH(new_path, link_in_trace(&traces[traced], path, new_path),
            tell_path(trace, new_path, ((TracedOperation){.kind = traced_link, .path = new_path})))
}

int rename(const char *path, const char *new_path) {
    ON_PATH(path, real_rename()(path, new_path), TELL(.kind = traced_rename, .path = path, .new_path = new_path))
}

int renameat2(int folder, const char *path, int new_folder, const char *new_path, unsigned int flags) {
    ON_PATH(path, real_renameat2()(folder, path, new_folder, new_path, flags),
            TELL(.kind = traced_rename, .path = path, .new_path = new_path))
}

int unlink(const char *path) { ON_PATH(path, real_unlink()(path), TELL(.kind = traced_remove, .path = path)) }

int unlinkat(int folder, const char *path, int flags) {
    ON_PATH(path, real_unlinkat()(folder, path, flags), TELL(.kind = traced_remove, .path = path))
}

int remove(const char *path) { ON_PATH(path, real_remove()(path), TELL(.kind = traced_remove, .path = path)) }

int rmdir(const char *path) { ON_PATH(path, real_rmdir()(path), TELL(.kind = traced_remove, .path = path)) }

int mkdir(const char *path, mode_t mode) {
    ON_PATH(path, real_mkdir()(path, mode),
            tell_path(trace, path, ((TracedOperation){.kind = traced_make_folder, .path = path})))
}

// MARK: Traces

int traced_disk_begin(const char *folder, int has_links, TracedObserver observer, void *context) {
    int number = -1;
    if (strlen(folder) >= sizeof traces[0].folder) return -1;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < longest_trace_count && number < 0; i++) {
        if (traces[i].observer) continue;
        strcpy(traces[i].folder, folder);
        traces[i].has_links = has_links;
        traces[i].context = context;
        traces[i].observer = observer;
        atomic_fetch_add(&trace_count, 1);
        number = i;
    }
    pthread_mutex_unlock(&lock);
    return number;
}

void traced_disk_end(int number) {
    pthread_mutex_lock(&lock);
    traces[number].observer = NULL;
    atomic_fetch_sub(&trace_count, 1);
    for (int i = 0; i < descriptor_count; i++) {
        if (atomic_load(&traced_descriptors[i]) == number + 1) atomic_store(&traced_descriptors[i], 0);
    }
    pthread_mutex_unlock(&lock);
}

#else

int traced_disk_begin(const char *folder, int has_links, TracedObserver observer, void *context) {
    (void)folder, (void)has_links, (void)observer, (void)context;
    return -1;
}

void traced_disk_end(int number) { (void)number; }

#endif
