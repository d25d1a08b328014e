// A key or a paste, as the terminal sent it and as the rest of the program reads it.

import { decodeKittyPrintable, isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";

export interface KeyPress {
  /** The bytes of the terminal. */
  readonly data: string;
  /** The name of the key with its modifiers, such as `enter`, `ctrl+c`, `alt+up`, `wheelUp` or `a`. Empty for a paste. */
  readonly id: string;
  /** The text that the key types. */
  readonly text?: string;
  /** The text of a paste. */
  readonly paste?: string;
}

const pasteStart = "\u001b[200~";
const pasteEnd = "\u001b[201~";
// biome-ignore lint/suspicious/noControlCharactersInRegex: reports of the mouse begin with one
const wheels = /^\u001b\[<6([45]);\d+;\d+M$/;

/** Undefined for what is not a key: the release of a key, a report of the terminal. */
export function keyPress(data: string): KeyPress | undefined {
  if (data.startsWith(pasteStart)) {
    const end = data.endsWith(pasteEnd) ? -pasteEnd.length : undefined;
    return { data, id: "", paste: data.slice(pasteStart.length, end) };
  }
  if (isKeyRelease(data)) return undefined;
  const wheel = wheels.exec(data)?.[1];
  if (wheel !== undefined) return { data, id: wheel === "4" ? "wheelUp" : "wheelDown" };
  const text = decodeKittyPrintable(data) ?? (isText(data) ? data : undefined);
  const id = parseKey(data) ?? text;
  if (id === undefined) return undefined;
  return text === undefined ? { data, id } : { data, id, text };
}

/** Control characters are keys, not text. */
function isText(data: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  return data !== "" && !/[\u0000-\u001f\u007f-\u009f]/.test(data);
}
