// The official SDK's zod schemas for v1. Its exports hide them, so they are imported by their path.

import { runChecks } from "../validation-work.ts";

type Schemas = Readonly<Record<string, { parse(value: unknown): unknown }>>;

const zod: Schemas = await import(
  new URL("../schema/zod.gen.js", import.meta.resolve("@agentclientprotocol/sdk")).href
);

const names: Readonly<Record<string, string>> = {
  initialize: "zInitializeRequest",
  "session/new": "zNewSessionRequest",
  "session/prompt": "zPromptRequest",
  "session/update": "zSessionNotification",
  "session/request_permission": "zRequestPermissionRequest",
};

runChecks({
  zod: (method) => {
    const schema = zod[names[method] ?? ""];
    if (schema === undefined) throw new Error(`the SDK has no schema for ${method}`);
    return (params) => schema.parse(params);
  },
});
