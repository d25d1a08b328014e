// Gives the coding agent a tool of your own. The offline model calls it by `@tool`; a real model decides by itself.

import { client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { codingAgent } from "@parley/agent";
import { defineTool, resolvePath } from "@parley/agent/tools";

const wordCount = defineTool({
  name: "word_count",
  description: "Count the words of a text file.",
  isReadOnly: true,
  properties: { path: { type: "string", description: "Absolute or relative to the working directory" } },
  required: ["path"],
  async prepare(input, context) {
    const { path, paths, shown } = await resolvePath(context, input.path);
    return {
      presentation: { title: `Count the words of ${shown}`, kind: "read", locations: [{ path }] },
      access: { type: "read", paths },
      run: async () => `${(await context.files.read(path)).text.split(/\s+/).filter(Boolean).length} words`,
    };
  },
});

const systemPrompt = "You help writers. Count words with word_count, never with bash.";
const [ours, theirs] = memoryPair();
// with serveStdio() of @parley/acp/node it is an agent for editors
codingAgent({ version: "1.0.0", extraTools: [wordCount], systemPrompt }).connect(ours);
const agent = await client({ name: "example-client", version: "1.0.0" }).connect(theirs);
const prompt = (await agent.newSession({ cwd: process.cwd() })).prompt('@tool word_count {"path":"LICENSE"}');
for await (const update of prompt) {
  if (update.sessionUpdate !== "tool_call_update") continue;
  if (update.title) console.log(`* ${update.title}`);
  if (update.status === "completed") console.log(update.rawOutput);
}
await agent.close();

// prints:
// * Count the words of LICENSE
// 1581 words
