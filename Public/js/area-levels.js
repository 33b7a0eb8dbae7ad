// @ts-check
// The words for the levels of an issued area, which all cards and pictures of the page share.
import { flightLevel } from "./format.js";

/** Names the limits of an issued area: "FL200 – FL390", "SFC – FL020 AGL", "FL200 and above". Limits above ground have
 * "AGL", because the level of the ground is not known here. A missing lower limit is the surface.
 * @param {{ altitudeMin?: number | null, altitudeMax?: number | null, altitudeReference?: string | null }} area */
export function areaLevels({ altitudeMin, altitudeMax, altitudeReference }) {
    const low = altitudeMin ?? null, high = altitudeMax ?? null;
    if (low === null && high === null) return "level not reported";
    const levels = high === null ? `${flightLevel(low ?? 0)} and above`
        : `${flightLevel(low ?? 0)} – ${flightLevel(high)}`;
    return altitudeReference ? `${levels} ${altitudeReference}` : levels;
}

/** Whether an area's limits are above the ground instead of above sea level.
 * @param {{ altitudeReference?: string | null }} area */
export const isAboveGround = ({ altitudeReference }) => altitudeReference === "AGL";
