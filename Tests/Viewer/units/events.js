// @ts-check
import { Changes, tell } from "/js/events.js";
import { equal, ok, test } from "../harness.js";

/** What some blocks tell, and the id that is left.
 * @param {...string} blocks */
function told(...blocks) {
    /** @type {[string, string][]} */
    const heard = [];
    /** @type {import("/js/events.js").State} */
    const state = { lastEventID: null };
    for (const block of blocks) tell(block, (name, data) => heard.push([name, data]), state);
    return { heard, id: state.lastEventID };
}

test("an event has its name, its lines of data and its id", () => {
    equal(told("event: data\nid: 4-1\ndata: {\"a\":1}\ndata: 2"), { heard: [["data", "{\"a\":1}\n2"]], id: "4-1" });
    equal(told("data:bare"), { heard: [["message", "bare"]], id: null });
});

test("a comment and a block without data tell nothing, but an id counts", () => {
    equal(told(": still here", "event: data", "id: 7", ""), { heard: [], id: "7" });
});

test("an event concerns the layers whose collection it names, and those that are made of it", () => {
    const turbulence = '{"collection":"turbulence","version":7}';
    const layers = [["hexagons"], ["polygons", "traffic"], ["traffic"]];
    const changes = new Changes();
    equal(layers.map((some) => changes.note(turbulence, some)), [true, true, false]);
    equal(layers.map((some) => changes.of(some)), [7, 7, 0]);
    ok(changes.note('{"area":"all","version":9}', ["traffic"]), "all may have changed");
    equal(layers.map((some) => changes.of(some)), [9, 9, 9]);
    ok(!changes.note("no JSON", ["traffic"]), "no JSON");
});
