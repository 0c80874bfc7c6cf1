// Frames of `columns`, `spans` and `flame`: a length, the length of the head, the head as JSON, and arrays of Float64.

const MOST = 1 << 28;

/** @param {Uint8Array} bytes one frame without its first four bytes; starts at a multiple of 8 of its buffer, less 4 @returns {Frame} */
export function readFrame(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headBytes = view.getUint32(0, true);
  if (headBytes > bytes.byteLength - 4) throw new Error("frame: its head is longer than the frame");
  /** @type {FrameHead} */
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headBytes)));
  const names = head.series ?? [];
  const peaks = head.peaks ?? [];
  const count = head.columns ?? head.count ?? head.frames ?? 0;
  const needed = (names.length + peaks.length) * count * 8;
  // Arrays stand at the end of the frame, so that padding of the head does not matter.
  const start = bytes.byteLength - needed;
  if (start < 4 + headBytes) throw new Error(`frame of ${head.lane ?? "?"}: arrays are missing`);
  const all = new Float64Array(bytes.slice(start).buffer);
  /** @type {Record<string, Float64Array>} */
  const series = {};
  names.forEach((name, i) => (series[name] = all.subarray(i * count, (i + 1) * count)));
  /** @type {Record<string, Float64Array>} */
  const tops = {};
  peaks.forEach((name, i) => (tops[name] = all.subarray((names.length + i) * count, (names.length + i + 1) * count)));
  return { head, series, peaks: tops };
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
