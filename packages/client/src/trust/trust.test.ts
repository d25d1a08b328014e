import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { trustedFolders, workspaceSettings } from "@parley/client/trust";

function place(t: TestContext) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "parley-trust-")));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "project");
  mkdirSync(folder);
  const put = (path: string, content: unknown) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  };
  const folders = trustedFolders(join(base, "state"));
  const check = () => folders.check(workspaceSettings(folder));
  return { base, folder, put, folders, check };
}

const template = ["Bearer $", "{KEY}"].join("");
const server = { command: "npx", args: ["-y", "a b"], env: { A: "1" } };

test("Q9 TH16 a folder's rules and MCP servers are listed in full; allow rules are not among them", (t) => {
  const { folder, put } = place(t);
  put(".parley/policy", "deny write .env\nallow exec **\nask read keys/**\n");
  put(".mcp.json", {
    mcpServers: {
      db: server,
      web: { type: "sse", url: "https://h.example/x", headers: { Authorization: template } },
    },
  });
  const settings = workspaceSettings(folder);
  assert.deepEqual(
    settings.items.map(({ file, what, details }) => [file, what, ...details]),
    [
      [".parley/policy", "deny write .env"],
      [".parley/policy", "ask read keys/**"],
      [".mcp.json", "MCP server db", "npx -y 'a b'", "with A=1"],
      [
        ".mcp.json",
        "MCP server web",
        "https://h.example/x (sse)",
        `with the header Authorization: ${template}`,
        "note: variables of your environment are not inserted",
      ],
    ],
  );
  assert.equal(settings.rules.length, 2);
  assert.match(settings.problems.join("\n"), /policy:2: a workspace can only deny/);
  assert.deepEqual(
    settings.mcpServers.map(({ name, type }) => [name, type]),
    [
      ["db", "stdio"],
      ["web", "sse"],
    ],
  );
});

test("a broken entry of .mcp.json is ignored with its reason, and the others are used", (t) => {
  const { folder, put } = place(t);
  put(".mcp.json", { mcpServers: { db: server, wrong: { args: ["x"] }, none: null } });
  const { items, mcpServers, problems } = workspaceSettings(folder);
  assert.deepEqual(
    [items.map(({ what }) => what), mcpServers.map(({ name }) => name)],
    [["MCP server db"], ["db"]],
  );
  assert.match(
    problems[0] ?? "",
    /\.mcp\.json: the MCP server wrong needs a command or a url.*; it is ignored$/,
  );
  assert.match(problems[1] ?? "", /the MCP server none needs/);
});

test("TH16 trust holds for exactly this content of this folder", (t) => {
  const { base, folder, put, folders, check } = place(t);
  assert.equal(check().state, "nothing");
  put(".parley/policy", "deny write .env\ndeny write b\n");
  put(".mcp.json", { mcpServers: { db: server, old: server } });
  assert.equal(check().state, "new");
  folders.trust(workspaceSettings(folder));
  assert.equal(check().state, "trusted");
  put(".mcp.json", { mcpServers: { db: { ...server, args: ["evil"] }, more: server } });
  put(".parley/policy", "deny write b\n");
  const { state, changed, gone } = check();
  assert.equal(state, "changed");
  assert.deepEqual(
    changed.map(({ what }) => what),
    ["MCP server db", "MCP server more"],
  );
  assert.deepEqual(gone, [
    { file: ".parley/policy", what: "deny write .env" },
    { file: ".mcp.json", what: "MCP server old" },
  ]);
  folders.trust(workspaceSettings(folder));
  // another folder with the same files at the same path
  renameSync(folder, join(base, "moved"));
  mkdirSync(folder);
  put(".parley/policy", "deny write b\n");
  put(".mcp.json", { mcpServers: { db: { ...server, args: ["evil"] }, more: server } });
  assert.deepEqual(check(), { state: "changed", changed: [], gone: [] });
  assert.equal(folders.check(workspaceSettings(join(base, "moved"))).state, "new");
});

test("TH16 a byte that changes no item asks again, too", (t) => {
  const { folder, put, folders, check } = place(t);
  put(".mcp.json", { mcpServers: { db: server } });
  folders.trust(workspaceSettings(folder));
  put(".mcp.json", { mcpServers: { db: { ...server, later: "a field that another version reads" } } });
  assert.equal(check().state, "changed");
});

