// Opens an image, a sound or a resource of a message with a program of the user's desktop.

import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attachment } from "../../draw/placeholders.ts";
import { openerOf, outsideWorkspace } from "../../terminal/open-address.ts";
import { escapedLine } from "../../terminal/sanitise.ts";

/** Only what a program shows and does not run: anything else is opened as text or not at all. */
const endings = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["audio/wav", "wav"],
  ["audio/x-wav", "wav"],
  ["audio/mpeg", "mp3"],
  ["audio/ogg", "ogg"],
  ["audio/flac", "flac"],
]);

const largest = 50 * 1024 * 1024;

export interface OpeningOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  /** A new folder is made in it. */
  readonly folder: string;
}

/** Says what was done. The file stays: the program may read it at any time. */
export async function openAttachment(
  attachment: Attachment,
  options: OpeningOptions = { environment: process.env, platform: process.platform, folder: tmpdir() },
): Promise<string> {
  const { what, number, uri } = attachment;
  const bytes = bytesOf(attachment);
  if (bytes === undefined) return uri === undefined ? "it has no contents" : `it is at ${escapedLine(uri)}`;
  if (typeof bytes === "string") return bytes;
  const ending = attachment.text === undefined ? endings.get(attachment.mimeType ?? "") : "txt";
  const folder = await mkdtemp(join(options.folder, "parley-"));
  const path = join(folder, `${what}-${number}.${ending ?? "bin"}`);
  await writeFile(path, bytes, { mode: 0o600, flag: "wx" });
  const opener = ending === undefined ? undefined : openerOf(options.environment, options.platform);
  if (opener === undefined) return `written to ${path}`;
  const [command = "", ...args] = opener;
  const env = outsideWorkspace(options.environment);
  const child = spawn(command, [...args, path], { stdio: "ignore", detached: true, env });
  // whoever has no opener has the path on the screen
  child.once("error", () => undefined);
  child.unref();
  return `opened ${path}`;
}

/** Undefined if only an address is known; a sentence if it cannot be used. */
function bytesOf({ data, text }: Attachment): Uint8Array | string | undefined {
  if (text !== undefined) return text.length > largest ? "it is too large to open" : Buffer.from(text);
  if (data === undefined) return undefined;
  if (data.length > (largest * 4) / 3) return "it is too large to open";
  const isBase64 = data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data);
  return isBase64 ? Buffer.from(data, "base64") : "its data is not base64";
}
