// Reads an image from the clipboard with the program that the desktop has for it.

import { execFile } from "node:child_process";
import type { PastedImage } from "../conversation/conversation.ts";

/** Models take no larger ones. */
const mostBytes = 10 * 1024 * 1024;
const patienceMs = 5_000;
const png = "89504e470d0a1a0a";

export interface Desktop {
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
}

/** A sentence if there is none. */
export async function clipboardImage(
  { environment, platform }: Desktop = { environment: process.env, platform: process.platform },
): Promise<PastedImage | string> {
  const readers = readersOf(environment, platform);
  if (readers.length === 0)
    return "the clipboard cannot be read here: drop the file on the terminal, or paste its path";
  let isMissing = true;
  for (const [command, ...args] of readers) {
    const { bytes, isFound } = await output(command, args, environment);
    if (isFound) isMissing = false;
    if (bytes.subarray(0, 8).toString("hex") === png)
      return { mimeType: "image/png", data: bytes.toString("base64") };
  }
  if (!isMissing) return "there is no image in the clipboard";
  return `to paste images, install ${readers.map(([command]) => command).join(" or ")}, or paste the path of the file`;
}

type Reader = readonly [command: string, ...args: string[]];

/** Each writes a PNG to its output. */
function readersOf(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): readonly Reader[] {
  const { WAYLAND_DISPLAY: wayland = "", DISPLAY: display = "", WSL_DISTRO_NAME: wsl = "" } = environment;
  if (platform === "darwin") return [["pngpaste", "-"]];
  if (platform === "win32" || wsl !== "") return [["powershell.exe", "-NoProfile", "-Command", powershell]];
  return [
    ...(wayland === "" ? [] : [["wl-paste", "--no-newline", "--type", "image/png"] as const]),
    ...(display === "" ? [] : [["xclip", "-selection", "clipboard", "-t", "image/png", "-o"] as const]),
  ];
}

const powershell = [
  "Add-Type -AssemblyName System.Windows.Forms",
  "$image = [Windows.Forms.Clipboard]::GetImage()",
  "if ($image) { $image.Save([Console]::OpenStandardOutput(), [Drawing.Imaging.ImageFormat]::Png) }",
].join("; ");

function output(
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly bytes: Buffer; readonly isFound: boolean }> {
  const options = {
    encoding: "buffer",
    maxBuffer: mostBytes,
    timeout: patienceMs,
    env: environment,
  } as const;
  return new Promise((resolve) => {
    execFile(command, args, options, (error, bytes) =>
      resolve({ bytes: error === null ? bytes : Buffer.alloc(0), isFound: error?.code !== "ENOENT" }),
    );
  });
}
