// For tests: a link to a session host that is slow, carries JSON only, and is cut at random.

import { ConnectionError } from "@parley/acp";
import type {
  CommandKind,
  CommandOf,
  OutcomeOf,
  SessionLink,
  Tail,
  TailEvent,
} from "@parley/client/conversation";

export interface CutLinkOptions {
  /** Repeats the same delays and cuts. */
  readonly seed: number;
  /** How often a message is lost with the connection: one of so many. */
  readonly oneOf?: number;
  /** Counts the cuts. */
  readonly onCut?: () => void;
}

/** What is under way on a connection arrives in order, or not at all. */
class Connection {
  readonly #random: () => number;
  readonly #oneOf: number;
  readonly #ended: () => void;
  readonly #listeners = new Set<() => void>();
  #isCut = false;
  #last: Promise<void> = Promise.resolve();

  constructor(random: () => number, oneOf: number, ended: () => void) {
    this.#random = random;
    this.#oneOf = oneOf;
    this.#ended = ended;
  }

  onCut(listener: () => void): void {
    if (this.#isCut) listener();
    else this.#listeners.add(listener);
  }

  carry(value: unknown, arrived: (value: unknown) => void): void {
    const text = JSON.stringify(value);
    const cuts = this.#random() * this.#oneOf < 1;
    const turns = Math.floor(this.#random() * 4);
    this.#last = this.#last.then(async () => {
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      if (this.#isCut) return;
      if (cuts) this.#cut();
      else arrived(text === undefined ? undefined : JSON.parse(text));
    });
  }

  #cut(): void {
    this.#isCut = true;
    this.#ended();
    for (const listener of this.#listeners) listener();
  }
}

/** Commands, outcomes and events wait for a moment, and each of them may be lost with the connection. */
export function cutLink(
  host: SessionLink,
  { seed, oneOf = 12, onCut = () => undefined }: CutLinkOptions,
): SessionLink {
  const random = randomNumbers(seed);
  let connection: Connection | undefined;
  const connected = (): Connection => {
    connection ??= new Connection(random, oneOf, () => {
      connection = undefined;
      onCut();
    });
    return connection;
  };
  return {
    submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<OutcomeOf<Kind>> {
      const { promise, resolve, reject } = Promise.withResolvers<OutcomeOf<Kind>>();
      const current = connected();
      current.onCut(() => reject(new ConnectionError("closed", "the link was cut")));
      current.carry(command, (received) => {
        // as: what a command and its outcome are after their way through JSON
        host.submit(received as CommandOf<Kind>).then(
          (outcome) => current.carry(outcome, (back) => resolve(back as OutcomeOf<Kind>)),
          (error: unknown) =>
            current.carry(error instanceof Error ? error.message : String(error), (message) =>
              reject(new Error(String(message))),
            ),
        );
      });
      return promise;
    },
    tail(cursor, listener): Tail {
      const current = connected();
      let tail: Tail | undefined;
      let hasStopped = false;
      const stop = () => {
        hasStopped = true;
        tail?.stop();
      };
      current.onCut(() => {
        const wasStopped = hasStopped;
        stop();
        if (!wasStopped) listener({ kind: "cut" });
      });
      current.carry(cursor ?? null, (received) => {
        if (hasStopped) return;
        tail = host.tail(typeof received === "string" ? received : undefined, (event) =>
          current.carry(event, (arrived) => {
            if (!hasStopped) listener(arrived as TailEvent); // as above
          }),
        );
      });
      return { hold: (isBehind) => tail?.hold(isBehind), stop };
    },
  };
}

function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
