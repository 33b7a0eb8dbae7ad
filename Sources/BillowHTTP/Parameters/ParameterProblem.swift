import BillowEngine
package import Geometry
package import Turbulence

/// An error of parameters or of a body.
package struct ParameterProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. The HTTP module maps each to a code and a status.
    package enum Kind: String, Sendable, CaseIterable {
        case invalidParameter, unknownParameter, repeatedParameter, missingParameter
        case invalidBody, unknownMember, severalAreas
        case outsideGrid, unknownLayer, unknownFrame, unknownCollection, unknownFormat, unknownStyle, noSuchRoute
        case areaTooLarge, ringTooFewPositions, ringTooManyPositions, ringNotClosed, ringCrossesItself, ringWithoutArea
        case ringWithHoles
        case unknownWaypoint, routeTooFewPositions, routeTooManyPositions, routeTooLong
        case routeTooWinding, routeAroundTheEarth
        case tooManyTiles
    }

    package let kind: Kind
    /// A complete sentence for people.
    package let detail: String
    package let parameter: String?
    package let value: String?
    package let allowed: String?

    package init(_ kind: Kind, detail: String, parameter: String? = nil, value: String? = nil, allowed: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.parameter = parameter
        self.value = value
        self.allowed = allowed
    }

    package init(_ error: ParameterError, _ kind: Kind = .invalidParameter) {
        self.init(
            kind, detail: "\(error.description).", parameter: error.parameter, value: error.value,
            allowed: error.expected)
    }

    package var description: String { detail }
}

extension ParameterProblem.Kind {
    package init(_ failure: RingRules.Failure) {
        self =
            switch failure {
            case .tooFew: .ringTooFewPositions
            case .tooMany: .ringTooManyPositions
            case .open: .ringNotClosed
            case .crossing: .ringCrossesItself
            case .withoutArea: .ringWithoutArea
            case .holes: .ringWithHoles
            case .tooLarge: .areaTooLarge
            }
    }

    package init(_ failure: Route.Failure) {
        self =
            switch failure {
            case .tooFew: .routeTooFewPositions
            case .tooMany: .routeTooManyPositions
            case .tooLong: .routeTooLong
            }
    }

    package init(_ failure: Corridor.Failure) {
        self =
            switch failure {
            case .width: .invalidParameter
            case .tooWinding: .routeTooWinding
            case .aroundTheEarth: .routeAroundTheEarth
            }
    }
}
