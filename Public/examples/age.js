// @ts-check
// Besides the legend, every map must show the age of the data, and whether it is simulated, stale or incomplete.

/** Requests a TileJSON each minute, shows the age of its data, and calls `renew` with it from the second time on.
 * @param {string} url
 * @param {(tileJSON: Billow.TileJSON) => void} renew */
export async function showAge(url, renew) {
    const place = /** @type {HTMLElement} */ (document.querySelector("#age"));
    for (let isFirst = true; ; isFirst = false) {
        try {
            const response = await fetch(url, { cache: "no-cache" });
            if (!response.ok) throw new Error(`the server answered ${response.status}`);
            /** @type {Billow.TileJSON} */
            const tileJSON = await response.json();
            place.textContent = ageText(tileJSON.billow ?? {});
            if (!isFirst) renew(tileJSON);
        } catch (error) {
            place.textContent = `No contact: ${/** @type {Error} */ (error).message}. The map is not updating.`;
        }
        await new Promise((resolve) => setTimeout(resolve, 60_000));
    }
}

/** Returns a line with the time of some data and its faults. Data of another day has its date.
 * @param {{ dataTime?: string | null, simulated?: boolean, stale?: boolean, incomplete?: boolean }} data
 * @param {string} now  ISO 8601 in UTC */
export function ageText({ dataTime, simulated, stale, incomplete }, now = new Date().toISOString()) {
    const day = dataTime && dataTime.slice(0, 10) !== now.slice(0, 10) ? `${dataTime.slice(0, 10)} ` : "";
    return [
        dataTime ? `Data of ${day}${dataTime.slice(11, 16)}Z` : "The age of the data is unknown",
        simulated && "SIMULATED", stale && "STALE", incomplete && "INCOMPLETE",
    ].filter(Boolean).join(" · ");
}
