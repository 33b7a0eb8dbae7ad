package import Turbulence

/// The rows of a part of the archive as they count at the head, to be packed.
package struct PartRows: Sendable {
    package var part: ArchivePart
    /// In the order of their keys.
    package var rows: [ObservationRow]
    /// The last version that changed any of them.
    package var version: Version
    /// Whether all of them could be read, and are the ones that were stored. Only a whole part is packed: a packed part
    /// looks complete.
    package var isWhole: Bool
    /// The sum over them, by which a change of the file is found.
    var sum: PartSum
    /// How many transactions had deleted observations, which leave no version behind.
    var deletions: Int64
}
