// Questions of an agent to the user, and their answers.

import type { ElicitationSchema, Meta } from "./types.gen.ts";

export type { PermissionRequest, PermissionSubject } from "./types.gen.ts";

/** The answer to a permission request. Anything but a selected option that allows it means no. */
export type PermissionOutcome =
  | { readonly outcome: "selected"; readonly optionId: string; readonly _meta?: Meta }
  | { readonly outcome: "cancelled"; readonly _meta?: Meta };

/** A form to fill in, or an address to visit. More kinds may be added: give a `switch` over it a `default:`. */
export type ElicitationRequest =
  | {
      readonly mode: "form";
      /** Says what is asked and why. */
      readonly message: string;
      /** The fields of the form. */
      readonly requestedSchema: ElicitationSchema;
      /** The tool call that it belongs to. */
      readonly toolCallId?: string;
      readonly _meta?: Meta;
    }
  | {
      readonly mode: "url";
      /** Says what is asked and why. */
      readonly message: string;
      /** Reported to `elicitationCompleted` when the user is done. */
      readonly elicitationId: string;
      /** The address to visit. */
      readonly url: string;
      /** The tool call that it belongs to. */
      readonly toolCallId?: string;
      readonly _meta?: Meta;
    };

/** The user's answer to a form or an address: accepted, declined, or dismissed without an answer. */
export type ElicitationResponse =
  | {
      readonly action: "accept";
      /** The values of a form, by field. */
      readonly content?: Readonly<Record<string, unknown>>;
      readonly _meta?: Meta;
    }
  | { readonly action: "decline"; readonly _meta?: Meta }
  | { readonly action: "cancel"; readonly _meta?: Meta };
