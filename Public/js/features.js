// @ts-check
// Requests of the cards: features, and bodies of JSON. The page loads this module after the first picture.
import { getJSON, requestJSON, ServerError } from "./server.js";

/** Requests features. If the layer has no data at the instant, such as hexagons of the future, returns no features and
 * `outside`. Throws ServerError.
 * @param {string} path
 * @param {URLSearchParams} parameters
 * @param {AbortSignal} [signal]
 * @returns {Promise<Billow.FeatureCollection & { outside?: boolean }>} */
export async function getFeatures(path, parameters, signal) {
    try {
        return await getJSON(path, parameters, signal);
    } catch (error) {
        if (error instanceof ServerError && error.code === "time-outside-retention") {
            return { features: [], outside: true };
        }
        throw error;
    }
}

/** The JSON body of a POST of JSON. Throws ServerError, as `getJSON` does.
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>} */
export function postJSON(path, body, signal) {
    return requestJSON(path, { method: "POST", body: JSON.stringify(body) }, signal);
}
