// What the canvas of the lanes shows.

/**
 * What the canvas shows of a lane, per column: how many pixels of each colour.
 * @param {import("playwright-core").Page} page
 * @param {string} lane
 * @param {string[]} names custom properties
 * @returns {Promise<{ height: number, columns: number[][] }>}
 */
export async function read(page, lane, names) {
  return page.evaluate(([id, list]) => {
    const it = /** @type {{ lanes: { pixels: HTMLCanvasElement, overlay: { draw: () => void }, redraw: () => void, store: { sight: { height: number } }, rows: { list: { items: { lane: { id: string } }[] }, scroller: HTMLElement } }, rowHeight: { value: number } }} */ (/** @type {never} */ (window)["tracesift"]);
    // The pictures alone: grid and marks stand above them.
    const { draw } = it.lanes.overlay;
    it.lanes.overlay.draw = () => {};
    it.lanes.redraw();
    it.lanes.overlay.draw = draw;
    const index = it.lanes.rows.list.items.findIndex((row) => row.lane.id === id);
    const scale = devicePixelRatio;
    const height = it.lanes.store.sight.height;
    const y = Math.round((index * it.rowHeight.value - it.lanes.rows.scroller.scrollTop + 2) * scale);
    const { width } = it.lanes.pixels;
    const pixels = it.lanes.pixels.getContext("2d")?.getImageData(0, y, width, height).data ?? new Uint8ClampedArray();
    const context = /** @type {CanvasRenderingContext2D} */ (Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d"));
    const probe = /** @type {HTMLElement} */ (document.getElementById("probe"));
    const wanted = /** @type {string[]} */ (list).map((name) => {
      probe.style.color = `var(${name})`;
      context.fillStyle = getComputedStyle(probe).color;
      context.fillRect(0, 0, 1, 1);
      return [...context.getImageData(0, 0, 1, 1).data];
    });
    const columns = Array.from({ length: width }, (_, x) => wanted.map((colour) => {
      let count = 0;
      for (let row = 0; row < height; row += 1) {
        const at = (row * width + x) * 4;
        if (colour.every((value, k) => Math.abs(value - (pixels[at + k] ?? -9)) <= 1)) count += 1;
      }
      return count;
    }));
    return { height, columns };
  }, /** @type {const} */ ([lane, names]));
}
