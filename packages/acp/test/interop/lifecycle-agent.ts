// A program: an agent with an inbox, background work, models and a system prompt. The text of a prompt names what it does.

import { agent, type Turn } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";

const finished = Promise.withResolvers<void>();

const turns: Readonly<Record<string, (turn: Turn) => Promise<void> | void>> = {
  "system prompt": (turn) => void turn.say(JSON.stringify(turn.session.systemPrompt ?? null)),
  async steered(turn) {
    turn.say("waiting");
    for await (const { prompt } of turn.inbox) {
      turn.say(`heard ${JSON.stringify(prompt)}`);
      return;
    }
  },
  background({ session }) {
    const build = session.runInBackground({ title: "Build", toolCallId: "build" }, ({ signal }) => {
      signal.addEventListener("abort", () => finished.reject(signal.reason));
      return finished.promise;
    });
    // however it ends, the agent has something to say about it that nobody asked for
    const report = () => session.runTurn((turn) => void turn.say("the build is over"));
    build.then(report, report).catch(() => undefined);
  },
  finish: () => finished.resolve(),
  terminal: (turn) =>
    new Promise((resolve) => {
      const terminal = turn.terminal({
        command: "sleep",
        onCancel: () => {
          terminal.exit({ signal: "SIGTERM" });
          resolve();
        },
      });
    }),
  model: (turn) => void turn.say(`the model is ${String(turn.session.configOption("which"))}`),
};

await serveStdio(
  agent({
    name: "lifecycle-agent",
    version: "1.0.0",
    concurrentPrompts: "inbox",
    unstable: ["system_prompt"],
    session: {
      open: (session) =>
        session.setConfigOptions([
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
        ]),
    },
    prompt: (turn) => turns[turn.text]?.(turn),
  }),
);
