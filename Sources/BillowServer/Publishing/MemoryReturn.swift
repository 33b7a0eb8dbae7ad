import CMemory
import Foundation
import ServiceLifecycle

/// Gives memory back to the system that large answers and new publications leave free, in small pieces between what is kept:
/// looks at the resident size every second, and acts where that has grown by much.
struct MemoryReturn: Service {
    private static let pause = Duration.seconds(1)
    /// Giving back takes some milliseconds in which others wait for memory.
    private static let growth = 24 << 20

    func run() async throws {
        var settled = Self.residentBytes() ?? 0
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            // Cut short only by the shutdown that ends the loop.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
            guard let resident = Self.residentBytes() else { return }
            if resident > settled + Self.growth {
                billow_memory_trim()
                settled = Self.residentBytes() ?? resident
            } else {
                settled = min(settled, resident)
            }
        }
    }

    /// nil where the system doesn't say it like Linux. Source: proc_pid_statm(5), the second number
    private static func residentBytes() -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        let numbers = text.split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]).map { $0 * Int(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
