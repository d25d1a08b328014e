// The parts of the library that a tap needs. A file of its own, so that a bundle has no others.

export { groupMark, isMissingCommand, openOutput, ProcessGroup, splice } from "@parley/acp/internal/node";
