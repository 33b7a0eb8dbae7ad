/// The role of this server among all servers on one database, of which one fetches from the sources.
package struct FleetRole: Sendable {
    /// Whether this server fetches from the sources.
    package let isLeading: @Sendable () -> Bool
    /// The name of the server that does, as far as this one knows.
    package let leader: @Sendable () -> String?

    package init(isLeading: @escaping @Sendable () -> Bool, leader: @escaping @Sendable () -> String?) {
        self.isLeading = isLeading
        self.leader = leader
    }
}
