// All names that Parley adds. docs/extensions.md is made of these comments: meaning, place, sender and reader, version, value.

/**
 * Takes a session from the connection that has it.
 *
 * In `_meta` of `session/load` and `session/resume`, from clients to agents, since 0.1.0: `true`.
 */
export const takeoverKey = "_parley.dev/takeover";

/**
 * Names the message of the user before which a fork ends: the copy has what came before it. An agent that can do this says so
 * with `true` under the same name in the `_meta` of its capability `session.fork`.
 *
 * In `_meta` of `session/fork`, from clients to agents, since 0.1.0: the id of the message.
 */
export const forkBeforeKey = "_parley.dev/forkBefore";

/**
 * Tells a client that another one has its session now. Before it, the session is `idle` with this name in its `_meta`.
 *
 * A notification, from agents to clients, since 0.1.0: `{ sessionId }`.
 */
export const takenMethod = "_parley.dev/session_taken";

/**
 * Lists what was lost in a translation, in sentences for people.
 *
 * In `_meta` of updates, answers and requests, from relays to both sides, since 0.1.0: a list of texts.
 */
export const lostKey = "_parley.dev/lost";

/**
 * Holds the fields of an object that the protocol does not have, as a relay or an agent passes them on.
 *
 * In `_meta` of every object, from relays and agents to both sides, since 0.1.0: an object.
 */
export const extraKey = "_parley.dev/extra";

/**
 * Holds the custom data of the notification that carried an update, where the two become one.
 *
 * In `_meta` of updates that are stored or translated, from both sides to stores and relays, since 0.1.0: an object.
 */
export const notificationKey = "_parley.dev/notification";

/**
 * Counts the messages that have arrived over a WebSocket, so that another socket can go on where this one was cut. It is
 * the first frame of a socket, an acknowledgement and a heartbeat.
 *
 * A notification, from both sides of a WebSocket to each other, since 0.1.0: `{ received, connectionId?, graceMs? }`.
 */
export const resumeMethod = "_parley.dev/resume";

/**
 * Says that the server ends the connection on purpose, and why.
 *
 * A notification, from HTTP servers to their clients, since 0.1.0: `{ reason }`.
 */
export const closedMethod = "_parley.dev/closed";

/**
 * Asks a server for an answer on the stream of a session, behind the history of the session. The server answers it
 * itself. It is sent only to servers that announced `Parley-Resume`.
 *
 * A request, from HTTP clients to servers, since 0.1.0: `{ sessionId }`.
 */
export const settledMethod = "_parley.dev/settled";

/**
 * Asks the client about effects that the agent's mode allows. A client requests it by this name in the `_meta`
 * of its capabilities.
 *
 * A request, from agents to clients, since 0.1.0: `{ sessionId, effects, search? }`.
 */
export const vetoMethod = "_parley.dev/veto";

/**
 * Says that the client decides about the settings of the workspace, and names the servers that may be used.
 *
 * In `_meta` of `session/new` and its siblings, from clients to agents, since 0.1.0: `"client"`.
 */
export const trustKey = "_parley.dev/trust";

/**
 * Says that the client follows changes of files itself, and takes them back.
 *
 * In `_meta` of the client's capabilities, from clients to agents, since 0.1.0: `true`.
 */
export const reviewKey = "_parley.dev/review";

/**
 * Reports a pause before a request to the model is repeated, and its end. A client that shows pauses says so by this name
 * in the `_meta` of its capabilities.
 *
 * In `_meta` of the client's capabilities and of updates, from both sides to each other, since 0.1.0: `true`, or `{ attempt, of, delayMs, reason }` and `null` at the end.
 */
export const retryKey = "_parley.dev/retry";

/**
 * Says how many characters of the text before an update are void.
 *
 * In `_meta` of updates, from agents to clients, since 0.1.0: a number.
 */
export const withdrawnKey = "_parley.dev/withdrawn";

/**
 * Holds the share of the turn's input tokens that came from the cache of the provider, from 0 to 1.
 *
 * In `_meta` of `usage_update`, from agents to clients, since 0.1.0: a number.
 */
export const cachedShareKey = "_parley.dev/cachedShare";

/**
 * Counts the messages that a summary of the conversation has kept.
 *
 * In `_meta` of the update with the summary, from agents to their own history, since 0.1.0: a number.
 */
export const keptMessagesKey = "_parley.dev/keptMessages";

/**
 * Says how many tokens older messages of the user could take when the conversation was summarised.
 *
 * In `_meta` of the update with the summary, from agents to their own history, since 0.1.0: a number.
 */
export const keptRequestTokensKey = "_parley.dev/keptRequestTokens";

/**
 * Names the subjects that an answer "always" covers.
 *
 * In `_meta` of an option of a permission request, from agents to their own history, since 0.1.0: a list.
 */
export const remembersKey = "_parley.dev/remembers";

