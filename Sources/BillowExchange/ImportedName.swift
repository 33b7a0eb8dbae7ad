import Datasets

/// A field name of an imported observation, and its meaning.
package struct ImportedName: Sendable {
    /// The name in messages.
    package let text: String
    /// The synonyms of the name.
    package let aliases: [String]
    /// A phrase without its full stop.
    package let summary: String

    /// All names, in the order of the documentation.
    package static let ofObservations: [ImportedName] =
        outsideSchemas
        + Schema.observations.properties.map { property in
            ImportedName(text: property.name.description, aliases: property.aliases, summary: property.summary)
        }

    /// Names outside the schemas: the identity, place and simulation mark of a feature.
    static let outsideSchemas = [
        ImportedName(text: "id", aliases: [], summary: "The observation's own id"),
        ImportedName(text: "longitude", aliases: ["lon", "lng"], summary: "Degrees east, if there is no Point"),
        ImportedName(text: "latitude", aliases: ["lat"], summary: "Degrees north, if there is no Point"),
        ImportedName(text: "simulated", aliases: [], summary: "Whether the data is simulated"),
    ]
}
