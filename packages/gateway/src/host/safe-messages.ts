// Keeps from an agent what a remote client must not tell it: commands to start, and what a server cannot look into.

import type { Transport } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import { wrapSink, wrapTransport } from "@parley/acp/transport";
import { pharo, scoped } from "@parley/dialects";

const invalidRequest = -32600;
/** The number of a refusal, which each dialect has for itself. */
const permissionDenied: Readonly<Record<string, number>> = { pharo: -32004, scoped: -32002 };
const permissionDeniedInV1 = -32060;
const dialects = [pharo(), scoped()];
const maxIdLength = 1_024;
const commandWords =
  "this server starts no MCP servers that a client names by a command; use their addresses, connect with --drop-mcp-commands, or ask whoever runs it for --allow-commands";

/** The client's transport, without what is answered here. */
export function safeMessages(client: Transport, allowCommands: boolean): Transport {
  /** The dialect of the agent, once it has introduced itself. */
  let spoken: string | undefined;
  const refuse = (id: unknown, code: number, message: string) =>
    // a notification has no answer
    id === undefined || client.send({ jsonrpc: "2.0", id, error: { code, message } });
  return wrapTransport(client, {
    send(message, text) {
      const result = isObject(message) ? message["result"] : undefined;
      if (isObject(result)) spoken ??= dialects.find((each) => each.isSpokenByAgent(result))?.name;
      const told = allowCommands ? message : withoutStdio(message);
      return told === message ? client.send(message, text) : client.send(told);
    },
    start: (sink) =>
      client.start(
        wrapSink(sink, {
          message(value, given) {
            // some agents read batches
            if (!isObject(value))
              return void refuse(null, invalidRequest, "expected one JSON-RPC message, which is an object");
            // it is kept until it is answered
            if (String(value["id"]).length > maxIdLength)
              return void refuse(null, invalidRequest, `id must have at most ${maxIdLength} characters`);
            const text = allowCommands ? given : withoutCommands(value, given);
            if (text === undefined) return void refuse(value["id"], refusalNumber(spoken), commandWords);
            sink.message(value, text);
          },
        }),
      ),
  });
}

function refusalNumber(spoken = ""): number {
  return permissionDenied[spoken] ?? permissionDeniedInV1;
}

/** The answer to initialize, without the offer to start commands (v2; v1 has no flag for it). */
function withoutStdio(message: object): object {
  const result = isObject(message) ? message["result"] : undefined;
  const can = isObject(result) ? result["capabilities"] : undefined;
  const session = isObject(can) ? can["session"] : undefined;
  const mcp = isObject(session) ? session["mcp"] : undefined;
  if (!isObject(result) || !isObject(can) || !isObject(session) || !isObject(mcp) || !("stdio" in mcp))
    return message;
  const { stdio: _, ...others } = mcp;
  return {
    ...message,
    result: { ...result, capabilities: { ...can, session: { ...session, mcp: others } } },
  };
}

/** Whether a text can have a key for MCP servers. Most have none, and are not looked at further. */
const suspicious = /mcp|\\u/i;

/**
 * Undefined if it names commands. Otherwise what was looked at, and no other reading of the text: agents read keys that
 * come twice, or in other letters, each in its own way.
 */
function withoutCommands(message: object, text: string): string | undefined {
  if (!suspicious.test(text)) return text;
  return namesCommand(message, false) ? undefined : JSON.stringify(message);
}

function namesCommand(value: unknown, isServer: boolean): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([key, inner]) => {
    const name = key.toLowerCase().replaceAll(/[_-]/g, "");
    return (isServer && name === "command") || namesCommand(inner, isServer || name === "mcpservers");
  });
}
