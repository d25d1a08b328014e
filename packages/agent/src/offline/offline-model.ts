// The model that is used when none is configured: fixed rules instead of an AI, always the same answer to a request.

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
    },
    async *stream(request) {
      const { answer } = await import("./answer.ts");
      yield* answer(request);
    },
  };
}
