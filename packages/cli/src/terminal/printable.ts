// Which characters of others' words never reach a terminal as they are, said once; and such words on one line.

/** Marks that turn text around or take no room; joiners stay, which scripts and emoji need. */
export const hiddenMarks =
  "\\u061c\\u180e\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb";

const acting = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029${hiddenMarks}]`, "g");

/** What a peer wrote must not move the cursor or turn the text around; line ends are shown by their number too. */
export function printable(text: string): string {
  return text.replace(acting, byNumber);
}

export function byNumber(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
