// What the user has answered with "always", for as long as there is the session: the history has it.

export interface Grant {
  /** What it is about: `run npm test`, `write /project/a.ts`, `host example.org`. */
  readonly subject: string;
  readonly allows: boolean;
}

export class Grants {
  readonly #answers = new Map<string, boolean>();

  remember(subjects: readonly string[], allows: boolean): void {
    for (const subject of subjects) this.#answers.set(subject, allows);
  }

  /** Allowed when every subject is, refused when one is; otherwise nobody knows yet. */
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
