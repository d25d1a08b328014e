// What no form may ask or show. Answers of forms go to the model or to a server and stay in the history, so nobody
// types a secret into one (A94); an address in a field could be clicked by somebody who believes that it is ours (A97).

const secret =
  /\b(?:pass ?(?:word|phrase|code)s?|pwd|api ?keys?|(?:access|auth|bearer|refresh|session|personal access) ?tokens?|client ?secrets?|secret ?keys?|secrets?|private ?keys?|seed ?phrase|credentials?|credit ?card|cvv|cvc|one ?time (?:code|password)|otp)\b/i;
const asking = /\b(?:your|enter|paste|type|give me|provide|send me|tell me|share|what(?:'s| is| are))\b/i;

/** For a label, which says nothing but what is wanted: `apiKey`, `Password`. */
export function namesSecret(label: string): boolean {
  return secret.test(inWords(label));
}

/** For a sentence, which may also be about where secrets are kept. */
export function asksForSecret(question: string): boolean {
  return asking.test(question) && secret.test(inWords(question));
}

/** `apiKey`, `api_key` and `api-key` are two words each. */
function inWords(text: string): string {
  return text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll(/[_-]+/g, " ");
}

/** The same words, without what makes an address a link. */
export function unlinked(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/(?=\S)/gi, "");
}
