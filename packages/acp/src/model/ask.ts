// What an agent asks of the person in front of the client, and what may be answered.

import type * as wire from "../wire/v2/types.gen.ts";
import type { ToolCallUpdate } from "./update.ts";

/** What a permission is about. The tool call is applied like an update before the question is shown. */
export type PermissionSubject =
  | { type: "tool_call"; toolCall: ToolCallUpdate; _meta?: wire.Meta | null }
  | Exclude<wire.RequestPermissionSubject, { type: "tool_call" }>;

export interface PermissionAsk {
  title: string;
  description?: string | null;
  subject?: PermissionSubject | null;
  options: wire.PermissionOption[];
  _meta?: wire.Meta | null;
}

/** Anything but a selected option means: do not proceed (A89, A90). */
export type PermissionAnswer =
  | { outcome: "selected"; optionId: string; _meta?: wire.Meta | null }
  | { outcome: "cancelled"; _meta?: wire.Meta | null };

/** A form to fill in, or an address to visit. */
export type ElicitationAsk =
  | {
      mode: "form";
      message: string;
      requestedSchema: wire.ElicitationSchema;
      toolCallId?: string | null;
      _meta?: wire.Meta | null;
    }
  | {
      mode: "url";
      message: string;
      elicitationId: string;
      url: string;
      toolCallId?: string | null;
      _meta?: wire.Meta | null;
    };

export type ElicitationAnswer =
  | { action: "accept"; content?: Record<string, unknown> | null; _meta?: wire.Meta | null }
  | { action: "decline"; _meta?: wire.Meta | null }
  | { action: "cancel"; _meta?: wire.Meta | null };
