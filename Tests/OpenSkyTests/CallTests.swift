import Foundation
import OpenSky
import Testing
import UpstreamSimulator

/// Over real HTTP, against the simulator.
@Suite("The seven services")
struct CallTests {
    @Test("all state vectors come as they are")
    func allStateVectors() async throws {
        try await withRig { rig in
            let answer = try await rig.client.states()
            #expect(answer.time == date(testTime) && answer.isSimulated)
            #expect(answer.vectors.count > 30)
            #expect(answer.counts.skipped.isEmpty && answer.counts.droppedValues == 0)
            #expect(Set(answer.vectors.map(\.address)).count == answer.vectors.count)
            #expect(answer.vectors.allSatisfy { $0.category == nil && $0.lastContact <= answer.time })
            #expect(answer.vectors.contains { $0.longitude != nil && ($0.groundSpeed?.knots ?? 0) > 300 })
        }
    }

    @Test("every parameter of states reaches the service")
    func everyParameterOfStatesReachesTheService() async throws {
        try await withRig(withCredentials: true) { rig in
            let all = try await rig.client.states(includesCategory: true)
            #expect(all.vectors.allSatisfy { $0.category != nil })

            let some = all.vectors.prefix(2).map(\.address)
            let two = try await rig.client.states(of: some)
            #expect(two.vectors.map(\.address).sorted() == some.sorted())

            let box = try #require(GeographicBox(west: -30, south: 20, east: 60, north: 70))
            let inside = all.vectors.filter { vector in
                guard let longitude = vector.longitude, let latitude = vector.latitude else { return false }
                return (box.west...box.east).contains(longitude) && (box.south...box.north).contains(latitude)
            }
            #expect(!inside.isEmpty && inside.count < all.vectors.count)
            let boxed = try await rig.client.states(in: box)
            #expect(Set(boxed.vectors.map(\.address)) == Set(inside.map(\.address)))

            let earlier = try await rig.client.states(at: date(testTime - 1_803))
            #expect(earlier.time == date(testTime - 1_805))
        }
    }

    @Test("own state vectors come as they are")
    func ownStateVectors() async throws {
        try await withRig(withCredentials: true) { rig in
            let own = try await rig.client.ownStates()
            #expect(!own.vectors.isEmpty && own.vectors.allSatisfy { $0.sensors?.count == 1 })
            let serial = try #require(own.vectors.first?.sensors?.first)
            let one = try await rig.client.ownStates(
                at: date(testTime - 100), of: own.vectors.map(\.address), serials: [serial], includesCategory: true)
            #expect(one.time == date(testTime - 100))
            #expect(one.vectors.allSatisfy { $0.sensors == [serial] && $0.category != nil })
            #expect(!one.vectors.isEmpty && one.vectors.count < own.vectors.count)
        }
    }

