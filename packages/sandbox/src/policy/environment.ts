// The environment of a sandboxed command: that of its owner, without the addresses of services outside.

import { isSecretVariable } from "@parley/acp/redact";
import { bridgePorts } from "../network/bridge-command.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that lead to agents, desktops, editors and daemons outside. The sandbox hides their sockets. */
const outside = new Set(
  `SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GIT_ASKPASS SUDO_ASKPASS GPG_AGENT_INFO GPG_TTY GNOME_KEYRING_CONTROL
  DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DBUS_STARTER_ADDRESS XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY
  XAUTHORITY SESSION_MANAGER PULSE_SERVER PIPEWIRE_REMOTE DOCKER_HOST CONTAINER_HOST PODMAN_HOST TMUX TMUX_PANE STY
  KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET ALACRITTY_SOCKET NVIM NVIM_LISTEN_ADDRESS VSCODE_IPC_HOOK VSCODE_IPC_HOOK_CLI
  VSCODE_GIT_IPC_HANDLE VSCODE_GIT_ASKPASS_MAIN VSCODE_GIT_ASKPASS_NODE VSCODE_GIT_ASKPASS_EXTRA_ARGS NOTIFY_SOCKET
  LISTEN_FDS LISTEN_PID`.split(/\s+/),
);

/** Variables that name a folder for temporary files. */
const temporary = ["TMPDIR", "TMP", "TEMP", "TEMPDIR"];

/**
 * Variables that make the system load other code into a program. Bubblewrap itself starts outside the sandbox, so it
 * must not see them. The list is that of variables which glibc ignores in setuid programs.
 */
const loading =
  /^(?:LD_.*|GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|LOCPATH|MALLOC_.*|NIS_PATH|NLSPATH|RESOLV_.*|RES_OPTIONS|TZDIR)$/;

/** Variables that a shell obeys. One may start bubblewrap, outside the sandbox. */
const ofShells = /^(?:ENV|IFS|PS4|CDPATH|GLOBIGNORE|POSIXLY_CORRECT|SHELLOPTS|BASHOPTS|BASH_.*)$/;

/** Shells lose variables of other names. A secret stays away from the arguments, which other users can read. */
const isLost = (name: string) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isSecretVariable(name);

/** Divides variables into those that bubblewrap may see, and those that are set inside. */
export function dividedEnvironment(env: Readonly<Record<string, string>>): {
  readonly outside: Record<string, string>;
  readonly inside: Record<string, string>;
} {
  const isInside = (name: string) => loading.test(name) || ofShells.test(name) || isLost(name);
  const [inside = [], outside = []] = [true, false].map((side) =>
    Object.entries(env).filter(([name]) => isInside(name) === side),
  );
  return { inside: Object.fromEntries(inside), outside: Object.fromEntries(outside) };
}

/** `keepsSecrets`: for a whole agent, which needs its keys. */
export function sandboxEnvironment(
  env: Environment,
  { hasBridge, keepsSecrets }: { readonly hasBridge: boolean; readonly keepsSecrets: boolean },
): Record<string, string> {
  const isKept = (name: string, value: string): boolean =>
    !outside.has(name) && (keepsSecrets || !isSecretVariable(name, value));
  const kept = Object.entries(env).filter(
    (variable): variable is [string, string] => variable[1] !== undefined && isKept(variable[0], variable[1]),
  );
  const changed: Record<string, string> = Object.fromEntries(kept);
  for (const name of temporary) if (changed[name] !== undefined) changed[name] = "/tmp";
  return hasBridge ? { ...changed, ...proxyVariables() } : changed;
}

/** Programs find the bridge by the variables that name a proxy. */
function proxyVariables(): Record<string, string> {
  const http = `http://127.0.0.1:${bridgePorts.http}`;
  const socks = `socks5h://127.0.0.1:${bridgePorts.socks}`;
  const local = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: http,
    HTTPS_PROXY: http,
    ALL_PROXY: socks,
    NO_PROXY: local,
    http_proxy: http,
    https_proxy: http,
    all_proxy: socks,
    no_proxy: local,
    // Node reads the others only if it is told to
    NODE_USE_ENV_PROXY: "1",
    GIT_SSH_COMMAND: `ssh -o ProxyCommand='socat - PROXY:127.0.0.1:%h:%p,proxyport=${bridgePorts.http}'`,
  };
}
