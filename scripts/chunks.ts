// How the bundles are divided into files: what is shared by many is in few files, and nobody loads what they do not use.

import type { OutputChunk } from "rolldown";

/** Each file that an agent loads takes most of a millisecond: what all of them share is in few. */
const peerBase = "peer/base/(bound-wire|definition-rules|wire-peer)";
export const sharedCode = [
  {
    name: "core",
    test: new RegExp(
      `/src/(base|jsonrpc|transport|validation|model/text-encodings|wire/[^/]+\\.ts|${peerBase})`,
    ),
    minShareCount: 2,
  },
  // what it needs comes with it, unless it is in the file before: browsers must not load this one
  { name: "node", test: /\/src\/node\//, minShareCount: 2 },
];

/** The same for the command, which contains our packages. */
export const sharedByCommands = [
  // what needs no package of ours, so that nobody pays for what they do not use
  {
    name: "leaf",
    test: /\/cli\/src\/(?:command\/(?:command|option-values)|draw\/text-lines|settings\/(?:data-folder|installation|[a-z]+-choice)|terminal\/(?:columns|sanitise|paint|wrap-line|word-wrap)|printers\/output)\.ts/,
    minShareCount: 2,
  },
  {
    name: "core",
    test: /\/dialects\/src\/\w+\.ts|\/acp\/src\/(?:base|jsonrpc|transport|validation|model|log|peer\/(?:base|dialect|mcp)|(?:wire|edition)\/[^/]+\.ts)/,
    minShareCount: 2,
  },
  { name: "node", test: /\/acp\/src\/node\//, minShareCount: 2 },
  // what a conversation needs before its first paint
  {
    name: "view",
    test: /\/acp\/src\/view\/|\/client\/src\/(?:conversation\/|history\/(?:cost-text|separate-calls)|host\/(?:command-keys|git-branch|host-|resent|session-(?:host|turns)|waiting))|\/cli\/src\/(?:printers\/model-wait|live\/(?:agent-facts|history-opener|live-(?:error|options))|settings\/(?:token-source|remote-address))/,
    minShareCount: 2,
  },
  { name: "v1", test: /\/acp\/src\/(?:wire|edition)\/v1\//, minShareCount: 2 },
  {
    name: "settings",
    test: /\/cli\/src\/(?:settings\/config-file|agent\/agent-settings)|\/agent\/src\/(?:auth|config|model\/model|offline\/offline-model|permissions\/modes|providers\/provider-config)/,
    minShareCount: 2,
  },
  { name: "secrets", test: /\/acp\/src\/redact\/|\/cli\/src\/settings\//, minShareCount: 2 },
  {
    name: "client",
    test: /\/acp\/src\/peer\/client\/|\/client\/src\/(?:agents|host|launch|managed)\/|\/cli\/src\/(?:permissions\/policy-rules|printers|live|run|sessions\/stored-sessions)/,
    minShareCount: 2,
  },
];

/** Whoever imports one version of the wire must not pay for the other, nor for what stands on it. */
const separateParts = [
  ["acp/src/v1.gen.ts", "/wire/v2/"],
  ["acp/src/v2.gen.ts", "/wire/v1/"],
  // an agent on the raw wire starts without agent() and client()
  ["acp/src/v1.gen.ts", "/peer/agent/agent.ts"],
  ["acp/src/node.ts", "/peer/agent/agent.ts"],
  ["acp/src/node.ts", "/peer/client/client.ts"],
  // `parley agent` answers initialize without sessions, tools, models, the database and the client kit
  ...["agent/src/session/session-state.ts", "agent/src/mcp/", "agent/src/tools/", "agent/src/loop/"].map(
    (part) => ["cli/src/agent/agent-serve.ts", part] as const,
  ),
  ["cli/src/agent/agent-serve.ts", "agent/src/providers/provider-model.ts"],
  ["cli/src/agent/agent-serve.ts", "node/store/open-store.ts"],
  ["cli/src/agent/agent-serve.ts", "client/src/gate/"],
  ["cli/src/agent/agent-serve.ts", "peer/client/client.ts"],
  // a dialect is for those who speak it
  ...["dialects/src/index.ts", "cli/src/agent/agent-serve.ts"].flatMap((entry) =>
    ["dialects/src/pharo/machines", "dialects/src/scoped/machines", "dialects/src/wire/"].map(
      (part) => [entry, part] as const,
    ),
  ),
  // the help needs none of our packages
  ["cli/src/command-line.ts", "/acp/src/"],
  ["cli/src/command-line.ts", "/client/src/"],
  // `parley run` starts its agent before it loads what draws, and prints to a program without it
  ...["@earendil-works/pi-tui", "/marked/", "/lowlight/", "/highlight.js/", "@xterm/headless"].map(
    (part) => ["cli/src/run/run.ts", part] as const,
  ),
  // the prompt of `parley chat` is painted before what draws, asks, reviews and talks to the agent is loaded
  ...["@earendil-works/pi-tui", "/client/src/gate/", "/client/src/managed/", "/review/src/"].map(
    (part) => ["cli/src/chat/chat.ts", part] as const,
  ),
  ...[
    "/chat/transcript/",
    "/chat/sheets/",
    "/marked/",
    "/lowlight/",
    "/highlight.js/",
    "@xterm/headless",
  ].map((part) => ["cli/src/chat/inline/open-inline.ts", part] as const),
  // a tap starts before the agent that it records
  ["cli/src/tap/tap.ts", "/acp/src/jsonrpc/"],
  ["cli/src/tap/tap.ts", "/client/src/"],
  ["cli/src/tap/process-parts.ts", "/peer/client/"],
  ["cli/src/config/config.ts", "/peer/client/"],
] as const;

/** In a browser, what names a part of Node fails when it is loaded, now or later. */
const browserParts = "index extensions transport jsonrpc store relay server v1.gen v2.gen view redact testing"
  .split(" ")
  .map((name) => `acp/src/${name}.ts`)
  .concat("dialects/src/index.ts")
  .flatMap((entry) => ["/acp/src/node/", "\0node:"].map((part) => [entry, part] as const));

/** What is loaded when it is needed, and never with a file of ours: it takes as long as the rest together. */
const loadedLate = ["undici"];

/** Files of a package beside ours that may be loaded at once. Its index loads all of it, which takes twice as long. */
const smallParts = /^@earendil-works\/pi-tui\/dist\//;

/** Throws if one of them is not separate. `folder` is that of the package below packages/. */
export function requireSeparateChunks(folder: string, chunks: readonly OutputChunk[]): void {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  for (const { fileName, imports } of chunks) {
    const early = imports.find((name) => loadedLate.includes(name));
    if (early !== undefined)
      throw new Error(`${fileName} loads ${early} at once: import it where it is used`);
  }
  const parts = [
    ...separateParts.map((part) => ({ part, evenLater: false })),
    ...browserParts.map((part) => ({ part, evenLater: true })),
  ];
  for (const {
    part: [entry, foreign],
    evenLater,
  } of parts) {
    if (!entry.startsWith(`${folder}/`)) continue;
    const first = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`packages/${entry}`));
    if (first === undefined) throw new Error(`${entry} has no file of its own`);
    const loaded = new Set([first]);
    for (const chunk of loaded) {
      const intruder = chunk.moduleIds.find((id) => id.includes(foreign));
      if (intruder !== undefined) {
        throw new Error(
          `${entry} loads ${intruder.replace(/^.*\/packages\//, "packages/")} (in ${chunk.fileName}): it must stay in a chunk of its own`,
        );
      }
      for (const name of [...chunk.imports, ...(evenLater ? chunk.dynamicImports : [])]) {
        const imported = byName.get(name);
        if (imported !== undefined) loaded.add(imported);
        // node: modules are not imported by name, see builtinsWithoutFacade
        else if (folder === "cli" && !smallParts.test(name)) throw new Error(`${entry} loads ${name}`);
      }
    }
  }
}
