import BillowEngine
import Hummingbird

extension Parameters {
    /// A path parameter, percent-decoded: clients encode the colons of a time, and an id may contain any character.
    /// Empty if the route has no such parameter.
    func text(_ name: String) -> String {
        let encoded = get(name) ?? ""
        return encoded.removingPercentEncodingOfBytes().map { String(decoding: $0, as: UTF8.self) } ?? encoded
    }
}

extension String {
    /// The percent-decoded bytes; nil if a `%` isn't followed by two hexadecimal digits.
    ///
    /// Source: RFC 3986 section 2.1
    func removingPercentEncodingOfBytes() -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexDigitValue, let low = rest.popFirst()?.hexDigitValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
