import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../../../test/support/agent-probe.ts";
import { fileAppears } from "../../../test/support/polling.ts";
import { probe } from "../../../test/support/tool-probe.ts";
import { openWorkspace } from "../workspace.ts";
import { localCommands } from "./agent-terminals.ts";
import { LoginPath } from "./login-path.ts";

/** A login shell that runs these lines before its command, which is its fourth argument. */
function shell(t: TestContext, lines: string): { readonly shell: string; readonly folder: string } {
  const folder = temporaryFolder(t, { shell: `#!/bin/sh\n${lines}\neval "$4"\n` });
  chmodSync(join(folder, "shell"), 0o755);
  return { shell: join(folder, "shell"), folder };
}

/** Machines may be busy. */
const patient = { without: [], waitMs: 30_000, shellMs: 30_000 };

test("a command gets PATH of the login shell, whatever its start files print", async (t) => {
  const noise = 'echo "welcome parley- PATH=/wrong"; yes noise | head -c 300000; echo oops >&2';
  const given = shell(t, `PATH="/opt/tools:$PATH:relative"; export PATH; ${noise}`);
  const login = new LoginPath({ ...given, ...patient, env: { PATH: "/usr/bin:/bin" } });
  assert.equal(await login.get(), "/opt/tools:/usr/bin:/bin");
});

test("what only this process has stays first", async (t) => {
  const given = shell(t, "PATH=/opt/tools:/usr/bin:/bin; export PATH");
  const login = new LoginPath({ ...given, ...patient, env: { PATH: "/venv/bin:/usr/bin" } });
  assert.equal(await login.get(), "/venv/bin:/opt/tools:/usr/bin:/bin");
});

test("the login shell runs once, without the keys of providers", async (t) => {
  const given = shell(t, 'echo "$ANTHROPIC_API_KEY-$HOME" >> "$(dirname "$0")/ran"');
  const env = { PATH: "/usr/bin:/bin", ANTHROPIC_API_KEY: "sk-secret", HOME: "/home/me" };
  const login = new LoginPath({ ...given, ...patient, without: ["ANTHROPIC_API_KEY"], env });
  login.prefetch();
  assert.deepEqual(await Promise.all([login.get(), login.get()]), ["/usr/bin:/bin", "/usr/bin:/bin"]);
  assert.equal(readFileSync(join(given.folder, "ran"), "utf8"), "-/home/me\n");
});

test("TH16 the login shell does not start in the folder of a project", async (t) => {
  const given = shell(t, 'pwd -P > "$(dirname "$0")/where"');
  const login = new LoginPath({ ...given, ...patient, env: { PATH: "/usr/bin:/bin" } });
  await login.get();
  assert.equal(readFileSync(join(given.folder, "where"), "utf8"), `${realpathSync(homedir())}\n`);
});

test("a shell that fails, is missing or says nothing useful leaves PATH as it is", async (t) => {
  const of = (lines: string) =>
    new LoginPath({ ...shell(t, lines), ...patient, env: { PATH: "/usr/bin:/bin" } });
  assert.equal(await of("exit 1").get(), undefined);
  assert.equal(await of("PATH=; export PATH").get(), undefined);
  assert.equal(await of("PATH='/a\n/b'; export PATH").get(), undefined);
  for (const missing of ["/no/such/shell", "sh"])
    assert.equal(await new LoginPath({ shell: missing, ...patient }).get(), undefined);
});

test("a shell that hangs does not hold up a command, and is ended", async (t) => {
  const given = shell(t, 'echo $$ > "$(dirname "$0")/pid"; sleep 600');
  const env = { PATH: "/usr/bin:/bin" };
  const slow = new LoginPath({ ...given, without: [], env, waitMs: 1, shellMs: 2_000 });
  assert.equal(await slow.get(), undefined);
  const ended = new LoginPath({ ...given, without: [], env, waitMs: 60_000, shellMs: 2_000 });
  assert.equal(await ended.get(), undefined);
  const pid = Number(readFileSync(join(given.folder, "pid"), "utf8"));
  assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

test("bash reads the user's own files", { skip: !existsSync("/bin/bash") }, async (t) => {
  const home = temporaryFolder(t, {
    ".bash_profile": "export PATH=/opt/mine:$PATH\n. ~/.bashrc\n",
    ".bashrc": "",
  });
  writeFileSync(join(home, ".bashrc"), "[[ $- == *i* ]] && PATH=$PATH:/opt/interactive\necho hello\n");
  const env = { PATH: "/usr/bin:/bin", HOME: home };
  const path = await new LoginPath({ shell: "/bin/bash", ...patient, env }).get();
  const folders = path?.split(":") ?? [];
  assert.ok(folders.includes("/opt/mine") && folders.includes("/opt/interactive"), path);
});

test("commands find programs that are only on PATH of the login shell", async (t) => {
  const { put, at, cwd } = await probe(t);
  chmodSync(put("tools/my-tool", "#!/bin/sh\necho found it\n"), 0o755);
  const commands = localCommands([cwd], "off", async () => `${process.env["PATH"]}:${at("tools")}`);
  t.after(() => commands.close());
  const terminal = await commands.create({ command: "/bin/sh", args: ["-c", "my-tool"], cwd });
  await terminal.waitForExit();
  assert.equal((await terminal.output()).output, "found it\n");
});

test("a workspace asks the login shell of the user, which does not get the keys of providers", {
  timeout: 60_000,
}, async (t) => {
  const { shell: program, folder } = shell(
    t,
    'echo "$ANTHROPIC_API_KEY" > "$(dirname "$0")/ran"; PATH="$PATH:/of/login"',
  );
  const { SHELL, ANTHROPIC_API_KEY } = process.env;
  t.after(() => {
    Object.assign(process.env, { SHELL, ANTHROPIC_API_KEY });
    for (const [name, value] of Object.entries({ SHELL, ANTHROPIC_API_KEY }))
      if (value === undefined) delete process.env[name];
  });
  Object.assign(process.env, { SHELL: program, ANTHROPIC_API_KEY: "sk-secret" });
  const workspace = openWorkspace({ cwd: folder, sandbox: "off", loginShell: true });
  t.after(() => workspace.close());
  // a busy machine may need more than one try, since a command does not wait long for the shell
  for (let output = ""; !output.includes("/of/login"); ) {
    const { terminals } = workspace.services({ files: undefined, terminals: undefined } as never, undefined);
    const terminal = await terminals.create({ command: "/bin/sh", args: ["-c", "echo $PATH"], cwd: folder });
    await terminal.waitForExit();
    ({ output } = await terminal.output());
  }
  assert.equal(readFileSync(join(folder, "ran"), "utf8"), "\n");
});

test("the start files of a shell end by themselves when the agent ends before them", {
  timeout: 20_000,
}, async (t) => {
  const given = shell(t, 'cd "$(dirname "$0")"; echo > begun; sleep 0.3; echo > ended');
  const source = JSON.stringify(new URL("./login-path.ts", import.meta.url).href);
  const program = `
    import { existsSync } from "node:fs";
    import { LoginPath } from ${source};
    new LoginPath({ shell: ${JSON.stringify(given.shell)}, without: [] }).prefetch();
    setInterval(() => existsSync(${JSON.stringify(join(given.folder, "begun"))}) && process.exit(0), 5);
  `;
  const args = ["--conditions=parley-source", "--input-type=module", "-e", program];
  const agent = spawn(process.execPath, args, { stdio: "inherit" });
  const [code] = await once(agent, "exit");
  assert.equal(code, 0);
  await fileAppears(join(given.folder, "ended"));
});
