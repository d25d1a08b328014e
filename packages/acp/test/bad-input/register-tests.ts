// Registers the bad inputs and the scenarios as tests of one role on one transport.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { BadInput } from "./bad-input.ts";
import { casesFor, linkOptions, type Selection } from "./catalogue.ts";
import { expectedOf, observe } from "./run-case.ts";
import { memoryOf, type Scenario, scenarios } from "./scenarios.ts";
import type { LinkOptions, Wire } from "./wire.ts";

export interface Direction extends Selection {
  readonly open: (options: LinkOptions) => Wire | Promise<Wire>;
  /** One connection for all cases that need none of their own, because opening one costs a process. Default false. */
  readonly shared?: boolean;
}

const limits = { timeout: 60_000 };

export function testCatalogue(direction: Direction): void {
  const { transport, role, version, shared = false } = direction;
  suite(`bad input from ${role === "agent" ? "a client" : "an agent"}, version ${version}, ${transport}`, () => {
    const pool = shared ? sharedLinks(direction) : undefined;
    if (pool !== undefined) after(() => pool.close());
    for (const badInput of casesFor(direction)) {
      test(`${badInput.ids.join(", ")}: ${badInput.name}`, limits, async () => {
        const options = linkOptions(badInput, direction);
        if (badInput.closes !== undefined || badInput.first || pool === undefined) {
          await withLink(direction, options, (wire) => check(wire, badInput, direction));
        } else {
          await pool.use(options, (wire) => check(wire, badInput, direction));
        }
      });
    }
    if (pool === undefined) return;
    test("after all that, memory is back to within 8 MiB", limits, async () => {
      for (const grown of await pool.growth())
        assert.ok(grown <= 8 * 1024 * 1024, `${grown} bytes more are held`);
    });
  });
}

async function check(wire: Wire, badInput: BadInput, { role }: Direction): Promise<void> {
  if (badInput.closes === undefined) {
    assert.deepEqual(await observe(wire, badInput), expectedOf(badInput, role));
    return;
  }
  for (const frame of badInput.send([])) wire.send(frame);
  assert.equal((await wire.ended).kind, badInput.closes);
  await assert.rejects(wire.next(), new RegExp(String(badInput.closeCode ?? "")));
}

export function testScenarios(direction: Direction): void {
  const { transport, role, version } = direction;
  suite(`floods and ends from ${role === "agent" ? "a client" : "an agent"}, ${transport}`, () => {
    for (const scenario of scenarios.filter(
      ({ on, roles }) => on.includes(transport) && roles.includes(role),
    )) {
      test(`${scenario.ids.join(", ")}: ${scenario.name}`, limits, async () => {
        const options = { role, version, ...scenario.options };
        await withLink(direction, options, (wire) => play(wire, scenario, direction));
      });
    }
  });
}

async function play(wire: Wire, scenario: Scenario, { role }: Direction): Promise<void> {
  await scenario.run(wire, role);
  if (scenario.closes === undefined) return;
  assert.equal((await wire.ended).kind, scenario.closes);
}

async function withLink(
  { open }: Direction,
  options: LinkOptions,
  body: (wire: Wire) => Promise<void>,
): Promise<void> {
  const wire = await open(options);
  try {
    await body(wire);
  } finally {
    await wire.close();
  }
}

/** Connections that live for many cases, one for each kind of options; a failed case does not spoil the next. */
function sharedLinks({ open }: Direction) {
  const wires = new Map<string, Promise<Wire>>();
  const usedAtFirst = new Map<Wire, number>();
  return {
    /** How much more the subjects hold than before their first case; only a process of its own can tell. */
    async growth(): Promise<number[]> {
      const growths: number[] = [];
      for (const opening of wires.values()) {
        const wire = await opening;
        const memory = await memoryOf(wire);
        if (memory !== undefined) growths.push(memory.usedBytes - (usedAtFirst.get(wire) ?? 0));
      }
      return growths;
    },
    async use(options: LinkOptions, body: (wire: Wire) => Promise<void>): Promise<void> {
      const key = JSON.stringify(options);
      const opening = wires.get(key) ?? Promise.resolve(open(options));
      wires.set(key, opening);
      const wire = await opening;
      if (!usedAtFirst.has(wire)) usedAtFirst.set(wire, (await memoryOf(wire))?.usedBytes ?? 0);
      try {
        await body(wire);
      } catch (error) {
        wires.delete(key);
        await wire.close();
        throw error;
      }
    },
    async close(): Promise<void> {
      for (const opening of wires.values()) await (await opening).close();
    },
  };
}
