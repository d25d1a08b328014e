// A mode, an option and a command: the user chooses, and the agent reads the choice.

import { agent, client } from "@parley/acp";

const options = [
  { value: "ask", name: "Ask" },
  { value: "code", name: "Code" },
];

const moody = agent({
  name: "moody",
  version: "1.0.0",
  session: {
    open(session) {
      session.setConfigOptions([
        { configId: "mode", name: "Mode", category: "mode", currentValue: "ask", options },
        { configId: "brief", name: "Short answers", currentValue: false },
      ]);
      session.setAvailableCommands([{ name: "status", description: "Say what is chosen" }]);
    },
  },
  async prompt(turn) {
    const [mode, brief] = ["mode", "brief"].map((id) => turn.session.configOption(id));
    if (turn.text === "/status") await turn.say(`mode ${mode}, brief ${brief}`);
  },
});

const connection = await client({ name: "example-client", version: "1.0.0" }).connect(moody);
const session = await connection.newSession({ cwd: "/project" });
await session.setMode("code");
await session.setConfigOption("brief", true);
for (const { name } of session.availableCommands) console.log(await session.prompt(`/${name}`).text());
await connection.close();

// prints:
// mode code, brief true
