// Explains why no sandbox can start here, with the exact fix. It is a pure function of what was observed.

/** Why no sandbox can start, or, for `no_hosts`, why hosts cannot be allowed by name. */
export type SandboxProblem =
  | "no_hosts"
  | "not_linux"
  | "not_installed"
  | "in_workspace"
  | "too_old"
  | "in_sandbox"
  | "no_user_namespaces"
  | "apparmor"
  | "container"
  | "other";

/** What was observed while a sandbox was tried. */
export interface Observed {
  /** As `process.platform`. */
  readonly platform: string;
  /** `ID` and `ID_LIKE` of /etc/os-release. */
  readonly distribution: readonly string[];
  /** The path of bubblewrap, if it was found. */
  readonly program?: string | undefined;
  /** Where it was found instead, in the workspace. */
  readonly inWorkspace?: string | undefined;
  /** The version, if it can be used only in newer ones. */
  readonly oldVersion?: string | undefined;
  /** What it printed when it failed. */
  readonly output: string;
  /** Settings of the kernel, as the files in /proc/sys have them. */
  readonly apparmorRestricts: boolean;
  readonly userNamespacesOff: boolean;
  readonly isContainer: boolean;
  /** Whether this process is itself in a sandbox of bubblewrap. */
  readonly isInSandbox: boolean;
  readonly isRoot: boolean;
  readonly isSetuid: boolean;
}

/** A reason and what to do about it. */
export interface SandboxFailure {
  /** The kind of problem, for programs. */
  readonly problem: SandboxProblem;
  /** A sentence for people, without a full stop. */
  readonly reason: string;
  /** A command, or a sentence where there is none. */
  readonly fix: string;
}

/** The oldest version that has what we use. */
export const oldestVersion = "0.6.0";

const installers: readonly (readonly [distributions: RegExp, command: string])[] = [
  [/^(?:debian|ubuntu)$/, "apt-get install bubblewrap socat"],
  [/^(?:fedora|rhel|centos)$/, "dnf install bubblewrap socat"],
  [/^(?:suse|opensuse.*)$/, "zypper install bubblewrap socat"],
  [/^arch$/, "pacman -S bubblewrap socat"],
  [/^alpine$/, "apk add bubblewrap socat"],
  [/^nixos$/, "nix-env -iA nixos.bubblewrap nixos.socat"],
];

/** The command that installs bubblewrap on a distribution. */
export function installCommand(distribution: readonly string[], isRoot: boolean): string {
  for (const name of distribution) {
    const command = installers.find(([pattern]) => pattern.test(name))?.[1];
    if (command !== undefined) return isRoot || name === "nixos" ? command : `sudo ${command}`;
  }
  return "install bubblewrap and socat with the package manager of your system";
}

const profile = `abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`;

export function explainFailure(observed: Observed): SandboxFailure {
  const { program, oldVersion, output } = observed;
  const firstLine = output.trim().split("\n").at(-1) ?? "";
  if (observed.platform !== "linux") {
    const name = { darwin: "macOS", win32: "Windows" }[observed.platform] ?? observed.platform;
    return {
      problem: "not_linux",
      reason: `there is no sandbox for ${name} yet`,
      fix: "run Parley on Linux, in a virtual machine or in WSL 2",
    };
  }
  if (program === undefined && observed.inWorkspace !== undefined) {
    return {
      problem: "in_workspace",
      reason: `${observed.inWorkspace} is in the workspace, where commands can change it`,
      fix: "open a smaller folder as the workspace",
    };
  }
  if (program === undefined) {
    return {
      problem: "not_installed",
      reason: "bubblewrap (bwrap) is not installed",
      fix: installCommand(observed.distribution, observed.isRoot),
    };
  }
  if (oldVersion !== undefined) {
    return {
      problem: "too_old",
      reason: `${program} is version ${oldVersion}, but at least ${oldestVersion} is needed`,
      fix: `install a newer version: ${installCommand(observed.distribution, observed.isRoot)}`,
    };
  }
  if (observed.isInSandbox) {
    return {
      problem: "in_sandbox",
      reason: `this program runs in a sandbox, which forbids another one inside (${firstLine})`,
      fix: "run this program outside, or switch its own sandbox off and rely on the one around it",
    };
  }
  if (observed.isContainer) {
    return {
      problem: "container",
      reason: `this container forbids new namespaces (${firstLine})`,
      fix: "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined",
    };
  }
  if (observed.apparmorRestricts && !observed.isRoot) {
    return {
      problem: "apparmor",
      reason: `AppArmor forbids programs without a profile to use user namespaces (${firstLine})`,
      fix: `echo '${profile}' | sudo tee /etc/apparmor.d/bwrap && sudo apparmor_parser -r /etc/apparmor.d/bwrap`,
    };
  }
  if (observed.userNamespacesOff && !observed.isRoot && !observed.isSetuid) {
    return {
      problem: "no_user_namespaces",
      reason: `user namespaces are disabled, and ${program} is not setuid root (${firstLine})`,
      fix: `sudo sysctl -w user.max_user_namespaces=15000 kernel.unprivileged_userns_clone=1, or sudo chmod u+s ${program}`,
    };
  }
  return {
    problem: "other",
    reason: `bubblewrap does not start (${firstLine === "" ? "it printed nothing" : firstLine})`,
    fix: `run this to see why: ${program} --ro-bind / / --dev /dev --proc /proc --unshare-all true`,
  };
}

/** Whether a version is at least another one. */
export function isAtLeast(version: string, wanted: string): boolean {
  const [one, other] = [version, wanted].map((text) => text.split(".").map(Number));
  for (const [index, part] of (other ?? []).entries()) {
    const difference = (one?.[index] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
