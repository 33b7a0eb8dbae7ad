// @ts-check
// The status page: the state of the server, its sources and its layers. It polls `/status`, and ages tick in between.
// Elements change only if their text changes, so that screen readers do not read unchanged text again.
import { contact } from "./contact.js";
import { byId, element, setText } from "./dom.js";
import { age, dateTime, instantOf, shortTime } from "./format.js";
import { LAYERS } from "./layers.js";
import { getJSON, now, ServerError } from "./server.js";
import { sourceState } from "./source-state.js";

const POLL_MILLISECONDS = 10_000;
const TICK_MILLISECONDS = 1_000;

/** The last status, and the error since then.
 * @type {{ status: Billow.Status | null, problem: string | null }} */
const known = { status: null, problem: null };

async function poll() {
    if (document.visibilityState === "visible") {
        try {
            known.status = await getJSON("status", null);
            // A status that was saved on this device says nothing about the server now.
            known.problem = contact.problem;
        } catch (error) {
            known.problem = error instanceof ServerError || error instanceof Error ? error.message : String(error);
        }
        show();
    }
    setTimeout(poll, POLL_MILLISECONDS);
}

function show() {
    const { status, problem } = known;
    const { level, text } = stateOfServer(status, problem);
    byId("state").dataset.level = level;
    setText(byId("state"), text);
    document.title = `${text} · Billow`;
    showBanners(status, problem);
    if (!status) return setText(byId("about"), problem ?? "Loading…");
    const started = instantOf(status.started);
    const isLost = problem !== null;
    const since = responseTime(status);
    setText(byId("about"), [
        `Version ${status.version ?? "–"}`, `${number(status.liveObservations)} live observations`,
        started !== null && !isLost && `running for ${age(now() - started)}`,
        since !== null && `last response ${age(now() - since)} ago`,
    ].filter(Boolean).join(" · "));
    fill(byId("sources"), sourceTable(status.sources ?? [], isLost));
    fill(byId("layers"), layerTable(status.layers ?? {}, isLost));
    fill(byId("store"), ...storeFacts(status));
}

/** The time of the server's last response, which may have been saved on this device.
 * @param {Billow.Status | null} status */
const responseTime = (status) => contact.since ?? instantOf(status?.asOf);

/** @param {Billow.Status | null} status
 * @param {string | null} problem */
export function stateOfServer(status, problem) {
    if (problem !== null) return { level: "bad", text: "can't be reached" };
    if (!status) return { level: "wait", text: "…" };
    if (status.draining) return { level: "bad", text: "is stopping" };
    if (!status.ready) return { level: "bad", text: "is not ready" };
    if (status.storeFailure) return { level: "bad", text: "is serving, but can't read its store" };
    return status.stale ? { level: "warn", text: "is serving stale data" } : { level: "good", text: "is serving" };
}

/** @param {Billow.Status | null} status
 * @param {string | null} problem */
function showBanners(status, problem) {
    /** @type {[level: string, text: string][]} */
    const wanted = [];
    if (problem !== null) {
        const since = responseTime(status);
        const last = since === null ? "" : ` Last update: ${shortTime(since, now())}, ${age(now() - since)} ago.`;
        wanted.push(["bad", `No contact with the server: ${problem}.${last}`]);
    }
    if (status?.storeFailure) wanted.push(["bad", `The store can't be read: ${status.storeFailure}`]);
    if (status?.backups?.failure) wanted.push(["bad", `The last backup failed: ${status.backups.failure}`]);
    if (status?.backups?.copyFailure) {
        wanted.push(["bad", `The last backup was not copied: ${status.backups.copyFailure}`]);
    }
    for (const { table, rows } of status?.damage ?? []) {
        wanted.push(["bad", `${number(rows)} rows of the table ${table} can't be read. See the server's log.`]);
    }
    if (status?.simulated) wanted.push(["simulated", "SIMULATED DATA — not for operational use"]);
    fill(byId("banners"), ...wanted.map(([level, text]) =>
        element("div", { className: "banner", "data-level": level }, element("p", {}, text))));
}

/** @param {Billow.SourceStatus[]} sources
 * @param {boolean} isLost */
