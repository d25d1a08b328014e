// All bad inputs that are data, and which of them a transport can express.

import { type BadInput, smallLimit, type TransportName } from "./bad-input.ts";
import { batchCases } from "./batch-cases.ts";
import { encodingCases } from "./encoding-cases.ts";
import { envelopeCases } from "./envelope-cases.ts";
import { lineCases } from "./line-cases.ts";
import { paramsCases } from "./params-cases.ts";
import { sizeCases } from "./size-cases.ts";
import type { Role } from "./subject.ts";
import type { LinkOptions } from "./wire.ts";

export const catalogue: readonly BadInput[] = [
  ...lineCases,
  ...encodingCases,
  ...sizeCases,
  ...envelopeCases,
  ...paramsCases,
  ...batchCases,
];

export interface Selection {
  readonly transport: TransportName;
  readonly role: Role;
  readonly version: 1 | 2;
  /** Only the cases that need room for megabytes, or only the others. Default: both. */
  readonly fullSize?: boolean;
}

export function casesFor({ transport, role, version, fullSize }: Selection): readonly BadInput[] {
  return catalogue.filter(
    ({ only, roles = ["agent", "client"], versions = [1], fullSize: isLarge = false }) =>
      (fullSize === undefined || fullSize === isLarge) &&
      (only === undefined || (only.on as readonly string[]).includes(transport)) &&
      roles.includes(role) &&
      versions.includes(version),
  );
}

/** What a subject needs to be for this case. */
export function linkOptions(badInput: BadInput, { role, version }: Selection): LinkOptions {
  return badInput.fullSize ? { role, version } : { role, version, maxMessageBytes: smallLimit };
}
