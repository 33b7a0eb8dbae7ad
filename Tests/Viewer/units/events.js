// @ts-check
import { Changes, parseEvent } from "/js/events.js";
import { equal, ok, test } from "../harness.js";

/** Parses some blocks. Returns their events and the last id.
 * @param {...string} blocks */
function parsed(...blocks) {
    /** @type {[string, string][]} */
    const events = [];
    /** @type {import("/js/events.js").State} */
    const state = { lastEventID: null };
    for (const block of blocks) parseEvent(block, (name, data) => events.push([name, data]), state);
    return { events, id: state.lastEventID };
}

test("an event has its name, its lines of data and its id", () => {
    equal(parsed("event: data\nid: 4-1\ndata: {\"a\":1}\ndata: 2"), { events: [["data", "{\"a\":1}\n2"]], id: "4-1" });
    equal(parsed("data:bare"), { events: [["message", "bare"]], id: null });
});

test("a comment and a block without data are no events, but their id is stored", () => {
    equal(parsed(": still here", "event: data", "id: 7", ""), { events: [], id: "7" });
});

test("an event changes the layers of its collection, and the parts of a combined layer", () => {
    const turbulence = '{"collection":"turbulence","version":7}';
    const layers = [["hexagons"], ["polygons", "traffic"], ["traffic"]];
    const changes = new Changes();
    equal(layers.map((some) => changes.record(turbulence, some)), [true, true, false]);
    equal(layers.map((some) => changes.versionOf(some)), [7, 7, 0]);
    ok(changes.record('{"area":"all","version":9}', ["traffic"]), "all may have changed");
    equal(layers.map((some) => changes.versionOf(some)), [9, 9, 9]);
    ok(!changes.record("no JSON", ["traffic"]), "no JSON");
});
