// Twelve small tasks in a repository, as models do them: the calls of each answer, and what must be so afterwards.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A call as the model writes it, or as it follows from what it has read. */
export type Call = readonly [name: string, input: Readonly<Record<string, unknown>>];
type Step = readonly Call[] | ((seen: Seen) => readonly Call[]);

export interface Seen {
  /** What the model was sent, as JSON. */
  readonly conversation: string;
  /** The address of a web page. */
  readonly page: string;
}

export interface RepositoryTask {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** One list of calls per answer of the model; then it says "done". */
  readonly steps: readonly Step[];
  /** The mode that the task begins in. Default "code". */
  readonly mode?: "architect";
  /** How many questions the user is asked with commands in the sandbox, and without one. */
  readonly questions: { readonly sandboxed: number; readonly open: number };
  /** Throws when the work is not done. `last` is what the model was told last. */
  check(folder: RepositoryFolder, last: string): void;
}

export interface RepositoryFolder {
  text(path: string): string;
  has(path: string): boolean;
}

export function repositoryFolder(path: string): RepositoryFolder {
  return {
    text: (name) => readFileSync(join(path, name), "utf8"),
    has: (name) => existsSync(join(path, name)),
  };
}

export function callsOf(step: Step, seen: Seen): readonly Call[] {
  return typeof step === "function" ? step(seen) : step;
}

const sum = `export function sum(list) {
  let total = 0;
  for (const value of list) {
    if (value > 0) {
      total -= value;
    }
  }
  return total;
}
`;

const python = `class Basket:
    def __init__(self):
        self.items = []

    def add(self, item, count=1):
        for _ in range(count):
            self.items.append(item)

    def total(self):
        result = 0
        for item in self.items:
            result = item.price
        return result
`;

const tabs = "func area(w, h int) int {\n\tif w < 0 {\n\t\treturn 0\n\t}\n\treturn w + h\n}\n";

const run = (command: string): Call => ["bash", { command }];
const read = (path: string): Call => ["read", { path }];
const edit = (path: string, ...edits: readonly (readonly [oldText: string, newText: string])[]): Call => [
  "edit",
  { path, edits: edits.map(([oldText, newText]) => ({ oldText, newText })) },
];

