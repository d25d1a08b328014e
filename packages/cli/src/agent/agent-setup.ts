// Settings to paste into editors. The path is absolute: an editor started from a menu has another PATH than a shell.

interface Setup {
  /** Where the block goes. */
  readonly where: string;
  readonly block: (launcher: string) => string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

const setups: Readonly<Record<string, Setup>> = {
  zed: {
    where: "settings.json (command palette: zed: open settings), merged with what is there",
    block: (command) =>
      json({ agent_servers: { Parley: { type: "custom", command, args: ["agent"], env: {} } } }),
  },
  jetbrains: {
    where: "~/.jetbrains/acp.json (AI Chat: agent menu, Add Custom Agent)",
    block: (command) => json({ agent_servers: { Parley: { command, args: ["agent"], env: {} } } }),
  },
  neovim: {
    where: "the setup of codecompanion.nvim; then :CodeCompanionChat adapter=parley",
    block: (command) => `require("codecompanion").setup({
  adapters = {
    acp = {
      parley = function()
        return require("codecompanion.adapters").extend("opencode", {
          name = "parley",
          formatted_name = "Parley",
          commands = { default = { ${JSON.stringify(command)}, "agent" } },
        })
      end,
    },
  },
})`,
  },
  emacs: {
    where: "init.el, with agent-shell installed; then M-x parley",
    block: (command) => `(defun parley ()
  "Start Parley in this project."
  (interactive)
  (require 'agent-shell)
  (agent-shell-start
   :config (agent-shell-make-agent-config
            :identifier 'parley
            :mode-line-name "Parley"
            :buffer-name "Parley"
            :shell-prompt "Parley> "
            :shell-prompt-regexp "Parley> "
            :client-maker (lambda (buffer)
                            (agent-shell--make-acp-client
                             :command ${JSON.stringify(command)}
                             :command-params '("agent")
                             :context-buffer buffer)))))`,
  },
  vscode: {
    where: "settings.json, with the extension ACP Client (formulahendry.acp-client)",
    block: (command) => json({ "acp.agents": { Parley: { command, args: ["agent"], env: {} } } }),
  },
};

export const editors: readonly string[] = Object.keys(setups);

/** Undefined for an unknown editor. */
export function setupFor(editor: string, launcher: string): { where: string; block: string } | undefined {
  const setup = Object.hasOwn(setups, editor) ? setups[editor] : undefined;
  return setup === undefined ? undefined : { where: setup.where, block: setup.block(launcher) };
}
