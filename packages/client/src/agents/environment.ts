// Selects the environment variables that an agent gets.

import { isSecretVariable } from "@parley/acp/redact";
import type { CommandEntry } from "./agent-spec.ts";

/** @inline */
type Environment = Readonly<Record<string, string | undefined>>;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Variables that every program may need: paths, user, locale, network, tools; then those of Windows. */
const basics = words(`
  PATH HOME USER LOGNAME SHELL PWD TERM COLORTERM NO_COLOR TZ LANG LANGUAGE LC_* TMPDIR TMP TEMP XDG_*
  DISPLAY WAYLAND_DISPLAY BROWSER DBUS_SESSION_BUS_ADDRESS SSH_AUTH_SOCK CI DO_NOT_TRACK
  HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
  SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE
  NVM_DIR VOLTA_HOME FNM_DIR ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR PNPM_HOME BUN_INSTALL
  JAVA_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME PYENV_ROOT RBENV_ROOT VIRTUAL_ENV
  SystemRoot SYSTEMROOT windir ComSpec COMSPEC PATHEXT Path APPDATA LOCALAPPDATA USERPROFILE USERNAME
  HOMEDRIVE HOMEPATH ProgramData ProgramFiles ProgramFiles(x86) NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE
`);

/** Agents set these for the programs that they start: an agent that sees one believes that it runs inside another. */
const marks = words(`
  CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT CLAUDE_CODE_SESSION_ID CLAUDE_PROJECT_DIR
  CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID CODEX_CI GEMINI_CLI QWEN_CODE
  OPENCODE OPENCODE_PID OPENCODE_CLIENT GOOSE_TERMINAL CLINE_ACTIVE COPILOT_CLI COPILOT_AGENT_SESSION_ID
  CURSOR_AGENT CURSOR_TRACE_ID AUGMENT_AGENT AI_AGENT AGENT
`);

/** Variables of Parley's own processes. */
const ours = words(`
  PARLEY_WIRE_FD PARLEY_CACHE_SET PARLEY_BRIDGE_* PARLEY_TOKEN PARLEY_*_TOKEN PARLEY_*_KEY PARLEY_*_SECRET
`);

const neverPassed = matcher([...marks, ...ours]);

/**
 * Returns the whole environment of an agent: what it may inherit, and the variables of its own.
 *
 * @example
 * import { agentEnvironment } from "@parley/client/launch";
 *
 * const env = agentEnvironment({ pass: ["MY_*"], env: { MY_MODE: "fast" } }, process.env);
 * console.log(Object.keys(env));
 */
export function agentEnvironment(
  entry: Pick<CommandEntry, "env" | "pass">,
  environment: Environment,
): Record<string, string> {
  const isPassed = entry.pass === undefined ? () => true : matcher([...basics, ...entry.pass]);
  const passed = Object.entries(environment).filter(
    (variable): variable is [string, string] =>
      variable[1] !== undefined && isPassed(variable[0]) && !neverPassed(variable[0]),
  );
  return { ...Object.fromEntries(passed), ...entry.env };
}

/** The names of variables that look like keys, so that the user knows which account is used. */
export function passedKeys(environment: Environment): readonly string[] {
  return Object.keys(environment)
    .filter((name) => isSecretVariable(name, environment[name]))
    .sort();
}

/** Replaces keys in the output of an agent. `given` are typed credentials, whatever their names. */
export function withoutKeys(text: string, environment: Environment, given: Environment = {}): string {
  let left = text;
  for (const name of new Set([...passedKeys(environment), ...Object.keys(given)])) {
    const value = environment[name] ?? "";
    // a short value is no secret, and would match parts of words
    if (value.length >= 6) left = left.replaceAll(value, `[${name}]`);
  }
  return left;
}

/** Whether a name is one of the patterns, in which `*` is any text. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const loose = patterns
    .filter((pattern) => pattern.includes("*"))
    .map((pattern) => pattern.split("*"))
    .map(([start = "", end = ""]) => ({ start, end }));
  return (name) =>
    exact.has(name) ||
    loose.some(
      ({ start, end }) =>
        name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end),
    );
}
