// Events of the pointer and of the keyboard.

/** Follows the pointer from a press to its end. @type {Drag} */
export function drag(element, event, move, end) {
  const stop = new AbortController();
  const up = (/** @type {PointerEvent} */ last) => {
    stop.abort();
    end?.(last);
  };
  element.setPointerCapture(event.pointerId);
  element.addEventListener("pointermove", move, { signal: stop.signal });
  element.addEventListener("pointerup", up, { signal: stop.signal });
  element.addEventListener("pointercancel", up, { signal: stop.signal });
}

/** @type {Around} */
export function around({ target }, selector) {
  const found = target instanceof Element ? target.closest(selector) : null;
  return found instanceof HTMLElement ? found : null;
}

/** Whether the key is meant for the browser or the system. @param {KeyboardEvent} event */
export const held = (event) => event.ctrlKey || event.altKey || event.metaKey;

/** What a handler of keys ends with: nobody else obeys the key. @param {Event} event */
export function handled(event) {
  event.preventDefault();
  event.stopPropagation();
}
