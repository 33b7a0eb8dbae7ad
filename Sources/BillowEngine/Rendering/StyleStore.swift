package import BillowRaster
import Synchronization

/// The styles in use, replaced whole when their folder has been read again.
package final class StyleStore: Sendable {
    private let library: Mutex<StyleLibrary>
    private let replaced: @Sendable () -> Void

    /// - Parameter replaced: called after others have been put in their place.
    package init(_ library: StyleLibrary, replaced: @escaping @Sendable () -> Void = {}) {
        self.library = Mutex(library)
        self.replaced = replaced
    }

    /// What a request answers from.
    package var current: StyleLibrary { library.withLock { $0 } }

    /// Puts others in their place, for the requests that come after.
    package func replace(by library: StyleLibrary) {
        self.library.withLock { $0 = library }
        replaced()
    }
}
