/** A copy of a collection. */
export class CollectionCopy extends EventTarget {
    /** Makes a copy, which is empty until it starts.
     *
     *   server      the server's address; by default that of this script
     *   collection  "hexagons", "traffic", … : any collection of `/collections`
     *   parameters  filters and a place: { route: "KJFK EGLL", minSeverity: 3 }
     *   headers     a function that returns further headers for the requests: () => ({ "X-API-Key": key })
     *   interval    milliseconds between two requests without an event, 60,000
     *   pause       the fewest milliseconds between two requests, 2,000: raise it on a thin link
     *   events      whether the server's events are listened to, true
     *   store       whether the copy is stored in the browser, true
     * @param {CopyOptions} options */
    constructor(options: CopyOptions);
    /** The features by id. It is the same object for as long as the copy exists.
     * @returns {ReadonlyMap<string, Feature>} */
    get features(): ReadonlyMap<string, Feature>;
    /** How old and how complete the copy is.
     * @returns {CopyState} */
    get state(): CopyState;
    /** Reads the stored copy, and begins to update it. Resolves when the stored copy is there, or at once where there
     * is none. */
    start(): Promise<void>;
    /** Ends all requests. The features stay, and `start` continues. */
    stop(): void;
    /** Requests the changes soon, without waiting for an event. */
    update(): void;
    /** Removes this copy from the browser's storage. */
    forget(): Promise<void>;
    #private;
}
/**
 * A feature of the copy. Cells have no geometry unless the parameter `geometry` is true.
 */
export type Feature = {
    type: "Feature";
    id: string;
    geometry: any;
    properties: Record<string, any>;
};
/**
 * How old and how complete the copy is. Show it beside the data.
 *
 *  time        the instant of the features, ISO 8601; null before the first answer
 *  dataTime    the last successful fetch of the data's sources
 *  stale, simulated, incomplete  as in every answer of the server
 *  receivedAt  when the last answer came, in milliseconds since 1970
 *  connected   whether the last request was answered
 *  stored      whether the copy is in the browser's storage
 */
export type CopyState = {
    time: string | null;
    dataTime: string | null;
    stale: boolean;
    simulated: boolean;
    incomplete: boolean;
    receivedAt: number | null;
    connected: boolean;
    stored: boolean;
};
export type ChangeDetail = {
    full: boolean;
    changed: Feature[];
    removed: string[];
};
/**
 * The options of a copy; the constructor describes them.
 */
export type CopyOptions = {
    server?: string;
    collection: string;
    parameters?: Record<string, string | number | boolean>;
    headers?: () => Record<string, string>;
    interval?: number;
    pause?: number;
    events?: boolean;
    store?: boolean;
};
