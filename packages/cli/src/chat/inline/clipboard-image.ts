// Reads an image from the clipboard of the desktop, with the programs that the system has for it.

import { execFile } from "node:child_process";
import type { PastedImage } from "@parley/client/conversation";
import { outsideWorkspace } from "../../terminal/open-address.ts";
import { mostImageBytes } from "./pasted-image.ts";

interface Reader {
  readonly command: string;
  readonly args: readonly string[];
}

const patienceMs = 5_000;
const otherwise = "paste the path of an image file instead";

/** The image, or why there is none. */
export async function clipboardImage(
  environment: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
  folder = process.cwd(),
): Promise<PastedImage | string> {
  const readers = readersOf(environment, platform);
  if (readers.length === 0) return `there is no desktop here, so it has no clipboard; ${otherwise}`;
  let isRead = false;
  for (const reader of readers) {
    const output = await outputOf(reader, outsideWorkspace(environment, folder));
    if (output === "missing") continue;
    isRead = true;
    const bytes = imageBytes(output);
    const mimeType = typeOf(bytes);
    if (mimeType === undefined) continue;
    if (bytes.length > mostImageBytes) return "the image in the clipboard is larger than 10 MiB";
    return { mimeType, data: bytes.toString("base64") };
  }
  if (isRead) return "there is no image in the clipboard";
  const names = [...new Set(readers.map(({ command }) => command))].join(" or ");
  return `install ${names} to paste images; ${otherwise}`;
}

function readersOf(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly Reader[] {
  if (platform === "darwin")
    return [
      { command: "pngpaste", args: ["-"] },
      { command: "osascript", args: ["-e", "the clipboard as «class PNGf»"] },
    ];
  const types = ["image/png", "image/jpeg"];
  const { WAYLAND_DISPLAY: wayland = "", DISPLAY: display = "" } = environment;
  return [
    ...(wayland === ""
      ? []
      : types.map((type) => ({ command: "wl-paste", args: ["--no-newline", "--type", type] }))),
    ...(display === ""
      ? []
      : types.map((type) => ({
          command: "xclip",
          args: ["-selection", "clipboard", "-target", type, "-out"],
        }))),
  ];
}

/** What it printed. A program that has nothing to give fails. */
function outputOf(
  { command, args }: Reader,
  environment: NodeJS.ProcessEnv,
): Promise<Buffer<ArrayBufferLike> | "missing"> {
  const options = {
    encoding: "buffer",
    env: environment,
    timeout: patienceMs,
    // osascript prints two digits for each byte
    maxBuffer: 3 * mostImageBytes,
  } as const;
  return new Promise((resolve) => {
    execFile(command, args, options, (error, stdout) =>
      resolve(error !== null && "code" in error && error.code === "ENOENT" ? "missing" : stdout),
    );
  });
}

/** osascript prints «data PNGf89504E47…» */
function imageBytes(output: Buffer): Buffer {
  const isText = output.subarray(0, 20).toString().includes("data PNGf");
  if (!isText) return output;
  return Buffer.from(/PNGf([\dA-F]+)/.exec(output.toString())?.[1] ?? "", "hex");
}

function typeOf(bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 12).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  return undefined;
}
