// The names of the entries of kind "extension" that hosts write into a log.

/** A sentence of the host for the transcript. */
export const noticeEntry = "_parley.dev/notice";
/** The end of a turn: its result, how long it took, and what it changed. */
export const turnEntry = "_parley.dev/turn";
/** An answer that counts for the session. */
export const grantEntry = "_parley.dev/grant";
