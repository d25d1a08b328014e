// Asks the user about the servers that the files of a project name, before anything of them is started.

import { type PermissionOption, RequestError, type Turn } from "@parley/acp";
import { extensionIn, trustKey } from "@parley/acp/extensions";
import type { McpServer } from "@parley/acp/model";
import { oneLine, visible } from "../text/safe-text.ts";
import { shownText, shownVerbatim } from "../tools/base/shown-content.ts";
import type { FolderServer, FolderServers, McpSources } from "./sources.ts";

const options: readonly PermissionOption[] = [
  { optionId: "allow_once", name: "Start it, in this session", kind: "allow_once" },
  { optionId: "allow_always", name: "Always start it, until its entry changes", kind: "allow_always" },
  { optionId: "reject_once", name: "Not in this session", kind: "reject_once" },
  { optionId: "reject_always", name: "Never start it, until its entry changes", kind: "reject_always" },
];

/** The servers of one session's folders that the user allowed. */
export class AskedServers {
  readonly #sources: McpSources;
  readonly #byFolder = new Map<string, readonly McpServer[]>();
  readonly #files = new Set<string>();

  constructor(sources: McpSources) {
    this.#sources = sources;
  }

  /** The allowed ones of these folders. */
  of(folders: readonly string[]): McpServer[] {
    return folders.flatMap((folder) => this.#byFolder.get(folder) ?? []);
  }

  /** The files that the allowed ones start or read. */
  get files(): readonly string[] {
    return [...this.#files];
  }

  /** Asks about the folders that were not asked about before. `isTaken` names are those of other servers, which win. */
  async ask(
    turn: Turn,
    isTaken: (name: unknown) => boolean,
    tell: (text: string) => Promise<void>,
  ): Promise<void> {
    const { ofFolder } = this.#sources;
    if (ofFolder === undefined || extensionIn(turn.session._meta, trustKey) === "client") return;
    for (const folder of turn.session.roots) {
      if (this.#byFolder.has(folder)) continue;
      const { servers, problems } = await readFolder(folder, ofFolder);
      const allowed: McpServer[] = [];
      for (const problem of problems) await tell(problem);
      for (const each of servers.filter(({ server }) => !isTaken(server["name"]))) {
        if (!(await isAllowed(turn, folder, each, tell))) continue;
        allowed.push(each.server);
        for (const file of each.files ?? []) this.#files.add(file);
      }
      this.#byFolder.set(folder, allowed);
    }
  }
}

/** A session stays usable whatever is in its folders. */
async function readFolder(
  folder: string,
  ofFolder: NonNullable<McpSources["ofFolder"]>,
): Promise<FolderServers> {
  try {
    return await ofFolder(folder);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { servers: [], problems: [`The MCP servers of ${folder} are ignored: ${why}.`] };
  }
}

async function isAllowed(
  turn: Turn,
  folder: string,
  { server, lines, decision, remember }: FolderServer,
  tell: (text: string) => Promise<void>,
): Promise<boolean> {
  if (decision !== undefined) return decision === "always";
  const name = oneLine(String(server["name"]));
  let failure: string | undefined;
  let isNo = false;
  try {
    await turn.tool(
      {
        title: `Start the MCP server ${name} from .mcp.json`,
        kind: server.type === "stdio" ? "execute" : "fetch",
        rawInput: { server: name, folder, entry: lines.map(visible) },
        content: [
          shownText(`The file .mcp.json in ${folder} names this MCP server:`),
          shownVerbatim(lines.map(visible).join("\n")),
        ],
        permission: {
          options,
          description: "it comes from a file of this project, not from you",
          onAnswer({ kind }) {
            isNo = kind === "reject_once" || kind === "reject_always";
            if (kind !== "allow_always" && kind !== "reject_always") return;
            try {
              remember(kind === "allow_always" ? "always" : "never");
            } catch (error) {
              failure = error instanceof Error ? error.message : String(error);
            }
          },
        },
      },
      () => undefined,
    );
    if (failure !== undefined)
      await tell(`Your answer about ${name} applies to this session only: ${failure}.`);
    return true;
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof RequestError)) throw error;
    const why = isNo ? "you did not allow it" : "nobody answered the question about it";
    await tell(
      `The MCP server ${name} from .mcp.json is not started: ${why}. To allow it, run parley trust in ${folder}, or add it to agent.mcpServers in your config.`,
    );
    return false;
  }
}
