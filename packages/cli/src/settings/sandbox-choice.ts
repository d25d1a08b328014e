// The profiles that commands can have, and the one that holds.

/** `off`: commands run as they are, and are asked about. */
export const sandboxChoices = ["workspace", "read-only", "strict", "off"] as const;

export type SandboxChoice = (typeof sandboxChoices)[number];
