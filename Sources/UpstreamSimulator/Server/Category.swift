/// An aircraft category C10…C110, which scales the severity of an EDR.
struct Category: Sendable {
    private let factor: Double

    static let medium = Category(factor: 1)

    private init(factor: Double) { self.factor = factor }

    init?(_ name: String) {
        guard name.first == "C", let size = Int(name.dropFirst()), (10...110).contains(size),
            size % 10 == 0,
            name == "C\(size)"
        else { return nil }
        factor =
            switch size {
            case ..<30: 0.8
            case ..<60: 0.9
            case 60: 1
            case ..<90: 1.1
            default: 1.2
            }
    }

    /// The severity 0…4 of an EDR in ten-thousandths: C60's thresholds 0.10, 0.15, 0.20 and 0.45, scaled. Each is an
    /// inclusive lower bound.
    ///
    /// Source: docs/concepts.md, "Severity", for C60; the factors are the simulator's own, in the manner of the GTG
    /// display's light, medium and heavy classes.
    func severity(tenThousandths edr: UInt16) -> Int {
        let felt = Double(edr) / factor
        return felt < 1_000 ? 0 : felt < 1_500 ? 1 : felt < 2_000 ? 2 : felt < 4_500 ? 3 : 4
    }
}
