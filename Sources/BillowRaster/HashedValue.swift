/// A constant value for keys of caches, with a hash that is computed once.
///
/// A copy is one reference, whatever the size of the value. Two values are compared part by part only if their hashes
/// are equal.
package struct HashedValue<Content: Hashable & Sendable>: Sendable, Hashable {
    private final class Box: Sendable {
        let content: Content
        let hash: Int

        init(_ content: Content) {
            self.content = content
            hash = content.hashValue
        }
    }

    private let box: Box

    package init(_ content: Content) { box = Box(content) }

    package var content: Content { _read { yield box.content } }

    package static func == (one: HashedValue, other: HashedValue) -> Bool {
        one.box === other.box || one.box.hash == other.box.hash && one.box.content == other.box.content
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(box.hash) }
}
