package import BillowEngine
package import Foundation
package import Geometry
import Turbulence

/// Parses registrations of flights, both from requests and from the store.
package struct FlightBodyReader: FlightReader {
    let airports: AirportTable
    package let areaLimitKm2: Double

    package init(airports: AirportTable, areaLimitKm2: Double) {
        self.airports = airports
        self.areaLimitKm2 = areaLimitKm2
    }

    /// - Throws: `ParameterProblem`.
    package func read(_ body: Data) throws(ParameterProblem) -> (AlertRequest, FlightMonitor.Follow) {
        let body = try JSONBody.decode(AlertBody.self, from: body)
        let request = try body.request(airports, areaLimitKm2: areaLimitKm2)
        guard request.time == .latest else {
            throw ParameterProblem(
                .invalidParameter, detail: "A flight is looked ahead for from now on; 'time' is for '/alerts' alone.",
                parameter: "time", value: "given", allowed: "latest")
        }
        return (request, try body.follow())
    }
}
