// @ts-check
// Gives up an instant that the user chose and that this device does not have. Without contact it could not be shown,
// and when contact returns, perhaps hours later, the map would change by itself. The page loads this with the map.
import { contact } from "./contact.js";
import { dateTime } from "./format.js";
import { pictureState } from "./picture-state.js";

/** While the server is silent, saved data takes this long; see offline.js. */
const WAIT_MILLISECONDS = 10_000;
/** With contact again, the banner goes after this time. */
const BANNER_MILLISECONDS = 60_000;
const SUBJECT = "The chosen time";

/** Whether the map does not show the view's instant yet. Its layers and filters do not count.
 * @param {import("./picture-state.js").OnMap} onMap */
export const isTimePending = ({ view, frame, pictures: { current } }) => (frame
    ? !frame.playing && (!frame.ready || (view.time === null) !== frame.live)
    : current !== null && current.request.time !== view.time);

export class ChosenTime {
    #knowledge;
    #dock;
    #keepPicture;
    /** When the user chose the instant; null if the map shows it.
     * @type {number | null} */
    #chosenAt = null;
    #hasFailed = false;
    /** Since when there is no contact, and when there was none last. */
    #lostAt = Infinity;
    #lackedAt = -Infinity;

    /** `keepPicture` makes an instant that of the view, for the picture on the map.
     * @param {import("./status.js").Knowledge} knowledge
     * @param {Pick<import("./dock.js").Dock, "isStarting" | "problem" | "stay">} dock
     * @param {(time: number | null) => void} keepPicture */
    constructor(knowledge, dock, keepPicture) {
        this.#knowledge = knowledge;
        this.#dock = dock;
        this.#keepPicture = keepPicture;
    }

    /** The user has chosen an instant, or the live picture, which may come at any time. */
    choose() {
        this.forget();
        if (this.#knowledge.view.time !== null) this.#chosenAt = performance.now();
    }

    forget() {
        this.#chosenAt = null;
        this.#hasFailed = false;
        this.#knowledge.problems.delete(SUBJECT);
    }

    /** The picture of the instant could not be requested. */
    fail() { this.#hasFailed = true; }

    /** Gives the instant up if it is neither on the map nor available. Called each second. */
    watch() {
        const { isStarting, problem } = this.#dock;
        const time = performance.now();
        if (contact.problem === null) {
            this.#lostAt = Infinity;
            if (time - this.#lackedAt > BANNER_MILLISECONDS) this.#knowledge.problems.delete(SUBJECT);
        } else {
            this.#lostAt = Math.min(this.#lostAt, time);
            this.#lackedAt = time;
        }
        if (isStarting) this.#chosenAt ??= time;
        else if (!isTimePending(this.#knowledge)) this.#chosenAt = null;
        if (this.#chosenAt === null || contact.problem === null) return;
        const hasFailed = isStarting ? problem !== null : this.#hasFailed;
        if (hasFailed || time - Math.max(this.#chosenAt, this.#lostAt) >= WAIT_MILLISECONDS) this.#giveUp();
    }

    #giveUp() {
        const { view, problems } = this.#knowledge;
        const wanted = this.#dock.isStarting || view.time === null ? "It" : dateTime(view.time);
        const { time, isLive } = pictureState(this.#knowledge);
        if (!this.#dock.stay()) this.#keepPicture(isLive ? null : time);
        this.forget();
        problems.set(SUBJECT, `${wanted} is not saved on this device, and there was no contact with the server. `
            + "The map keeps its time. Choose again when there is contact");
    }
}
