import BillowRaster
package import Turbulence

/// The metadata of a GeoPackage.
package struct GeoPackageMetadata: Sendable {
    /// A style for the table in QGIS.
    package struct TableStyle: Sendable {
        package var name: String
        /// The style as QML.
        package var document: String

        package init(name: String, document: String) {
            self.name = name
            self.document = document
        }
    }

    package var title: String
    package var description: String
    /// The time of the last change of its content, with milliseconds.
    let changed: String
    /// Further members with their values, in order.
    package var members: [(name: String, value: String)]
    package var style: TableStyle?

    package init(
        title: String, description: String, changed: Instant, members: [(name: String, value: String)],
        style: TableStyle?
    ) {
        self.title = title
        self.description = description
        self.changed = "\(changed.description.dropLast()).000Z"
        self.members = members
        self.style = style
    }

    /// The members as GDAL's metadata document.
    ///
    /// Source: https://gdal.org/en/stable/drivers/vector/gpkg.html, "Metadata"
    var document: String {
        let items = members.map { "<MDI key=\"\(XMLText.escaped($0.name))\">\(XMLText.escaped($0.value))</MDI>" }
        return "<GDALMultiDomainMetadata><Metadata>\(items.joined())</Metadata></GDALMultiDomainMetadata>"
    }
}