export const repositoryTasks: readonly RepositoryTask[] = [
  {
    name: "fixes a bug and runs the test",
    files: {
      "src/sum.mjs": sum,
      "test.sh": "grep -q 'total += value' src/sum.mjs && echo ok || { echo wrong; exit 1; }\n",
    },
    steps: [
      [run("sh test.sh")],
      [read("src/sum.mjs")],
      [
        edit("src/sum.mjs", [
          "    if (value > 0) {\n      total -= value;\n    }",
          "    if (value > 0) {\n      total += value;\n    }",
        ]),
      ],
      [run("sh test.sh")],
    ],
    questions: { sandboxed: 0, open: 2 },
    check(folder, last) {
      assert.equal(folder.text("src/sum.mjs"), sum.replace("-=", "+="));
      assert.match(last, /ok\\n.*exit code 0/);
    },
  },
  {
    name: "renames a function in every file",
    files: {
      "src/a.mjs": "export function oldName() {\n  return 1;\n}\n",
      "src/b.mjs": 'import { oldName } from "./a.mjs";\n\nconsole.log(oldName(), oldName());\n',
      "docs/notes.md": "Nothing to see.\n",
    },
    steps: [
      [["grep", { pattern: "oldName", path: "src", glob: "*.mjs" }]],
      [read("src/a.mjs"), read("src/b.mjs")],
      [
        edit("src/a.mjs", ["function oldName()", "function newName()"]),
        [
          "edit",
          { path: "src/b.mjs", edits: [{ oldText: "oldName", newText: "newName", replaceAll: true }] },
        ],
      ],
      [["grep", { pattern: "oldName", literal: true }]],
    ],
    questions: { sandboxed: 0, open: 0 },
    check(folder, last) {
      assert.equal(folder.text("src/b.mjs").split("newName").length, 4);
      assert.match(folder.text("src/a.mjs"), /function newName\(\)/);
      assert.match(last, /[Nn]o match|[Nn]othing/);
    },
  },
  {
    name: "adds a file and what uses it, with a plan",
    files: { "src/main.mjs": 'console.log("start");\n' },
    steps: [
      [
        [
          "todo",
          {
            entries: [
              { content: "write greet.mjs", status: "in_progress" },
              { content: "use it", status: "pending" },
            ],
          },
        ],
        read("src/main.mjs"),
      ],
      [["write", { path: "src/greet.mjs", content: 'export const greet = (name) => "Hello, " + name;\n' }]],
      [
        edit("src/main.mjs", [
          'console.log("start");',
          'import { greet } from "./greet.mjs";\n\nconsole.log(greet("you"));',
        ]),
      ],
      [
        [
          "todo",
          {
            entries: [
              { content: "write greet.mjs", status: "completed" },
              { content: "use it", status: "completed" },
            ],
          },
        ],
      ],
    ],
    questions: { sandboxed: 0, open: 0 },
    check(folder) {
      assert.equal(folder.text("src/greet.mjs"), 'export const greet = (name) => "Hello, " + name;\n');
      assert.match(folder.text("src/main.mjs"), /greet\("you"\)/);
    },
  },
  {
    name: "finds a file that nobody uses, and deletes it",
    files: {
      "src/used.mjs": "export {};\n",
      "src/old/dead.mjs": "export {};\n",
      "src/main.mjs": 'import "./used.mjs";\n',
    },
    steps: [
      [["find", { pattern: "*.mjs", path: "src" }]],
      [["grep", { pattern: "dead\\.mjs" }]],
      [["delete", { path: "src/old/dead.mjs" }]],
      [["list", { path: "src", depth: 2 }]],
    ],
    questions: { sandboxed: 0, open: 0 },
    check(folder) {
      assert.ok(!folder.has("src/old/dead.mjs"));
      assert.ok(folder.has("src/used.mjs"));
    },
  },
  {
    name: "moves a file and mends the import",
    files: {
      "tool.mjs": "export const tool = 1;\n",
      "main.mjs": 'import { tool } from "./tool.mjs";\n\ntool;\n',
    },
    steps: [
      [read("main.mjs")],
      [
        ["move", { from: "tool.mjs", to: "lib/tool.mjs" }],
        edit("main.mjs", ["./tool.mjs", "./lib/tool.mjs"]),
      ],
    ],
    questions: { sandboxed: 0, open: 0 },
    check(folder) {
      assert.ok(folder.has("lib/tool.mjs") && !folder.has("tool.mjs"));
      assert.match(folder.text("main.mjs"), /"\.\/lib\/tool\.mjs"/);
    },
  },
  {
    name: "mends a method of a class in Python",
    files: { "basket.py": python },
    steps: [
      [["read", { path: "basket.py", offset: 9, limit: 5 }]],
      [
        edit("basket.py", [
          "    def total(self):\n        result = 0\n        for item in self.items:\n            result = item.price\n        return result",
          "    def total(self):\n        result = 0\n        for item in self.items:\n            result += item.price\n        return result",
        ]),
      ],
      [run("grep -n 'result += item.price' basket.py")],
    ],
    questions: { sandboxed: 0, open: 1 },
    check(folder) {
      assert.equal(folder.text("basket.py"), python.replace("result = item", "result += item"));
    },
  },
  {
    name: "mends a function that is indented with tabs",
    files: { "area.go": tabs },
    steps: [
      [read("area.go")],
      [
        edit("area.go", [
          "\tif w < 0 {\n\t\treturn 0\n\t}\n\treturn w + h",
          "\tif w < 0 || h < 0 {\n\t\treturn 0\n\t}\n\treturn w * h",
        ]),
      ],
    ],
    questions: { sandboxed: 0, open: 0 },
    check(folder) {
      assert.equal(folder.text("area.go"), tabs.replace("w < 0", "w < 0 || h < 0").replace("w + h", "w * h"));
    },
  },
  {
    name: "starts a job, looks at it and ends it",
    files: { "log.txt": "ready\n" },
    steps: [
      [["bash", { command: "exec tail -f log.txt", background: true }]],
      [["job", { id: "job-1" }]],
      [["job", { id: "job-1", stop: true }]],
    ],
    questions: { sandboxed: 0, open: 1 },
    check(_folder, last) {
      assert.match(last, /job-1/);
    },
  },
  {
    name: "reads on in an output that is too long",
    files: {},
    steps: [
      [run("seq 1 30000")],
      ({ conversation }) => {
        const [path = ""] = /\/[^\s"\\]*parley-output-[\w/.-]*[\w]/.exec(conversation) ?? [];
        return [["read", { path, offset: 15_000, limit: 2 }]];
      },
    ],
    questions: { sandboxed: 0, open: 1 },
    check(_folder, last) {
      assert.match(last, /15000\\n15001|15000.*15001/);
    },
  },
  {
    name: "looks something up on a web page, after a question about the host",
    files: { "config.ini": "limit = 5\n" },
    steps: [
      ({ page }) => [["fetch", { url: page }]],
      [read("config.ini")],
      [edit("config.ini", ["limit = 5", "limit = 7"])],
    ],
    questions: { sandboxed: 1, open: 1 },
    check(folder, last) {
      assert.match(last, /The limit is 7/);
      assert.equal(folder.text("config.ini"), "limit = 7\n");
    },
  },
  {
    name: "asks the user which file is meant",
    files: { "a.txt": "a\n", "b.txt": "b\n" },
    steps: [
      [["ask", { question: "Which file?", options: ["a.txt", "b.txt"] }]],
      ({ conversation }) => [
        ["delete", { path: /the user answered: ([ab]\.txt)/.exec(conversation)?.[1] ?? "none" }],
      ],
    ],
    questions: { sandboxed: 1, open: 1 },
    check(folder) {
      assert.ok(folder.has("b.txt") && !folder.has("a.txt"));
    },
  },
  {
    name: "plans first, and carries the plan out when the user agrees",
    files: { "version.txt": "1.0.0\n" },
    mode: "architect",
    steps: [
      [read("version.txt")],
      [["switch_mode", { plan: "Write 1.1.0 into version.txt." }]],
      [edit("version.txt", ["1.0.0", "1.1.0"])],
    ],
    // the plan, and the edit where the user chose to be asked
    questions: { sandboxed: 2, open: 2 },
    check(folder) {
      assert.equal(folder.text("version.txt"), "1.1.0\n");
    },
  },
];
