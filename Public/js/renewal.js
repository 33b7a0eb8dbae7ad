// @ts-check
// Decides how often the live picture is renewed. While somebody uses the page, that is once a minute. Unattended, the
// page spends a fixed number of bytes a minute, but renews the picture before it counts as old.

/** The minimum time between two live pictures, however often data arrives. */
export const ATTENDED_MILLISECONDS = 55_000;
/** A picture that is older than 180 s has a banner (status.js). */
export const LONGEST_MILLISECONDS = 165_000;
/** The page also requests the status, the TileJSON and the cards, so tiles get less than 100 kB a minute. */
const BYTES_PER_MILLISECOND = 88_000 / 60_000;
/** Data arrives in bursts. */
const BURST_MILLISECONDS = 1_000;
/** A person who only watches touches the page now and then. */
const ATTENTION_MILLISECONDS = 120_000;
/** The number of urgent renewals in a burst. Each minute allows one more, which bounds the bytes of an open page.
 * Changes within a few seconds share a renewal. */
const URGENT_BURST = 5;
const URGENT_SPACING_MILLISECONDS = 5_000;
const URGENT_MILLISECONDS = 60_000;
/** The interval of polling without events, then those with events, which announce new data. */
const POLL_MILLISECONDS = 15_000;
const FOLLOWED_POLL_MILLISECONDS = 30_000;
const UNATTENDED_POLL_MILLISECONDS = 60_000;
/** The interval while the device says that it is offline. Its events may just be silent. */
const OFFLINE_POLL_MILLISECONDS = 3_000;

let attendedAt = -Infinity;
/** Whether pictures for a fine screen cost too much since somebody last used the page. */
let isTight = false;

/** Calls back when somebody uses the page after a pause.
 * @param {() => void} callback */
export function onAttention(callback) {
    const attend = () => {
        const hasPaused = !isAttended();
        attendedAt = performance.now();
        if (hasPaused) callback();
    };
    for (const name of ["pointermove", "pointerdown", "keydown", "wheel"]) {
        addEventListener(name, attend, { passive: true });
    }
}

const isAttended = () => performance.now() - attendedAt < ATTENTION_MILLISECONDS;

/** The time between two live pictures.
 * @param {number} bytes  the size of the last renewal */
export const renewalMilliseconds = (bytes) => (isAttended() ? ATTENDED_MILLISECONDS
    : Math.min(Math.max(Math.round(bytes / BYTES_PER_MILLISECOND), ATTENDED_MILLISECONDS), LONGEST_MILLISECONDS));

/** Whether the next live picture has tiles without the additional pixels of a fine screen. That is the case on an
 * unattended page if a renewal costs more than the longest interval allows, and ends when somebody uses the page.
 * @param {number} bytes  the size of the last renewal */
export function savesPixels(bytes) {
    isTight = !isAttended() && (isTight || bytes > BYTES_PER_MILLISECOND * LONGEST_MILLISECONDS);
    return isTight;
}

/** The time until the picture is renewed, if data has arrived.
 * @param {number} requestedAt  when the last picture was requested
 * @param {number} bytes  its size */
export const renewalDelay = (requestedAt, bytes) =>
    Math.max(BURST_MILLISECONDS, requestedAt + renewalMilliseconds(bytes) - performance.now());

/** Renewals that can't wait until the picture is due: a hazard or a field has changed, contact is back, or the tiles of
 * the picture are of different states of the data. */
export class UrgentRenewals {
    #left = URGENT_BURST;
    #countedAt = performance.now();
    #spentAt = -Infinity;

    #count() {
        const gained = Math.floor((performance.now() - this.#countedAt) / URGENT_MILLISECONDS);
        this.#left = Math.min(this.#left + gained, URGENT_BURST);
        this.#countedAt += gained * URGENT_MILLISECONDS;
    }

    /** The time until the next one. */
    get delay() {
        this.#count();
        const next = this.#left > 0 ? this.#spentAt + URGENT_SPACING_MILLISECONDS
            : this.#countedAt + URGENT_MILLISECONDS;
        return Math.max(BURST_MILLISECONDS, next - performance.now());
    }

    /** Records one. */
    spend() {
        this.#count();
        this.#left -= 1;
        this.#spentAt = performance.now();
    }
}

/** Whether a picture is too new to be renewed.
 * @param {number} requestedAt
 * @param {number} bytes */
export const isRenewed = (requestedAt, bytes) => performance.now() - requestedAt < renewalMilliseconds(bytes);

/** The time between two polls of the server.
 * @param {boolean} hasEvents
 * @param {number} [due]  the time until the picture must be renewed
 * @param {boolean} isOnline  by the device */
export function pollMilliseconds(hasEvents, due = Infinity, isOnline = navigator.onLine) {
    if (!isOnline) return OFFLINE_POLL_MILLISECONDS;
    if (!hasEvents) return POLL_MILLISECONDS;
    const interval = isAttended() ? FOLLOWED_POLL_MILLISECONDS : UNATTENDED_POLL_MILLISECONDS;
    // A picture that is due already is loading, or waits for contact.
    return due > BURST_MILLISECONDS ? Math.min(interval, due) : FOLLOWED_POLL_MILLISECONDS;
}
