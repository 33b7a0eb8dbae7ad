// @ts-check
import { ChosenTime, isTimePending } from "/js/chosen-time.js";
import { recordNoResponse, recordResponse } from "/js/contact.js";
import { emptyKnowledge } from "/js/status.js";
import { parseHash } from "/js/view.js";
import { equal, ManualTime, ok, test } from "../harness.js";

const [NOON, ONE] = [Date.UTC(2026, 6, 21, 12), Date.UTC(2026, 6, 21, 13)];

/** Runs a test with a live picture on the map, and a user who chooses instants.
 * @param {(world: {
 *     choose: (time: number | null) => void, watch: (milliseconds: number) => void, kept: (number | null)[],
 *     knowledge: import("/js/status.js").Knowledge, dock: { isStarting: boolean, problem: string | null },
 *     chosenTime: ChosenTime,
 * }) => void} body */
const withChoices = (body) => ManualTime.use((time) => {
    const { view } = parseHash("");
    const request = { subject: "s", key: "k", time: null, asOf: NOON, view };
    const current = { request, frameTime: null, simulated: false, incomplete: false, failures: new Map() };
    const knowledge = { ...emptyKnowledge(view), pictures: { current, next: null, isOutdated: false } };
    const dock = {
        isStarting: false, problem: /** @type {string | null} */ (null),
        stay() {
            dock.isStarting = false;
            return false;
        },
    };
    /** @type {(number | null)[]} */
    const kept = [];
    const chosenTime = new ChosenTime(/** @type {any} */ (knowledge), dock, (instant) => {
        kept.push(instant);
        view.time = instant;
    });
    recordResponse(1);
    try {
        body({
            kept, dock, chosenTime, knowledge: /** @type {any} */ (knowledge),
            choose(instant) {
                view.time = instant;
                chosenTime.choose();
            },
            watch(milliseconds) {
                time.advance(milliseconds);
                chosenTime.watch();
            },
        });
    } finally {
        recordResponse(2);
    }
});

/** @param {import("/js/status.js").Knowledge} knowledge */
const said = ({ problems }) => problems.get("The chosen time") ?? "";

test("without contact, an instant that the device does not have is given up, and a banner says so",
    () => withChoices(({ choose, watch, kept, knowledge, chosenTime }) => {
        recordNoResponse("refused");
        watch(60_000);
        choose(NOON);
        watch(9_000);
        equal(kept, [], "saved data may still come");
        watch(1_000);
        equal(kept, [null], "the map stays live");
        ok(said(knowledge).startsWith("21 Jul 2026 12:00Z is not saved on this device"), said(knowledge));
        // A request that has failed needs no wait.
        choose(ONE);
        equal(said(knowledge), "");
        chosenTime.fail();
        watch(1_000);
        equal(kept, [null, null]);
        ok(said(knowledge).startsWith("21 Jul 2026 13:00Z"), said(knowledge));
        recordResponse(3);
        watch(59_000);
        ok(said(knowledge), "whoever looked away reads it with contact too");
        watch(2_000);
        equal([said(knowledge), kept.length], ["", 2]);
    }));

test("with contact, or once it is on the map, a chosen instant stays", () =>
    withChoices(({ choose, watch, kept, knowledge }) => {
        choose(NOON);
        watch(60_000);
        equal(kept, [], "it is loading");
        const { current } = knowledge.pictures;
        if (current) current.request.time = NOON;
        watch(1_000);
        recordNoResponse("refused");
        watch(60_000);
        equal(kept, []);
        choose(null);
        watch(60_000);
        equal(kept, [], "the live picture may come at any time");
    }));

test("without contact, a frame of a timeline that does not load is given up", () =>
    withChoices(({ watch, kept, knowledge, dock }) => {
        recordNoResponse("refused");
        dock.isStarting = true;
        watch(1_000);
        equal(kept, []);
        dock.problem = "refused";
        watch(1_000);
        equal([kept, said(knowledge).slice(0, 6)], [[null], "It is "]);
    }));

test("the map does not show the chosen instant while a frame loads, unless the timeline plays", () => {
    const { view } = parseHash(`#time=20260721T120000Z`);
    const frame = { time: NOON, live: false, forecast: false, incomplete: false, url: "", ready: true, playing: false };
    const pending = (/** @type {object} */ difference) => isTimePending(/** @type {any} */ (
        { view, frame: { ...frame, ...difference }, pictures: { current: null } }));
    equal([pending({}), pending({ ready: false }), pending({ ready: false, playing: true }), pending({ live: true })],
        [false, true, false, true]);
});
