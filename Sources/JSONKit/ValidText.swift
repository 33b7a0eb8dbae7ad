extension String {
    /// The text of UTF-8 bytes; nil if they aren't valid. The standard library's check takes a generic path for slices,
    /// which costs several times as much as the check itself. So ASCII, which most texts are, is found first.
    package init?(validUTF8 bytes: ArraySlice<UInt8>) {
        let text = bytes.withUnsafeBufferPointer { bytes in
            bytes.reduce(0, |) < 0x80
                ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
        }
        guard let text else { return nil }
        self = text
    }
}
