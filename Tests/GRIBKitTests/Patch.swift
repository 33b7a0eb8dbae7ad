import GRIBKit

/// Changes octets of a message where the WMO's tables count them.
enum Patch {
    /// Where the first section of that number lies.
    static func section(_ number: Int, of bytes: [UInt8]) throws -> Range<Int> {
        var place = 16
        while place + 5 <= bytes.count - 4 {
            let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            if Int(bytes[place + 4]) == number { return place..<place + length }
            place += length
        }
        throw GRIBTool.Failure(description: "there is no section \(number)")
    }

    static func put(_ value: Int, octets: Int, at place: Int, in bytes: inout [UInt8]) {
        for octet in 0..<octets {
            bytes[place + octet] = UInt8(truncatingIfNeeded: value >> (8 * (octets - 1 - octet)))
        }
    }

    /// Sets octets of a section, the first of which is 1.
    static func set(_ section: Int, _ octet: Int, octets: Int, to value: Int, in bytes: inout [UInt8]) throws {
        put(value, octets: octets, at: try Self.section(section, of: bytes).lowerBound + octet - 1, in: &bytes)
    }

    /// A message of some sections, with its length set right.
    static func message(_ sections: [ArraySlice<UInt8>]) -> [UInt8] {
        var message: [UInt8] = Array("GRIB".utf8) + [0, 0, 0, 2] + Array(repeating: 0, count: 8)
        for section in sections { message += section }
        message += "7777".utf8
        put(message.count, octets: 8, at: 8, in: &message)
        return message
    }
}
