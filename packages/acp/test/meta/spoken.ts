// Sets and reads the custom data of every message by the API: an agent and a client in memory, without a relay.

import { agent, client, type Edition, type OutgoingUpdate, type SessionUpdate } from "../../src/index.ts";
import { memoryPair } from "../../src/transport.ts";
import { type Place, placesIn, samplesOf } from "./canaries.ts";

type Json = Record<string, unknown>;

const meta = (place: Place): Json => ({ [place]: "canary" });

/** What was set, by place, and what the other side read. */
export interface SpokenPlaces {
  readonly sent: ReadonlySet<Place>;
  readonly got: ReadonlySet<Place>;
}

/** The messages that have custom data of their own: `METHOD` for a request or notification, `METHOD result` for an answer. */
export async function spokenMessages(edition: Edition): Promise<SpokenPlaces> {
  const sent = new Set<Place>();
  const got = new Set<Place>();
  const set = (place: Place): { _meta: Json } => {
    sent.add(place);
    return { _meta: meta(place) };
  };
  const read = (value: unknown): void => {
    for (const place of placesIn(value)) got.add(place);
  };
  const isV1 = edition === "v1";
  const [near, far] = memoryPair();
  const answer = (request: { setResultMeta(meta: Json): void; _meta?: object } | undefined, place: Place) => {
    read(request?._meta);
    request?.setResultMeta(set(place)._meta);
  };
  const login = isV1 ? "authenticate" : "auth/login";
  const logout = isV1 ? "logout" : "auth/logout";
  const listed = set("session/list result.sessions[]");
  const served = agent({
    name: "a",
    version: "1",
    editions: [edition],
    unstable: "*",
    ...set("initialize result.capabilities"),
    handshakeMeta: {
      initialize: set("initialize result")._meta,
      info: set("initialize result.info")._meta,
      parts: { "session.prompt": set("initialize result.capabilities.session.prompt")._meta },
    },
    auth: {
      methods: [{ type: "agent", methodId: "m", name: "M", ...set("initialize result.authMethods[]") }],
      login: (_methodId, request) => answer(request, `${login} result`),
      logout: (request) => answer(request, `${logout} result`),
      status(request) {
        // asked for by the agent itself, too, for its own report
        const place = request._meta === undefined ? "auth/status_update" : "auth/status result";
        read(request._meta);
        return { state: "authenticated", accounts: [{ label: "A", ...set("account") }], ...set(place) };
      },
    },
    providers: {
      list(request) {
        answer(request, "providers/list result");
        const current = {
          apiType: "openai" as const,
          baseUrl: "https://example.com",
          ...set("provider setting"),
        };
        return [{ providerId: "p", supported: ["openai"], required: false, current, ...set("provider") }];
      },
      set: (_setting, request) => answer(request, "providers/set result"),
      disable: (_providerId, request) => answer(request, "providers/disable result"),
    },
    session: {
      open(session, info) {
        read([info._meta, session._meta, session.mcpServers]);
        const method = { new: "new", load: isV1 ? "load" : "resume", resume: "resume", fork: "fork" }[
          info.origin
        ];
        info.setResultMeta(set(`session/${method} result`)._meta);
        session.setConfigOptions([
          {
            configId: "mode",
            name: "Mode",
            category: "mode",
            currentValue: "a",
            options: ["a", "b"].map((value) => ({ value, name: value, ...set("config option value") })),
            ...set("config option"),
          },
        ]);
      },
      close: (_session, request) => answer(request, "session/close result"),
      onList(sessions, request) {
        answer(request, "session/list result");
        return sessions.map((session) => ({ ...session, ...listed }));
      },
      onDelete: (_sessionId, request) => answer(request, "session/delete result"),
      onArchive: (_sessionId, request) => answer(request, "session/archive result"),
      onUnarchive: (_sessionId, request) => answer(request, "session/unarchive result"),
      onStatus: (_sessionId, request) => answer(request, "session/status result"),
      onSetTitle: (_sessionId, _title, request) => answer(request, "session/set_title result"),
      setConfigOption: (_session, _configId, _value, request) =>
        answer(request, "session/set_config_option result"),
    },
    async prompt(turn) {
      read(turn._meta);
      read(
        await turn.elicit({
          mode: "form",
          message: "?",
          requestedSchema: { type: "object", properties: {} },
          ...set("elicitation/create"),
        }),
      );
      await turn.elicit({ mode: "url", message: "?", elicitationId: "e", url: "https://example.com/x" });
      turn.session.completeElicitation("e", set("elicitation/complete"));
      await turn.requestPermission({
        title: "May I?",
        ...set("session/request_permission"),
        onAnswer: (_option, given) => read(given),
      });
      const { files, terminals } = turn.client;
      await files?.readText("/w/a", set("fs/read_text_file"));
      await files?.writeText("/w/a", "x", set("fs/write_text_file"));
      const terminal = await terminals?.create({ command: "true", ...set("terminal/create") });
      read(await terminal?.output());
      read(await terminal?.waitForExit());
      await terminal?.release();
      return { stopReason: "end_turn", ...set("session/prompt result") };
    },
  }).connect(far);
  const terminalHandle = {
    terminalId: "t",
    output: async () => ({ output: "", truncated: false, ...set("terminal/output result") }),
    waitForExit: async () => ({ exitCode: 0, ...set("terminal/wait_for_exit result") }),
    kill: async () => undefined,
    release: async () => undefined,
  };
  const connected = await client({
    name: "c",
    version: "1",
    editions: [edition],
    unstable: "*",
    ...set("initialize.capabilities"),
    handshakeMeta: {
      initialize: set("initialize")._meta,
      info: set("initialize.info")._meta,
      parts: { elicitation: set("initialize.capabilities.elicitation")._meta },
    },
    requestPermission({ options, _meta }) {
      read(_meta);
      const [option] = options;
      return {
        outcome: "selected",
        optionId: option?.optionId ?? "",
        ...set("session/request_permission result"),
      };
    },
    elicit(request) {
      read(request._meta);
      return { action: "accept", content: {}, ...set("elicitation/create result") };
    },
    elicitationCompleted: (_id, notice) => read(notice),
    files: {
      readText: async (_path, options) => {
        read(options);
        return "";
      },
      writeText: async (_path, _content, options) => read(options),
    },
    terminals: {
      create: async (options) => {
        read(options);
        return terminalHandle;
      },
    },
  }).connect(near);
  read([served.clientMeta, served.clientInfo, served.clientCapabilities]);
  read([connected._meta, connected.info, connected.capabilities, connected.authMethods]);
  connected.onAuthStatus(read);
  read(await connected.login("m", set(login)));
  read(await connected.authStatus(set("auth/status")));
  read(await connected.listProviders(set("providers/list")));
  const setting = { providerId: "p", apiType: "openai", baseUrl: "https://example.com/2" } as const;
  read(await connected.setProvider(setting, set("providers/set")));
  read(await connected.disableProvider("p", set("providers/disable")));
  const place = { cwd: "/w" };
  const server = {
    name: "s",
    command: "/bin/s",
    args: [],
    env: [{ name: "A", value: "1", ...set("mcp env") }],
  };
  const session = await connected.newSession({
    ...place,
    mcpServers: [{ ...server, ...set("mcp server") }],
    ...set("session/new"),
  });
  read([session._meta, session.configOptions]);
  const { result } = session.prompt("x", set("session/prompt"));
  read(await result);
  read(await session.setMode("b", set("session/set_config_option")));
  read(await session.setTitle("T", set("session/set_title")));
  read(await connected.sessionStatus(session.sessionId, set("session/status")));
  read(await connected.listSessions(set("session/list")));
  read(await session.close(set("session/close")));
  const resumed = await connected.resumeSession(session.sessionId, { ...place, ...set("session/resume") });
  read(resumed._meta);
  await resumed.close();
  const loaded = await connected.loadSession(session.sessionId, {
    ...place,
    ...set(isV1 ? "session/load" : "session/resume"),
  });
  read(loaded._meta);
  read((await connected.forkSession(session.sessionId, { ...place, ...set("session/fork") }))._meta);
  read(await connected.archiveSession(session.sessionId, set("session/archive")));
  read(await connected.unarchiveSession(session.sessionId, set("session/unarchive")));
  read(await connected.deleteSession(session.sessionId, set("session/delete")));
  read(await connected.logout(set(logout)));
  await connected.close();
  return { sent, got };
}

