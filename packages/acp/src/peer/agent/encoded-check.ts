// Lets tests validate encoded updates once more before they are sent, and compare them with their text. The encoders make
// valid messages of valid updates, as `encoded-updates.proof.test.ts` shows, so nobody else pays for it.

export const encodedCheck: { compare: ((params: object, text: string) => void) | undefined } = {
  compare: undefined,
};

/** Stands for an update that is sent as text. */
export const anyUpdate = { jsonrpc: "2.0", method: "session/update" };

/** The params of an update that this program wrote. */
export function paramsIn(text: string): { readonly sessionId: string; readonly update: object } {
  return (JSON.parse(text) as { params: ReturnType<typeof paramsIn> }).params;
}
