// @ts-check
// The lines of the cards that say what they are for, and the ages in live cards. The page loads this module with the
// first card.
import { byId, setText } from "./dom.js";
import { shortTime } from "./format.js";
import { tickAges } from "./observation-text.js";
import { subjectOf } from "./picture-request.js";
import { shownView } from "./picture-state.js";
import { now } from "./server.js";

/** @typedef {import("./picture-state.js").OnMap} OnMap
 * @typedef {{ view: Billow.View, at: number } | null} Card */

/** Updates the lines of the cards and their ages. The ages grow also while nothing renews the cards.
 * @param {OnMap} onMap
 * @param {Record<"details" | "route", Card>} cards */
export function showCardTimes(onMap, cards) {
    for (const [id, card] of Object.entries(cards)) {
        const line = byId(`${id}-time`);
        const text = cardTimeText(onMap, card);
        line.hidden = text === "";
        setText(line, text);
        tickAges(byId(`${id}-body`));
    }
}

/** Returns the text that names the time of a card. It is empty if the card is of the live picture on the map. A card
 * stays while the timeline plays, and until its next content has arrived.
 * @param {OnMap} onMap
 * @param {Card} card  the view of the card's content, and when it was requested */
export function cardTimeText(onMap, card) {
    if (!card) return "";
    const isPlaying = onMap.frame?.playing === true;
    const isSame = subjectOf(card.view) === subjectOf(shownView(onMap));
    if (isSame && !isPlaying && card.view.time === null) return "";
    const rest = isPlaying ? " The map plays on." : isSame ? "" : " The map shows another picture.";
    return `This card is for ${shortTime(card.view.time ?? card.at, now())}.${rest}`;
}