function sourceTable(sources, isLost) {
    if (!sources.length) return element("p", { className: "note" }, "None: the data was imported or uploaded.");
    return table(
        ["Source", "State", "Last success", "Newest record", "Next attempt", "Interval", "Accepted"],
        sources.map((source) => {
            const [level, text] = isLost ? ["wait", "unknown"] : sourceState(source);
            const received = instantOf(source.lastSuccess);
            const next = instantOf(source.nextAttempt);
            const skipped = Object.entries(source.counts?.skipped ?? {}).sort();
            const error = typeof source.lastError === "string" ? source.lastError : source.lastError?.message;
            return element("tr", { "data-level": level },
                element("th", { scope: "row" }, dot(), source.id,
                    element("span", { className: "note" }, ` ${source.kind}`)),
                cell("State", element("span", { className: "state-text" }, text),
                    error ? element("span", { className: "problem" }, error) : null,
                    ...Object.entries(source.disabled ?? {}).sort().map(([type, reason]) =>
                        element("span", { className: "problem" }, `${type}: ${reason}`))),
                cell("Last success", received === null ? "–" : `${age(now() - received)} ago`),
                cell("Newest record", source.lagSeconds === undefined ? "–"
                    : `${age(source.lagSeconds * 1000)} old when received`),
                cell("Next attempt", next === null ? "–" : next <= now() ? "due" : `in ${age(next - now())}`),
                cell("Interval", duration(source.update)),
                cell("Accepted", number(source.counts?.accepted),
                    ...skipped.map(([reason, count]) => element("span", { className: "note" },
                        `${number(count)} skipped: ${reason}`))));
        }));
}

/** @param {NonNullable<Billow.Status["layers"]>} layers
 * @param {boolean} isLost */
function layerTable(layers, isLost) {
    const titles = ["Layer", "State", "Newest data", "Complete since"];
    return table(titles, LAYERS.filter(({ id }) => layers[id]).map(({ id, name }) => {
        const layer = layers[id];
        const received = instantOf(layer.dataTime);
        const complete = instantOf(layer.completeSince);
        const [level, text] = isLost ? ["wait", "unknown"] : received === null ? ["wait", "none received"]
            : layer.stale ? ["warn", "stale"] : layer.incomplete ? ["warn", "incomplete"] : ["good", "fresh"];
        return element("tr", { "data-level": level },
            element("th", { scope: "row" }, dot(), name),
            cell("State", element("span", { className: "state-text" }, text)),
            cell("Newest data", received === null ? "–" : `received ${age(now() - received)} ago`),
            cell("Complete since", complete === null ? "–" : dateTime(complete)));
    }));
}

/** @param {Billow.Status} status */
function storeFacts(status) {
    const oldest = instantOf(status.oldestObservation);
    const newest = instantOf(status.newestObservation);
    /** @type {[string, string][]} */
    const facts = [
        ["Observations from", oldest === null ? "–" : dateTime(oldest)],
        ["Observations to", newest === null ? "–" : dateTime(newest)],
        ["Tile cache", cache(status.tileCache)], ["Vector tile cache", cache(status.vectorTileCache)],
        ["Map cache", cache(status.mapCache)], ["Response microcache", cache(status.answerCache)],
    ];
    return facts.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]).reduce(
        (pairs, node, index) => {
            if (index % 2 === 0) pairs.push(element("div", {}, node));
            else pairs[pairs.length - 1].append(node);
            return pairs;
        }, /** @type {HTMLElement[]} */ ([]));
}

/** @param {Billow.CacheStatus | undefined} statistics */
function cache(statistics) {
    if (!statistics) return "–";
    const { entries, bytes, hits, misses } = statistics;
    const requests = hits + misses;
    const share = requests ? `, ${Math.round((100 * hits) / requests)} % hits of ${number(requests)} requests` : "";
    return `${number(entries)} in ${(bytes / 1e6).toFixed(1)} MB${share}`;
}

/** @param {string[]} titles
 * @param {HTMLElement[]} rows */
function table(titles, rows) {
    return element("table", {},
        element("thead", {}, element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)))),
        element("tbody", {}, ...rows));
}

/** @param {string} title  the title of its column, which narrow windows show in the cell
 * @param {...(Node | string | null)} children */
const cell = (title, ...children) => element("td", { "data-title": title }, ...children);

const dot = () => element("span", { className: "dot", "aria-hidden": "true" });

/** "10 s" for PT10S; other updates stay unchanged.
 * @param {string | undefined} update */
function duration(update) {
    const [text, hours = 0, minutes = 0, seconds = 0] =
        /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(update ?? "") ?? [null];
    if (text === null) return update ?? "–";
    return age(1000 * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)));
}

/** @param {number | undefined} count */
const number = (count) => (count === undefined ? "–" : count.toLocaleString("en-GB"));

/** Replaces an element's children if they differ.
 * @param {HTMLElement} root
 * @param {...HTMLElement} children */
function fill(root, ...children) {
    const text = children.map((child) => child.outerHTML).join("");
    if (root.dataset.text === text) return;
    root.dataset.text = text;
    root.replaceChildren(...children);
}

poll();
setInterval(() => document.visibilityState === "visible" && show(), TICK_MILLISECONDS);
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && show());
