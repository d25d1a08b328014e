// Tells whether a connection speaks a dialect, which its transport knows.

import type { Transport } from "../jsonrpc/transport.ts";
import type { DialectName } from "./dialect.ts";

/**
 * A transport whose messages are translated. The dialect may become known later than the transport starts, and does not change
 * afterwards.
 */
export interface DialectTransport extends Transport {
  /** The dialect that the peer speaks; undefined for version 1 and version 2. */
  readonly dialect: DialectName | undefined;
}

/** The dialect of a connection; undefined where its transport translates nothing. */
export function dialectOf(transport: Transport): DialectName | undefined {
  return (transport as Partial<DialectTransport>).dialect; // as: other transports have no such field
}