/**
 * Names the modes in which the agent would not ask.
 *
 * In `_meta` of an option of a permission request, from agents to clients, since 0.1.0: a list of mode ids.
 */
export const modesKey = "_parley.dev/modes";

/**
 * Holds what the user wrote with a refusal.
 *
 * In `_meta` of the answer to a permission request, from clients to agents, since 0.1.0: a text.
 */
export const saidKey = "_parley.dev/said";

/**
 * Says who or what refused a call, where that was not the user.
 *
 * In `_meta` of the answer to a permission request, from clients to agents, since 0.1.0: a text.
 */
export const refusalKey = "_parley.dev/refusal";

/**
 * Says how far an answer reaches.
 *
 * In `_meta` of the answer to a permission request, from clients to agents and histories, since 0.1.0: a text such as `"session"`.
 */
export const scopeKey = "_parley.dev/scope";

/**
 * Names the rule that an answer follows or makes.
 *
 * In `_meta` of the answer to a permission request, from clients to agents and histories, since 0.1.0: a text.
 */
export const ruleKey = "_parley.dev/rule";

/**
 * Asks a client with a sandbox to run a command outside of it.
 *
 * In `_meta` of `terminal/create`, from agents to clients, since 0.1.0: `"off"`.
 */
export const sandboxKey = "_parley.dev/sandbox";

/**
 * Names text in a prompt that the user did not write.
 *
 * In `_meta` of a content block, from clients to agents and histories, since 0.1.0: a text.
 */
export const nameKey = "_parley.dev/name";

/**
 * Says whose configuration names an MCP server.
 *
 * In `_meta` of an MCP server of `session/new` and its siblings, from clients to agents, since 0.1.0: `"user"` or `"workspace"`.
 */
export const originKey = "_parley.dev/origin";

/**
 * Holds the credentials of a login, by name. They are never stored, traced or logged.
 *
 * In `_meta` of `authenticate` and `auth/login`, from clients to dialects, since 0.1.0: an object.
 */
export const credentialsKey = "_parley.dev/credentials";

/**
 * Says when a login ends.
 *
 * In `_meta` of the answer to `authenticate`, from agents to dialects, since 0.1.0: a time of RFC 3339.
 */
export const expiresAtKey = "_parley.dev/expiresAt";

/**
 * Lists the options that sessions begin with, as version 1 writes them.
 *
 * In `_meta` of the answer to `initialize`, from agents to dialects, since 0.1.0: a list.
 */
export const sessionOptionsKey = "_parley.dev/sessionOptions";

/**
 * Holds the capabilities of a client as its dialect wrote them, such as `ui` and `fs.watch`.
 *
 * In `_meta` of the client's capabilities, from dialects to agents, since 0.1.0: an object.
 */
export const capabilitiesKey = "_parley.dev/capabilities";

/**
 * Says that a request has no working directory, and that the stored one counts. The answer holds that one.
 *
 * In `_meta` of `session/load` and of its answer, from dialects and agents to each other, since 0.1.0: `true`, or a path in the answer.
 */
export const storedCwdKey = "_parley.dev/storedCwd";

/**
 * Holds the value of an option whose value may be any JSON.
 *
 * In `_meta` of an option and of a request that sets it, from both sides to each other, since 0.1.0: any JSON.
 */
export const valueKey = "_parley.dev/value";

/**
 * Says what a permission request is about.
 *
 * In `_meta` of a permission request, from agents to clients, since 0.1.0: `{ operation, resource, reason? }`.
 */
export const operationKey = "_parley.dev/operation";

/**
 * Limits how long a command may run, or how long its end is waited for.
 *
 * In `_meta` of `terminal/create` and `terminal/wait_for_exit`, from agents to clients, since 0.1.0: milliseconds.
 */
export const timeoutKey = "_parley.dev/timeoutMs";

/**
 * Says that the limit ended the wait.
 *
 * In `_meta` of the answer to `terminal/wait_for_exit`, from clients to agents, since 0.1.0: `true`.
 */
export const timedOutKey = "_parley.dev/timedOut";

/**
 * Holds the id of the process of a terminal.
 *
 * In `_meta` of the answer to `terminal/create`, from clients to agents, since 0.1.0: a number.
 */
export const pidKey = "_parley.dev/pid";

/**
 * Names the signal to send.
 *
 * In `_meta` of `terminal/kill`, from agents to clients, since 0.1.0: a text such as `"SIGINT"`.
 */
export const signalKey = "_parley.dev/signal";

/**
 * Names the encoding of the content of a file.
 *
 * In `_meta` of `fs/read_text_file`, `fs/write_text_file` and their answers, from both sides to each other, since 0.1.0: a text such as `"base64"`.
 */
export const encodingKey = "_parley.dev/encoding";

/**
 * Says that a file that exists must not be replaced.
 *
 * In `_meta` of `fs/write_text_file`, from agents to clients, since 0.1.0: `false`.
 */
