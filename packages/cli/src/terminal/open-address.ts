// Opens an address in the browser of the user.

import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { delimiter, isAbsolute, sep } from "node:path";

/** False where no browser can be shown: the user is elsewhere, or has no desktop. */
export function openAddress(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const opener = openerOf(environment, platform);
  if (opener === undefined || !/^https?:\/\//i.test(url)) return false;
  const [command = "", ...args] = opener;
  const env = outsideWorkspace(environment);
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true, env });
  // whoever has no opener has the address on the screen
  child.once("error", () => undefined);
  child.unref();
  return true;
}

/**
 * The environment of a program of the desktop. PATH has no folder of the workspace, such as the one that npx puts there: a
 * command in the sandbox can write a program of the same name into it.
 */
export function outsideWorkspace(environment: NodeJS.ProcessEnv, folder = process.cwd()): NodeJS.ProcessEnv {
  const workspace = realPath(folder);
  const folders = (environment["PATH"] ?? "").split(delimiter);
  const isOutside = (each: string) =>
    isAbsolute(each) && !`${realPath(each)}${sep}`.startsWith(workspace + sep);
  // without any folder a program would be looked for where we are
  return { ...environment, PATH: folders.filter(isOutside).join(delimiter) || "/usr/bin:/bin" };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** No shell reads the address. */
export function openerOf(
  environment: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): readonly string[] | undefined {
  const { SSH_CONNECTION: remote, DISPLAY: x, WAYLAND_DISPLAY: wayland } = environment;
  if (remote) return undefined;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return x || wayland ? ["xdg-open"] : undefined;
}
