// Remembers the user's "always" and "never" answers for the session.

export interface Grant {
  /** For example `run npm test`, `write /project/a.ts`, `host example.org`. */
  readonly subject: string;
  readonly allows: boolean;
}

export class Grants {
  readonly #answers = new Map<string, boolean>();

  remember(subjects: readonly string[], allows: boolean): void {
    for (const subject of subjects) this.#answers.set(subject, allows);
  }

  /** True when every subject is allowed, false when one is refused, else undefined. */
  answerFor(subjects: readonly string[]): boolean | undefined {
    const answers = subjects.map((subject) => this.#answers.get(subject));
    if (answers.includes(false)) return false;
    return answers.length > 0 && answers.every((answer) => answer === true) ? true : undefined;
  }

  list(): Grant[] {
    return Array.from(this.#answers, ([subject, allows]) => ({ subject, allows }));
  }

  clear(): void {
    this.#answers.clear();
  }
}