/** Every update of the model, which has the shapes of version 2, from an agent to the listener of a client. */
export async function spokenUpdates(
  edition: Edition,
): Promise<SpokenPlaces & { readonly errors: readonly unknown[] }> {
  const sent = new Set<Place>();
  const got = new Set<Place>();
  const errors: unknown[] = [];
  const samples = samplesOf(2, "UpdateSessionNotification", "session/update").flatMap(({ value }, i) => {
    const { update, _meta } = value as { update: Json; _meta: Json };
    // the library sends states
    if (update.sessionUpdate === "state_update") return [];
    const custom = { ...(update._meta as Json), "_parley.dev/notification": _meta };
    const named = Object.fromEntries(
      ["messageId", "toolCallId", "terminalId", "compactionId"].map((key) => [key, `${key}-${i}`]),
    );
    const ids = Object.fromEntries(Object.entries(named).filter(([key]) => key in update));
    return [{ ...update, ...ids, ...fitting(update), _meta: custom }] as Json[];
  });
  const [near, far] = memoryPair();
  agent({
    name: "a",
    version: "1",
    editions: [edition],
    unstable: "*",
    async prompt(turn) {
      for (const update of samples) {
        try {
          for (const first of before(update)) await turn.update(first as OutgoingUpdate);
          await turn.update(update as OutgoingUpdate);
          for (const place of placesIn(update)) sent.add(place);
        } catch (error) {
          errors.push({ update, error });
        }
      }
    },
  }).connect(far);
  const connected = await client({ name: "c", version: "1", editions: [edition], unstable: "*" }).connect(
    near,
  );
  const session = await connected.newSession({ cwd: "/w" });
  session.onUpdate((update: SessionUpdate) => {
    for (const place of placesIn(update)) got.add(place);
  });
  await session.prompt("go").result;
  await connected.close();
  return { sent, got, errors };
}

