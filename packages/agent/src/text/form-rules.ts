// Rules for forms: they must not ask for secrets (A94) or contain links (A97).

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
