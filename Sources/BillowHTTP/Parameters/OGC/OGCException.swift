import Turbulence

/// An error of a WMS or WMTS request, with the codes of the standards.
///
/// Source: OGC 06-042 (WMS 1.3.0) table E.1; OGC 06-121r3 (OWS Common 1.1) table 25; OGC 07-057r7 (WMTS 1.0.0) table 23
package struct OGCException: Error, Sendable, Hashable {
    package enum Code: String, Sendable, CaseIterable {
        case invalidFormat = "InvalidFormat"
        /// `InvalidSRS` in WMS 1.1.1.
        case invalidCRS = "InvalidCRS"
        case layerNotDefined = "LayerNotDefined"
        case styleNotDefined = "StyleNotDefined"
        case layerNotQueryable = "LayerNotQueryable"
        case invalidPoint = "InvalidPoint"
        case invalidDimensionValue = "InvalidDimensionValue"
        case operationNotSupported = "OperationNotSupported"
        case missingParameterValue = "MissingParameterValue"
        case invalidParameterValue = "InvalidParameterValue"
        case tileOutOfRange = "TileOutOfRange"
        case pointOutOfRange = "PointIJOutOfRange"
        case noApplicableCode = "NoApplicableCode"
    }

    package let code: Code
    /// The offending parameter, as the standard spells it.
    package let locator: String?
    /// A complete sentence for people.
    package let detail: String

    package init(_ code: Code, _ locator: String? = nil, detail: String) {
        self.code = code
        self.locator = locator
        self.detail = detail
    }

    /// An invalid value.
    package init(_ code: Code, _ locator: String, _ value: String, expected: String) {
        let error = ParameterError(parameter: locator, value: value, expected: expected)
        self.init(code, locator, detail: "\(error.description).")
    }

    /// Converts an error of Billow's own parameters or paths.
    package init(_ problem: ParameterProblem) {
        let code: Code =
            switch problem.kind {
            case .unknownLayer: .layerNotDefined
            case .outsideGrid: .tileOutOfRange
            case .missingParameter: .missingParameterValue
            default: .invalidParameterValue
            }
        self.init(code, problem.error.parameter, detail: problem.detail)
    }
}
