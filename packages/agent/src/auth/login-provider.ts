// Whose key a login is about.

import { ModelError } from "../model/model.ts";
import { chosenEndpoint } from "../providers/choose-model.ts";
import {
  type Credentials,
  type Endpoint,
  type Environment,
  endpointOf,
  type ModelConfig,
  providerIds,
} from "../providers/provider-config.ts";

/** The provider that was named, else that of the configured model. Throws ModelError where there is none. */
export function loginProvider(
  config: ModelConfig,
  env: Environment,
  wanted: string | undefined,
  credentials: Credentials = () => undefined,
): Endpoint {
  const ids = providerIds(config);
  const list = `Name one of: ${ids.join(", ")}.`;
  if (wanted !== undefined && !ids.includes(wanted)) {
    throw new ModelError("bad_request", `The provider "${wanted.slice(0, 80)}" is not known. ${list}`);
  }
  const endpoint =
    wanted === undefined
      ? chosenEndpoint(config, env, { credentials, isKeyOptional: true })
      : endpointOf(wanted, config, env, credentials);
  if (endpoint === undefined) {
    throw new ModelError(
      "bad_request",
      `No model is configured, so it is not clear whose key is meant. ${list}`,
    );
  }
  return endpoint;
}
