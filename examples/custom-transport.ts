// A custom transport: messages over a MessagePort, such as that of a worker.

import { MessageChannel, type MessagePort } from "node:worker_threads";
import { agent, client } from "@parley/acp";
import type { Transport } from "@parley/acp/transport";

function portTransport(port: MessagePort): Transport {
  let receive: (message: object) => void = () => undefined;
  return {
    start(sink) {
      receive = (message) => {
        sink.message(message, JSON.stringify(message));
        sink.idle();
      };
      port.on("message", receive).on("close", () => sink.end({ kind: "closed" }));
    },
    send(message) {
      port.postMessage(message);
      return true;
    },
    pause: () => port.off("message", receive),
    resume: () => port.on("message", receive),
    close: async () => port.removeAllListeners().close(),
  };
}

const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });

const { port1, port2 } = new MessageChannel();
echo.connect(portTransport(port1));
const app = client({ name: "example-client", version: "1.0.0" });
const connection = await app.connect(portTransport(port2));
const session = await connection.newSession({ cwd: "/project" });
console.log(await session.prompt("Over a port.").text());
await connection.close();

// prints:
// Over a port.