    @Test("flights of an interval, an aircraft and an airport are found")
    func flightsOfAnIntervalAnAircraftAndAnAirport() async throws {
        try await withRig { rig in
            let interval = rig.lastHours
            let all = try await rig.client.flights(during: interval)
            #expect(all.flights.count > 50 && all.counts.skipped.isEmpty)
            let known = try #require(all.flights.first { $0.arrival != nil && $0.departure != nil })
            let own = try await rig.client.flights(of: known.address, during: interval)
            #expect(
                own.flights.contains { $0.firstSeen == known.firstSeen }
                    && own.flights.allSatisfy { $0.address == known.address })

            let airport = try #require(known.arrival?.code)
            let arrivals = try await rig.client.flights(.arrival, airport: airport.lowercased(), during: interval)
            #expect(arrivals.flights.contains { $0.address == known.address })
            #expect(arrivals.flights.allSatisfy { $0.arrival?.code == airport && interval.contains($0.lastSeen) })
            let began = try #require(all.flights.first { interval.contains($0.firstSeen) }?.departure?.code)
            let departures = try await rig.client.flights(.departure, airport: began, during: interval)
            #expect(!departures.flights.isEmpty)
            #expect(departures.flights.allSatisfy { $0.departure?.code == began && interval.contains($0.firstSeen) })
        }
    }

    @Test("the track of a live flight ends where it is")
    func theTrackOfALiveFlightEndsWhereItIs() async throws {
        try await withRig { rig in
            let vector = try #require(
                try await rig.client.states().vectors.first { $0.longitude != nil && $0.positionTime == $0.lastContact }
            )
            let track = try #require(try await rig.client.track(of: vector.address))
            let end = try #require(track.path.last)
            #expect(track.address == vector.address && track.end == date(testTime) && end.time == track.end)
            #expect(abs((end.longitude ?? 0) - (vector.longitude ?? 0)) < 0.001)
            #expect(abs((end.latitude ?? 0) - (vector.latitude ?? 0)) < 0.001)
            #expect(zip(track.path, track.path.dropFirst()).allSatisfy { $0.time < $1.time })
            let past = try await rig.client.track(of: vector.address, at: track.start.addingTimeInterval(60))
            #expect(past?.start == track.start)
        }
    }

    @Test("nothing found is empty and not a failure")
    func nothingFoundIsEmptyAndNotAFailure() async throws {
        try await withRig(flights: 0) { rig in
            let states = try await rig.client.states()
            #expect(states.vectors.isEmpty)
            #expect(try await rig.client.flights(during: rig.lastHours).flights.isEmpty)
            #expect(try await rig.client.flights(.departure, airport: "XXXX", during: rig.lastHours).flights.isEmpty)
            #expect(try await rig.client.track(of: address("abcdef")) == nil)
        }
    }

    @Test("a request beyond a limit is not sent")
    func whatBreaksALimitIsNotSent() async throws {
        try await withRig { rig in
            let aircraft = try address("3c6444")
            let now = testTime
            let long = date(now - 2 * 86_400 - 1)...date(now)
            try await expectInvalid { _ = try await rig.client.flights(during: date(now - 7_201)...date(now)) }
            try await expectInvalid { _ = try await rig.client.flights(of: aircraft, during: long) }
            for direction in FlightDirection.allCases {
                try await expectInvalid { _ = try await rig.client.flights(direction, airport: "EDDF", during: long) }
            }
            try await expectInvalid {
                _ = try await rig.client.flights(.arrival, airport: "E/F?", during: rig.lastHours)
            }
            for airport in ["", "EDD", "EDDFX", "EDD\u{1B}"] {
                try await expectInvalid {
                    _ = try await rig.client.flights(.departure, airport: airport, during: rig.lastHours)
                }
            }
            try await expectInvalid { _ = try await rig.client.track(of: aircraft, at: date(now - 30 * 86_400 - 1)) }
            try await expectInvalid { _ = try await rig.client.states(at: date(now)) }
            try await expectInvalid { _ = try await rig.client.ownStates() }
            try await expectInvalid { _ = try await rig.client.flights(during: .distantPast ... .distantPast) }
            #expect(rig.simulator.calls == 0)
        }
        try await withRig(withCredentials: true) { rig in
            try await expectInvalid { _ = try await rig.client.states(at: date(testTime - 3_601)) }
            try await expectInvalid { _ = try await rig.client.ownStates(serials: [-1]) }
            #expect(rig.simulator.calls == 0 && rig.simulator.openSkyTokens == 0)
        }
    }

    private func expectInvalid(
        _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let error = try await failure(of: body)
        guard case .invalidQuery = error else {
            Issue.record("\(error.map { "\($0)" } ?? "it was taken")", sourceLocation: sourceLocation)
            return
        }
    }

    @Test("a box has an area and does not cross the antimeridian")
    func aBoxHasAnAreaAndDoesNotCrossTheAntimeridian() {
        #expect(GeographicBox(west: 170, south: 0, east: -170, north: 10) == nil)
        #expect(GeographicBox(west: 0, south: 0, east: 0, north: 10) == nil)
        #expect(GeographicBox(west: 0, south: .nan, east: 1, north: 10) == nil)
        #expect(GeographicBox(west: -180, south: -90, east: 180, north: 90)?.area == 64_800)
    }
}

