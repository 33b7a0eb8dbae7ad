// `Secret` belongs to what a user of this library names, without a second import.
@_exported public import WireHTTP

/// A key or token of SkyPath's.
public typealias SkyPathSecret = Secret
