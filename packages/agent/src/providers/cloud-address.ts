// The addresses of providers that belong to an account or a region: Bedrock, Vertex and Azure.

import { type Environment, filled } from "./environment.ts";

/**
 * Cloud settings of a provider in the config. The environment has the others.
 *
 * @inline
 */
export interface CloudConfig {
  readonly region?: string;
  readonly project?: string;
  readonly location?: string;
  readonly resource?: string;
  readonly apiVersion?: string;
}

/**
 * Where a cloud serves models.
 *
 * @inline
 */
export interface CloudSettings {
  /** Undefined if something is missing, which `missing` names. */
  readonly baseUrl: string | undefined;
  readonly missing?: string;
  readonly region?: string;
  readonly project?: string;
  readonly location?: string;
}

/** What may be part of a host or a path. */
const plain = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;

function first(...values: readonly (string | undefined)[]): string | undefined {
  return values.map(filled).find((value) => value !== undefined && plain.test(value));
}

export function bedrock({ region }: CloudConfig, env: Environment): CloudSettings {
  const found = first(region, env["AWS_REGION"], env["AWS_DEFAULT_REGION"]) ?? "us-east-1";
  return { baseUrl: `https://bedrock-runtime.${found}.amazonaws.com`, region: found };
}

/** A key of the express mode needs no project. */
export function vertex({ project, location }: CloudConfig, env: Environment, hasKey: boolean): CloudSettings {
  if (hasKey) return { baseUrl: "https://aiplatform.googleapis.com/v1/publishers/google" };
  const owner = first(project, env["GOOGLE_VERTEX_PROJECT"], env["GOOGLE_CLOUD_PROJECT"]);
  const place = first(location, env["GOOGLE_VERTEX_LOCATION"], env["GOOGLE_CLOUD_LOCATION"]) ?? "global";
  if (owner === undefined)
    return { baseUrl: undefined, missing: "Set GOOGLE_VERTEX_PROJECT, or its project in the config." };
  const host =
    place === "global"
      ? "aiplatform.googleapis.com"
      : place === "eu" || place === "us"
        ? `aiplatform.${place}.rep.googleapis.com`
        : `${place}-aiplatform.googleapis.com`;
  return {
    baseUrl: `https://${host}/v1beta1/projects/${owner}/locations/${place}/publishers/google`,
    project: owner,
    location: place,
  };
}

/** With an API version, addresses have the deployment and no version, as before 2025. */
export function azure({ resource, apiVersion }: CloudConfig, env: Environment): CloudSettings {
  const endpoint = filled(env["AZURE_OPENAI_ENDPOINT"])
    ?.replace(/\/+$/, "")
    .replace(/\/openai(?:\/v1)?$/, "");
  const name = first(resource, env["AZURE_RESOURCE_NAME"]);
  const root = name === undefined ? endpoint : `https://${name}.openai.azure.com`;
  if (root === undefined)
    return { baseUrl: undefined, missing: "Set AZURE_RESOURCE_NAME, or its resource in the config." };
  return { baseUrl: apiVersion === undefined ? `${root}/openai/v1` : `${root}/openai` };
}
