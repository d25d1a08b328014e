// Makes texts of models, servers and providers safe to show: on one line, without links and questions for secrets.

import { stripVTControlCharacters } from "node:util";

const maxLength = 200;
/** Control characters, line ends, and marks that hide, join or reorder text. */
const misleading = /(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|\u034f|[\u115f\u1160\u17b4\u17b5\u3164\uffa0])+/gu;
const controls = /[^\P{Cc}\n\t]+/gu;

/** Removes characters that end, reorder or hide a line, and shortens the rest. */
export function oneLine(text: string, most = maxLength): string {
  const line = text.replaceAll(misleading, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** Removes sequences for terminals and control characters. Line ends and tabs stay. */
export function withoutControls(text: string): string {
  return stripVTControlCharacters(text.replaceAll("\r\n", "\n")).replaceAll(controls, " ");
}

/** One line with all its characters: those that end, reorder or hide a line are written as their numbers. */
export function visible(text: string): string {
  return text.replaceAll(misleading, (found) =>
    Array.from(found, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`).join(""),
  );
}

const secret =
  /\b(?:pass ?(?:word|phrase|code)s?|pwd|api ?keys?|(?:access|auth|bearer|refresh|session|personal access) ?tokens?|client ?secrets?|secret ?keys?|secrets?|private ?keys?|seed ?phrase|credentials?|credit ?card|cvv|cvc|one ?time (?:code|password)|otp)\b/i;
const asking = /\b(?:your|enter|paste|type|give me|provide|send me|tell me|share|what(?:'s| is| are))\b/i;

/** For a label such as `apiKey` or `Password`. */
export function namesSecret(label: string): boolean {
  return secret.test(splitWords(label));
}

/** For a sentence, which may also just mention a secret. */
export function asksForSecret(question: string): boolean {
  return asking.test(question) && secret.test(splitWords(question));
}

/** Splits `apiKey`, `api_key` and `api-key` into words. */
function splitWords(text: string): string {
  return text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll(/[_-]+/g, " ");
}

/** Removes URL schemes, so that clients do not show a link. */
export function unlinked(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/(?=\S)/gi, "");
}
