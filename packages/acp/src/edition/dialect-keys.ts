// The keys of `_meta` that carry what only dialects can say, in the shapes of version 1 and in the model.

/** Of `authenticate`: the credentials of a login, by name. Never stored, traced or logged. */
export const credentialsKey = "_parley.dev/credentials";
/** Of the answer to `authenticate`: when the login ends (RFC 3339). */
export const expiresAtKey = "_parley.dev/expiresAt";
/** Of the answer to `initialize`: the options that sessions begin with, as version 1 writes them. */
export const sessionOptionsKey = "_parley.dev/sessionOptions";
/** Of a client's capabilities: the capabilities of the dialect as they came, such as `ui` and `fs.watch`. */
export const capabilitiesKey = "_parley.dev/capabilities";
/** Of `session/load`: true where the request has no working directory, and the stored one counts. Of its answer: that one. */
export const storedCwdKey = "_parley.dev/storedCwd";
/** Of an option, and of a request that sets it: the value, which is JSON of any type. */
export const valueKey = "_parley.dev/value";
/** Of a permission request: `{ operation, resource, reason? }`. */
export const operationKey = "_parley.dev/operation";
/** Of `terminal/create` and `terminal/wait_for_exit`: a limit in milliseconds. */
export const timeoutKey = "_parley.dev/timeoutMs";
/** Of the answer to `terminal/wait_for_exit`: true where the limit ended the wait. */
export const timedOutKey = "_parley.dev/timedOut";
/** Of the answer to `terminal/create`: the id of the process. */
export const pidKey = "_parley.dev/pid";
/** Of `terminal/kill`: the signal, such as "SIGINT". */
export const signalKey = "_parley.dev/signal";
/** Of `fs/read_text_file` and `fs/write_text_file`: the encoding, such as "base64". Of the answer: the encoding of the content. */
export const encodingKey = "_parley.dev/encoding";
/** Of `fs/write_text_file`: false where a file that exists must not be replaced. */
export const overwriteKey = "_parley.dev/overwrite";
/** Of `fs/write_text_file`: false where missing directories must not be made. */
export const createDirectoriesKey = "_parley.dev/createDirectories";
/** Of the answers to both: what the dialect adds, such as `totalLines`, `truncated`, `bytesWritten` and `created`. */
export const fileFactsKey = "_parley.dev/fileFacts";
/** Of an update and its parts: what the dialect adds, such as `timestamp`, `duration`, `visible`, columns and step ids. */
export const detailsKey = "_parley.dev/details";

/** A notification of a client to an agent: more output of a terminal, `{ terminalId, data, stream? }`. */
export const terminalOutputMethod = "_parley.dev/terminal_output";
/** Of the answer to `terminal/create`: true where the output comes by such notifications. */
export const pushesOutputKey = "_parley.dev/pushesOutput";
