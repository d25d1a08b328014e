// A scripted agent and a scripted client, driven by data: test doubles for both sides.

import { memoryPair } from "@parley/acp/transport";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";

const agent = scriptedAgent({
  parley: "agent-scenario",
  version: 1,
  turns: [
    {
      steps: [
        { think: "A test, I suppose." },
        {
          tool: { title: "Write notes.txt", kind: "edit" },
          steps: [
            {
              ask: true,
              on: {
                allowed: [{ diff: { path: "/project/notes.txt", newText: "tested\n" } }],
                refused: [{ failTool: "The user said no." }],
              },
            },
          ],
        },
        { say: "Done." },
      ],
    },
  ],
});

const client = scriptedClient({
  parley: "client-scenario",
  version: 1,
  permissions: [{ answer: { kind: "allow_once" } }],
  steps: [{ open: "/project" }, { prompt: "Write my notes." }],
});

const [near, far] = memoryPair();
agent.connect(far);
const record = await client.run(near);
for (const { step, result } of record.steps) console.log(step, result ?? "done");
console.log(agent.events);

// prints:
// open done
// prompt { stopReason: 'end_turn' }
// [
//   { event: 'prompt', text: 'Write my notes.' },
//   { event: 'answer', title: 'this tool call', optionId: 'allow_once' }
// ]
