package import BillowRaster
import Synchronization

/// The current styles, which are replaced whole when their folder is reloaded.
package final class StyleStore: Sendable {
    private let library: Mutex<StyleLibrary>
    private let replaced: @Sendable () -> Void

    /// - Parameter replaced: called after each replacement.
    package init(_ library: StyleLibrary, replaced: @escaping @Sendable () -> Void = {}) {
        self.library = Mutex(library)
        self.replaced = replaced
    }

    /// The styles for new requests.
    package var current: StyleLibrary { library.withLock { $0 } }

    /// Replaces the styles for later requests.
    package func replace(by library: StyleLibrary) {
        self.library.withLock { $0 = library }
        replaced()
    }
}
