// The profiles that commands can have, and the one that holds.

/** `off`: commands run as they are, and are asked about. */
export const sandboxChoices = ["workspace", "read-only", "strict", "off"] as const;

/** Of `--sandbox`: a profile of commands, or that the agent itself runs in a sandbox. */
export const sandboxWords = ["agent", ...sandboxChoices] as const;

export type SandboxChoice = (typeof sandboxChoices)[number];
