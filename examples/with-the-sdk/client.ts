// The task of examples/client.ts with the official SDK.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const args = ["examples/with-the-sdk/agent.ts"];
const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
// as: Node's type for a web stream says nothing about its chunks
const output = Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>;
await acp
  .client({ name: "example-client" })
  .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), output), async (ctx) => {
    await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "example-client", version: "1.0.0" },
    });
    await ctx.buildSession(process.cwd()).withSession(async (session) => {
      const prompt = session.prompt("LICENSE");
      for (;;) {
        const message = await session.nextUpdate();
        if (message.kind === "stop") break;
        const { update } = message;
        if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update") {
          console.log(`[${update.title ?? "it"}: ${update.status}]`);
        }
        if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") continue;
        process.stdout.write(update.content.text);
      }
      console.log(` (${(await prompt).stopReason})`);
    });
  });
child.kill();

// prints:
// [Read LICENSE: in_progress]
// [it: completed]
// LICENSE has 202 lines. (end_turn)
