// @ts-check
import { countedText, hiddenAbove, hiddenText, severitiesIn, warnOfHidden } from "/js/hidden-severities.js";
import { parseHash } from "/js/view.js";
import { equal, test } from "../harness.js";

/** @param {string} hash */
const viewOf = (hash) => parseHash(hash).view;

test("severities that are hidden above a visible one are named", () => {
    for (const [hash, hidden] of /** @type {[string, number[]][]} */ ([
        ["", []], ["#severity=3", []], ["#severities=1,2,4", [3]], ["#severities=0,2", [1, 3, 4]],
        ["#severities=4", []],
    ])) equal(hiddenAbove(viewOf(hash)), hidden, hash);
    equal(hiddenText([3]), "Moderate is hidden on this map: a bare place may have it.");
    equal(hiddenText([2, 3]), "Light-Moderate and Moderate are hidden on this map: a bare place may have them.");
});

test("the words of the timeline's bars leave out the severities that the filter hides", () => {
    for (const [hash, text] of [
        ["", "Moderate or worse"], ["#severity=3", "Moderate or worse"],
        ["#severities=1,2,4", "Moderate or worse, without Moderate"],
        ["#severity=4", "Moderate or worse, without Moderate"],
        ["#severities=1,3", "Moderate or worse, without Moderate-Occasionally Severe"],
        ["#severities=0,1", "Moderate or worse: hidden"],
    ]) equal(countedText(viewOf(hash)), text, hash);
    equal(countedText(severitiesIn(new URLSearchParams("v=1&severity=1,2,4"))), "Moderate or worse, without Moderate");
    equal(countedText(severitiesIn(new URLSearchParams("minSeverity=4"))), "Moderate or worse, without Moderate");
    equal(countedText(severitiesIn(new URLSearchParams())), "Moderate or worse");
});

test("a warning names a hidden severity while it is hidden, and its button shows it again", async () => {
    /** @type {object[]} */
    const changes = [];
    const warning = () => document.querySelector(".notice p")?.textContent ?? null;
    /** @param {string} hash */
    const warn = (hash) => warnOfHidden(viewOf(hash), (difference) => changes.push(difference));
    await warn("#layers=hexagons&severities=1,2,4");
    equal(warning(), "Moderate is hidden on this map: a bare place may have it.");
    document.querySelector(".notice button")?.dispatchEvent(new Event("click"));
    equal(changes, [{ minSeverity: 1, severities: null }]);
    await warn("#layers=hexagons&severity=1");
    equal(warning(), null);
    await warn("#layers=traffic&severities=1,2,4");
    equal(warning(), null);
});
