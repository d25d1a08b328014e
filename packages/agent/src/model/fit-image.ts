// Makes images smaller that no provider would take, in a thread of its own.

import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { imageProblem, imageSize, maxImageBytes } from "./image-limits.ts";
import type { MediaPart } from "./model.ts";

/** Larger ones would take gigabytes of memory. */
const maxPixels = 50_000_000;
/** Sides to try. Providers make larger images smaller themselves. */
const sides = [2_000, 1_000];
const timeoutMs = 60_000;

const fitted = new WeakMap<MediaPart, Promise<MediaPart>>();
/** One at a time: a small file may hold an image that takes most of a gigabyte. */
let last: Promise<unknown> = Promise.resolve();

/** The image itself if it can be sent, or cannot be made smaller; else a smaller one. */
export function fittedImage(part: MediaPart): Promise<MediaPart> {
  const known = fitted.get(part);
  if (known !== undefined) return known;
  const result = smaller(part);
  fitted.set(part, result);
  return result;
}

async function smaller(part: MediaPart): Promise<MediaPart> {
  const bytes = Buffer.from(part.data, "base64");
  if (imageProblem(bytes) === undefined) return part;
  const size = imageSize(bytes);
  if (size === undefined || size.width * size.height > maxPixels) return part;
  const work = last.then(() => inWorker({ bytes, isPhoto: part.mediaType === "image/jpeg" }));
  last = work.catch(() => undefined);
  const found = await work.catch(() => undefined);
  if (found === undefined) return part;
  return { ...part, mediaType: found.mediaType, data: Buffer.from(found.bytes).toString("base64") };
}

interface Smaller {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/** Plain JavaScript, since a bundle has no file for it. A photo becomes a JPEG, anything else a PNG if that is small enough. */
const program = `
const { parentPort, workerData: { module, bytes, isPhoto, sides, maxBytes } } = require("node:worker_threads");
const { PhotonImage, SamplingFilter, resize } = require(module);
const image = PhotonImage.new_from_byteslice(bytes);
const [width, height] = [image.get_width(), image.get_height()];
function smaller() {
  for (const side of sides) {
    const scale = Math.min(1, side / Math.max(width, height));
    const size = [width, height].map((each) => Math.max(1, Math.round(each * scale)));
    const small = resize(image, ...size, SamplingFilter.CatmullRom);
    const png = isPhoto ? undefined : small.get_bytes();
    if (png !== undefined && png.length <= maxBytes) return { bytes: png, mediaType: "image/png" };
    const jpeg = small.get_bytes_jpeg(85);
    if (jpeg.length <= maxBytes) return { bytes: jpeg, mediaType: "image/jpeg" };
  }
}
parentPort.postMessage(smaller());
`;

async function inWorker(given: {
  readonly bytes: Uint8Array;
  readonly isPhoto: boolean;
}): Promise<Smaller | undefined> {
  const module = fileURLToPath(import.meta.resolve("@silvia-odwyer/photon-node"));
  const worker = new Worker(program, {
    eval: true,
    execArgv: [],
    // standard output belongs to the protocol
    stdout: true,
    stderr: true,
    workerData: { ...given, module, sides, maxBytes: maxImageBytes },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Smaller | undefined>();
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  // what it posts is written above
  worker
    .on("message", resolve)
    .on("error", reject)
    .on("exit", () => resolve(undefined));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
