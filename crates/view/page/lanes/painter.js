// The worker that paints lanes. It gets frames and hands back bitmaps.
import { paintLane } from "./paint.js";

const scope = /** @type {Worker} */ (/** @type {unknown} */ (self));

scope.addEventListener("message", async (/** @type {MessageEvent<{ id: number, paints: Paint[], palette: Palette }>} */ { data }) => {
  for (const paint of data.paints) {
    const { pixels, max } = paintLane(paint, data.palette);
    const bytes = new Uint8ClampedArray(/** @type {ArrayBuffer} */ (pixels.buffer));
    const bitmap = await createImageBitmap(new ImageData(bytes, paint.data.columns, paint.height));
    scope.postMessage({ id: data.id, lane: paint.lane, bitmap, max }, [bitmap]);
  }
});
