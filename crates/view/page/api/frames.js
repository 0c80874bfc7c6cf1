// Frames of `columns`, `spans` and `flame`: two lengths, the head as JSON, and columns as arrays.

const MOST = 1 << 28;
/** Bytes of a number by the word of `arrays`; an array of `zero` has nothing but 0. @type {Record<string, number>} */
const BYTES = { i32: 4, f64: 8 };

/** @param {Uint8Array} bytes one frame without its first four bytes; starts at a multiple of 8 of its buffer, less 4 */
export function readFrame(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headBytes = view.getUint32(0, true);
  if (headBytes > bytes.byteLength - 4) throw new Error("frame: its head is longer than the frame");
  /** @type {FrameHead} */
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headBytes)));
  const names = head.series ?? [];
  const peaks = head.peaks ?? [];
  const count = head.columns ?? head.count ?? head.frames ?? 0;
  const arrays = head.arrays ?? [];
  // Each one begins at a multiple of eight bytes.
  const sizes = arrays.map((array) => Math.ceil((count * (BYTES[array] ?? 0)) / 8) * 8);
  // They stand at the end of the frame, so that padding of the head does not matter.
  const start = bytes.byteLength - sizes.reduce((sum, size) => sum + size, 0);
  if (start < 4 + headBytes || arrays.length < (count > 0 ? names.length + peaks.length : 0)) throw new Error(`frame of ${head.lane ?? "?"}: arrays are missing`);
  const { buffer } = bytes.slice(start);
  /** All that have nothing but 0. @type {Int32Array | undefined} */
  let nothing;
  let at = 0;
  const columns = arrays.map((array, i) => {
    const from = at;
    at += sizes[i] ?? 0;
    if (array === "f64") return new Float64Array(buffer, from, count);
    return array === "i32" ? new Int32Array(buffer, from, count) : (nothing ??= new Int32Array(count));
  });
  const named = (/** @type {string[]} */ of, first = 0) => Object.fromEntries(of.map((name, i) => [name, columns[first + i] ?? new Float64Array(0)]));
  return { head, series: named(names), peaks: named(peaks, names.length) };
}

/** @param {ReadableStream<Uint8Array>} stream @param {(frame: Frame) => void} each */
export async function readFrames(stream, each) {
  const reader = stream.getReader();
  /** @type {Uint8Array} */
  let held = new Uint8Array(0);
  for (;;) {
    const { done, value } = await reader.read();
    if (value) held = held.byteLength === 0 ? value : joined(held, value);
    let at = 0;
    while (held.byteLength - at >= 4) {
      const size = new DataView(held.buffer, held.byteOffset + at, 4).getUint32(0, true);
      if (size > MOST) throw new Error("frame: too large");
      if (held.byteLength - at < 4 + size) break;
      each(readFrame(held.subarray(at + 4, at + 4 + size)));
      at += 4 + size;
    }
    held = held.subarray(at);
    if (done) break;
  }
  if (held.byteLength > 0) throw new Error("frame: the answer ended early");
}

/** @param {Uint8Array} a @param {Uint8Array} b */
function joined(a, b) {
  const both = new Uint8Array(a.byteLength + b.byteLength);
  both.set(a);
  both.set(b, a.byteLength);
  return both;
}
