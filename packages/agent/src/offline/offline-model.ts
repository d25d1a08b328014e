// The model that is there when none is configured: rules instead of a network. It calls the same tools through the
// same permissions as any other model, and always does the same for the same words.

import type { Model } from "../model/model.ts";

export const offlineModelId = "offline";

export function offlineModel(): Model {
  return {
    facts: {
      id: offlineModelId,
      name: "Offline (fixed rules, no AI)",
      contextWindow: 200_000,
      takesImages: false,
      takesAudio: false,
      thinks: true,
    },
    async *stream(request) {
      const { answer } = await import("./answer.ts");
      yield* answer(request);
    },
  };
}
