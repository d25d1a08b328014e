// The error of a scenario that cannot be played.

/** A scenario with a mistake. The message says what was expected. */
export class ScenarioError extends Error {
  /** Always "ScenarioError". */
  override readonly name = "ScenarioError";
  /** The location of the mistake, such as `$.turns[0].steps[2].say`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.path = path;
  }
}
