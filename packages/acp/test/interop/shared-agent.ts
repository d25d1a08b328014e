// Extensions and unstable methods that the agents of the v1 and the v2 tests share.

import { trickyText } from "./v1-samples.ts";
import { outcomeOf, type Sender, type Wire } from "./wire-script.ts";

// Of the other side only extensions are used, which no version types.
type Extensions = Pick<Sender<object, object>, "requestExtension" | "notifyExtension">;

/** What the client's notifications set free. */
export interface Waiting {
  asked: () => void;
  cancelled: () => void;
}

const echo = (saw: unknown) => ({ _meta: { saw } });

/** What the prompt's `_meta.turn` asks for. */
export async function useExtensions({ peer }: Wire<Extensions>): Promise<unknown[]> {
  await peer().notifyExtension("_parley.test/note", { from: "agent" });
  return [
    await peer().requestExtension("_parley.test/echo", { text: trickyText }),
    await outcomeOf(peer().requestExtension("_parley.test/nothing", {})),
  ];
}

export const mcpMessage = { serverId: "s", requestId: "r", method: "tools/list", params: { a: 1 } };

export function extensionScript({ peer, refuse }: Wire<Extensions>, waiting: Waiting) {
  return {
    requests: {
      "_parley.test/echo": (params: unknown) => params,
      "_parley.test/fail": () => {
        throw refuse(4242, "this always fails", { why: ["it", { must: true }] });
      },
      "_parley.test/crash": () => {
        process.stderr.write("the agent is out of luck\n");
        process.exit(3);
      },
    },
    notifications: {
      "session/cancel": (): undefined => {
        waiting.cancelled();
      },
      "_parley.test/asked": (): undefined => {
        waiting.asked();
      },
      "_parley.test/note": (params: unknown): undefined => {
        // nothing of the client's depends on when it arrives
        void peer().notifyExtension("_parley.test/note", { back: params });
      },
    },
  };
}

/** Beside the stable methods, with the unstable protocol switched on. */
export const unstableRequests = {
  "auth/status": (saw: unknown) => ({
    state: "authenticated" as const,
    accounts: [{ label: "a", active: true, name: "Ann", email: "a@example.com", organization: "o" }],
    _meta: { saw },
  }),
  "providers/list": (saw: unknown) => ({
    providers: [
      {
        providerId: "p",
        supported: ["anthropic", "other-protocol"],
        required: true,
        current: { apiType: "anthropic", baseUrl: "https://example.com" },
      },
    ],
    _meta: { saw },
  }),
  "providers/set": echo,
  "providers/disable": echo,
  "session/archive": echo,
  "session/unarchive": echo,
  "session/set_title": (saw: { title: string }) => ({ title: saw.title, ...echo(saw) }),
};
