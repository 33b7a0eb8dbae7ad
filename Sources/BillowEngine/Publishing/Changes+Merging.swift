import BillowStore

extension Changes {
    /// The number of rows of all kinds.
    var rowCount: Int {
        opened.count + closed.count + openedReports.count + closedReports.count + openedAreas.count + closedAreas.count
            + positions.count + fields.count
    }

    /// These changes and the next ones, together. A row that opened and closed in between is among both.
    func followed(by later: Changes) -> Changes {
        var merged = later
        merged.opened = opened + later.opened
        merged.closed = closed + later.closed
        merged.openedReports = openedReports + later.openedReports
        merged.closedReports = closedReports + later.closedReports
        merged.openedAreas = openedAreas + later.openedAreas
        merged.closedAreas = closedAreas + later.closedAreas
        merged.positions = positions + later.positions
        merged.fields = fields + later.fields
        merged.fieldGrids = fieldGrids.merging(later.fieldGrids) { $1 }
        merged.remainingFields = later.remainingFields ?? remainingFields
        return merged
    }
}
