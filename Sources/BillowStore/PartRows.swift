package import Turbulence

/// The current rows of an archive part at the head, ready for packing.
package struct PartRows: Sendable {
    package var part: ArchivePart
    /// The rows in key order.
    package var rows: [ObservationRow]
    /// The last version that changed any of them.
    package var version: Version
    /// Whether all rows were readable and match their checksum. Only an intact part is packed, because a packed part
    /// looks complete.
    package var isWhole: Bool
    /// A checksum over the rows, which detects changes of the file.
    var sum: PartSum
    /// The number of transactions that had deleted observations. A deletion leaves no version behind.
    var deletions: Int64
}
