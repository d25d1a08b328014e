// Determines the provider for a login.

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

/** The named provider, else that of the configured model. Throws ModelError when there is none. */
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
      `No model is configured, so the provider of the key must be named. ${list}`,
    );
  }
  return endpoint;
}
