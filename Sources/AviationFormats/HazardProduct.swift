/// A product of the service: its names, and how its records are recognised and parsed.
///
/// There is no list of all products here. A caller names those that it decodes, as Billow's catalogue of datasets does.
/// A new product is a file with its format and its constant.
public struct HazardProduct: Sendable, Hashable {
    /// The `kind` of its areas.
    public let id: String
    /// The last part of its path on the service.
    public let endpoint: String
    package let format: any HazardFormat.Type

    init(_ id: String, endpoint: String, format: any HazardFormat.Type) {
        self.id = id
        self.endpoint = endpoint
        self.format = format
    }

    /// Equality of the ids.
    public static func == (a: HazardProduct, b: HazardProduct) -> Bool { a.id == b.id }
    /// Hashes the id.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The format of a product. Each product has a type of its own, so that another module can add to one of them: the
/// simulator makes records of each format that conforms to its protocol.
package protocol HazardFormat: Sendable {
    /// Members that only records of hazards have; each record of this product has one of them.
    static var marks: [String] { get }
    /// Whether a record is of this product. No record is of two products, so their order has no meaning.
    static func matches(_ record: WireRecord) -> Bool
    /// Parses a record.
    static func report(_ record: WireRecord) throws(ReportError) -> HazardReport
}

extension HazardFormat {
    package static func matches(_ record: WireRecord) -> Bool { marks.contains(where: record.has) }
}
