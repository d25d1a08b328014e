// An agent that counts the lines of a file. Started by client.ts or by any ACP editor.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { agent } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";

const counter = agent({
  name: "line-counter",
  version: "1.0.0",
  async prompt(turn) {
    const path = resolve(turn.session.cwd, turn.text);
    const text = await turn.tool({ title: `Read ${turn.text}`, kind: "read" }, () => readFile(path, "utf8"));
    await turn.say(`${turn.text} has ${text.split("\n").length - 1} lines.`);
  },
});
await serveStdio(counter);
