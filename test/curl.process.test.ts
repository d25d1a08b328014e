// The curl commands of docs/serve.md, typed against a real `parley serve`, over HTTP/1.1 and HTTP/2: what they print is what
// the page shows of it.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { launcher } from "../packages/acp/test/support/programs.ts";
import { read } from "./source-files.ts";

interface Typed {
  readonly command: string;
  /** What the page shows of its output. */
  readonly shown: readonly string[];
}

/** Each command with its output. A command ends where its quotes do. */
function typedIn(page: string): Typed[] {
  const [, section = ""] = /^## With curl\n([\s\S]*?)^## /m.exec(page) ?? [];
  const lines = [...section.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
    block.trimEnd().split("\n"),
  );
  const typed: { command: string; shown: string[] }[] = [];
  for (const line of lines) {
    const last = typed.at(-1);
    if (line.startsWith("$ ")) typed.push({ command: line.slice(2), shown: [] });
    else if (last !== undefined && last.shown.length === 0 && isOpen(last.command))
      last.command += `\n${line}`;
    else if (line !== "") last?.shown.push(line);
  }
  return typed;
}

function isOpen(command: string): boolean {
  return command.endsWith("\\") || command.replaceAll(/"[^"']*"/g, "").split("'").length % 2 === 0;
}

/** Ids and secrets differ each time. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{32}\b/g, "[0-9a-f]{32}"],
  [/\b[0-9a-f]{8}-(\d+)/g, "[0-9a-f]{8}-$1"],
  [/(?<="sessionId":")\w+/g, "\\w+"],
  [/\.{3}$/g, ".*"],
  [/[\w-]+\.{3}/g, "[\\w-]+"],
];

function pattern(line: string, isHttp2: boolean): RegExp | undefined {
  // a connection of HTTP/2 has no such header
  if (isHttp2 && line.startsWith("connection:")) return undefined;
  const version = isHttp2 ? line.replace(/^HTTP\/1\.1 (\d+).*/, "HTTP/2 $1") : line;
  const parts = changing.reduce(
    (text, [from, to]) => text.replace(from, (...found) => `\0${to.replace("$1", String(found[1]))}\0`),
    version,
  );
  const source = parts
    .split("\0")
    .map((part, at) => (at % 2 === 0 ? part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&") : part))
    .join("");
  return new RegExp(`^${source}`, "m");
}

const version = (() => {
  try {
    return execFileSync("curl", ["--version"], { encoding: "utf8" });
  } catch {
    return "";
  }
})();

for (const isHttp2 of [false, true]) {
  const skip = (isHttp2 ? /\bHTTP2\b/ : /^curl /).test(version) ? false : "needs curl with HTTP/2";
  test(`curl prints what docs/serve.md shows, over HTTP/${isHttp2 ? "2" : "1.1"}`, {
    skip,
    timeout: 120_000,
  }, async (t) => {
    const home = mkdtempSync(join(tmpdir(), "parley-curl-"));
    t.after(() => rmSync(home, { recursive: true, force: true }));
    const project = join(home, "project");
    mkdirSync(project);
    writeFileSync(join(project, "notes.txt"), "buy milk\n");
    const env = { PATH: process.env["PATH"], HOME: home, PARLEY_HOME: join(home, "parley") };
    const server = spawn(launcher, ["serve", "--token-file", join(home, "token"), "--json"], {
      env,
      cwd: project,
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(async () => {
      server.kill();
      await once(server, "exit");
    });
    let port = "";
    for await (const line of createInterface(server.stdout)) {
      port = /"url":"http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? "";
      if (port !== "") break;
    }
    const typed = typedIn(read("docs/serve.md"));
    assert.ok(typed.length > 12, `only ${typed.length} commands were found`);
    const ids = new Map<string, string>();
    let variables = "";
    for (const { command, shown } of typed) {
      let line = command
        .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
        .replaceAll("/home/me/project", project);
      for (const [old, found] of ids) line = line.replaceAll(old, found);
      if (!line.startsWith("curl")) {
        variables += `${line}\n`;
        continue;
      }
      if (isHttp2 && !line.includes("--http2")) line = line.replace("curl", "curl --http2-prior-knowledge");
      const wanted = shown.map((each) => pattern(each, isHttp2)).filter((each) => each !== undefined);
      const output = await printed(
        `${variables}${line.replace("curl", "exec curl -s")}`,
        { env, cwd: home },
        wanted,
      );
      for (const each of wanted) assert.match(output, each, line);
      note(ids, shown.join("\n"), output);
    }
  });
}

/** Runs it until all is printed that is wanted, since a stream does not end. */
async function printed(
  script: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  wanted: readonly RegExp[],
): Promise<string> {
  const curl = spawn("/bin/sh", ["-c", script], { ...options, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  curl.stdout.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).replaceAll("\r", "");
    if (wanted.every((each) => each.test(output))) curl.kill();
  });
  await once(curl, "close");
  return output;
}

/** The ids of this run take the place of those of the page. */
function note(ids: Map<string, string>, shown: string, output: string): void {
  for (const id of [/acp-connection-id: (\w+)/, /"sessionId":"(\w+)"/]) {
    const [old, found] = [id.exec(shown)?.[1], id.exec(output)?.[1]];
    if (old !== undefined && found !== undefined) ids.set(old, found);
  }
}
