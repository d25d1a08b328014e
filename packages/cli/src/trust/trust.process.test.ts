// What a workspace brings along, through `parley run`, `parley trust` and `parley doctor`.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { patience, RunProbe } from "../../test/support/run-probe.ts";

const probe = new RunProbe();
const at = (path: string) => join(probe.cwd, path);
const started = join(probe.folder, "started");
const atTerminal = { ...patience, skip: process.platform !== "linux" || !existsSync("/usr/bin/script") };

/** An MCP server that leaves a file when it is started, and a rule. */
function bring(server = started): void {
  mkdirSync(at(".parley"), { recursive: true });
  writeFileSync(at(".parley/policy"), "deny read secret.txt\nallow write **\n");
  const args = ["-e", `require("fs").writeFileSync(${JSON.stringify(server)}, "")`, "\u001b[2Jhidden"];
  writeFileSync(
    at(".mcp.json"),
    JSON.stringify({ mcpServers: { evil: { command: process.execPath, args } } }),
  );
  writeFileSync(at("secret.txt"), "zebra");
  rmSync(started, { force: true });
}

const read = ["run", "--no-history", "read secret.txt"];

test("TH16 nothing of an untrusted folder takes effect, and one notice says so", patience, async () => {
  bring();
  const { status, stdout, stderr } = await probe.parley(read);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /zebra/);
  assert.equal(existsSync(started), false);
  const notice =
    /1 rule of \.parley\/policy and 1 MCP server of \.mcp\.json ignored: you have not trusted this folder; to see them, run \S*parley trust/;
  assert.match(stderr.replaceAll(/\s+/g, " "), notice);
  assert.equal(stderr.match(/ignored/g)?.length, 1, stderr);
  // the agent knows that the client asks about the folder
  assert.doesNotMatch(stderr.replaceAll(/\s+/g, " "), /is not started/);
  const doctor = await probe.parley(["doctor", "--agent", "parley"]);
  assert.match(
    doctor.stdout,
    /warning {2}folder settings: 1 rule .* ignored: you have not trusted this folder/,
  );
});

test(
  "TH16 a trusted folder's denials and MCP servers are in force, its permissions never",
  patience,
  async () => {
    bring();
    const refused = await probe.parley(["trust"]);
    assert.equal(refused.status, 2);
    assert.match(refused.stdout, /MCP server evil\n {8}\S+ -e '.*' '\\u001b\[2Jhidden'/);
    const { status, stdout } = await probe.parley(["trust", "--yes", "--json"]);
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).data.trusted, true);
    const ran = await probe.parley(read);
    assert.equal(ran.status, 3, ran.stderr);
    assert.doesNotMatch(ran.stdout, /zebra/);
    assert.ok(existsSync(started));
    assert.match(
      ran.stderr.replaceAll(/\s+/g, " "),
      /policy:2: a workspace can only deny and ask; its allow rules are ignored/,
    );
    const write = await probe.run({ editions: ["v1"], otherwise: [{ write: at("new.txt"), content: "x" }] });
    assert.equal(write.status, 3, write.stderr);
    assert.equal(existsSync(at("new.txt")), false);
  },
);

test(
  "TH16 settings that changed are ignored until they are trusted again; trust is listed and revoked",
  patience,
  async () => {
    bring();
    await probe.parley(["trust", "--yes"]);
    const other = join(probe.folder, "other");
    bring(other);
    const { stderr } = await probe.parley(read);
    assert.match(stderr.replaceAll(/\s+/g, " "), /ignored: they have changed since you trusted this folder/);
    assert.equal(existsSync(other), false);
    const shown = (await probe.parley(["trust"])).stdout;
    assert.match(shown, /The settings of .* have changed since you trusted it:/);
    assert.match(shown, /^ {2}\+ MCP server evil$/m);
    assert.match(shown, /^ {4}deny .*read secret\.txt$/m);
    assert.equal((await probe.parley(["trust", "--list"])).stdout.split("  (since")[0], probe.cwd);
    assert.equal((await probe.parley(["trust", "--revoke", "."])).status, 0);
    assert.equal((await probe.parley(["trust", "--list"])).stdout, "No trusted folders.\n");
    const again = await probe.parley(["trust", "--revoke", "."]);
    assert.deepEqual([again.status, again.stderr.includes("is not trusted")], [1, true]);
  },
);

for (const [answer, isTrusted] of [
  ["n", false],
  ["", false],
  ["ys\nno", false],
  ["ys\ny", true],
] as const) {
  test(
    `TH16 at a terminal the settings are shown and asked about once, and again after a typo: ${answer.replace("\n", ", ") || "Enter"}`,
    atTerminal,
    async () => {
      bring();
      await probe.parley(["trust", "--revoke", "."]);
      let isAsked = false;
      let left = answer.split("\n");
      const run = () =>
        probe.atTerminal(200, read, {
          input: false,
          onOutput(shown, child) {
            const asked = shown.split("Trust this folder?").length - 1;
            const given = answer.split("\n").length - left.length;
            if (asked <= given || left.length === 0) return;
            isAsked = true;
            child.stdin?.write(`${left[0]}\n`);
            left = left.slice(1);
          },
        });
      const { stdout } = await run();
      assert.ok(isAsked);
      assert.match(stdout, /MCP server evil\r\n {8}\S+ -e .*\\u001b\[2Jhidden/);
      assert.equal(existsSync(started), isTrusted);
      assert.equal(stdout.includes("zebra"), !isTrusted);
      isAsked = false;
      if (isTrusted) await run();
      assert.equal(isAsked, false);
    },
  );
}

test(
  "TH14 an MCP server of a trusted folder may not be at a private address that the user did not name",
  patience,
  async () => {
    rmSync(at(".parley"), { recursive: true, force: true });
    const url = "http://2130706433:1/mcp";
    writeFileSync(at(".mcp.json"), JSON.stringify({ mcpServers: { inside: { url } } }));
    await probe.parley(["trust", "--yes"]);
    const { stderr } = await probe.run({ otherwise: [{ say: "done" }] });
    assert.match(
      stderr.replaceAll(/\s+/g, " "),
      /MCP server inside in \.mcp\.json is ignored: 127\.0\.0\.1:1 is an address of this machine .* agent\.privateHosts/,
    );
    rmSync(at(".mcp.json"));
  },
);

test("TH16 Ctrl-C ends a run that asks about trust", atTerminal, async () => {
  bring();
  await probe.parley(["trust", "--revoke", "."]);
  let isTyped = false;
  const { status } = await probe.atTerminal(200, read, {
    input: false,
    onOutput(shown, child) {
      if (isTyped || !shown.includes("Trust this folder?")) return;
      isTyped = true;
      child.stdin?.write("\u0003");
    },
  });
  assert.equal(status, 130);
  assert.equal(existsSync(started), false);
});
