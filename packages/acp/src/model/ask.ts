// Questions of an agent to the user, and their answers.

import type { ElicitationSchema, Meta } from "./types.gen.ts";

export type { PermissionRequest, PermissionSubject } from "./types.gen.ts";

/** Anything but a selected option means: do not proceed. */
export type PermissionOutcome =
  | { readonly outcome: "selected"; readonly optionId: string; readonly _meta?: Meta }
  | { readonly outcome: "cancelled"; readonly _meta?: Meta };

/** A form to fill in, or an address to visit. More kinds may be added: give a `switch` over it a `default:`. */
export type ElicitationRequest =
  | {
      readonly mode: "form";
      readonly message: string;
      readonly requestedSchema: ElicitationSchema;
      readonly toolCallId?: string;
      readonly _meta?: Meta;
    }
  | {
      readonly mode: "url";
      readonly message: string;
      readonly elicitationId: string;
      readonly url: string;
      readonly toolCallId?: string;
      readonly _meta?: Meta;
    };

export type ElicitationResponse =
  | {
      readonly action: "accept";
      readonly content?: Readonly<Record<string, unknown>>;
      readonly _meta?: Meta;
    }
  | { readonly action: "decline"; readonly _meta?: Meta }
  | { readonly action: "cancel"; readonly _meta?: Meta };
