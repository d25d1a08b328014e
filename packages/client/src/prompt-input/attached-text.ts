// Text for the agent that the user did not write: plain data, for front ends too.

/** Text that the user did not write, with a name for whoever reads the transcript. */
export interface AttachedText {
  /** A few words, such as "the output of npm test". They are in `_meta` of the block, under "_parley.dev/name". */
  readonly name: string;
  /** The text, for the agent. */
  readonly text: string;
}
