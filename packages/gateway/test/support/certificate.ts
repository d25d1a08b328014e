// A certificate for this machine that lives as long as a test.

import { generateKeyPairSync, sign } from "node:crypto";

/** One value of DER: its tag, its length and its content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 128
      ? [tag, length]
      : length < 256
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]) => der(0x30, ...parts);
const bytes = (...values: number[]) => Buffer.from(values);
const text = (tag: number, value: string) => der(tag, Buffer.from(value));
const ecdsaWithSha256 = sequence(der(6, bytes(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2)));
const localhost = sequence(der(0x31, sequence(der(6, bytes(0x55, 4, 3)), text(0x0c, "localhost"))));

/** For 127.0.0.1 and these names, as PEM. */
export function certificate(...hosts: readonly string[]): { readonly cert: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const named = ["localhost", ...hosts].map((host) => text(0x82, host));
  const names = sequence(...named, der(0x87, bytes(127, 0, 0, 1)));
  const signed = sequence(
    der(0xa0, der(2, bytes(2))),
    der(2, bytes(1)),
    ecdsaWithSha256,
    localhost,
    sequence(text(0x17, "200101000000Z"), text(0x17, "491231235959Z")),
    localhost,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(der(6, bytes(0x55, 0x1d, 0x11)), der(4, names)))),
  );
  const whole = sequence(signed, ecdsaWithSha256, der(3, bytes(0), sign("sha256", signed, privateKey)));
  const lines = whole.toString("base64").replace(/.{64}/g, "$&\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
