// What the tools of one session stand on: opened with the session, closed with it. The client's files and
// terminals belong to a turn, and are put on top for it.

import { sep } from "node:path";
import type { Files, Terminals } from "@parley/acp";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import type { SeenFiles, ToolContext } from "./base/tool.ts";
import { clientCommands, localCommands } from "./commands/agent-terminals.ts";
import { SessionJobs } from "./commands/jobs.ts";
import { SessionOutputs } from "./commands/output-folder.ts";
import { agentFiles } from "./files/agent-files.ts";
import { seenFiles } from "./files/seen-files.ts";

export interface WorkspaceOptions {
  /** Absolute. */
  readonly cwd: string;
  /** Of the session. Default: none. */
  readonly additionalDirectories?: readonly string[];
  /** Where output that is too long is kept. Default: the system's folder for what is temporary. */
  readonly outputParent?: string;
}

export type WorkspaceServices = Omit<ToolContext, "signal" | "web" | "vetoes">;

export interface Workspace {
  readonly seen: SeenFiles;
  /** For one turn, with what its client offers. */
  services(client?: {
    readonly files?: Files | undefined;
    readonly terminals?: Terminals | undefined;
  }): WorkspaceServices;
  /** Ends the commands that still run, removes what they printed, and lets go of the roots. */
  close(): Promise<void>;
}

/** Throws where a root cannot be opened. */
export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { cwd, additionalDirectories = [], outputParent } = options;
  const roots = [cwd, ...additionalDirectories];
  // Versions are compared by the tools, on what the model has seen.
  const local = localFiles({ roots, expectUnchanged: false });
  const outputs = new SessionOutputs(outputParent);
  const commands = localCommands({ cwd });
  const jobs = new SessionJobs(commands);
  const seen = seenFiles();
  let outputFiles: LocalFiles | undefined;
  const readable = (path: string) => {
    const folder = outputs.path;
    if (folder === undefined || !path.startsWith(folder + sep)) return undefined;
    outputFiles ??= localFiles({ roots: [folder], maxReadBytes: 256 * 1024 * 1024 });
    return outputFiles;
  };
  return {
    seen,
    services: (client = {}) => ({
      cwd,
      roots,
      files: agentFiles({ local, client: client.files, readable }),
      terminals: client.terminals === undefined ? commands : clientCommands(client.terminals),
      seen,
      outputs,
      jobs,
    }),
    async close() {
      await commands.close();
      await Promise.all([local.close(), outputFiles?.close()]);
      outputs.close();
    },
  };
}
