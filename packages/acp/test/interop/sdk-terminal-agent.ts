// A program: an agent on the official SDK with a terminal login, cancellable work, a system prompt and, in version 1, legacy
// models. Arguments: the version, and "login" for the login. TOKEN_FILE names the file that holds the login.

import { existsSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { RequestError } from "@agentclientprotocol/sdk";
import { register, senderOf, stdioStreams } from "./sdk-app.ts";

const [version, task] = process.argv.slice(2);
const tokenFile = process.env["TOKEN_FILE"] ?? "";
// looked up once: whoever logs in must start the agent anew
const isLoggedIn = existsSync(tokenFile);
const sessionId = "terminal-session";

interface Sender {
  notify(method: string, params: object): Promise<void>;
}

async function login(): Promise<number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const token = await terminal.question(`token for ${process.env["REALM"]}: `);
  terminal.close();
  if (token !== "open sesame") return 7;
  writeFileSync(tokenFile, token);
  return 0;
}

function requests(sender: () => Sender): Record<string, (params: never) => unknown> {
  const update = (value: object) => sender().notify("session/update", { sessionId, update: value });
  const models = {
    currentModelId: "small",
    availableModels: [
      { modelId: "small", name: "Small" },
      { modelId: "large", name: "Large" },
    ],
  };
  const cancelled = (kind: string, end: object) => async () => {
    await update({ ...end, capabilities: null });
    await update({
      sessionUpdate: "agent_message_chunk",
      messageId: "m",
      content: text(`${kind} cancelled`),
    });
    return {};
  };
  return {
    initialize: () => (version === "v2" ? introductionV2 : introductionV1),
    "session/new": (params: object) => {
      if (!isLoggedIn) throw new RequestError(-32000, "Authentication required");
      return { sessionId, ...(version === "v2" ? {} : { models }), _meta: { saw: params } };
    },
    "session/set_model": async ({ modelId }: { modelId: string }) => {
      await update({
        sessionUpdate: "agent_message_chunk",
        messageId: "m",
        content: text(`model ${modelId}`),
      });
      return {};
    },
    "session/prompt": async () => {
      const cancel = { capabilities: { cancel: {} } };
      await update({ sessionUpdate: "state_update", state: "running" });
      await update({
        sessionUpdate: "tool_call_update",
        toolCallId: "t",
        title: "T",
        status: "in_progress",
        ...cancel,
      });
      await update({
        sessionUpdate: "terminal_update",
        terminalId: "u",
        command: "sleep",
        cwd: "/",
        ...cancel,
      });
      return { messageId: "prompted" };
    },
    "tool_call/cancel": cancelled("tool call", {
      sessionUpdate: "tool_call_update",
      toolCallId: "t",
      status: "cancelled",
    }),
    "terminal/cancel": cancelled("terminal", {
      sessionUpdate: "terminal_update",
      terminalId: "u",
      exitStatus: { signal: "SIGTERM" },
    }),
  };
}

const text = (value: string) => ({ type: "text", text: value });
const info = { name: "terminal-agent", version: "1" };
const introductionV1 = {
  protocolVersion: 1,
  agentInfo: info,
  agentCapabilities: { sessionCapabilities: { systemPrompt: {} } },
  authMethods: [{ type: "terminal", id: "tui", name: "Terminal", args: ["login"], env: { REALM: "home" } }],
};
const introductionV2 = {
  protocolVersion: 2,
  info,
  capabilities: { session: { systemPrompt: {} } },
  authMethods: [
    {
      type: "terminal",
      methodId: "tui",
      name: "Terminal",
      args: ["login"],
      env: [{ name: "REALM", value: "home" }],
    },
  ],
};

if (task === "login") process.exitCode = await login();
else {
  const sdk =
    version === "v2"
      ? await import("@agentclientprotocol/sdk/experimental/v2/unstable")
      : await import("@agentclientprotocol/sdk/unstable");
  const app = sdk.agent({ name: "terminal-agent" });
  const { "session/set_model": setModel, ...all } = requests(() => sender);
  const { "tool_call/cancel": _tool, "terminal/cancel": _terminal, ...ofVersion1 } = all;
  register(app, { requests: version === "v2" ? all : ofVersion1, notifications: {} });
  if (version !== "v2") {
    // outside the SDK's own schema: its params are taken as they come
    (app as unknown as RawApp).onRequest(
      "session/set_model",
      (params) => params,
      ({ params }) => setModel?.(params as never),
    );
  }
  const sender = senderOf<Sender>(app.connect(sdk.ndJsonStream(...stdioStreams())).client);
}

interface RawApp {
  onRequest(
    method: string,
    parser: (params: unknown) => unknown,
    handler: (call: { readonly params: unknown }) => unknown,
  ): void;
}
