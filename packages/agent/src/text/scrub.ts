// Removes API keys and other credentials from messages.

/** Key formats of common providers, for keys that are not configured here. */
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
