import BillowRaster
package import Turbulence

/// What a GeoPackage says of itself.
package struct GeoPackageMetadata: Sendable {
    /// A style that QGIS shows the table in.
    package struct TableStyle: Sendable {
        package var name: String
        /// As QML.
        package var document: String

        package init(name: String, document: String) {
            self.name = name
            self.document = document
        }
    }

    package var title: String
    package var description: String
    /// When its contents changed last, in thousandths.
    let changed: String
    /// Members with their values, in order.
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

    /// As GDAL reads it.
    ///
    /// Source: gdal.org/en/stable/drivers/vector/gpkg.html, "Metadata"
    var document: String {
        let items = members.map { "<MDI key=\"\(XMLText.escaped($0.name))\">\(XMLText.escaped($0.value))</MDI>" }
        return "<GDALMultiDomainMetadata><Metadata>\(items.joined())</Metadata></GDALMultiDomainMetadata>"
    }
}
