// Encodes and decodes base64, in every JavaScript runtime.

export function toBase64(bytes: Uint8Array): string {
  return btoa(bytesAsUnits(bytes));
}

/** One character for each byte. */
export function bytesAsUnits(bytes: Uint8Array): string {
  let text = "";
  // apply takes so many arguments at once
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return text;
}

/** Undefined for what is not base64. */
export function fromBase64(data: string): Uint8Array | undefined {
  let binary: string;
  try {
    binary = atob(data);
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return bytes;
}
