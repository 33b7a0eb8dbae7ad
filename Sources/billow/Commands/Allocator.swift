import CMemory

/// The C library's allocator, set for a process that lives long and whose large arrays come and go.
enum Allocator {
    /// Where an array gets pages of its own: 1 MiB. Left to itself, glibc raises this to 32 MiB and keeps what is freed
    /// in an arena for each thread: of 1,000,000 live observations a sixth of the memory.
    private static let mappedFrom: Int32 = 1 << 20

    static func prepareForServing() { billow_memory_return(mappedFrom) }
}
