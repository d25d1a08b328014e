// Opens the files, commands and outputs that the tools of one session share.

import { sep } from "node:path";
import type { Files, Terminals } from "@parley/acp";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import type { SeenFiles, ToolContext } from "./base/tool.ts";
import { clientCommands, localCommands } from "./commands/agent-terminals.ts";
import { SessionJobs } from "./commands/jobs.ts";
import { SessionOutputs } from "./commands/output-folder.ts";
import { SessionFiles } from "./files/agent-files.ts";
import { seenFiles } from "./files/seen-files.ts";

export interface WorkspaceOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  /** The parent directory of long outputs. Default: the system's temporary directory. */
  readonly outputParent?: string;
}

export type WorkspaceServices = Omit<ToolContext, "signal" | "web" | "vetoes">;

export interface Workspace {
  readonly seen: SeenFiles;
  /** The services for one turn; the client's files and terminals belong to the turn. */
  services(client?: {
    readonly files?: Files | undefined;
    readonly terminals?: Terminals | undefined;
  }): WorkspaceServices;
  /** Ends running commands, removes their stored output and closes the roots. */
  close(): Promise<void>;
}

/** Throws when a root cannot be opened. */
export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { cwd, additionalDirectories = [], outputParent } = options;
  const roots = [cwd, ...additionalDirectories];
  // the tools compare versions with what the model has read
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
      files: new SessionFiles({ local, client: client.files, readable }),
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
