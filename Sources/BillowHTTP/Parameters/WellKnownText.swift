import BillowEngine
import Geometry

/// Parses Well-Known Text in parameters of OGC API EDR.
///
/// Source: OGC 06-103r4 (Simple feature access) section 7; OGC 19-086r6 (OGC API EDR) section 8.2
enum WellKnownText {
    /// Parses `LINESTRING(…)`, `POLYGON((…))` or `MULTIPOLYGON(((…)))` with longitude and latitude; further numbers are
    /// ignored. nil for anything else.
    static func shape(_ text: String) -> RequestShape? {
        var reader = Reader(text)
        let name = reader.word()
        let shape: RequestShape? =
            switch name {
            case "LINESTRING", "LINESTRINGZ", "LINESTRINGM", "LINESTRINGZM": reader.places().map { .line($0) }
            case "POLYGON", "POLYGONZ": reader.list { $0.places() }.map { .polygons([$0]) }
            case "MULTIPOLYGON", "MULTIPOLYGONZ": reader.list { $0.list { $0.places() } }.map { .polygons($0) }
            default: nil
            }
        return reader.isAtEnd ? shape : nil
    }

    /// Parses `POINT(longitude latitude)`; a third number is ignored. nil for anything else.
    static func point(_ text: String) -> LonLat? {
        var reader = Reader(text)
        guard ["POINT", "POINTZ", "POINTM", "POINTZM"].contains(reader.word()), let places = reader.places(),
            places.count == 1, reader.isAtEnd
        else { return nil }
        return places[0]
    }

    /// A line whose positions may have a height and a time.
    struct MeasuredLine: Sendable, Hashable {
        var places: [LonLat] = []
        /// Third numbers of `Z` and `ZM`; nil for a line without.
        var heights: [Double]?
        /// Last numbers of `M` and `ZM`; nil for a line without.
        var measures: [Double]?
    }

    /// Parses `LINESTRING`, `LINESTRING Z`, `M` or `ZM` with exactly as many numbers as its name says. nil for anything
    /// else.
    static func measuredLine(_ text: String) -> MeasuredLine? {
        var reader = Reader(text)
        let (hasHeight, hasMeasure): (Bool, Bool)
        switch reader.word() {
        case "LINESTRING": (hasHeight, hasMeasure) = (false, false)
        case "LINESTRINGZ": (hasHeight, hasMeasure) = (true, false)
        case "LINESTRINGM": (hasHeight, hasMeasure) = (false, true)
        case "LINESTRINGZM": (hasHeight, hasMeasure) = (true, true)
        default: return nil
        }
        let count = 2 + (hasHeight ? 1 : 0) + (hasMeasure ? 1 : 0)
        guard let positions = reader.list({ $0.numbers() }), reader.isAtEnd else { return nil }
        var line = MeasuredLine()
        for numbers in positions {
            guard numbers.count == count, let place = LonLat(longitude: numbers[0], latitude: numbers[1]) else {
                return nil
            }
            line.places.append(place)
        }
        if hasHeight { line.heights = positions.map { $0[2] } }
        if hasMeasure { line.measures = positions.map { $0[count - 1] } }
        return line
    }

    private struct Reader {
        private var rest: Substring

        init(_ text: String) { rest = text[...] }

        private mutating func skipBlanks() { rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\t" } }

        var isAtEnd: Bool { rest.allSatisfy { $0 == " " || $0 == "\n" } }

        /// The word before the first parenthesis, in upper case and without blanks.
        mutating func word() -> String {
            let word = rest.prefix { $0 != "(" }
            rest = rest[word.endIndex...]
            return word.filter { $0 != " " }.uppercased()
        }

        private mutating func consume(_ character: Character) -> Bool {
            skipBlanks()
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }

        mutating func list<Element>(_ element: (inout Reader) -> Element?) -> [Element]? {
            guard consume("(") else { return nil }
            var found: [Element] = []
            repeat {
                guard let next = element(&self) else { return nil }
                found.append(next)
            } while consume(",")
            return consume(")") ? found : nil
        }

        mutating func places() -> [LonLat]? { list { $0.place() } }

        private mutating func place() -> LonLat? {
            guard let numbers = numbers(), numbers.count >= 2 else { return nil }
            return LonLat(longitude: numbers[0], latitude: numbers[1])
        }

        /// The numbers of a position, at most four; nil for a word that is none.
        mutating func numbers() -> [Double]? {
            var numbers: [Double] = []
            while true {
                skipBlanks()
                let text = rest.prefix { $0 != " " && $0 != "," && $0 != ")" && $0 != "(" }
                guard !text.isEmpty else { break }
                guard let number = QueryReader.decimal(text), numbers.count < 4 else { return nil }
                numbers.append(number)
                rest = rest[text.endIndex...]
            }
            return numbers
        }
    }
}
