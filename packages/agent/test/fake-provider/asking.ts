// Sends single requests to a model in provider tests.

import assert from "node:assert/strict";
import { type Model, ModelError, type ModelEvent, type ModelRequest } from "../../src/model/model.ts";
import type { RetryClock } from "../../src/model/retry.ts";
import { type ChooseOptions, chooseModel } from "../../src/providers/choose-model.ts";
import type { ProviderConfig } from "../../src/providers/provider-config.ts";
import { type Answer, type FakeProvider, fakeProvider } from "./fake-provider.ts";

/** Runs `use` with a fake provider. */
export async function withFake(
  answers: readonly Answer[],
  use: (fake: FakeProvider) => Promise<void>,
): Promise<void> {
  const fake = await fakeProvider(...answers);
  try {
    await use(fake);
    assert.deepEqual(fake.faults, []);
  } finally {
    await fake.close();
  }
}

/** A clock that records its waits and ends them at once. */
export interface TestClock extends RetryClock {
  readonly waits: number[];
}

export function testClock(now = 0, random = 0): TestClock {
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    random: () => random,
    wait: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
    },
  };
}

/** Options of a model that asks once. */
export function once(): ChooseOptions {
  return { clock: testClock(), retries: { attempts: 1 } };
}

/** The model `id` with its provider at `url`. */
export function modelAt(
  url: string,
  id: string,
  provider: ProviderConfig = {},
  options: ChooseOptions = { clock: testClock() },
): Model {
  const name = id.split("/")[0] ?? "";
  const config = { baseUrl: `${url}/v1`, apiKey: testKey, ...provider };
  const model = chooseModel({ model: id, providers: { [name]: config } }, {}, options);
  assert.ok(model);
  return model;
}

export const testKey = "sk-test-0123456789abcdef";

export function requestWith(given: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You are a test.",
    messages: [{ role: "user", content: [{ type: "text", text: "Hello" }] }],
    tools: [],
    effort: "none",
    maxTokens: undefined,
    signal: new AbortController().signal,
    ...given,
  };
}

export async function ask(model: Model, given: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(requestWith(given))) events.push(event);
  return events;
}

/** The events before the failure, and the failure. */
export async function askInVain(
  model: Model,
  given: Partial<ModelRequest> = {},
): Promise<{ readonly events: ModelEvent[]; readonly error: ModelError }> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of model.stream(requestWith(given))) events.push(event);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    return { events, error };
  }
  assert.fail(`no failure, but ${JSON.stringify(events)}`);
}

export function textOf(events: readonly ModelEvent[], type: "text" | "thinking" = "text"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("");
}

/** A promise and its resolver, so that a test and a server can take turns. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}
