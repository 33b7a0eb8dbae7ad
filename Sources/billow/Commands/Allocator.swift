import CMemory

/// Configures the C library's allocator for a long-running process with large temporary arrays.
enum Allocator {
    /// The smallest allocation that gets its own pages: 1 MiB. By default glibc raises this to 32 MiB and retains freed
    /// memory in an arena for each thread. With 1,000,000 live observations this saves a sixth of the memory.
    private static let mappedFrom: Int32 = 1 << 20

    static func prepareForServing() { billow_memory_return(mappedFrom) }
}
