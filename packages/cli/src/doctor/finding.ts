// The type of a check result.

export interface Finding {
  /** What was checked: `node`, `config`, `agent claude`. */
  readonly what: string;
  /** `missing` is optional and not a problem. */
  readonly state: "ok" | "missing" | "warning" | "broken";
  readonly detail: string;
  /** How to fix it. */
  readonly todo?: string;
}
