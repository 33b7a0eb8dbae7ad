/// Reads vector tiles for tests, strictly: whatever the specification doesn't allow is an error.
///
/// Source: Mapbox Vector Tile Specification 2.1
package struct DecodedVectorTile {
    package struct Layer {
        package var name = ""
        package var version: UInt64 = 0
        package var extent: UInt64 = 0
        package var features: [Feature] = []
    }

    package struct Feature {
        package var id: UInt64?
        /// 1 points, 2 lines, 3 rings.
        package var type: UInt64 = 0
        package var parts: [[SIMD2<Int>]] = []
        /// As text: whole numbers, decimals, true and false.
        package var properties: [String: String] = [:]
    }

    package struct Malformed: Error, CustomStringConvertible {
        package var description: String
    }

    package var layers: [Layer] = []

    package init(_ bytes: [UInt8]) throws {
        var reader = MessageReader(bytes)
        while let (field, value) = try reader.next() {
            guard field == 3, case .bytes(let message) = value else { throw Malformed(description: "field \(field)") }
            layers.append(try Self.layer(message))
        }
    }

    private static func layer(_ bytes: [UInt8]) throws -> Layer {
        var layer = Layer()
        var (keys, values, features): ([String], [String], [[UInt8]]) = ([], [], [])
        var reader = MessageReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (15, .integer(let version)): layer.version = version
            case (1, .bytes(let name)): layer.name = String(decoding: name, as: UTF8.self)
            case (2, .bytes(let feature)): features.append(feature)
            case (3, .bytes(let key)): keys.append(String(decoding: key, as: UTF8.self))
            case (4, .bytes(let value)): values.append(try Self.value(value))
            case (5, .integer(let extent)): layer.extent = extent
            default: throw Malformed(description: "field \(field) of a layer")
            }
        }
        guard Set(keys).count == keys.count else { throw Malformed(description: "a key is there twice") }
        layer.features = try features.map { try feature($0, keys, values) }
        return layer
    }

    private static func value(_ bytes: [UInt8]) throws -> String {
        var reader = MessageReader(bytes)
        guard let (field, value) = try reader.next(), try reader.next() == nil else {
            throw Malformed(description: "a value")
        }
        switch (field, value) {
        case (1, .bytes(let text)): return String(decoding: text, as: UTF8.self)
        case (3, .fixed(let bits)): return "\(Double(bitPattern: bits))"
        case (5, .integer(let number)): return "\(number)"
        case (6, .integer(let number)): return "\(unzigzag(number))"
        case (7, .integer(let number)): return number == 1 ? "true" : "false"
        default: throw Malformed(description: "field \(field) of a value")
        }
    }

    private static func unzigzag(_ number: UInt64) -> Int { Int(number >> 1) ^ -Int(number & 1) }

    private static func feature(_ bytes: [UInt8], _ keys: [String], _ values: [String]) throws -> Feature {
        var feature = Feature()
        var reader = MessageReader(bytes)
        while let (field, value) = try reader.next() {
            switch (field, value) {
            case (1, .integer(let id)): feature.id = id
            case (2, .bytes(let packed)):
                let tags = try MessageReader.packed(packed)
                for pair in stride(from: 0, to: tags.count, by: 2) {
                    feature.properties[keys[Int(tags[pair])]] = values[Int(tags[pair + 1])]
                }
            case (3, .integer(let type)): feature.type = type
            case (4, .bytes(let packed)): feature.parts = try parts(try MessageReader.packed(packed))
            default: throw Malformed(description: "field \(field) of a feature")
            }
        }
        return feature
    }

    private static func parts(_ commands: [UInt64]) throws -> [[SIMD2<Int>]] {
        var parts: [[SIMD2<Int>]] = []
        var cursor = SIMD2<Int>(0, 0)
        var next = 0
        while next < commands.count {
            let (command, count) = (commands[next] & 7, Int(commands[next] >> 3))
            next += 1
            if command == 7 {
                guard count == 1 else { throw Malformed(description: "ClosePath × \(count)") }
                continue
            }
            guard command == 1 || command == 2, count > 0 else { throw Malformed(description: "command \(command)") }
            for _ in 0..<count {
                guard next + 1 < commands.count else { throw Malformed(description: "cut short") }
                cursor = cursor &+ SIMD2(unzigzag(commands[next]), unzigzag(commands[next + 1]))
                next += 2
                if command == 1 { parts.append([cursor]) } else { parts[parts.count - 1].append(cursor) }
            }
        }
        return parts
    }
}

private struct MessageReader {
    enum Value {
        case integer(UInt64)
        case fixed(UInt64)
        case bytes([UInt8])
    }

    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    mutating func next() throws -> (field: UInt64, value: Value)? {
        guard !bytes.isEmpty else { return nil }
        let key = try integer()
        switch key & 7 {
        case 0: return (key >> 3, .integer(try integer()))
        case 1:
            let taken = try read(8)
            return (key >> 3, .fixed(taken.reversed().reduce(0) { $0 << 8 | UInt64($1) }))
        case 2: return (key >> 3, .bytes(try read(Int(try integer()))))
        default: throw DecodedVectorTile.Malformed(description: "wire type \(key & 7)")
        }
    }

    static func packed(_ bytes: [UInt8]) throws -> [UInt64] {
        var reader = MessageReader(bytes)
        var numbers: [UInt64] = []
        while !reader.bytes.isEmpty { numbers.append(try reader.integer()) }
        return numbers
    }

    private mutating func read(_ count: Int) throws -> [UInt8] {
        guard count >= 0, bytes.count >= count else { throw DecodedVectorTile.Malformed(description: "cut short") }
        defer { bytes = bytes.dropFirst(count) }
        return Array(bytes.prefix(count))
    }

    private mutating func integer() throws -> UInt64 {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = bytes.popFirst() {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
            guard shift < 64 else { break }
        }
        throw DecodedVectorTile.Malformed(description: "a number")
    }
}
