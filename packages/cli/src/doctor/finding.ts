// What the doctor finds.

export interface Finding {
  /** What it is about: `node`, `config`, `agent claude`. */
  readonly what: string;
  /** `missing` is no illness: something that could be there and is not. */
  readonly state: "ok" | "missing" | "warning" | "broken";
  readonly detail: string;
  /** What to do, where something is to be done. */
  readonly todo?: string;
}
