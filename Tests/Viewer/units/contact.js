// @ts-check
import {
    contact, expectResponse, onContact, recordLine, recordLostBySilence, recordNoResponse, recordResponse,
    recordSilence,
} from "/js/contact.js";
import { equal, ManualTime, test } from "../harness.js";

test("listeners are called when contact is lost or restored, or the reason changes", () => {
    /** @type {(string | null)[]} */
    const problems = [];
    onContact(() => problems.push(contact.problem));
    recordResponse(1);
    equal(problems, [], "contact was not lost");
    for (const reason of ["timed out", "timed out", "refused"]) recordNoResponse(reason);
    equal(contact.since, 1, "the time of the last response stays");
    for (const time of [2, 3]) recordResponse(time);
    equal(problems, ["timed out", "refused", null]);
    equal(contact, { since: 3, problem: null, isSilent: false });
    for (const reason of ["refused", "refused. The page shows saved data", "refused"]) recordNoResponse(reason);
    equal(problems.slice(3), ["refused", "refused. The page shows saved data"], "the more detailed reason stays");
});

test("a line of the events ends a silence, but does not mean contact while requests fail", () => {
    recordResponse(1);
    recordSilence();
    equal(contact, { since: 1, problem: null, isSilent: true });
    recordLine(2);
    equal(contact, { since: 2, problem: null, isSilent: false });
    recordSilence();
    recordLostBySilence("silent");
    equal(contact, { since: 2, problem: "silent", isSilent: false });
    recordLine(3);
    equal(contact, { since: 3, problem: null, isSilent: false });
    recordNoResponse("refused");
    recordLine(4);
    equal(contact, { since: 3, problem: "refused", isSilent: false });
    recordLostBySilence("silent");
    equal(contact.problem, "refused", "the first reason stays");
    recordResponse(5);
});

test("a server that does not respond to the page's first requests is silent", () => ManualTime.use((time) => {
    recordResponse(1);
    time.advance(1);
    expectResponse(4_000);
    time.advance(3_999);
    equal(contact.problem, null);
    time.advance(1);
    equal(contact.problem, "the server is silent");
    recordResponse(2);
    expectResponse(4_000);
    time.advance(1);
    recordResponse(3);
    time.advance(4_000);
    equal(contact.problem, null, "it has responded");
}));
