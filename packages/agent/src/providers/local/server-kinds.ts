// How each kind of local server lists its models and their windows.

import { isObject } from "@parley/acp/jsonrpc";
import type { Effort } from "../../model/model.ts";
import type { KnownFacts } from "../registry/registry.ts";

type Fields = Readonly<Record<string, unknown>>;

/** GET, or POST with a body. Rejects for anything but an object. */
export type Read = (path: string, body?: object) => Promise<Fields>;

type Found = KnownFacts & { readonly name: string };

/** More models are listed without their windows: each one is a request. */
const maxDetails = 32;
/** What Ollama gives a model that is not loaded depends on the machine, and less is forgotten without a word. */
const usualWindow = 32_768;
const levels: readonly Effort[] = ["none", "low", "medium", "high"];

/** The window is that of the loaded model, else that in its settings, else a cautious one. */
export async function ollama(read: Read): Promise<Found[]> {
  const [tags, running] = await Promise.all([
    read("/api/tags"),
    // older servers do not say how large the window of a loaded model is
    read("/api/ps").catch(() => ({})),
  ]);
  const loaded = new Map(
    objects(running, "models").map((model) => [model["name"], integer(model["context_length"])]),
  );
  const names = objects(tags, "models").flatMap(({ name }) => (typeof name === "string" ? [name] : []));
  const found = await Promise.all(
    names.map(async (name, index): Promise<Found | undefined> => {
      if (index >= maxDetails) return { name };
      const shown = await read("/api/show", { model: name }).catch((): Fields => ({}));
      const abilities = Array.isArray(shown["capabilities"]) ? shown["capabilities"] : [];
      // a model that only embeds cannot talk
      if (abilities.length > 0 && !abilities.includes("completion")) return undefined;
      const { model_info: info, parameters } = shown;
      const most = Object.entries(isObject(info) ? info : {}).find(([key]) => /\.context_length$/.test(key));
      const set = /^num_ctx\s+(\d+)/m.exec(typeof parameters === "string" ? parameters : "")?.[1];
      const limit = integer(most?.[1]);
      const guess = limit === undefined ? undefined : Math.min(limit, usualWindow);
      const contextWindow = loaded.get(name) ?? integer(Number(set)) ?? guess;
      return {
        name,
        ...(contextWindow !== undefined && { contextWindow }),
        takesImages: abilities.includes("vision"),
        efforts: abilities.includes("thinking") ? levels : [],
      };
    }),
  );
  return found.filter((model) => model !== undefined);
}

export async function lmStudio(read: Read): Promise<Found[]> {
  const { data } = await read("/api/v0/models");
  return objects({ data }, "data").flatMap((model) => {
    const { id, type } = model;
    if (typeof id !== "string" || (type !== "llm" && type !== "vlm")) return [];
    const contextWindow = integer(model["loaded_context_length"]) ?? integer(model["max_context_length"]);
    return [{ name: id, ...(contextWindow !== undefined && { contextWindow }), takesImages: type === "vlm" }];
  });
}

/** It serves one model. Its port is popular with other programs, so only a window makes it a model server. */
export async function llamaCpp(read: Read): Promise<Found[]> {
  const [props, { data }] = await Promise.all([read("/props"), read("/v1/models")]);
  const settings = props["default_generation_settings"];
  const contextWindow = integer(isObject(settings) ? settings["n_ctx"] : undefined);
  if (contextWindow === undefined) return [];
  const { vision, audio } = isObject(props["modalities"]) ? props["modalities"] : {};
  return objects({ data }, "data").flatMap(({ id }) =>
    typeof id === "string"
      ? [{ name: id, contextWindow, takesImages: vision === true, takesAudio: audio === true }]
      : [],
  );
}

/** Other servers at its port do not say `max_model_len`. */
export async function vllm(read: Read): Promise<Found[]> {
  const { data } = await read("/v1/models");
  return objects({ data }, "data").flatMap(({ id, max_model_len: length }) => {
    const contextWindow = integer(length);
    return typeof id === "string" && contextWindow !== undefined ? [{ name: id, contextWindow }] : [];
  });
}

function objects(answer: Fields, name: string): Fields[] {
  const list = answer[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function integer(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value < 1e9 ? value : undefined;
}
