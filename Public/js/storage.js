// @ts-check
// Names of what the page stores on the device. A browser stores by origin, and several servers may share one, such as
// example.org/a/ and example.org/b/. So each name begins with the server's path, unless that is the root. The service
// worker, offline.js, makes the same names.

/** The address of the page's server, which ends in a slash. */
const SERVER = new URL(".", document.baseURI);

/** A name for storage of the page's own server alone.
 * @param {string} name */
export const storageName = (name, { pathname } = SERVER) => (pathname === "/" ? name : `${pathname} ${name}`);

/** Whether an address belongs to the page's own server.
 * @param {string} url */
export const isOwnServer = (url, { href } = SERVER) => new URL(url, href).href.startsWith(href);
