// The model that is used when none is configured: a small command language instead of an AI.

import type { Model } from "../model/model.ts";

export const offlineModelId = "offline";

/** A model server that answers on this machine. */
export interface LocalServer {
  /** The name to show, such as `Ollama`. */
  readonly name: string;
  /** The id of a model that it has, as `/model` takes it, such as `ollama/qwen3`. */
  readonly model: string;
}

/** Looks for model servers on this machine. */
export type FindLocalServers = () => Promise<readonly LocalServer[]>;

export function offlineModel(localServers: FindLocalServers): Model {
  return {
    facts: {
      id: offlineModelId,
      name: "Offline (fixed commands, no AI)",
      contextWindow: 200_000,
      takesImages: false,
      takesAudio: false,
      thinks: true,
    },
    async *stream(request) {
      const { answer } = await import("./answer.ts");
      yield* answer(request, localServers);
    },
  };
}
