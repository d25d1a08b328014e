// Opens an address in the browser of the user.

import { spawn } from "node:child_process";

/** False where no browser can be shown: the user is elsewhere, or has no desktop. */
export function openAddress(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const opener = openerOf(environment, platform);
  if (opener === undefined || !/^https?:\/\//i.test(url)) return false;
  const [command = "", ...args] = opener;
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  // whoever has no opener has the address on the screen
  child.once("error", () => undefined);
  child.unref();
  return true;
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
