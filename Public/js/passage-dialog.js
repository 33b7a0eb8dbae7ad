// @ts-check
// The dialog for the departure time and the speed of a route. The page loads this module when it first opens.
import { element } from "./dom.js";
import { inputText } from "./format.js";
import { parseDeparture, parseSpeed, passageText, SPEED_KNOTS } from "./passage.js";
import { now } from "./server.js";

/** Lets the user change or remove a departure and a speed.
 * @param {import("./passage.js").Passage} passage
 * @param {(text: string | null) => void} change  receives the view's text */
export function openPassageDialog(passage, change) {
    const departure = element("input", {
        type: "text", id: "passage-departure", autocomplete: "off", spellcheck: false, placeholder: "the map's time",
        value: passage.departure === null ? "" : inputText(passage.departure),
    });
    const speed = element("input", {
        type: "text", id: "passage-speed", autocomplete: "off", spellcheck: false, inputMode: "numeric",
        placeholder: String(SPEED_KNOTS), value: passage.speed === null ? "" : String(passage.speed),
    });
    const problem = element("p", { className: "problem", role: "alert", hidden: true });
    const form = element("form", { noValidate: true },
        element("h2", { id: "passage-title" }, "Departure and speed"),
        element("label", {}, element("span", {}, "Departure, UTC"), departure),
        element("label", {}, element("span", {}, "Ground speed, kt"), speed),
        problem,
        element("p", { className: "note" },
            `An empty field stands for the time of the map, and for ${SPEED_KNOTS} kt.`),
        element("div", { className: "row" },
            element("button", { type: "submit", className: "use" }, "Use"),
            element("button", { type: "button", onclick: () => finish(null) }, "Remove both"),
            element("button", { type: "button", onclick: () => box.close() }, "Cancel")));
    const box = element("dialog", { className: "key card passage", "aria-labelledby": "passage-title" }, form);
    /** @param {string | null} text */
    const finish = (text) => {
        box.close();
        change(text);
    };
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        const [at, knots] = [parseDeparture(departure.value, now()), parseSpeed(speed.value)];
        /** @type {[HTMLInputElement, boolean][]} */
        const fields = [[departure, Number.isNaN(at)], [speed, Number.isNaN(knots)]];
        for (const [field, isWrong] of fields) field.setAttribute("aria-invalid", String(isWrong));
        const wrong = fields.find(([, isWrong]) => isWrong);
        problem.hidden = !wrong;
        if (!wrong) return finish(passageText({ isPlanned: false, speed: knots, departure: at }));
        problem.textContent = wrong[0] === speed ? "Enter the speed in knots, from 10 to 1999."
            : "Enter the departure as 14:30 or as 2026-07-21 14:30, in UTC.";
        return wrong[0].focus();
    });
    box.addEventListener("close", () => box.remove(), { once: true });
    document.body.append(box);
    box.showModal();
}
