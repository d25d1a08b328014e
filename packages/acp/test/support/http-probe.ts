// Connects over Streamable HTTP to a server that the test controls.

import { httpTransport } from "@parley/acp";
import { Connection, type Handlers } from "@parley/acp/jsonrpc";
import type { HttpTransportOptions } from "@parley/acp/transport";
import { Loopback, type LoopbackScript } from "./http-loopback.ts";

/** Both are closed when the test has ended. */
export async function connected(
  t: { after(work: () => Promise<void>): void },
  script: LoopbackScript,
  {
    request = () => null,
    notification = () => undefined,
    ...options
  }: HttpTransportOptions & Partial<Handlers> = {},
): Promise<{ server: Loopback; connection: Connection }> {
  const server = await new Loopback({ message: () => undefined, ...script }).listen();
  const transport = httpTransport(server.url, { backoffMs: 1, ...options });
  const connection = new Connection(transport, { handlers: { request, notification } });
  t.after(async () => {
    await connection.close();
    await server.stop();
  });
  return { server, connection };
}
