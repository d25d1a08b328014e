// Turns the unstable features that an app enables into the mode of a validator.

import { featureBits, type UnstableFeature } from "./features.gen.ts";

export type { UnstableFeature } from "./features.gen.ts";

/** The unstable features to enable, or `"*"` for all of them. */
export type UnstableFeatures = "*" | readonly UnstableFeature[];

// as: the keys of a constant
export const unstableFeatures = Object.keys(featureBits) as readonly UnstableFeature[];

/** The bits of a validator's mode that enable these features. */
export function featureMode(unstable: UnstableFeatures): number {
  const enabled = unstable === "*" ? unstableFeatures : unstable;
  return enabled.reduce((mode, feature) => mode | featureBits[feature], 0);
}

/** Whether the feature is enabled. Undefined stands for what belongs to no feature. */
export function lists(unstable: UnstableFeatures, feature: UnstableFeature | undefined): boolean {
  return feature !== undefined && (unstable === "*" || unstable.includes(feature));
}
