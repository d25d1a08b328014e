// Counts failed logins by address.

/** So many failures are answered with 401, further ones with 429. */
const maxFailures = 10;
const windowMs = 15 * 60_000;
/** The oldest are forgotten. */
const maxAddresses = 10_000;

interface Failures {
  count: number;
  readonly since: number;
}

export class FailedLogins {
  readonly #now: () => number;
  readonly #failures = new Map<string, Failures>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one failure. Returns after how many seconds the next try makes sense, or undefined below the limit. */
  add(address: string): number | undefined {
    const key = networkOf(address);
    const now = this.#now();
    const known = this.#failures.get(key);
    const failures = known !== undefined && now - known.since < windowMs ? known : { count: 0, since: now };
    failures.count++;
    this.#failures.delete(key);
    this.#failures.set(key, failures);
    for (const oldest of this.#failures.keys()) {
      if (this.#failures.size <= maxAddresses) break;
      this.#failures.delete(oldest);
    }
    return failures.count > maxFailures ? Math.ceil((failures.since + windowMs - now) / 1_000) : undefined;
  }
}

/** One user has 2^64 addresses of version 6. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":");
  if (tail !== undefined) while (groups.length < 4) groups.push("0");
  return groups.slice(0, 4).join(":");
}