@Suite("Tokens and credits over the wire")
struct AccountTests {
    @Test("one token serves all concurrent calls")
    func oneTokenServesAllWhoAskAtOnce() async throws {
        try await withRig(withCredentials: true) { rig in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 { group.addTask { _ = try await rig.client.states() } }
                try await group.waitForAll()
            }
            #expect(rig.simulator.openSkyTokens == 1 && rig.simulator.calls == 8)
        }
    }

    @Test("a token is renewed before it ends")
    func aTokenIsRenewedBeforeItEnds() async throws {
        try await withRig(withCredentials: true) { rig in
            _ = try await rig.client.ownStates()
            rig.clock.advance(1_769)
            _ = try await rig.client.ownStates()
            #expect(rig.simulator.openSkyTokens == 1)
            rig.clock.advance(1)
            _ = try await rig.client.ownStates()
            #expect(rig.simulator.openSkyTokens == 2)
        }
    }

    @Test("a refused token is renewed once")
    func aRefusedTokenIsRenewedOnce() async throws {
        try await withRig(withCredentials: true) { rig in
            _ = try await rig.client.states()
            rig.simulator.setFault(.unauthorized, count: 1)
            #expect(try await rig.client.states().vectors.count > 10)
            #expect(rig.simulator.openSkyTokens == 2)
            rig.simulator.setFault(.unauthorized)
            await #expect(throws: UpstreamError.self) { try await rig.client.states() }
            #expect(rig.simulator.openSkyTokens == 3 && rig.simulator.calls == 5)
        }
    }

    @Test("wrong credentials are reported and not retried")
    func wrongCredentialsAreToldAndNotRepeated() async throws {
        try await withRig(withCredentials: true, secret: "hunter2") { rig in
            let error = try #require(try await failure(of: { try await rig.client.states() }))
            guard case .unauthorized(let problem) = error else { throw error }
            #expect(problem == UpstreamProblem(status: 401, code: "invalid_client", message: problem.message))
            #expect(!"\(error)".contains("hunter2"))
            #expect(rig.simulator.calls == 0)
        }
    }

    @Test("secrets never print")
    func secretsNeverPrint() throws {
        let configuration = try OpenSkyConfiguration(
            credentials: .init(clientID: "me", clientSecret: #require(Secret("hunter2"))))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("hunter2") && !"\(configuration)".contains("hunter2"))
    }

    @Test("credits are spread and not sent before their time")
    func creditsAreSpreadAndNotSentBeforeTheirTime() async throws {
        try await withRig(allowance: .anonymous) { rig in
            for _ in 0..<4 { _ = try await rig.client.states() }
            #expect(rig.client.statesWait(in: nil) == 720)
            await #expect(throws: UpstreamError.creditsSpent(budget: "states", retryAfterSeconds: 720)) {
                try await rig.client.states()
            }
            #expect(rig.simulator.calls == 4)
            _ = try await rig.client.flights(during: rig.lastHours)
            rig.clock.advance(720)
            _ = try await rig.client.states()
            #expect(rig.simulator.calls == 6)
        }
    }

    @Test("the 429 is obeyed")
    func the429IsObeyed() async throws {
        try await withRig(simulatedCredits: 8) { rig in
            for _ in 0..<2 { _ = try await rig.client.states() }
            let untilMidnight = 86_400 - testTime % 86_400
            let error = try #require(try await failure(of: { try await rig.client.states() }))
            guard case .rateLimited(_, let seconds) = error else { throw error }
            #expect(seconds == untilMidnight && error.isTransient)
            #expect(rig.simulator.calls == 3)
            await #expect(throws: UpstreamError.creditsSpent(budget: "states", retryAfterSeconds: untilMidnight)) {
                try await rig.client.states()
            }
            #expect(rig.simulator.calls == 3, "not asked again")
        }
    }

    @Test("the service says how many credits are left")
    func theServiceSaysHowManyCreditsAreLeft() async throws {
        // Ours are thought to be many; the service knows that others of this address have spent them.
        try await withRig(allowance: .standard, simulatedCredits: 5) { rig in
            _ = try await rig.client.states()
            #expect(rig.client.statesWait(in: nil) == 65)
        }
    }
}

