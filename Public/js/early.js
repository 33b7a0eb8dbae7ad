// @ts-check
// Asks for what the first picture needs while the map library is still on its way.
import { compact } from "./format.js";
import { askAhead } from "./server.js";
import { pictureAddress, parseHash } from "./view.js";

const { view } = parseHash(location.hash);
askAhead("styles");
askAhead(...pictureAddress(view, view.time === null ? null : compact(view.time)));
askAhead("status");
