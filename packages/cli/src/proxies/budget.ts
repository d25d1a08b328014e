// The proxy `budget`: warns once when most of it is spent, and stops when all of it is.

import { answer, type ProxiedSession, proxy, type ResultHook } from "@parley/acp/proxy";
import { option } from "../command/command.ts";
import { forgetSpent, Ledger, type Spent } from "./ledger.ts";
import type { ShippedProxy } from "./shipped-proxy.ts";

type Kind = "tokens" | "cost" | "ms";

interface Data {
  startedAt: number | undefined;
  timer: NodeJS.Timeout | undefined;
  /** Questions that wait for the user: that time is not the agent's. */
  asked: number;
  currency: string;
}

type Session = ProxiedSession<Data>;

const howToReset = "Run `parley proxy --reset budget` to start a new budget.";

export const budget: ShippedProxy = {
  name: "budget",
  summary:
    "Warns once when most of a budget of tokens, cost or time is spent, and stops the agent when all is spent",
  options: {
    tokens: option("COUNT", "Tokens, as the agent reports them"),
    cost: option("AMOUNT", "Cost, in the currency that the agent reports"),
    time: option("TIME", "Working time of the agent: 90s, 10m or 1h"),
    per: option("WHAT", "What the budget is for: session or day (default: session)"),
    warn: option("PERCENT", "The part of the budget at which it warns (default: 80)"),
  },

  create(given, { folder, warn }) {
    const limits = { tokens: given.number("tokens"), cost: given.number("cost"), ms: given.time("time") };
    const kinds = (["tokens", "cost", "ms"] as const).filter((kind) => limits[kind] !== undefined);
    if (kinds.length === 0) given.wrong("at least one of --tokens, --cost and --time");
    const per = given.choice("per", ["session", "day"]) ?? "session";
    const percent = given.number("warn") ?? 80;
    const ledger = new Ledger(folder, warn);
    const keyOf = ({ sessionId }: Session): string =>
      per === "day" ? `day ${new Date().toISOString().slice(0, 10)}` : sessionId;
    const add = (session: Session, spent: Spent): void => ledger.add(keyOf(session), spent);
    const worked = ({ data }: Session): number =>
      data.startedAt === undefined ? 0 : Date.now() - data.startedAt;
    const spent = (session: Session, kind: Kind): number =>
      ledger.sums(keyOf(session))[kind] + (kind === "ms" ? worked(session) : 0);
    const reached = (session: Session, part: number): Kind | undefined =>
      kinds.find((kind) => spent(session, kind) >= (limits[kind] ?? 0) * part);
    const words = (session: Session, kind: Kind): string => {
      const unit = { tokens: "tokens", cost: session.data.currency, ms: "s" }[kind];
      const shown = (value = 0): string => (kind === "ms" ? value / 1_000 : value).toLocaleString("en");
      const whose = per === "day" ? "today" : "in this session";
      return `${shown(spent(session, kind))} of ${shown(limits[kind])} ${unit} ${whose}`;
    };
    const stop = (session: Session, more: Spent = {}): void => {
      clearTimeout(session.data.timer);
      add(session, { ms: worked(session), ...more });
      session.data.startedAt = undefined;
    };
    const check = (session: Session): void => {
      const over = reached(session, 1);
      const near = reached(session, percent / 100);
      if (over !== undefined) {
        if (session.data.startedAt === undefined) return;
        stop(session);
        session.say(`\n\n[budget] This turn is stopped: ${words(session, over)}.`);
        session.notify("agent", "session/cancel", { sessionId: session.sessionId });
      } else if (near !== undefined && !ledger.sums(keyOf(session)).warned) {
        add(session, { warned: true });
        session.say(`\n\n[budget] Most of the budget is spent: ${words(session, near)}.`);
      }
    };
    const start = (session: Session): void => {
      session.data.startedAt ??= Date.now();
      clearTimeout(session.data.timer);
      if (limits.ms === undefined) return;
      const left = limits.ms - spent(session, "ms");
      session.data.timer = setTimeout(() => check(session), left + 1).unref();
    };

    // agents may give an id that another process of them has given before
    const begun: ResultHook<Data> = (_, session) => {
      const begins = per === "session" ? ({ begins: true } as const) : {};
      if (session !== undefined) add(session, { ...begins, session: session.sessionId, total: 0 });
    };

    return proxy<Data>({
      name: "budget",
      version: "1.0.0",
      errors: "closed",
      session: () => ({ startedAt: undefined, timer: undefined, asked: 0, currency: "" }),
      results: {
        "session/new": begun,
        "session/fork": begun,
        "session/request_permission"(_, session) {
          if (session !== undefined && session.data.asked > 0 && --session.data.asked === 0) start(session);
        },
      },
      prompt(_, session) {
        const over = reached(session, 1);
        if (over === undefined) return void start(session);
        const say = `[budget] The prompt was not sent: ${words(session, over)}. ${howToReset}`;
        return answer({ stopReason: "refusal" as const, say });
      },
      permission(_, session) {
        if (session.data.asked++ === 0) stop(session);
      },
      update(update, session) {
        if (update.sessionUpdate !== "usage_update" || !update.cost) return undefined;
        const { amount: total, currency } = update.cost;
        const { sessionId } = session;
        if (total < 0) return undefined;
        session.data.currency = currency;
        // what a session has cost before it was first seen is not counted
        const before = ledger.sums(keyOf(session)).totals.get(sessionId) ?? total;
        // an agent that was restarted may begin at 0 again
        add(session, { session: sessionId, total, cost: total < before ? total : total - before });
        return void check(session);
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

  reset: ({ folder }) => forgetSpent(folder),
};
