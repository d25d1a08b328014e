// Checks image sizes before sending, so that the user gets a clear error instead of the provider's refusal.

/** Providers refuse larger images, or scale them down until nothing is readable. */
export const maxImageBytes = 5 * 1024 * 1024;
const maxSide = 8_000;

/** The reason why the image cannot be sent, or undefined. */
export function imageProblem(bytes: Uint8Array): string | undefined {
  const size = imageSize(bytes);
  const shown = size === undefined ? "" : ` and ${size.width} x ${size.height} pixels`;
  if (bytes.length <= maxImageBytes && Math.max(size?.width ?? 0, size?.height ?? 0) <= maxSide)
    return undefined;
  return `it has ${bytes.length} bytes${shown}; at most ${maxImageBytes} bytes and ${maxSide} pixels a side can be sent: make it smaller`;
}

interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Reads the size from the header; undefined for an unknown format. */
export function imageSize(bytes: Uint8Array): ImageSize | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
    if (view.getUint32(0) === 0x47494638)
      return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    if (view.getUint16(0) === 0xffd8) return jpegSize(view);
    if (view.getUint32(8) === 0x57454250) return webpSize(view);
  } catch {
    // truncated
  }
  return undefined;
}

/** Reads the first frame header and skips the segments before it (thumbnails, profiles). */
function jpegSize(view: DataView): ImageSize | undefined {
  for (let at = 2; at < view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // padding, and markers without a length
    at += marker === 0xff ? 1 : marker >= 0xd0 && marker <= 0xd8 ? 2 : 2 + view.getUint16(at + 2);
  }
  return undefined;
}

function webpSize(view: DataView): ImageSize | undefined {
  switch (view.getUint32(12)) {
    // "VP8 ": lossy
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    // "VP8L": lossless, 14 bits each, less one
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    // "VP8X": the canvas, 24 bits each, less one
    case 0x56503858:
      return { width: uint24(view, 24) + 1, height: uint24(view, 27) + 1 };
    default:
      return undefined;
  }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
}
