// A program: an agent written with agent() whose sessions have a model and take a system prompt, and whose work the user
// can cancel piece by piece.

import { agent } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";

const app = agent({
  name: "steered-agent",
  version: "1",
  unstable: ["session/new"],
  open(session) {
    session.setOptions([
      {
        configId: "which",
        name: "Model",
        category: "model",
        type: "select",
        currentValue: "small",
        options: [
          { value: "small", name: "Small" },
          { value: "large", name: "Large" },
        ],
      },
    ]);
  },
  async prompt(turn) {
    if (turn.text !== "work") {
      const { systemPrompt } = turn.session;
      await turn.say(`learnt: ${JSON.stringify({ systemPrompt, model: turn.session.option("which") })}`);
      return;
    }
    const ended = Promise.withResolvers<void>();
    const terminal = turn.terminal({
      command: "sleep",
      onCancel: () => {
        terminal.exit({ signal: "SIGTERM" });
        ended.resolve();
      },
    });
    const start = { title: "Wait", toolCallId: "call-1", cancellable: true };
    const work = turn.tool(
      start,
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    );
    await Promise.all([work.catch(() => undefined), ended.promise]);
    await turn.say("learnt: both were cancelled");
  },
});

await serveStdio(app);
