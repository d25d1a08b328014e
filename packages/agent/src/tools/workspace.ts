// Opens the files, commands and outputs that the tools of one session share.

import { sep } from "node:path";
import type { Turn } from "@parley/acp";
import { type LocalFiles, localFiles } from "@parley/acp/node";
import { keyVariables } from "../model/key-variables.ts";
import { SessionFiles } from "./base/agent-files.ts";
import { SessionOutputs } from "./base/output-folder.ts";
import { SessionSeenFiles } from "./base/seen-files.ts";
import type { CommandSandbox, Mode, ToolContext, Vetoes } from "./base/tool.ts";
import { clientCommands, localCommands } from "./commands/agent-terminals.ts";
import { SessionJobs } from "./commands/jobs.ts";
import { LoginPath } from "./commands/login-path.ts";

export interface WorkspaceOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  /** The parent directory of long outputs. Default: the system's temporary directory. */
  readonly outputParent?: string;
  /** The sandbox of commands on this machine. Default: workspace. */
  readonly sandbox?: CommandSandbox;
  /** Takes PATH for commands from the user's login shell. Default false. */
  readonly loginShell?: boolean;
  /** Further files that commands in the sandbox cannot write, as they are now. */
  readonly readOnly?: () => readonly string[];
}

/** One for all sessions of this process. */
let loginPath: LoginPath | undefined;

export type ToolWorkspace = ReturnType<typeof openWorkspace>;

/** Throws when a root cannot be opened. */
export function openWorkspace(options: WorkspaceOptions) {
  const {
    cwd,
    additionalDirectories = [],
    outputParent,
    sandbox = "workspace",
    loginShell = false,
    readOnly,
  } = options;
  const roots = [cwd, ...additionalDirectories] as const;
  // the tools compare versions with what the model has read
  const local = localFiles({ roots, expectUnchanged: false });
  const outputs = new SessionOutputs(outputParent);
  if (loginShell) loginPath ??= new LoginPath({ without: keyVariables });
  const path = loginShell ? loginPath : undefined;
  path?.prefetch();
  const commands = localCommands(roots, sandbox, async () => path?.get(), readOnly);
  const jobs = new SessionJobs(commands);
  const seen = new SessionSeenFiles();
  const opened = new Map<string, LocalFiles>();
  const filesOf = (folder: string) => {
    const files = opened.get(folder) ?? localFiles({ roots: [folder], maxReadBytes: 256 * 1024 * 1024 });
    opened.set(folder, files);
    return files;
  };
  const readableIn = (folders: readonly string[]) => (path: string) => {
    const all = outputs.path === undefined ? folders : [outputs.path, ...folders];
    const folder = all.find((each) => path === each || path.startsWith(each + sep));
    return folder === undefined ? undefined : filesOf(folder);
  };
  return {
    /**
     * Whether commands run here rather than in the client's terminals. A client that has rules decides about the commands
     * that it runs. With any other, commands of mode "code" are not asked about in our own sandbox, and would be there.
     */
    usesOwn: async (vetoes: Vetoes | undefined, mode: Mode): Promise<boolean> =>
      vetoes === undefined && mode === "code" && (await commands.holder()).by === "sandbox",
    /**
     * The services for one turn; the client's files and terminals belong to the turn. `readable` are folders outside the
     * roots that may be read.
     */
    services: (
      { files, terminals }: Turn["client"],
      vetoes: Vetoes | undefined,
      usesOwn = false,
      readable: readonly string[] = [],
    ): Omit<ToolContext, "signal" | "web" | "vetoes"> => ({
      cwd,
      roots,
      files: new SessionFiles(local, files, readableIn(readable), commands.accept),
      terminals:
        terminals === undefined || usesOwn ? commands : clientCommands(terminals, vetoes !== undefined),
      seen,
      outputs,
      jobs,
    }),
    /** Ends running commands, removes their stored output and closes the roots. */
    async close(): Promise<void> {
      await commands.close();
      await Promise.all([local, ...opened.values()].map((files) => files.close()));
      outputs.close();
    },
  };
}
