// Keeps the order of what waits: one queue for each session in one direction, while something is held in it.

/** Something that waits for its turn. */
export interface Waiting {
  readonly kind: "request" | "notification" | "answer";
  readonly session: string | undefined;
  /** In characters. */
  readonly size: number;
  /** Withdrawn while it waited. */
  readonly isOver: boolean;
  run(): void;
}

/** What an entry costs beside its text, as characters. */
const charsPerEntry = 256;

/**
 * A queue behind what is held. Answers overtake requests, which may wait for a person; but never a notification that came
 * before them: that one goes first.
 */
class Lane {
  /** Held, or being opened: what follows waits for them. */
  readonly occupants = new Set<Waiting>();
  /** The requests of the queue: a cancel looks at them alone. */
  readonly requests = new Set<Waiting>();
  /** How many answers are in the queue. */
  #answers = 0;
  #queue: Waiting[] = [];
  /** The next of the queue: a queue that is cut at its head costs its length. */
  #next = 0;

  get waiting(): readonly Waiting[] {
    return this.#queue.slice(this.#next);
  }

  get isOver(): boolean {
    return this.occupants.size === 0 && this.#next >= this.#queue.length;
  }

  add(item: Waiting): void {
    this.#queue.push(item);
    if (item.kind === "request") this.requests.add(item);
    else if (item.kind === "answer") this.#answers += 1;
  }

  /** Takes the next one that need not wait. */
  take(): Waiting | undefined {
    const item = this.#taken();
    if (item?.kind === "request") this.requests.delete(item);
    else if (item?.kind === "answer") this.#answers -= 1;
    return item;
  }

  #taken(): Waiting | undefined {
    if (this.#next >= this.#queue.length) return undefined;
    if (this.occupants.size === 0) {
      const item = this.#queue[this.#next++];
      if (this.#next < this.#queue.length) return item;
      this.#queue = [];
      this.#next = 0;
      return item;
    }
    if (this.#answers === 0) return undefined;
    for (const { kind } of this.occupants) if (kind === "notification") return undefined;
    const { waiting } = this;
    const at = waiting.findIndex(({ kind }) => kind !== "request");
    this.#queue = waiting.toSpliced(at, 1);
    this.#next = 0;
    return waiting[at];
  }
}

/** The lanes of one direction. */
export class Lanes {
  readonly #lanes = new Map<string | undefined, Lane>();
  /** Holds everything while the connection is being opened, and until what waited has gone on. */
  #barrier: Lane | undefined;
  readonly #held: (chars: number) => void;

  /** `held` is told how many characters more, or fewer, wait. */
  constructor(held: (chars: number) => void) {
    this.#held = held;
  }

  /** Whether nothing waits. */
  get isFree(): boolean {
    return this.#lanes.size === 0 && this.#barrier === undefined;
  }

  /** What is held and what waits in a session. */
  *requestsIn(session: string | undefined): Iterable<Waiting> {
    const lane = this.#barrier ?? this.#lanes.get(session);
    for (const item of lane?.occupants ?? []) if (item.session === session) yield item;
    for (const item of lane?.requests ?? []) if (item.session === session) yield item;
  }

  /** Runs it now, or in its turn. */
  enter(item: Waiting): void {
    const lane = this.isFree ? undefined : (this.#barrier ?? this.#lanes.get(item.session));
    if (lane === undefined) return item.run();
    this.#add(lane, item);
  }

  #add(lane: Lane, item: Waiting): void {
    lane.add(item);
    this.#held(item.size + charsPerEntry);
    if (item.kind === "answer") this.#run(lane);
  }

  /** What comes later in the session waits until the item leaves. */
  occupy(item: Waiting): void {
    const lane = this.#lanes.get(item.session) ?? new Lane();
    if (lane.occupants.has(item)) return;
    this.#lanes.set(item.session, lane);
    lane.occupants.add(item);
    this.#held(item.size);
  }

  /** Everything that comes later waits until the item leaves. */
  occupyAll(item: Waiting): void {
    this.#barrier ??= new Lane();
    this.#barrier.occupants.add(item);
    this.#held(item.size);
  }

  leave(item: Waiting): void {
    const barrier = this.#barrier;
    if (barrier?.occupants.delete(item)) {
      this.#held(-item.size);
      this.#readmit(barrier);
    }
    const lane = this.#lanes.get(item.session);
    if (!lane?.occupants.delete(item)) return;
    this.#held(-item.size);
    this.#run(lane);
    if (lane.isOver && this.#lanes.get(item.session) === lane) this.#lanes.delete(item.session);
  }

  /** What comes meanwhile waits behind the rest. One of them may open the connection again. */
  #readmit(barrier: Lane): void {
    for (let item = barrier.take(); item !== undefined; item = barrier.take()) {
      this.#held(-item.size - charsPerEntry);
      if (item.isOver) continue;
      const lane = this.#lanes.get(item.session);
      if (lane === undefined) item.run();
      else this.#add(lane, item);
    }
    if (barrier.isOver) this.#barrier = undefined;
  }

  #run(lane: Lane): void {
    for (let item = lane.take(); item !== undefined; item = lane.take()) {
      this.#held(-item.size - charsPerEntry);
      if (!item.isOver) item.run();
    }
  }
}
