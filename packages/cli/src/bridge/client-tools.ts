// Gives a version 2 agent the files and terminals of a version 1 editor, as tools of an MCP server.

import type { ClientToolServices, ClientTools } from "@parley/acp/relay";
import { mcpKit, tool } from "@parley/mcp";
import { ClientToolCalls } from "./tool-calls.ts";
import { clientTools } from "./tool-definitions.ts";

/** Opens the bridge of one session. */
export async function offerClientTools(services: ClientToolServices): Promise<ClientTools> {
  const work = new ClientToolCalls(services);
  const tools = clientTools
    .filter(({ isOffered }) => isOffered(services))
    .map(({ name, description, isReadOnly, inputSchema }) =>
      tool({
        name,
        description,
        schema: inputSchema,
        readOnly: isReadOnly,
        run: (input, { signal }) => work.call(name, input, signal),
      }),
    );
  const kit = mcpKit();
  const [provider] = kit.providers(tools, "editor");
  if (provider === undefined) throw new Error("the editor offers neither files nor terminals");
  // the relay asks for tools only where the agent takes commands
  const bridge = kit.bridge({ http: false, stdio: true });
  const { cwd } = services;
  const declared = await bridge.declare(provider, { cwd, sessionId: () => undefined });
  if (declared === undefined) throw new Error("the agent takes no MCP servers");
  return {
    server: declared.server,
    async close() {
      await bridge.close();
      await provider.close?.();
      await work.close();
    },
  };
}
