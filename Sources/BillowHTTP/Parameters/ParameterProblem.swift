import BillowEngine
package import Geometry
package import Turbulence

/// An error of parameters or of a body. It always names the parameter or member, its value and the allowed values.
package struct ParameterProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. The HTTP module maps each to a code and a status.
    package enum Kind: String, Sendable, CaseIterable {
        case invalidParameter, unknownParameter, repeatedParameter, missingParameter
        case invalidBody, unknownMember, severalAreas
        case outsideGrid, unknownLayer, unknownFrame, unknownCollection, queryNotOffered, unknownFormat, unknownStyle
        case noSuchRoute
        case areaTooLarge, ringTooFewPositions, ringTooManyPositions, ringNotClosed, ringCrossesItself, ringWithoutArea
        case ringWithHoles
        case unknownWaypoint, routeTooFewPositions, routeTooManyPositions, routeTooLong
        case routeTooWinding, routeAroundTheEarth
        case tooManyTiles
    }

    package let kind: Kind
    /// A complete sentence for people.
    package let detail: String
    /// The offending parameter with the client's value.
    package let error: ParameterError

    /// The value of what the client did not send.
    package static let missing = "missing"

    /// - Parameters:
    ///   - parameter: the parameter's name, or the member's path in a body.
    ///   - value: the client's own text.
    ///   - allowed: a phrase that follows "must be".
    package init(_ kind: Kind, detail: String, parameter: String, value: String, allowed: String) {
        self.kind = kind
        self.detail = detail
        error = ParameterError(parameter: parameter, value: value, expected: allowed)
    }

    package init(_ error: ParameterError, _ kind: Kind = .invalidParameter) {
        self.kind = kind
        detail = "\(error.description)."
        self.error = error
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