test("TH16 a decision about one item holds for exactly this item of this folder, until it is revoked", (t) => {
  const { base, folder, put, folders } = place(t);
  put(".mcp.json", { mcpServers: { db: server, web: server } });
  const decisions = () => {
    const settings = workspaceSettings(folder);
    return settings.items.map((item) => folders.decision(settings, item));
  };
  const decide = (at: number, decision: "always" | "never") => {
    const settings = workspaceSettings(folder);
    folders.decide(settings, settings.items[at]!, decision);
  };
  assert.deepEqual(decisions(), [undefined, undefined]);
  decide(0, "always");
  decide(1, "never");
  assert.deepEqual(decisions(), ["always", "never"]);
  assert.equal(folders.check(workspaceSettings(folder)).state, "new", "the folder itself is not trusted");
  assert.deepEqual(folders.list(), []);
  put(".mcp.json", { mcpServers: { web: server, db: { ...server, args: ["other"] } } });
  assert.deepEqual(decisions(), ["never", undefined]);
  put(".mcp.json", { mcpServers: { db: server, web: server } });
  renameSync(folder, join(base, "moved"));
  mkdirSync(folder);
  put(".mcp.json", { mcpServers: { db: server, web: server } });
  assert.deepEqual(decisions(), [undefined, undefined], "another folder at the same path");
  decide(0, "always");
  assert.equal(folders.revoke(folder), true);
  assert.deepEqual(decisions(), [undefined, undefined]);
  assert.equal(folders.revoke(folder), false);
});

test("trusted folders are listed and revoked, also when they are gone", (t) => {
  const { base, folder, put, folders, check } = place(t);
  put(".parley/policy", "deny write b\n");
  folders.trust(workspaceSettings(folder));
  symlinkSync(folder, join(base, "link"));
  assert.equal(folders.check(workspaceSettings(join(base, "link"))).state, "trusted");
  assert.deepEqual(
    folders.list().map(({ folder: each }) => each),
    [folder],
  );
  assert.equal(folders.revoke(join(base, "link")), true);
  assert.equal(check().state, "new");
  assert.equal(folders.revoke(folder), false);
  folders.trust(workspaceSettings(folder));
  rmSync(folder, { recursive: true });
  assert.equal(folders.revoke(folder), true);
  assert.deepEqual(folders.list(), []);
});

test("a damaged file, or one of another version, is no trust", (t) => {
  const { base, folder, put, folders, check } = place(t);
  put(".parley/policy", "deny write b\n");
  folders.trust(workspaceSettings(folder));
  const [name = ""] = readdirSync(join(base, "state"));
  for (const text of ["", "{", '{"parley":"trust","version":2}', '{"parley":"trust","version":1}', "[]"]) {
    writeFileSync(join(base, "state", name), text);
    assert.equal(check().state, "new", text);
    assert.deepEqual(folders.list(), []);
  }
});

test("at most 1,000 folders are remembered, the newest", { timeout: 60_000 }, (t) => {
  const { base, folder, put, folders } = place(t);
  put(".parley/policy", "deny write b\n");
  const settings = workspaceSettings(folder);
  for (let at = 0; at < 1_002; at++) folders.trust({ ...settings, folder: `/gone/${at}` });
  folders.trust(settings);
  assert.ok(readdirSync(join(base, "state")).length <= 1_000);
  assert.equal(folders.check(settings).state, "trusted");
});

test("TH16 links, pipes, folders and huge or broken files are refused, and nothing of them is shown", (t) => {
  const { base, folder, put } = place(t);
  writeFileSync(join(base, "secret"), "TOKEN=hush");
  const problem = () => {
    const { items, problems } = workspaceSettings(folder);
    assert.deepEqual(items, []);
    assert.equal(problems.length, 1, problems.join("\n"));
    assert.doesNotMatch(problems.join("\n"), /hush/);
    for (const each of [".parley", ".mcp.json"]) rmSync(join(folder, each), { recursive: true, force: true });
    return problems[0] ?? "";
  };
  symlinkSync(join(base, "secret"), join(folder, ".mcp.json"));
  assert.match(problem(), /\.mcp\.json is a symbolic link; the MCP servers of this workspace are ignored$/);
  symlinkSync(base, join(folder, ".parley"));
  assert.match(problem(), /\.parley is a symbolic link; the rules of this workspace are ignored$/);
  mkdirSync(join(folder, ".mcp.json"));
  assert.match(problem(), /is not a file/);
  put(".parley/policy", "# hush\n".repeat(50_000));
  assert.match(problem(), /is larger than 256 KiB/);
  put(".mcp.json", "{ TOKEN: hush }");
  assert.match(problem(), /it is not valid JSON/);
  put(".mcp.json", { mcpServers: { a: { url: "https://x", command: "y" } } });
  assert.match(problem(), /the MCP server a needs a command or a url/);
  put(".mcp.json", { mcpServers: Object.fromEntries(Array.from({ length: 65 }, (_, at) => [at, server])) });
  assert.match(problem(), /more than 64 MCP servers/);
});

test("the folder of the list must be absolute", () => {
  assert.throws(() => trustedFolders("state"), /trustedFolders: expected an absolute path, got "state"$/);
});

