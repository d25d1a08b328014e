// A custom transport: messages over a MessagePort, such as that of a worker.

import { MessageChannel, type MessagePort } from "node:worker_threads";
import { agent, client } from "@parley/acp";
import { textTransport } from "@parley/acp/transport";

const portTransport = (port: MessagePort) =>
  textTransport({
    open: (receiver) => port.on("message", receiver.message).on("close", () => receiver.ended()),
    write: (text) => port.postMessage(text),
    close: () => port.close(),
  });

const echo = agent({ name: "echo", version: "1.0.0", prompt: ({ text, say }) => say(text) });

const { port1, port2 } = new MessageChannel();
echo.connect(portTransport(port1));
const app = client({ name: "example-client", version: "1.0.0" });
const connection = await app.connect(portTransport(port2));
const session = await connection.newSession({ cwd: "/project" });
console.log(await session.prompt("Over a port.").text());
await connection.close();

// prints:
// Over a port.
