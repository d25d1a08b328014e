// Mistakes of people who write an agent: none of them compiles (see README.md).

import { agent } from "@parley/acp";

const me = { name: "me", version: "1", prompt: () => undefined };

agent(me);

// @ts-expect-error the name is missing
agent({ version: "1", prompt: () => undefined });

// @ts-expect-error the prompt handler is missing
agent({ name: "me", version: "1" });

// @ts-expect-error the name of the handler is misspelt
agent({ name: "me", version: "1", promt: () => undefined });

// @ts-expect-error an edition has a name, not a number
agent({ ...me, editions: [1] });

// @ts-expect-error an agent speaks at least one edition
agent({ ...me, editions: [] });

// @ts-expect-error there is no such rule for prompts that come while a turn runs
agent({ ...me, concurrentPrompts: "later" });

// @ts-expect-error a prompt ends with a stop reason, not with a number
agent({ name: "me", version: "1", prompt: () => 7 });
