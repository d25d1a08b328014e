import assert from "node:assert/strict";
import { test } from "node:test";
// The contract on an agent's own stdin and stdout. The subject lives in a child process and is driven over a
// channel of its own; the test is the client at the other end of the pipes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { EndReason, Fault, Sink, Transport } from "../jsonrpc/transport.ts";
import { nodePlatform, streamChannel } from "../node/stream-channel.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import type { TransportPair } from "../testing/contracts/transport-pair.ts";
import { byteTransport } from "./byte-transport.ts";

const encode = (text: string) => Buffer.from(`${text}\n`);

/** What the subject told its sink. */
type Told =
  | { readonly on: "message"; readonly value: unknown; readonly text: string }
  | { readonly on: "reject"; readonly fault: Fault }
  | { readonly on: "drain" | "idle" | "closed" }
  | { readonly on: "filled"; readonly sent: number }
  | { readonly on: "end"; readonly reason: EndReason };

const agent = `
  const { stdioTransport } = await import(process.argv[1]);
  const transport = stdioTransport({ limits: JSON.parse(process.argv[2]), flushMs: 100 });
  const sink = {
    message: (value, text) => process.send({ on: "message", value, text }),
    idle: () => process.send({ on: "idle" }),
    reject: (fault) => process.send({ on: "reject", fault }),
    drain: () => process.send({ on: "drain" }),
    end: (reason) => {
      hasEnded = true;
      process.send({ on: "end", reason: { ...reason, cause: undefined } });
    },
  };
  let hasEnded = false;
  process.on("message", async ({ call, text, until }) => {
    if (call === "start") transport.start(sink);
    else if (call === "send") transport.send(JSON.parse(text), text);
    else if (call === "fill") {
      let sent = 0;
      for (let isOver = false; sent < 4_000 && !isOver; sent++) {
        const hasRoom = transport.send(JSON.parse(text), text);
        isOver = until === "full" ? !hasRoom : hasEnded;
      }
      process.send({ on: "filled", sent });
    }
    else if (call === "close") {
      await Promise.all([transport.close(), transport.close(new Error("twice"))]);
      process.send({ on: "closed" }, () => process.disconnect());
    } else transport[call]();
  });
`;

function start(limits: object): ChildProcess {
  const transports = new URL("../node/transports.ts", import.meta.url).href;
  const options = ["--conditions=parley-source", "--input-type=module", "-e", agent];
  return spawn(process.execPath, [...options, transports, JSON.stringify(limits)], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
}

/** The subject as if it were here, but for the answer of send, which cannot come at once. */
function remoteTransport(child: ChildProcess): Transport & Required<Pick<TransportPair, "fillNear">> {
  let sink: Sink | undefined;
  const filled = Promise.withResolvers<number>();
  const closed = Promise.withResolvers<void>();
  child.on("exit", () => closed.resolve());
  child.on("message", (told: Told) => {
    if (told.on === "closed") closed.resolve();
    else if (told.on === "filled") filled.resolve(told.sent);
    else if (told.on === "message") sink?.message(told.value, told.text);
    else if (told.on === "reject") sink?.reject(told.fault);
    else if (told.on === "end") sink?.end(told.reason);
    else sink?.[told.on]();
  });
  let isClosing = false;
  const call = (name: string, text?: string) => {
    // refused when the subject has gone in the meantime, which the contract's tests expect to do no harm
    if (!isClosing) child.send({ call: name, text }, () => undefined);
  };
  return {
    start(given) {
      sink = given;
      call("start");
    },
    send(message, text = JSON.stringify(message)) {
      call("send", text);
      return true;
    },
    fillNear(message, until) {
      child.send({ call: "fill", text: JSON.stringify(message), until });
      return filled.promise;
    },
    pause: () => call("pause"),
    resume: () => call("resume"),
    close() {
      call("close");
      isClosing = true;
      return closed.promise;
    },
  };
}

transportContract(
  { test, assert },
  "an agent's own stdio",
  async (limits) => {
    const child = start(limits);
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error("the child was started without pipes");
    const exited = once(child, "exit");
    const near = remoteTransport(child);
    return {
      near,
      fillNear: near.fillNear,
      far: byteTransport(streamChannel(stdout, stdin, { flushMs: 100 }), { limits, platform: nodePlatform }),
      frameToNear: (text) => stdin.write(encode(text)),
      bytesToNear: (bytes) => stdin.write(bytes),
      halfClose: () => stdin.end(),
      cut: () => {
        stdin.destroy();
        stdout.destroy();
      },
      dispose: async () => {
        await exited;
      },
    };
  },
  { encode },
);
