// @ts-check
// MapLibre draws the whole map again after each press of the mouse, although nothing has changed. Where the processor
// draws, that delays the answer to a click, so the drawing comes later.

/** The drawing that MapLibre wants after a press waits so long. The answer to a click needs the processor. */
const PRESS_MILLISECONDS = 500;
/** A release within this distance of the press moved nothing; MapLibre has the same tolerance of clicks. */
const PRESS_PIXELS = 3;

/** Delays the drawing of the whole map that MapLibre wants after each press of the mouse, although nothing has changed.
 * Any other reason to draw, and the next input, draw at once.
 * @param {Pick<maplibregl.Map, "isMoving" | "triggerRepaint">} map */
export function delayPressDrawing(map) {
    const draw = map.triggerRepaint.bind(map);
    /** @type {MouseEvent | null} */
    let press = null;
    let isReleasing = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const drawNow = () => {
        clearTimeout(timer);
        timer = undefined;
        draw();
    };
    const drawWaiting = () => timer !== undefined && drawNow();
    map.triggerRepaint = () => {
        if (isReleasing) timer ??= setTimeout(drawNow, PRESS_MILLISECONDS);
        else drawNow();
    };
    const options = { capture: true, passive: true };
    // MapLibre's own listeners come later, and do not ask again for a drawing that waits.
    for (const name of ["mousedown", "dblclick", "wheel", "keydown", "touchstart"]) {
        addEventListener(name, drawWaiting, options);
    }
    addEventListener("mousedown", (event) => { press = event; }, options);
    addEventListener("mouseup", (event) => {
        const isPress = press !== null
            && Math.hypot(event.clientX - press.clientX, event.clientY - press.clientY) < PRESS_PIXELS;
        press = null;
        isReleasing = isPress && !map.isMoving();
        setTimeout(() => { isReleasing = false; });
    }, options);
    // What a click changes is drawn at once.
    addEventListener("click", () => { isReleasing = false; }, options);
}
