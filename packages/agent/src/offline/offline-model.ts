// The model that is used when none is configured: a small command language instead of an AI.

import type { Model, ModelFacts } from "../model/model.ts";

export const offlineModelId = "offline";

/** The models that could be used instead, the best first. */
export type OtherModels = () => Promise<readonly Pick<ModelFacts, "id" | "name">[]>;

export function offlineModel(others: OtherModels): Model {
  return {
    facts: {
      id: offlineModelId,
      name: "Offline (fixed commands, no AI)",
      contextWindow: 200_000,
      takesImages: false,
      takesAudio: false,
    },
    async *stream(request) {
      const { answer } = await import("./answer.ts");
      yield* answer(request, others);
    },
  };
}
