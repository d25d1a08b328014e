// Runs a command of the user in the user's shell, and reports its output as updates of a tool call with a terminal.

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import type { SessionUpdate } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";

/** The agent is told so much of the output, half of it from the end. */
const toldChars = 8_000;
const keptChars = 1024 * 1024;
/** A command that is stopped has so long to end by itself. */
const patienceMs = 2_000;

export interface ShellCommand {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
}

export interface ShellEnd {
  /** Where the shell was at its end. */
  readonly cwd: string;
  /** For the agent. */
  readonly told: string;
}

export async function runShell(
  { id, command, cwd }: ShellCommand,
  update: (update: SessionUpdate) => void,
  signal: AbortSignal,
): Promise<ShellEnd> {
  const folder = await mkdtemp(join(tmpdir(), "parley-shell-"));
  const terminalId = `terminal-${id}`;
  const at = { toolCallId: id, sessionUpdate: "tool_call_update" } as const;
  update({ sessionUpdate: "terminal_update", terminalId, command, cwd });
  update({
    ...at,
    title: `! ${command}`,
    kind: "execute",
    status: "in_progress",
    content: [{ type: "terminal", terminalId }],
  });
  const decoder = new StringDecoder("utf8");
  let output = "";
  try {
    const { exitCode, exitSignal } = await run(command, { cwd, folder, signal }, (bytes) => {
      output = (output + decoder.write(bytes)).slice(-keptChars);
      update({ sessionUpdate: "terminal_output_chunk", terminalId, data: bytes.toString("base64") });
    });
    update({
      sessionUpdate: "terminal_update",
      terminalId,
      exitStatus: optional({ exitCode, signal: exitSignal }),
    });
    update({ ...at, status: exitCode === 0 ? "completed" : "failed" });
    const end = (await readFile(join(folder, "cwd"), "utf8").catch(() => "")).trimEnd();
    const how = exitCode === undefined ? `signal ${exitSignal}` : `exit code ${exitCode}`;
    return {
      cwd: end === "" ? cwd : end,
      told: `I ran this command in ${cwd} (${how}):\n${command}\n\nIts output:\n${shortened(output)}`,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly exitCode: number | undefined;
  readonly exitSignal: string | undefined;
}

/** The shell writes its directory to a file, so that the next command starts there. */
function run(
  command: string,
  { cwd, folder, signal }: { readonly cwd: string; readonly folder: string; readonly signal: AbortSignal },
  take: (bytes: Buffer) => void,
): Promise<Ended> {
  return new Promise((resolve) => {
    const isWindows = process.platform === "win32";
    const shell = isWindows ? (process.env["ComSpec"] ?? "cmd.exe") : "/bin/sh";
    // `exit` in the command runs the trap too
    const script = `trap 'pwd >"$PARLEY_SHELL_CWD"' EXIT\n${command}\n`;
    const args = isWindows ? ["/d", "/s", "/c", command] : ["-c", script];
    const child = spawn(shell, args, {
      cwd,
      env: { ...process.env, PARLEY_SHELL_CWD: join(folder, "cwd") },
      // nobody can type to it
      stdio: ["ignore", "pipe", "pipe"],
      detached: !isWindows,
    });
    // with what it has started
    const kill = (how: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(isWindows ? child.pid : -child.pid, how);
      } catch {
        // they have ended
      }
    };
    let ending: NodeJS.Timeout | undefined;
    const stop = () => {
      kill("SIGTERM");
      ending = setTimeout(() => {
        kill("SIGKILL");
        // what has left the group of the shell may hold the output
        child.stdout.destroy();
        child.stderr.destroy();
      }, patienceMs);
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", (error) => {
      take(Buffer.from(`${error.message}\n`));
      resolve({ exitCode: 127, exitSignal: undefined });
    });
    child.once("close", (code, exitSignal) => {
      clearTimeout(ending);
      signal.removeEventListener("abort", stop);
      resolve({ exitCode: code ?? undefined, exitSignal: exitSignal ?? undefined });
    });
  });
}

function shortened(output: string): string {
  if (output.length <= toldChars) return output;
  const half = toldChars / 2;
  return `${output.slice(0, half)}\n… ${output.length - toldChars} characters left out …\n${output.slice(-half)}`;
}
