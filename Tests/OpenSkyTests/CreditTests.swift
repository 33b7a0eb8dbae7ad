import Testing

@testable import OpenSky

@Suite("Credits")
struct CreditTests {
    @Test(
        "states cost by area",
        arguments: [
            (5.0, 5.0, 1), (5.0, 5.01, 2), (10, 10, 2), (10, 10.1, 3), (20, 20, 3), (20, 20.1, 4), (360, 180, 4),
        ])
    func statesCostByArea(width: Double, height: Double, cost: Int) throws {
        let box = try #require(GeographicBox(west: -180, south: -90, east: -180 + width, north: -90 + height))
        #expect(CreditCost.states(in: box) == cost)
        #expect(CreditCost.states(in: nil) == 4)
    }

    @Test(
        "history costs by the days that it touches",
        arguments: [
            (0, 4), (86_399, 4), (86_400, 30), (2 * 86_400, 180), (4 * 86_400, 300), (12 * 86_400, 13 * 120),
            (17 * 86_400, 18 * 240), (22 * 86_400, 23 * 480), (29 * 86_400, 30 * 960),
        ])
    func historyCostsByTheDaysThatItTouches(age: Int, cost: Int) {
        // Noon, and up to the noon before last.
        let now = 20_000 * 86_400 + 43_200
        let to = age < 2 * 86_400 ? now - age : now
        #expect(CreditCost.history(from: now - age, to: to, now: now) == cost)
    }

    @Test("the credits of a day last for the day")
    func theCreditsOfADayLastForTheDay() {
        // As a loop would ask, as often as it may: never more in any day than there are.
        for (allowance, cost) in [(CreditAllowance.anonymous, 4), (.standard, 1), (.feeder, 3)] {
            var ledger = CreditLedger(allowance)
            var now = 1_000_000
            var spent = 0
            let end = now + 86_400
            while now < end {
                let wait = ledger.wait(for: cost, of: .states, now: now)
                now += wait
                guard now < end else { break }
                ledger.spend(cost, of: .states, now: now)
                spent += cost
            }
            // The hour's share that was saved up comes on top, once.
            #expect(spent <= allowance.credits + allowance.credits / 24 + cost)
            #expect(spent >= allowance.credits - cost)
        }
        #expect(CreditAllowance.anonymous.interval(cost: 4) == 864)
        #expect(CreditAllowance.standard.interval(cost: 4) == 87)
        #expect(CreditAllowance.licensed.interval(cost: 4) == 1)
    }

    @Test("a dear call goes when an hour's share is saved, and is paid off afterwards")
    func aDearCallGoesWhenAnHoursShareIsSavedAndIsPaidOffAfterwards() {
        var ledger = CreditLedger(.anonymous)
        #expect(ledger.wait(for: 30, of: .flights, now: 0) == 0)
        ledger.spend(30, of: .flights, now: 0)
        // 30 − 16.7 owed, and 16.7 to be saved again: 30 credits of 216 s.
        #expect(ledger.wait(for: 30, of: .flights, now: 0) == 6_480)
        #expect(ledger.wait(for: 4, of: .flights, now: 0) == 3_744)
        #expect(ledger.wait(for: 4, of: .states, now: 0) == 0, "the budgets are apart")
    }

    @Test("the service's own figure takes precedence")
    func whatTheServiceSaysCountsMore() {
        var ledger = CreditLedger(.standard)
        ledger.note(remaining: 1, of: .states, now: 0)
        #expect(ledger.wait(for: 4, of: .states, now: 0) == 65)
        ledger.note(remaining: 4_000, of: .states, now: 0)
        #expect(ledger.wait(for: 4, of: .states, now: 0) == 65, "more than we think is no reason to hurry")
        ledger.block(.tracks, seconds: 500, now: 0)
        #expect(ledger.wait(for: 4, of: .tracks, now: 100) == 400)
        #expect(ledger.wait(for: 4, of: .tracks, now: 500) == 0)
        var free = CreditLedger(nil)
        for _ in 0..<1_000 { free.spend(4, of: .states, now: 0) }
        free.note(remaining: 0, of: .states, now: 0)
        #expect(free.wait(for: 4, of: .states, now: 0) == 0)
        free.block(.states, seconds: 9, now: 0)
        #expect(free.wait(for: 4, of: .states, now: 0) == 9)
    }

    @Test("state vectors are not requested more often than they are produced")
    func aPictureIsNotAskedForMoreOftenThanItIsMade() throws {
        let box = try #require(GeographicBox(west: 0, south: 0, east: 5, north: 5))
        var configuration = OpenSkyConfiguration()
        #expect(configuration.statesInterval(in: nil) == 864)
        #expect(configuration.statesInterval(in: box) == 216)
        configuration.allowance = nil
        #expect(configuration.statesInterval(in: box) == 10)
        #expect(OpenSkyConfiguration(baseURL: "http://127.0.0.1:9/").allowance == nil)
    }
}
