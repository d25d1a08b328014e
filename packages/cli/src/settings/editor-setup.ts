// Settings to paste into editors. The path is absolute: an editor started from a menu has another PATH than a shell.

import { usageError, watchOutput } from "../command/command.ts";

/** What an editor starts. */
export interface EditorAgent {
  /** For people. */
  readonly name: string;
  /** For editors whose settings are programs: small letters and hyphens. */
  readonly id: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Setup {
  /** Where the block goes. */
  readonly where: (agent: EditorAgent) => string;
  readonly block: (agent: EditorAgent) => string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

const setups: Readonly<Record<string, Setup>> = {
  zed: {
    where: () => "settings.json (command palette: zed: open settings), merged with what is there",
    block: ({ name, command, args, env }) =>
      json({ agent_servers: { [name]: { type: "custom", command, args, env } } }),
  },
  jetbrains: {
    where: () => "~/.jetbrains/acp.json (AI Chat: agent menu, Add Custom Agent)",
    block: ({ name, command, args, env }) => json({ agent_servers: { [name]: { command, args, env } } }),
  },
  neovim: {
    where: ({ id }) => `the setup of codecompanion.nvim; then :CodeCompanionChat adapter=${luaName(id)}`,
    block: ({ name, id, command, args, env }) => `require("codecompanion").setup({
  adapters = {
    acp = {
      ${luaName(id)} = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = ${quoted(luaName(id))},
          formatted_name = ${quoted(name)},
          commands = { default = { ${[command, ...args].map(quoted).join(", ")} } },${luaEnv(env)}
        })
      end,
    },
  },
})`,
  },
  emacs: {
    where: ({ id }) => `init.el, with agent-shell installed; then M-x ${id}`,
    block: ({ name, id, command, args, env }) => `(defun ${id} ()
  "Start ${name} in this project."
  (interactive)
  (require 'agent-shell)
  (agent-shell-start
   :config (agent-shell-make-agent-config
            :identifier '${id}
            :mode-line-name ${quoted(name)}
            :buffer-name ${quoted(name)}
            :shell-prompt ${quoted(`${name}> `)}
            :shell-prompt-regexp ${quoted(`${name}> `)}
            :client-maker (lambda (buffer)
                            (agent-shell--make-acp-client
                             :command ${quoted(command)}
                             :command-params '(${args.map(quoted).join(" ")})${lispEnv(env)}
                             :context-buffer buffer)))))`,
  },
  vscode: {
    where: () => "settings.json, with the extension ACP Client (formulahendry.acp-client)",
    block: ({ name, command, args, env }) => json({ "acp.agents": { [name]: { command, args, env } } }),
  },
};

function quoted(text: string): string {
  return JSON.stringify(text);
}

function luaName(id: string): string {
  return id.replaceAll("-", "_");
}

function luaEnv(env: EditorAgent["env"]): string {
  const all = Object.entries(env).map(([name, value]) => `${name} = ${quoted(value)}`);
  return all.length === 0 ? "" : `\n          env = { ${all.join(", ")} },`;
}

function lispEnv(env: EditorAgent["env"]): string {
  const all = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`));
  return all.length === 0 ? "" : `\n                             :environment-variables '(${all.join(" ")})`;
}

export const editors: readonly string[] = Object.keys(setups);

/** Undefined for an unknown editor. */
export function setupFor(editor: string, agent: EditorAgent): { where: string; block: string } | undefined {
  const setup = Object.hasOwn(setups, editor) ? setups[editor] : undefined;
  return setup === undefined ? undefined : { where: setup.where(agent), block: setup.block(agent) };
}

/** Throws a CommandError for an unknown editor. */
export function printSetup(editor: string, agent: EditorAgent, help: string): void {
  const setup = setupFor(editor, agent);
  if (setup === undefined)
    throw usageError(`--setup: expected one of ${editors.join(", ")}, got ${editor}`, help);
  watchOutput();
  // stdout has only the block, so that it can be piped
  process.stderr.write(`Put this into ${setup.where}:\n`);
  process.stdout.write(`${setup.block}\n`);
}
