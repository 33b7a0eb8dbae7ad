/** A clock calls these methods of its parts. */
export const SEEK: unique symbol;
export const PREPARE: unique symbol;
export const STATE_AT: unique symbol;
export const IS_SETTLED: unique symbol;
export const DISPATCH_STATE: unique symbol;
export const LIVE_TIME: unique symbol;
/** A part calls these methods of its clock. */
export const JOIN: unique symbol;
export const LEAVE: unique symbol;
export const CHANGED: unique symbol;
/** A part dispatches an event to its listeners. */
export const DISPATCH: unique symbol;
export function indexAt(times: number[], instant: number): number;
export type Readiness = "ready" | "failed" | "loading";
