// Every published function that takes options refuses one that does not exist, with the list of those that do.

import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { agent } from "@parley/acp";
import {
  findProgram,
  localTerminals,
  replaceFile,
  replaceFileSync,
  serveStdio,
  spawnTransport,
  stdioTransport,
  streamTransport,
} from "@parley/acp/node";
import { redactor, streamRedactor } from "@parley/acp/redact";
import { remoteServer } from "@parley/acp/server";
import { memoryPair } from "@parley/acp/transport";
import { agentPeer, clientPeer } from "@parley/acp/v1";
import * as v2 from "@parley/acp/v2";
import { createView, followSession, viewFrom } from "@parley/acp/view";
import { codingAgent } from "@parley/agent";
import { connectAgent } from "@parley/client";
import { auditLog } from "@parley/client/audit";
import { exportSession, openHistory } from "@parley/client/history";
import { commandEntry, launchAgent } from "@parley/client/launch";
import { permissionPolicy } from "@parley/client/policy";
import { replayAgent, replayClient } from "@parley/conformance";
import { scriptedAgent, scriptedClient } from "@parley/conformance/testing";
import { hostAgent, startGateway } from "@parley/gateway";
import { openReview } from "@parley/review";
import { hostForwarder, openSandbox, sandboxStatus, sessionSandbox } from "@parley/sandbox";

/** JavaScript passes anything. */
const wrong = { colour: 1 } as never;
const other = undefined as never;
const me = agent({ name: "me", version: "1", prompt: () => undefined });
const end = () => memoryPair()[0];

const calls: Readonly<Record<string, () => unknown>> = {
  agentPeer: () => agentPeer(end(), wrong),
  auditLog: () => auditLog("/log", wrong),
  clientPeer: () => clientPeer(end(), wrong),
  codingAgent: () => codingAgent(wrong),
  connectAgent: () => connectAgent("claude", wrong),
  createView: () => createView(wrong),
  exportSession: () => exportSession(other, other, wrong),
  findProgram: () => findProgram("x", wrong),
  hostAgent: () => hostAgent(wrong),
  hostForwarder: () => hostForwarder(wrong),
  launchAgent: () => launchAgent(commandEntry(["x"]), wrong),
  localTerminals: () => localTerminals(wrong),
  openHistory: () => openHistory(wrong),
  openReview: () => openReview(wrong),
  openSandbox: () => openSandbox(wrong),
  permissionPolicy: () => permissionPolicy(wrong),
  redactor: () => redactor(wrong),
  remoteServer: () => remoteServer(wrong),
  replaceFile: () => replaceFile("/x", "", wrong),
  replaceFileSync: () => replaceFileSync("/x", "", wrong),
  replayAgent: () => replayAgent(other, end(), wrong),
  replayClient: () => replayClient(other, end(), wrong),
  sandboxStatus: () => sandboxStatus(wrong),
  scriptedAgent: () => scriptedAgent(other, wrong),
  scriptedClient: () => scriptedClient(other, wrong),
  serveStdio: () => serveStdio(me, wrong),
  sessionSandbox: () => sessionSandbox(wrong),
  spawnTransport: () => spawnTransport("x", [], wrong),
  startGateway: () => startGateway(wrong),
  stdioTransport: () => stdioTransport(wrong),
  streamRedactor: () => streamRedactor([], wrong),
  streamTransport: () => streamTransport(new PassThrough(), wrong),
};

const within: Readonly<Record<string, readonly [string, () => unknown]>> = {
  followSession: [
    "createView",
    () => followSession({ onEntry: () => () => undefined }, () => undefined, wrong),
  ],
  viewFrom: ["createView", () => viewFrom([], wrong)],
  "agentPeer of version 2": ["agentPeer", () => v2.agentPeer(end(), wrong)],
  "clientPeer of version 2": ["clientPeer", () => v2.clientPeer(end(), wrong)],
};

const all = [
  ...Object.entries(calls).map(([name, run]) => [name, name, run] as const),
  ...Object.entries(within).map(([name, [said, run]]) => [name, said, run] as const),
];

for (const [name, said, run] of all)
  test(`an option that does not exist is refused with those that do: ${name}`, async () => {
    await assert.rejects(async () => run(), {
      name: /^(?:TypeError|GatewayOptionError)$/,
      message: new RegExp(
        `^${said}: there is no option colour; (?:did you mean \\w+\\? )?the options are \\w+`,
      ),
    });
  });
