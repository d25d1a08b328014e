// What the packages promise. Adding a name here is a decision: it needs a caller in the same change
// and a line in CHANGELOG; removing one breaks somebody. After a change run
//   npm run check -- unit exports
// and copy the names that it reports as missing or surplus into the list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { read, repositoryFiles } from "./source-files.ts";

/** The runtime exports of each entry point, sorted. Types are not among them: they vanish at run time. */
const promised = {
  "@parley/acp": [
    "ConnectionError",
    "RequestError",
    "agent",
    "client",
    "httpTransport",
    "webSocketTransport",
  ],
  "@parley/acp/model": [],
  "@parley/acp/transport": ["byteTransport", "fromWebStreams", "memoryPair", "toWebStreams"],
  "@parley/acp/jsonrpc": ["Connection"],
  "@parley/acp/store": ["entryFormat", "memoryStore", "upgradeEntry"],
  "@parley/acp/relay": ["relay"],
  "@parley/acp/v1": ["agentPeer", "clientPeer"],
  "@parley/acp/v2": ["agentPeer", "clientPeer"],
  "@parley/acp/view": ["applyEntry", "changesSince", "createView", "followSession", "snapshot", "viewFrom"],
  "@parley/acp/redact": ["redactor", "streamRedactor"],
  "@parley/acp/testing": [
    "ScenarioError",
    "collect",
    "scriptedAgent",
    "scriptedClient",
    "storeContract",
    "transportContract",
  ],
  "@parley/acp/internal": [
    "ByteTail",
    "PromptHandle",
    "PromptQueue",
    "SessionEvents",
    "charsOf",
    "deadline",
    "editionOf",
    "errorKindOf",
    "gitPatch",
    "isObject",
    "joinedText",
    "nearestWord",
    "optional",
    "plainTextProblem",
    "problemsOf",
    "readEnvelopeHead",
    "realClock",
    "sleep",
    "textDiff",
    "unreadLimits",
    "versionOf",
    "withTimeout",
    "wrapSink",
    "wrapTransport",
  ],
  "@parley/conformance": [
    "TraceError",
    "everyFeature",
    "isTraceMessage",
    "oddities",
    "readTrace",
    "replayAgent",
    "replayClient",
    "traceHeader",
    "traceRecord",
  ],
  "@parley/acp/node": [
    "StoreError",
    "localFiles",
    "localTerminals",
    "serveStdio",
    "spawnTransport",
    "sqliteStore",
    "stdioTransport",
    "streamTransport",
  ],
  "@parley/acp/internal/node": [
    "ProcessGroup",
    "groupMark",
    "isProtectedPath",
    "nodePlatform",
    "serveScenario",
    "spawnAgent",
    "stdioChannel",
  ],
  "@parley/acp/internal/redact": ["isSecretVariable", "secretsIn"],
  "@parley/acp/internal/testing": ["checkAgentScenario", "checkClientScenario", "comparable"],
  "@parley/agent": ["ModelError", "ToolError", "codingAgent"],
  "@parley/agent/internal": [
    "agentConfigShape",
    "configuredModels",
    "credentialsFile",
    "keyProblem",
    "loginProvider",
    "openAccount",
  ],
  "@parley/client/config": [
    "ConfigError",
    "configSchema",
    "configShape",
    "configuredAgents",
    "configuredMcpServers",
    "mcpServer",
    "parseConfig",
    "setConfigValue",
  ],
  "@parley/client": [
    "LaunchError",
    "PromptInputError",
    "RuleError",
    "agentEnvironment",
    "auditFiles",
    "auditLog",
    "beginsWork",
    "canonicalPath",
    "commandEntry",
    "commandSubject",
    "connectAgent",
    "describeRule",
    "directoryIdentity",
    "findProgram",
    "launchAgent",
    "loginCommandFor",
    "parsePolicy",
    "parseRule",
    "permissionGate",
    "problemOf",
    "promptContent",
    "readyAgents",
    "rememberedRules",
    "ruleText",
    "verifyAudit",
    "verifyAuditFolder",
  ],
  "@parley/client/history": ["exportSession", "isSameAgent", "liveRecorder", "openHistory", "separateCalls"],
} as const;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
}

const manifests = repositoryFiles()
  .filter((file) => /^(?:packages\/[^/]+\/)?package\.json$/.test(file))
  .map((file): Manifest => JSON.parse(read(file)));
const acp = manifests.find(({ name }) => name === "@parley/acp");

for (const [entry, names] of Object.entries(promised)) {
  test(`${entry} exports what is promised, and nothing else`, async () => {
    const loaded: Record<string, unknown> = await import(entry);
    assert.deepEqual(Object.keys(loaded).sort(), [...names]);
  });
}

test("every entry point has its list", () => {
  const declared = manifests.flatMap(({ name, exports = {} }) =>
    Object.keys(exports).map((path) => `${name}${path.slice(1)}`),
  );
  assert.deepEqual(declared.sort(), Object.keys(promised).sort());
});

test("@parley/acp has no dependencies of any kind", () => {
  assert.equal(acp?.dependencies, undefined);
  assert.equal(acp?.optionalDependencies, undefined);
  assert.equal(acp?.peerDependencies, undefined);
});

test("the packages share one version number and run no install scripts", () => {
  const packages = manifests.filter(({ name }) => name.startsWith("@parley/"));
  assert.equal(new Set(packages.map(({ version }) => version)).size, 1);
  for (const { name, scripts } of packages) assert.equal(scripts, undefined, name);
  for (const { dependencies } of packages) {
    for (const [name, version] of Object.entries(dependencies ?? {})) {
      if (name.startsWith("@parley/")) assert.equal(version, acp?.version, name);
    }
  }
});

test("every dependency is pinned to one exact version", () => {
  const loose = manifests.flatMap((manifest) =>
    Object.entries({
      ...manifest.dependencies,
      ...manifest.devDependencies,
      ...manifest.optionalDependencies,
    })
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
      .map(([name, version]) => `${manifest.name}: ${name}@${version}`),
  );
  assert.deepEqual(loose, []);
});