/** Fields in place of those that the rules of an agent refuse together. */
function fitting({ sessionUpdate, configOptions, status, state }: Json): Json {
  if (sessionUpdate === "config_option_update")
    return {
      configOptions: (configOptions as Json[]).map((option, i) => ({
        ...option,
        configId: `option-${i}`,
        ...(option.type === "select" && { currentValue: "value" }),
      })),
    };
  if (sessionUpdate === "compaction_update" && status !== "completed")
    return { summary: undefined, ...(status !== "failed" && { error: undefined }) };
  if (sessionUpdate === "compaction_update") return { error: undefined };
  const { stopReason } = (state ?? {}) as Json;
  return stopReason === undefined || typeof stopReason === "string" ? {} : { state: { state: "idle" } };
}

/** What must have been said before an update may be. */
function before({ sessionUpdate, toolCallId, terminalId, compactionId, content }: Json): Json[] {
  const terminals = [content ?? []].flat().flatMap((item) => {
    const { type, terminalId: shown } = item as Json;
    return type === "terminal" ? [{ sessionUpdate: "terminal_update", terminalId: shown }] : [];
  });
  if (sessionUpdate === "tool_call_content_chunk")
    return [
      ...terminals,
      { sessionUpdate: "tool_call_update", toolCallId, title: "T", status: "in_progress" },
    ];
  if (sessionUpdate === "terminal_output_chunk") return [{ sessionUpdate: "terminal_update", terminalId }];
  if (sessionUpdate === "compaction_summary_chunk")
    return [{ sessionUpdate: "compaction_update", compactionId, status: "in_progress" }];
  return terminals;
}
