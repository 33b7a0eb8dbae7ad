// @ts-check
// Plays a Billow timeline on a web map, in any page. It depends on nothing but its own parts in timeline/.
//
//     import { MapLibreFrames, TimelinePlayer } from "https://your.server/timeline.js";
//     const player = new TimelinePlayer(new MapLibreFrames(map), { url: "https://your.server/timeline.json" });
//     player.addEventListener("frame", ({ detail }) => label.textContent = new Date(detail.time).toISOString());
//     await player.load();
//     player.play();
//
// With Leaflet it is `new LeafletFrames(map, L)`, with OpenLayers `new OpenLayersFrames(map, ol)`. On a MapLibre map
// that does not tilt, `new MapLibreCanvasFrames(map)` loads frames several times faster. The player requests a
// manifest, loads the frames ahead of time, and shows a frame only when all its tiles are in. Until then the previous
// frame stays, so the map is never blank.
// Instants are milliseconds since 1970 UTC.
//
// Events: `manifest` (detail: the layer's part of the manifest), `frame` (detail: time, index, live, forecast,
// incomplete, ready), `state` (detail: playing, waiting), `progress` (detail: ready[], one flag per frame), `problem`
// (detail: message or null).
//
// Several layers with different intervals share one clock. Each shows its newest frame at or before the clock's
// instant. The clock advances when all of them are ready. Points appear at their own times, also between frames:
//
//     const clock = new TimelineClock({ speed: 2 });
//     const hexagons = new TimelinePlayer(new MapLibreFrames(map), { layer: "hexagons", clock });
//     const traffic = new TimelinePlayer(new MapLibreFrames(map), { layer: "traffic", clock });
//     const reports = new TimelinePoints(new MapLibrePoints(map), { url: "collections/pireps/items", clock });
//     clock.addEventListener("time", ({ detail }) => label.textContent = new Date(detail.time).toISOString());
//     await Promise.all([hexagons.load(), traffic.load()]);
//     await reports.load();
//     clock.play();
//
// Events of a clock: `time` (detail: time, index, live), `state` (detail: playing, waiting).
//
// types/timeline.d.ts has the types for TypeScript.

/** @typedef {import("./timeline/clock.js").ClockOptions} ClockOptions */
/** @typedef {import("./timeline/clock.js").TimeDetail} TimeDetail */
/** @typedef {import("./timeline/player.js").FrameAdapter} FrameAdapter */
/** @typedef {import("./timeline/player.js").FrameDetail} FrameDetail */
/** @typedef {import("./timeline/player.js").PlayerOptions} PlayerOptions */
/** @typedef {import("./timeline/player.js").StateDetail} StateDetail */
/** @typedef {import("./timeline/points.js").PointAdapter} PointAdapter */
/** @typedef {import("./timeline/points.js").PointsOptions} PointsOptions */

export { TimelineClock } from "./timeline/clock.js";
export { TimelinePlayer } from "./timeline/player.js";
export { TimelinePoints } from "./timeline/points.js";
export { MapLibreFrames, MapLibrePoints } from "./timeline/maplibre.js";
export { MapLibreCanvasFrames } from "./timeline/maplibre-canvas.js";
export { LeafletFrames, LeafletPoints } from "./timeline/leaflet.js";
export { OpenLayersFrames, OpenLayersPoints } from "./timeline/openlayers.js";
export { middle } from "./timeline/point-style.js";