export const overwriteKey = "_parley.dev/overwrite";

/**
 * Says that missing directories must not be made.
 *
 * In `_meta` of `fs/write_text_file`, from agents to clients, since 0.1.0: `false`.
 */
export const createDirectoriesKey = "_parley.dev/createDirectories";

/**
 * Holds what a dialect adds to the answer about a file, such as `totalLines`, `truncated`, `bytesWritten` and `created`.
 *
 * In `_meta` of the answers to `fs/read_text_file` and `fs/write_text_file`, from clients to dialects, since 0.1.0: an object.
 */
export const fileFactsKey = "_parley.dev/fileFacts";

/**
 * Holds what a dialect adds to an update and its parts, such as `timestamp`, `duration`, `visible`, columns and step ids.
 *
 * In `_meta` of updates and answers, from dialects to both sides, since 0.1.0: an object.
 */
export const detailsKey = "_parley.dev/details";

/**
 * Carries more output of a terminal.
 *
 * A notification, from clients to agents, since 0.1.0: `{ terminalId, data, stream? }`.
 */
export const terminalOutputMethod = "_parley.dev/terminal_output";

/**
 * Says that the output of a terminal comes by `_parley.dev/terminal_output`.
 *
 * In `_meta` of the answer to `terminal/create`, from clients to agents, since 0.1.0: `true`.
 */
export const pushesOutputKey = "_parley.dev/pushesOutput";

/**
 * Asks an MCP server that the agent hosts. The agent names its servers by the same name in the `_meta` of its capabilities:
 * `{ servers }`. The answer is `{ result }`, or `{ error }` where the server refused.
 *
 * A request, from clients to agents, since 0.1.0: `{ serverName, mcpMethod, mcpParams? }`.
 */
export const mcpMethod = "_parley.dev/mcp";

/**
 * The session of a request to an MCP server of this program, for servers that several sessions share. Agents cannot set it.
 *
 * In `_meta` of requests of MCP, from `@parley/mcp` to servers in the same process, since 0.1.0: the id of the session.
 */
export const sessionKey = "_parley.dev/session";

/**
 * Opens a gate of a scripted agent, at which a step of its scenario waits.
 *
 * A notification, from clients to scripted agents, since 0.1.0: `{ gate }`.
 */
export const openMethod = "_parley.dev/open";

/**
 * Reads one of these keys in `_meta`. Versions before 0.1.0 wrote most of them without the underscore; that spelling is
 * read until 2.0.
 *
 * @param meta The `_meta` of an object, if it has one.
 * @param key The key.
 * @returns The value, which is whatever the peer sent; undefined without one.
 * @example
 * import { extensionIn, takeoverKey } from "@parley/acp/extensions";
 *
 * export const takesOver = extensionIn({ [takeoverKey]: true }, takeoverKey) === true;
 */
export function extensionIn(
  meta: Readonly<Record<string, unknown>> | null | undefined,
  key: `_parley.dev/${string}`,
): unknown {
  if (meta === undefined || meta === null) return undefined;
  return meta[Object.hasOwn(meta, key) ? key : key.slice(1)];
}

/**
 * Names a sentence of a session's host for the transcript.
 *
 * In entries of kind `extension`, from hosts to their logs and front ends, since 0.1.0: `{ level, text }`.
 */
export const noticeEntry = "_parley.dev/notice";

/**
 * Names the end of a turn: how it ended, how long it took, and what it changed.
 *
 * In entries of kind `extension`, from hosts to their logs and front ends, since 0.1.0: `{ result, durationMs, changed? }`.
 */
export const turnEntry = "_parley.dev/turn";

/**
 * Names a rewind of a session: the session that it left, or the one that went on in its place.
 *
 * In entries of kind `extension`, from hosts to their logs and front ends, since 0.1.0: `{ from?, to?, memory?, undone? }`.
 */
export const rewindEntry = "_parley.dev/rewind";

/**
 * Names an answer of the user that counts for the session, or the id of one that counts no more.
 *
 * In entries of kind `extension`, from hosts to their logs, since 0.1.0: `{ session, id, effect, ... }` or `{ revoke }`.
 */
export const grantEntry = "_parley.dev/grant";

/**
 * Says that a proxy decides what is allowed. A conductor never goes on without it, and lets nothing pass when it fails.
 *
 * In `_meta` of the answer to `proxy/initialize`, from proxies to conductors, since 0.1.0: `true`.
 */
export const policyKey = "_parley.dev/policy";

/** The fields of `_meta` without one of these keys, in both of its spellings. */
export function withoutExtension(
  meta: Readonly<Record<string, unknown>>,
  key: `_parley.dev/${string}`,
): Record<string, unknown> {
  const { [key]: _, [key.slice(1)]: older, ...rest } = meta;
  return rest;
}
