// Asks a provider, as an agent or a bridge does.

import type { McpCall, McpParams, McpProvider } from "@parley/acp/model";

/** Parameters of 2026-07-28. */
export function claimed(params: object = {}): { _meta: Record<string, unknown> } & Record<string, unknown> {
  return {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
}

export function ask(
  provider: McpProvider,
  method: string,
  params?: McpParams,
  parts: Partial<McpCall> = {},
): Promise<unknown> {
  const { signal } = new AbortController();
  return provider.request({
    method,
    params,
    sessionId: undefined,
    signal,
    notify: () => undefined,
    ...parts,
  });
}
