// Recognises images, PDF and binary files by their first bytes.

const signatures: readonly {
  readonly mediaType: string;
  readonly at: number;
  readonly bytes: readonly number[];
}[] = [
  { mediaType: "image/png", at: 0, bytes: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] },
  { mediaType: "image/jpeg", at: 0, bytes: [0xff, 0xd8, 0xff] },
  { mediaType: "image/gif", at: 0, bytes: [0x47, 0x49, 0x46, 0x38] },
  { mediaType: "image/webp", at: 8, bytes: [0x57, 0x45, 0x42, 0x50] },
];

export function imageTypeOf(bytes: Uint8Array): string | undefined {
  return signatures.find(({ at, bytes: sign }) => sign.every((byte, i) => bytes[at + i] === byte))?.mediaType;
}

export function isPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-";
}

/** As git does: a NUL byte near the beginning. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).includes(0);
}