test("TH16 a changed script that an MCP server names is asked about again", (t) => {
  const { base, folder, put, folders, check } = place(t);
  const named: Readonly<Record<string, { command: string; args?: string[]; env?: Record<string, string> }>> =
    {
      "scripts/db-server": { command: "./scripts/db-server" },
      "src/server.mjs": { command: "node", args: ["--import=tsx", "src/server.mjs", "--verbose"] },
      "lib/hook.cjs": {
        command: "node",
        args: ["-e", "1"],
        env: { NODE_OPTIONS: "--require=./lib/hook.cjs" },
      },
      "tools/index.js": { command: "node", args: ["./tools"] },
      "serve/db/__main__.py": { command: "python3", args: ["-m", "serve.db"] },
      "run.sh": { command: "sh", args: ["-c", "cd . && ./run.sh --x"] },
      "deep/of/full.sh": { command: join(folder, "deep/of/full.sh") },
      "tools/plain.js": { command: "node", args: ["tools/plain"] },
      "index.js": { command: "node", args: ["."] },
    };
  for (const [file, entry] of Object.entries(named)) {
    put(".mcp.json", { mcpServers: { db: entry } });
    put(file, "one");
    const settings = workspaceSettings(folder);
    const [item] = settings.items;
    assert.deepEqual(settings.files, [join(folder, file)]);
    assert.match(item!.details.join("\n"), new RegExp(`uses the file ${file} as it is now \\(sha256 `));
    folders.trust(settings);
    folders.decide(settings, item!, "always");
    assert.equal(check().state, "trusted", file);
    put(file, "two");
    const { state, changed } = check();
    assert.deepEqual([state, changed.map(({ what }) => what)], ["changed", ["MCP server db"]], file);
    const now = workspaceSettings(folder);
    assert.equal(folders.decision(now, now.items[0]!), undefined, file);
    rmSync(join(folder, file));
    assert.equal(check().state, "changed", `${file} is gone`);
    folders.trust(workspaceSettings(folder));
    put(file, "one");
    assert.equal(check().state, "changed", `${file} came after the trust`);
  }
  // a link to a file elsewhere names that file
  writeFileSync(join(base, "elsewhere"), "one");
  rmSync(join(folder, "scripts/db-server"));
  symlinkSync(join(base, "elsewhere"), join(folder, "scripts/db-server"));
  put(".mcp.json", { mcpServers: { db: { command: "scripts/db-server" } } });
  folders.trust(workspaceSettings(folder));
  writeFileSync(join(base, "elsewhere"), "two");
  assert.equal(check().state, "changed");
});

test("TH16 a package that an MCP server starts is trusted with the file that its package.json names", (t) => {
  const { folder, put, folders, check } = place(t);
  put(".mcp.json", { mcpServers: { db: { command: "node", args: ["./db"] } } });
  put("db/package.json", { main: "dist/server" });
  put("db/dist/server.js", "one");
  const settings = workspaceSettings(folder);
  assert.deepEqual(settings.files, [join(folder, "db/package.json"), join(folder, "db/dist/server.js")]);
  folders.trust(settings);
  put("db/dist/server.js", "two");
  assert.equal(check().state, "changed");
});

test("TH16 an MCP server that is a script of package.json is asked about again when the scripts change", (t) => {
  const { folder, put, folders, check } = place(t);
  const scripts = { mcp: "node server.js" };
  for (const entry of [
    { command: "npm", args: ["run", "-s", "mcp"] },
    { command: "sh", args: ["-c", "cd . && pnpm mcp"] },
  ]) {
    put(".mcp.json", { mcpServers: { db: entry } });
    put("package.json", { scripts });
    const settings = workspaceSettings(folder);
    assert.match(settings.items[0]!.details.join("\n"), /uses the scripts of package\.json as they are now/);
    folders.trust(settings);
    put("package.json", { scripts, dependencies: { a: "1.0.0" } });
    assert.equal(check().state, "trusted");
    // it stays writable
    assert.deepEqual(settings.files, []);
    put("package.json", { scripts: { mcp: "node other.js" } });
    assert.equal(check().state, "changed");
  }
});

test("writes to a link that an MCP server names are asked about, as those to the file behind it", (t) => {
  const { folder, put } = place(t);
  put("real/db", "one");
  symlinkSync("real/db", join(folder, "db"));
  put("index.js", "one");
  put(".mcp.json", { mcpServers: { db: { command: "./db", args: ["--folder", "."] } } });
  assert.deepEqual(workspaceSettings(folder).files, [join(folder, "real/db"), join(folder, "db")]);
});

test("writes to a script that an MCP server names are asked about", (t) => {
  const { folder, put } = place(t);
  put("scripts/db server", "one");
  put(".mcp.json", { mcpServers: { db: { command: "./scripts/db server" } } });
  assert.deepEqual(workspaceSettings(folder).rules, [`ask write ${join(folder, "scripts/db server")}`]);
});
