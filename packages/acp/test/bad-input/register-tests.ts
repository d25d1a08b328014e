// Registers the bad inputs and the scenarios as tests of one role on one transport.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { BadInput } from "./bad-input.ts";
import { casesFor, linkOptions, type Selection } from "./catalogue.ts";
import type { Link, LinkOptions } from "./link.ts";
import { expectedOf, observe } from "./run-case.ts";
import { memoryOf, type Scenario, scenarios } from "./scenarios.ts";

export interface Direction extends Selection {
  readonly open: (options: LinkOptions) => Link | Promise<Link>;
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
          await withLink(direction, options, (link) => check(link, badInput, direction));
        } else {
          await pool.use(options, (link) => check(link, badInput, direction));
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

async function check(link: Link, badInput: BadInput, { role }: Direction): Promise<void> {
  if (badInput.closes === undefined) {
    assert.deepEqual(await observe(link, badInput), expectedOf(badInput, role));
    return;
  }
  for (const frame of badInput.send([])) link.send(frame);
  assert.equal((await link.ended).kind, badInput.closes);
  await assert.rejects(link.next(), new RegExp(String(badInput.closeCode ?? "")));
}

export function testScenarios(direction: Direction): void {
  const { transport, role, version } = direction;
  suite(`floods and ends from ${role === "agent" ? "a client" : "an agent"}, ${transport}`, () => {
    for (const scenario of scenarios.filter(
      ({ on, roles }) => on.includes(transport) && roles.includes(role),
    )) {
      test(`${scenario.ids.join(", ")}: ${scenario.name}`, limits, async () => {
        const options = { role, version, ...scenario.options };
        await withLink(direction, options, (link) => play(link, scenario, direction));
      });
    }
  });
}

async function play(link: Link, scenario: Scenario, { role }: Direction): Promise<void> {
  await scenario.run(link, role);
  if (scenario.closes === undefined) return;
  assert.equal((await link.ended).kind, scenario.closes);
}

async function withLink(
  { open }: Direction,
  options: LinkOptions,
  body: (link: Link) => Promise<void>,
): Promise<void> {
  const link = await open(options);
  try {
    await body(link);
  } finally {
    await link.close();
  }
}

/** Connections that live for many cases, one for each kind of options; a failed case does not spoil the next. */
function sharedLinks({ open }: Direction) {
  const links = new Map<string, Promise<Link>>();
  const usedAtFirst = new Map<Link, number>();
  return {
    /** How much more the subjects hold than before their first case; only a process of its own can tell. */
    async growth(): Promise<number[]> {
      const growths: number[] = [];
      for (const opening of links.values()) {
        const link = await opening;
        const memory = await memoryOf(link);
        if (memory !== undefined) growths.push(memory.usedBytes - (usedAtFirst.get(link) ?? 0));
      }
      return growths;
    },
    async use(options: LinkOptions, body: (link: Link) => Promise<void>): Promise<void> {
      const key = JSON.stringify(options);
      const opening = links.get(key) ?? Promise.resolve(open(options));
      links.set(key, opening);
      const link = await opening;
      if (!usedAtFirst.has(link)) usedAtFirst.set(link, (await memoryOf(link))?.usedBytes ?? 0);
      try {
        await body(link);
      } catch (error) {
        links.delete(key);
        await link.close();
        throw error;
      }
    },
    async close(): Promise<void> {
      for (const opening of links.values()) await (await opening).close();
    },
  };
}
