// Mistakes of people who write a tool of the coding agent, and fakes of what a tool works with (see README.md).

import type {
  AgentFiles,
  BackgroundJobs,
  OutputFolder,
  PreparedCall,
  SeenFiles,
  Tool,
  ToolContext,
} from "@parley/agent";

const done = Promise.resolve();

export const fakeFiles: AgentFiles = {
  read: async () => ({ text: "", version: "1" }),
  write: async () => "2",
  isAbsent: async () => false,
  readBytes: async () => new Uint8Array(),
  stat: async () => ({ kind: "file", size: 0, modifiedMs: 0, links: 1 }),
  locate: async (path) => path,
  list: async () => [],
  remove: () => done,
  move: () => done,
  isUnsaved: async () => false,
};

export const fakeSeen: SeenFiles = {
  note: () => undefined,
  change: () => undefined,
  versionOf: () => undefined,
  isWhole: () => false,
  move: () => undefined,
  forget: () => undefined,
};

export const fakeOutputs: OutputFolder = {
  path: undefined,
  create: (name) => ({ path: `/tmp/${name}`, fd: 3 }),
};

const fakeJobs: BackgroundJobs = {
  running: [],
  start: async (_context, { command }) => ({ id: "1", command }),
  look: async () => ({ content: [] }),
  end: () => done,
};

export const fakeContext: ToolContext = {
  cwd: "/",
  roots: ["/"],
  files: fakeFiles,
  terminals: {
    isClient: false,
    holder: async () => ({ by: "nobody" }),
    takeNotices: () => [],
    takeMoved: () => [],
    create: () => Promise.reject(new Error("there is no terminal")),
  },
  seen: fakeSeen,
  outputs: fakeOutputs,
  jobs: fakeJobs,
  signal: new AbortController().signal,
};

const tool: Tool = {
  name: "count",
  description: "Counts.",
  inputSchema: { type: "object" },
  isReadOnly: true,
  prepare: async () => prepared,
};
const prepared: PreparedCall = {
  presentation: { title: "Count", kind: "read" },
  access: { type: "none" },
  run: async () => ({ content: [{ type: "text", text: "1" }] }),
};

void tool.prepare({}, fakeContext);

// @ts-expect-error a tool works with more than a working directory
void tool.prepare({}, { cwd: "/" });

// @ts-expect-error the kind is misspelt
export const misspelt: PreparedCall = { ...prepared, presentation: { title: "Count", kind: "raed" } };

// @ts-expect-error the result is a list of parts, not a text
export const plainText: PreparedCall = { ...prepared, run: async () => ({ content: "1" }) };
