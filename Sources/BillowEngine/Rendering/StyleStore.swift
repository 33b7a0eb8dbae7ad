package import BillowRaster
import Synchronization

/// The current styles, which are replaced whole when their folder is reloaded.
package final class StyleStore: Sendable {
    private let library: Mutex<StyleLibrary>
    private let replacements = Atomic<UInt64>(0)

    package init(_ library: StyleLibrary) { self.library = Mutex(library) }

    /// The number of replacements. Whoever has seen some styles reads their number or a later one.
    package var generation: UInt64 { replacements.load(ordering: .acquiring) }

    /// The styles for new requests.
    package var current: StyleLibrary { library.withLock { $0 } }

    /// Replaces the styles for later requests.
    package func replace(by library: StyleLibrary) {
        self.library.withLock {
            $0 = library
            replacements.add(1, ordering: .releasing)
        }
    }
}
