// JSON for programs that may end up in front of a person after all: what would act on a terminal, or hide in a text, is
// written by its number. JSON itself escapes only half of the control characters.

const acting = /[\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const allActing = new RegExp(acting, "g");

/** Without a line end; it means the same as what JSON.stringify makes of it. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  if (!acting.test(text)) return text;
  return text.replaceAll(
    allActing,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
