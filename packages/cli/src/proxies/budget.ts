// The proxy `budget`: warns once when most of it is spent, and stops when all of it is.

import { answer, type ProxiedSession, proxy } from "@parley/acp/proxy";
import { forgetSpent, ledger, type Spent } from "./ledger.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

type Kind = "tokens" | "cost" | "ms";

interface Data {
  startedAt: number | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Questions that wait for the user: that time is not the agent's. */
  asked: number;
  currency: string;
  isStopped: boolean;
}

type Session = ProxiedSession<Data>;

export const budget: ShippedProxy = {
  name: "budget",
  summary:
    "Warns once when most of a budget of tokens, cost or time is spent, and stops the agent when all is spent",
  options: {
    tokens: { type: "string", value: "COUNT", summary: "Tokens, as the agent reports them" },
    cost: { type: "string", value: "AMOUNT", summary: "Cost, in the currency that the agent reports" },
    time: { type: "string", value: "TIME", summary: "Working time of the agent: 90s, 10m or 1h" },
    per: {
      type: "string",
      value: "WHAT",
      summary: "What the budget is for: session or day (default: session)",
    },
    warn: {
      type: "string",
      value: "PERCENT",
      summary: "The part of the budget at which it warns (default: 80)",
    },
  },

  create(given, { folder, warn }) {
    const limits = { tokens: given.number("tokens"), cost: given.number("cost"), ms: given.time("time") };
    const kinds = (["tokens", "cost", "ms"] as const).filter((kind) => limits[kind] !== undefined);
    if (kinds.length === 0) given.wrong("at least one of --tokens, --cost and --time");
    const per = given.text("per") ?? "session";
    if (per !== "session" && per !== "day") given.wrong("session or day", "per");
    const percent = given.number("warn") ?? 80;
    /** What a session that is older than this process has cost before is not counted. */
    const continued = new Set<string>();

    const keyOf = ({ sessionId }: Session): string =>
      per === "day" ? `day ${new Date().toISOString().slice(0, 10)}` : sessionId;
    const { add: addTo, sums } = ledger(folder, warn);
    const add = (session: Session, spent: Spent): void => addTo(keyOf(session), spent);
    const spent = (session: Session, kind: Kind): number => {
      const before = sums(keyOf(session))[kind];
      const { startedAt } = session.data;
      return kind === "ms" && startedAt !== undefined ? before + Date.now() - startedAt : before;
    };
    const reached = (session: Session, part: number): Kind | undefined =>
      kinds.find((kind) => spent(session, kind) >= (limits[kind] ?? 0) * part);
    const words = (session: Session, kind: Kind): string => {
      const unit = { tokens: "tokens", cost: session.data.currency, ms: "s" }[kind];
      const shown = (value = 0): string => (kind === "ms" ? value / 1_000 : value).toLocaleString("en");
      const whose = per === "day" ? "today" : "in this session";
      return `${shown(spent(session, kind))} of ${shown(limits[kind])} ${unit} ${whose}`;
    };
    const check = (session: Session): void => {
      const { data, sessionId } = session;
      const over = reached(session, 1);
      if (over !== undefined && data.startedAt !== undefined && !data.isStopped) {
        data.isStopped = true;
        session.say(`\n\n[budget] This turn is stopped: ${words(session, over)}.`);
        session.notify("agent", "session/cancel", { sessionId });
      }
      const near = over === undefined ? reached(session, percent / 100) : undefined;
      if (near === undefined || sums(keyOf(session)).warned) return;
      add(session, { warned: true });
      session.say(`\n\n[budget] Most of the budget is spent: ${words(session, near)}.`);
    };

    const start = (session: Session): void => {
      const { data } = session;
      data.startedAt ??= Date.now();
      clearTimeout(data.timer);
      if (limits.ms === undefined) return;
      const left = limits.ms - spent(session, "ms");
      data.timer = setTimeout(() => check(session), left + 1).unref();
    };
    const stop = (session: Session, more: Spent = {}): void => {
      const { data } = session;
      clearTimeout(data.timer);
      add(session, { ms: data.startedAt === undefined ? 0 : Date.now() - data.startedAt, ...more });
      data.startedAt = undefined;
    };

    return proxy<Data>({
      name: "budget",
      version: "1.0.0",
      errors: "closed",
      session: () => ({ startedAt: undefined, timer: undefined, asked: 0, currency: "", isStopped: false }),
      open({ sessionId }) {
        if (sessionId !== undefined) continued.add(sessionId);
      },
      results: {
        // agents may give an id that another process of them has given before
        "session/new"(_, session) {
          if (session === undefined) return;
          const { sessionId } = session;
          continued.delete(sessionId);
          add(session, per === "day" ? { session: sessionId, total: 0 } : { begins: true });
        },
        "session/request_permission"(_, session) {
          if (session !== undefined && session.data.asked > 0 && --session.data.asked === 0) start(session);
        },
      },
      prompt(_, session) {
        const { data } = session;
        const over = reached(session, 1);
        if (over !== undefined) {
          const how = "Run `parley proxy --reset budget` to start a new budget.";
          const say = `[budget] The prompt was not sent: ${words(session, over)}. ${how}`;
          return answer({ stopReason: "refusal" as const, say });
        }
        data.isStopped = false;
        start(session);
        return undefined;
      },
      permission(_, session) {
        if (session.data.asked++ === 0) stop(session);
        return undefined;
      },
      update(update, session) {
        if (update.sessionUpdate !== "usage_update" || !update.cost) return undefined;
        const { amount, currency } = update.cost;
        const { sessionId, data } = session;
        if (amount < 0) return undefined;
        data.currency = currency;
        const known = sums(keyOf(session)).totals.get(sessionId);
        const before = known ?? (continued.has(sessionId) ? amount : 0);
        // an agent that was restarted may begin at 0 again
        const cost = amount < before ? amount : amount - before;
        add(session, { session: sessionId, total: amount, cost });
        check(session);
        return undefined;
      },
      turnEnd({ usage }, session) {
        session.data.asked = 0;
        stop(session, usage && { tokens: Math.max(0, usage.totalTokens) });
        if (limits.tokens !== undefined && usage === undefined)
          warn("the agent did not report the tokens of a turn: they cannot be counted; use --time or --cost");
        check(session);
      },
    });
  },

  reset({ folder }) {
    const count = forgetSpent(folder);
    const what = count === 1 ? "1 session or day" : `${count} sessions or days`;
    return count === 0 ? "Nothing was spent." : `Forgot what was spent in ${what}.`;
  },
};
