// Lets the user log in to a server during a turn, if the client can lead the user to a page.

import { randomUUID } from "node:crypto";
import type { Turn } from "@parley/acp";
import type { BrowserLogin } from "../oauth/browser-login.ts";
import type { Server } from "./server.ts";

/** A user who declines is not asked again in this session. Rejects only when the turn is cancelled. */
export async function logInDuring(
  turn: Turn,
  server: Server,
  tell: (text: string) => Promise<void>,
): Promise<void> {
  if (!turn.client.capabilities.elicitationUrl || server.isLoginAsked) return;
  server.isLoginAsked = true;
  let login: BrowserLogin | undefined;
  try {
    login = await server.beginLogin();
    const elicitationId = `${server.name}/login-${randomUUID()}`;
    const message = `The MCP server ${server.name} wants you to log in at ${new URL(login.page).host}.`;
    const { action } = await turn.elicit({ mode: "url", message, url: login.page, elicitationId });
    turn.signal.throwIfAborted();
    if (action !== "accept") return;
    try {
      await login.finish(turn.signal);
      // it may want more rights later
      server.isLoginAsked = false;
    } finally {
      turn.session.completeElicitation(elicitationId);
    }
  } catch (error) {
    turn.signal.throwIfAborted();
    await tell(error instanceof Error ? error.message : String(error));
  } finally {
    login?.close();
  }
}
