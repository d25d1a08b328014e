// One connection to an agent with the version that it speaks: what is replaced when the agent is started anew.

import type { AgentIntroduction } from "../../edition/agent-ops.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { limitsFrom } from "../../jsonrpc/limits.ts";
import type { ClientDefinition } from "./client-definition.ts";
import { ClientLink } from "./client-link.ts";
import type { ClientWire } from "./client-wire.ts";
import { defaultUnreadLimits } from "./unread-updates.ts";

export class AgentBinding {
  readonly wire: ClientWire;
  readonly edition: ClientEdition;
  readonly introduction: AgentIntroduction;
  readonly link: ClientLink;

  constructor(
    definition: ClientDefinition,
    wire: ClientWire,
    edition: ClientEdition,
    introduction: AgentIntroduction,
  ) {
    this.wire = wire;
    this.edition = edition;
    this.introduction = introduction;
    this.link = new ClientLink(wire, edition, introduction.features, {
      unread: limitsFrom(defaultUnreadLimits, definition),
      isStrict: definition.strict === true,
    });
  }
}
