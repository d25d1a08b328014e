import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { test } from "node:test";
import workers from "node:worker_threads";
import { crc32, deflateSync } from "node:zlib";
import { inEveryVersion, said, says, scriptedModel, talk } from "../../test/support/agent-probe.ts";
import { probe, refusal } from "../../test/support/tool-probe.ts";
import { readTool } from "../tools/files/read.ts";
import { imageProblem, imageSize } from "./image-limits.ts";

const bytes = (...parts: readonly (string | readonly number[])[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))),
  );
const u16 = (n: number) => [n >> 8, n & 255];
const u32 = (n: number) => [...u16(n >>> 16), ...u16(n & 0xffff)];
const png = (width: number, height: number) =>
  bytes([0x89], "PNG\r\n\x1a\n", u32(13), "IHDR", u32(width), u32(height), [8, 2, 0, 0, 0]);

test("the size of an image is read from its header, in every supported format", () => {
  const known = {
    png: png(640, 480),
    gif: bytes("GIF89a", [0x80, 2, 0xe0, 1, 0, 0, 0]),
    // a segment of 20 bytes and padding come first
    jpeg: bytes(
      [0xff, 0xd8, 0xff, 0xe1],
      u16(20),
      new Array(18).fill(7),
      [0xff, 0xff, 0xc2],
      u16(17),
      [8],
      u16(480),
      u16(640),
      [3],
    ),
    lossy: bytes("RIFF", u32(0), "WEBPVP8 ", u32(0), [0, 0, 0, 0x9d, 1, 0x2a], [0x80, 2, 0xe0, 1]),
    lossless: bytes("RIFF", u32(0), "WEBPVP8L", u32(0), [0x2f], [0x7f, 0xc2, 0x77, 0]),
    extended: bytes("RIFF", u32(0), "WEBPVP8X", u32(0), u32(0), [0x7f, 2, 0, 0xdf, 1, 0]),
  };
  for (const [name, image] of Object.entries(known))
    assert.deepEqual(imageSize(image), { width: 640, height: 480 }, name);
  for (const odd of [
    bytes(),
    bytes("GIF8"),
    bytes([0xff, 0xd8, 0xff]),
    bytes("just a text, no image at all"),
  ])
    assert.equal(imageSize(odd), undefined);
  assert.equal(imageProblem(known.png), undefined);
});

inEveryVersion(
  "an image that is too large, and cannot be made smaller, is left out, and the user learns its size",
  {},
  async (setup) => {
    const model = scriptedModel([says("I see nothing. "), says("I see.")], { takesImages: true });
    const { session, updates } = await talk({ ...setup, models: [model] });
    const image = (data: Buffer) => ({
      type: "image" as const,
      mimeType: "image/png",
      data: data.toString("base64"),
    });
    const large = [{ type: "text" as const, text: "What is it?" }, image(png(9_000, 7_000))];
    assert.equal((await session.prompt(large).result).stopReason, "end_turn");
    const size = /9000 x 7000 pixels; at most .* 8000 pixels a side/;
    assert.match(JSON.stringify(updates), size);
    assert.match(JSON.stringify(model.requests[0]?.messages), size);
    await session.prompt([{ type: "text", text: "And this?" }, image(png(640, 480))]).result;
    assert.equal(said(updates), "I see nothing. I see.");
  },
);

/** A whole PNG file of these pixels, three bytes each. */
function picture(width: number, height: number, pixel: (bytes: number) => Buffer): Buffer {
  const rows = Array.from({ length: height }, () => Buffer.concat([Buffer.of(0), pixel(width * 3)]));
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    return [Buffer.from(u32(data.length)), body, Buffer.from(u32(crc32(body)))];
  };
  return Buffer.concat([
    bytes([0x89], "PNG\r\n\x1a\n"),
    ...chunk("IHDR", Buffer.from([...u32(width), ...u32(height), 8, 2, 0, 0, 0])),
    ...chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 1 })),
    ...chunk("IEND", Buffer.alloc(0)),
  ]);
}

const wide = picture(8_100, 40, (count) => Buffer.alloc(count, 200));

test("an image with too many pixels or bytes is read as a smaller copy", async (t) => {
  const { put, call } = await probe(t);
  put("wide.png", wide);
  put("noise.png", picture(1_400, 1_400, randomBytes));
  const read = async (path: string) => {
    const { told, result } = await call(readTool, { path });
    const [, image] = result.content;
    assert.ok(image?.type === "image");
    assert.match(told, /; too large to send, so this is a smaller copy\]/);
    const data = Buffer.from(image.data, "base64");
    assert.equal(imageProblem(data), undefined);
    return { mediaType: image.mediaType, ...imageSize(data) };
  };
  assert.deepEqual(await read("wide.png"), { mediaType: "image/png", width: 2_000, height: 10 });
  assert.deepEqual(await read("noise.png"), { mediaType: "image/jpeg", width: 1_400, height: 1_400 });
});

test("an image that is damaged or much too large is refused with its size", async (t) => {
  const { put, call } = await probe(t);
  for (const [width, height] of [
    [9_000, 10],
    [60_000, 60_000],
  ] as const) {
    put("broken.png", png(width, height));
    const message = await refusal(call(readTool, { path: "broken.png" }));
    assert.ok(message.includes(`${width} x ${height} pixels; at most`), message);
  }
});

inEveryVersion("an image of the user's that is too large is sent as a smaller copy", {}, async (setup) => {
  const model = scriptedModel([says("I see.")], { takesImages: true });
  const { session, updates } = await talk({ ...setup, models: [model] });
  const image = { type: "image" as const, mimeType: "image/png", data: wide.toString("base64") };
  await session.prompt([{ type: "text", text: "What is it?" }, image]).result;
  const [message] = model.requests[0]?.messages ?? [];
  const sent = message?.role === "user" ? message.content[1] : undefined;
  assert.ok(sent?.type === "image");
  assert.deepEqual(imageSize(Buffer.from(sent.data, "base64")), { width: 2_000, height: 10 });
  assert.doesNotMatch(JSON.stringify(updates), /left out/);
});

test("TH17 images are made smaller one at a time, since each may take most of a gigabyte", async (t) => {
  const { Worker } = workers;
  let running = 0;
  let most = 0;
  class Counted extends Worker {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      most = Math.max(most, ++running);
      this.once("exit", () => running--);
    }
  }
  const use = (each: typeof Worker) => {
    workers.Worker = each;
    syncBuiltinESMExports();
  };
  use(Counted);
  t.after(() => use(Worker));
  const { fittedImage } = await import("./fit-image.ts");
  const data = png(9_000, 10).toString("base64");
  const images = Array.from({ length: 4 }, () => ({ type: "image", mediaType: "image/png", data }) as const);
  await Promise.all(images.map((image) => fittedImage(image)));
  assert.equal(most, 1);
});
