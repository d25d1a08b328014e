// No key may reach a message or a log, also not by way of a provider that repeats it.

/** What keys look like, for those that are not ours: a provider's, a proxy's, one that was pasted with a typo. */
const keyShapes = [
  /\b(?:sk|pk|rk|xai|gsk|hf|AIza|ya29)[-_.][\w.*-]{6,}/g,
  /\bAIza[\w-]{10,}/g,
  /\bBearer\s+[\w.~+/-]{6,}=*/gi,
  /(?<=:\/\/)[^\s/@]+(?=@)/g,
  /(?<=[?&](?:key|api_key|access_token)=)[^\s&"]+/gi,
];

export function scrub(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "***");
  for (const shape of keyShapes) clean = clean.replaceAll(shape, "***");
  return clean;
}
