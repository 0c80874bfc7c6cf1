// The worker that paints lanes. It gets frames and hands back bitmaps.
import { bitmapOf } from "./paint.js";

const scope = /** @type {Worker} */ (/** @type {unknown} */ (self));

scope.addEventListener("message", async (/** @type {MessageEvent<{ id: number, paints: Paint[], palette: Palette }>} */ { data }) => {
  for (const paint of data.paints) {
    const done = await bitmapOf(paint, data.palette);
    scope.postMessage({ id: data.id, ...done }, [done.bitmap]);
  }
});
