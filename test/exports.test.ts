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
    "Connection",
    "ConnectionError",
    "RequestError",
    "agent",
    "authRequired",
    "byteTransport",
    "client",
    "errorCodes",
    "fromWebStreams",
    "gitPatch",
    "httpTransport",
    "memoryPair",
    "memoryStore",
    "plainTextProblem",
    "relay",
    "sessionNotFound",
    "textDiff",
    "toWebStreams",
    "webSocketTransport",
  ],
  "@parley/acp/v1": ["agentPeer", "clientPeer"],
  "@parley/acp/v2": ["agentPeer", "clientPeer"],
  "@parley/acp/view": ["applyEntry", "changesSince", "createView", "snapshot", "viewFrom"],
  "@parley/acp/redact": ["Redactor", "StreamRedactor", "isSecretVariable", "secretsIn"],
  "@parley/acp/testing": [
    "ScenarioError",
    "checkAgentScenario",
    "checkClientScenario",
    "comparable",
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
    "argumentText",
    "charsOf",
    "deadline",
    "editionOf",
    "isObject",
    "joinedText",
    "nearestWord",
    "optional",
    "problemsOf",
    "readEnvelopeHead",
    "realClock",
    "sleep",
    "unreadLimits",
    "unsupportedContent",
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
    "ProcessGroup",
    "StoreError",
    "groupMark",
    "isProtectedPath",
    "localFiles",
    "localTerminals",
    "nodePlatform",
    "serveScenario",
    "serveStdio",
    "spawnAgent",
    "spawnTransport",
    "sqliteStore",
    "stdioChannel",
    "stdioTransport",
    "storeErrorKinds",
    "streamChannel",
  ],
  "@parley/agent": [
    "ModelError",
    "ToolError",
    "agentConfigShape",
    "codingAgent",
    "configuredModels",
    "credentialsFile",
    "keyProblem",
    "loginProvider",
    "openAccount",
  ],
  "@parley/client": ["LaunchError", "PromptInputError", "connectAgent", "promptContent"],
  "@parley/client/policy": ["RuleError", "permissionPolicy"],
  "@parley/client/history": ["exportSession", "openHistory"],
  "@parley/client/config": ["ConfigError", "configuredAgents", "configuredMcpServers", "parseConfig"],
  "@parley/client/internal": [
    "agentEntries",
    "agentEnvironment",
    "allSessions",
    "auditFiles",
    "auditLog",
    "beginsWork",
    "canonicalPath",
    "checkConfig",
    "commandEntry",
    "commandSubject",
    "configSchema",
    "configShape",
    "describeRule",
    "directoryIdentity",
    "findProgram",
    "isSameAgent",
    "launchAgent",
    "loginCommandFor",
    "manageAgent",
    "managedRecorder",
    "mcpServer",
    "parsePolicy",
    "parseRule",
    "permissionGate",
    "problemOf",
    "readyAgents",
    "recordingHistory",
    "rememberedRules",
    "ruleText",
    "separateCalls",
    "setConfigValue",
    "verifyAudit",
    "verifyAuditFolder",
  ],
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
