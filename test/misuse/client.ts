// Mistakes of people who write a client: none of them compiles (see README.md).

import { type ClientSession, client } from "@parley/acp";

declare const session: ClientSession;

client({ name: "me", version: "1" });

// @ts-expect-error the version is missing
client({ name: "me" });

// @ts-expect-error the name of the handler is misspelt
client({ name: "me", version: "1", requestPermision: () => "allow" });

// @ts-expect-error a client has no prompt handler
client({ name: "me", version: "1", prompt: () => undefined });

// @ts-expect-error an edition has a name, not a number
client({ name: "me", version: "1", editions: [2] });

// @ts-expect-error a prompt has content
void session.prompt();

// @ts-expect-error content is a text or a list of blocks
void session.prompt({ type: "text", text: "hello" });
