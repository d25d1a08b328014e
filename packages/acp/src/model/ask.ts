// Questions of an agent to the user, and their answers.

import type { ElicitationSchema, Meta } from "./types.gen.ts";

export type { PermissionRequest, PermissionSubject } from "./types.gen.ts";

/** Anything but a selected option means: do not proceed. */
export type PermissionOutcome =
  | { outcome: "selected"; optionId: string; _meta?: Meta | null }
  | { outcome: "cancelled"; _meta?: Meta | null };

/** A form to fill in, or an address to visit. */
export type ElicitationRequest =
  | {
      mode: "form";
      message: string;
      requestedSchema: ElicitationSchema;
      toolCallId?: string | null;
      _meta?: Meta | null;
    }
  | {
      mode: "url";
      message: string;
      elicitationId: string;
      url: string;
      toolCallId?: string | null;
      _meta?: Meta | null;
    };

export type ElicitationResponse =
  | { action: "accept"; content?: Record<string, unknown> | null; _meta?: Meta | null }
  | { action: "decline"; _meta?: Meta | null }
  | { action: "cancel"; _meta?: Meta | null };
