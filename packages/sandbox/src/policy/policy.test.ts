import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dividedEnvironment, sandboxEnvironment } from "./environment.ts";
import { secretPaths, secrets } from "./secrets.ts";
import { toolChains } from "./tool-chains.ts";

test("docs/sandbox.md shows every secret, and no others", () => {
  const page = readFileSync(new URL("../../../../docs/sandbox.md", import.meta.url), "utf8");
  const rows = Object.entries(secrets).map(([kind, paths]) => {
    const shown = paths.map((path) => `\`${path.startsWith("/") ? path : `~/${path}`}\``);
    return `| ${kind} | ${shown.join(", ")} |`;
  });
  const [, table = ""] = /\| secrets \|.*\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  assert.equal(table.trim(), rows.join("\n"));
});

test("secrets are found where the environment has moved them", () => {
  const paths = secretPaths("/h", { XDG_CONFIG_HOME: "/c", PARLEY_HOME: "/p", CODEX_HOME: "relative" });
  for (const path of ["/h/.ssh", "/h/.config/gh", "/c/gh", "/c/parley", "/p", "/etc/shadow"])
    assert.ok(paths.includes(path), path);
  assert.ok(paths.every((path) => path.startsWith("/")));
});

test("a command gets its environment without the addresses of services outside", () => {
  const env = {
    PATH: "/bin",
    SSH_AUTH_SOCK: "/s",
    DBUS_SESSION_BUS_ADDRESS: "x",
    TMPDIR: "/t",
    A: "1",
    B: undefined,
  };
  assert.deepEqual(sandboxEnvironment(env, { hasBridge: false, keepsSecrets: true }), {
    PATH: "/bin",
    TMPDIR: "/tmp",
    A: "1",
  });
  const { HTTPS_PROXY, ALL_PROXY } = sandboxEnvironment(
    { HTTPS_PROXY: "http://other" },
    { hasBridge: true, keepsSecrets: true },
  );
  assert.deepEqual([HTTPS_PROXY, ALL_PROXY], ["http://127.0.0.1:3128", "socks5h://127.0.0.1:1080"]);
});

test("a command gets no secrets: neither by the name of a variable nor by its value; a whole agent does", () => {
  const env = { API_KEY_PROD: "abc", DATABASE_URL: `postgres://me:${"pw"}@h/x`, MAX_TOKENS: "5", LANG: "C" };
  const get = (keepsSecrets: boolean) => sandboxEnvironment(env, { hasBridge: false, keepsSecrets });
  assert.deepEqual(get(false), { MAX_TOKENS: "5", LANG: "C" });
  assert.deepEqual(get(true), env);
});

test("bubblewrap, and the shell that starts it, do not see the variables that load code into programs", () => {
  const loading = { LD_PRELOAD: "a", GCONV_PATH: "b", GLIBC_TUNABLES: "c" };
  const shells = { "BASH_FUNC_read%%": "() { evil; }", SHELLOPTS: "xtrace", PS4: "$(evil)", "npm.name": "n" };
  const others = { PATH: "d", OLD: "e", "npm_config_//host/:_authToken": "SECRET" };
  const { inside, outside } = dividedEnvironment({ ...loading, ...shells, ...others });
  assert.deepEqual(inside, { ...loading, ...shells });
  assert.deepEqual(outside, others);
});

test("tools in hidden folders are shown with what they need, and home is not", () => {
  const path = "/h/.nvm/v24/bin:/h/bin:/h/.local/bin:/h/.pyenv/shims:/usr/bin:/h:bin:/run/user/1/fnm/2/bin";
  assert.deepEqual(toolChains(path.split(":"), "/h", ["/h", "/run"]), [
    "/h/.nvm/v24",
    "/h/bin",
    "/h/.local/bin",
    "/h/.pyenv",
    "/run/user/1/fnm/2",
  ]);
  assert.deepEqual(toolChains(path.split(":"), "/h", ["/run"]), ["/run/user/1/fnm/2"]);
});

test("commands do not get variables that hold keys and passwords; whole agents do", () => {
  const env = {
    ANTHROPIC_API_KEY: "k",
    GITHUB_TOKEN: "t",
    AWS_SECRET_ACCESS_KEY: "s",
    DB_PASSWORD: "p",
    SIGNING_KEY: "g",
    REGISTRY_AUTH: "a",
    KEYBOARD: "us",
  };
  const given = { hasBridge: false, keepsSecrets: false };
  assert.deepEqual(sandboxEnvironment(env, given), { KEYBOARD: "us" });
  assert.deepEqual(sandboxEnvironment(env, { ...given, keepsSecrets: true }), env);
});