@Suite("When OpenSky fails")
struct FaultTests {
    private enum Expected: Sendable {
        case unauthorized, forbidden, rateLimited, server, unreadable(UnreadableResponse), unreachable, states(Bool)

        func isMet(by error: UpstreamError) -> Bool {
            switch (self, error) {
            case (.unauthorized, .unauthorized), (.forbidden, .forbidden), (.unreachable, .unreachable): true
            case (.rateLimited, .rateLimited(_, retryAfterSeconds: 60)): true
            case (.server, .server): true
            case (.unreadable(let reason), .unreadable(let other)): reason == other
            default: false
            }
        }
    }

    private static let table: [(Fault, Expected)] = [
        (.unauthorized, .unauthorized), (.forbidden, .forbidden), (.rateLimited, .rateLimited),
        (.serverError, .server), (.unavailable, .server), (.truncatedBody, .unreadable(.truncated)),
        (.htmlPage, .unreadable(.html)), (.emptyBody, .unreadable(.empty)), (.connectionReset, .unreachable),
        (.slowBody, .states(true)), (.empty, .states(false)), (.wrongTypes, .states(true)), (.halfGone, .states(true)),
    ]

    @Test("every fault is typed")
    func everyFaultIsTyped() async throws {
        try await withRig { rig in
            for (fault, expected) in Self.table {
                rig.simulator.setFault(fault)
                if case .states(let some) = expected {
                    let answer = try await rig.client.states()
                    #expect(answer.vectors.isEmpty != some, "\(fault)")
                    #expect(answer.counts.skipped.isEmpty == (fault != .wrongTypes), "\(fault)")
                } else {
                    let error = try #require(try await failure(of: { try await rig.client.states() }), "\(fault)")
                    #expect(expected.isMet(by: error), "\(fault): \(error)")
                }
                // A 429 blocks for a minute.
                rig.clock.advance(60)
            }
            rig.simulator.setFault(.cutJSON)
            let error = try #require(try await failure(of: { try await rig.client.states() }), "half a picture passed")
            guard case .unreadable(.notJSON) = error else { throw error }
            rig.simulator.setFault(nil)
            #expect(try await rig.client.states().vectors.count > 10)
        }
    }

    @Test("an answer has a time and a size")
    func anAnswerHasATimeAndASize() async throws {
        try await withRig(fault: .slowBody, configure: { $0.timeout = .milliseconds(100) }) { rig in
            await #expect(throws: UpstreamError.timeout) { try await rig.client.states() }
        }
        try await withRig(configure: { $0.maximumBodyBytes = 1_000 }) { rig in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 1_000)) { try await rig.client.states() }
        }
    }

    @Test("a fault of another upstream touches nothing")
    func aFaultOfAnotherUpstreamTouchesNothing() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.serverError, of: .skyPath)
            let states = try await rig.client.states()
            #expect(states.vectors.count > 10)
        }
    }

    @Test("configurations that cannot be used say why")
    func configurationsThatCannotBeUsedSayWhy() throws {
        let credentials = try OpenSkyConfiguration.Credentials(
            clientID: "", clientSecret: #require(Secret("x")))
        let problems = OpenSkyConfiguration(
            baseURL: "http://example.org", credentials: credentials, timeout: .zero, maximumBodyBytes: 0
        ).problems
        #expect(problems.count == 5, "\(problems)")
        #expect(OpenSkyConfiguration().problems.isEmpty)
        #expect(OpenSkyConfiguration(baseURL: "http://192.0.2.1").problems.isEmpty, "nothing secret is sent")
    }
}
