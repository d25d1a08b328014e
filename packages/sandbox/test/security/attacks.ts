// What a hostile command tries in the sandbox. Each attack succeeds, as a shell sees it, if the sandbox fails.

/** Attacks by name. The variables are set by attack-program.ts. */
export const attacks: Readonly<Record<string, string>> = {
  // files outside
  "writes a file outside": "echo x >$OUTSIDE/file",
  "creates a file outside": "echo x >$OUTSIDE/new",
  "deletes a file outside": "rm $OUTSIDE/file",
  "changes the start-up file of the shell": "echo x >>$HOME/.bashrc; false",
  "writes to /etc": "echo x >/etc/parley-test",
  "writes through a symbolic link": "ln -s $OUTSIDE s1; echo x >s1/file",
  "links a file from outside": "ln $OUTSIDE/file h1",
  "links a protected file": "ln .git/config h2",
  "renames the workspace": "mv $WORK $WORK.old",

  // secrets
  "reads a key": "cat $HOME/.ssh/id_ed25519",
  "reads a token": "cat $HOME/.npmrc",
  "opens the folder of keys and reads": "chmod 755 $HOME/.ssh; cat $HOME/.ssh/id_ed25519",
  "reads a key through a link": "ln -s $HOME/.ssh s2; cat s2/id_ed25519",
  "reads a key through /proc/1/root": "cat /proc/1/root$HOME/.ssh/id_ed25519",
  "reads a key through another /proc": "cat /proc/$HOST_PID/root$HOME/.ssh/id_ed25519",
  "copies the home of the user":
    "cp -r $HOME copied; grep -r SECRET copied; found=$?; rm -rf copied; exit $found",
  "reads a path that a rule hides": "cat $HIDDEN/secret",
  "reads /etc/shadow": "cat /etc/shadow",
  "reads the environment of other processes":
    "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q ^HOST_CANARY=",

  // mounts and namespaces
  "unmounts the cover of the keys": "umount $HOME/.ssh && cat $HOME/.ssh/id_ed25519",
  "unmounts it in a namespace of its own":
    "unshare -Urm sh -c 'umount $HOME/.ssh || umount -l $HOME/.ssh; cat $HOME/.ssh/id_ed25519'",
  "creates a namespace in the strict profile": "[ $PROFILE = strict ] && unshare -U true",
  "makes the file system writable": "mount -o remount,rw,bind /; echo x >$OUTSIDE/file",
  "makes it writable in a namespace of its own":
    "unshare -Urm sh -c 'mount -o remount,rw,bind / ; mount -o remount,rw / ; echo x >$OUTSIDE/file'",
  "looks below the cover with a bind mount":
    "mkdir -p m1; unshare -Urm sh -c 'mount --bind $HOME m1 && cat m1/.ssh/id_ed25519'",
  "looks below the cover with an overlay":
    "mkdir -p m2; unshare -Urm sh -c 'mount -t overlay none -o lowerdir=$HOME:m2 m2 && cat m2/.ssh/id_ed25519'",
  "writes below a read-only mount with a bind mount":
    "mkdir -p m3; unshare -Urm sh -c 'mount --bind $WORK/.git m3 && echo x >m3/config'",
  "enters the namespaces of the host": "nsenter -t 1 -m -p cat $HOME/.ssh/id_ed25519",
  "enters the namespaces of a process of the host": "nsenter -t $HOST_PID -m cat $HOME/.ssh/id_ed25519",
  "leaves by chroot": "mkdir -p r; chroot /proc/1/root cat $HOME/.ssh/id_ed25519",
  "creates a device": "mknod d b 8 0 || mknod /tmp/d b 8 0 || mknod /dev/d b 8 0",
  "mounts a disk": "for d in /dev/sd* /dev/vd* /dev/nvme*; do [ -b $d ] && exit 0; done; exit 1",

  // the kernel
  "sets the program that handles crashes":
    "cat /proc/sys/kernel/core_pattern >/tmp/c && cat /tmp/c >/proc/sys/kernel/core_pattern",
  "uses the magic keys of the kernel": "[ -w /proc/sysrq-trigger ] && (echo h >/proc/sysrq-trigger)",
  "creates a control group": "mkdir /sys/fs/cgroup/parley-test",
  "writes to /sys": "echo 0 >/sys/kernel/mm/ksm/run",
  "has a capability": "! grep -q '^CapEff:.0000000000000000$' /proc/self/status",
  "could get a capability": "! grep -q '^NoNewPrivs:.1$' /proc/self/status",
  "becomes another user": "su -c true nobody </dev/null || sudo -n true",
  "gets rights by a setuid program":
    "cp /bin/cat suid && chmod u+s suid && [ $(id -u) != 0 ] && ./suid /etc/shadow",

  // protected paths
  "moves .git away": "mv .git .git2",
  "moves .git away by rename": 'python3 -c \'import os; os.rename(".git", ".git2")\'',
  "deletes .git": "rm -rf .git/config .git/hooks; [ ! -e .git/config ]",
  "writes the config of git": "echo x >.git/config",
  "sets a program of git": "git config core.fsmonitor evil",
  "replaces the config of git": "echo x >c2 && mv -f c2 .git/config",
  "writes a hook": "echo x >.git/hooks/pre-commit",
  "changes a hook": "echo x >.git/hooks/pre-push",
  "moves the hooks away": "mv .git/hooks .git/hooks2",
  "replaces .git by a link": "ln -sfn $OUTSIDE .git && [ -L .git ]",
  "changes a hook that the workspace itself has": "echo x >scripts/hooks/pre-commit",
  "moves the folder of such hooks": "mv scripts scripts2",
  "writes the settings of an agent": "echo x >.claude/settings.json",
  "moves the settings of an agent": "mv .claude .claude2",
  "writes settings in a folder below": "echo x >packages/a/.vscode/settings.json",
  "moves a folder with settings": "mv packages packages2",
  "moves a folder with settings further down": "mv packages/a packages/a2",
  "writes a path that a rule keeps": "echo x >locked/file",
  "moves the folder of a path that a rule keeps": "mv locked locked2",
  "writes below a kept path that another rule opens": "echo x >locked/open/file",

  // processes and memory
  "kills a process of the host": "kill -9 $HOST_PID",
  "sees a process of the host": "tr '\\0' ' ' </proc/$HOST_PID/cmdline | grep -q $HOST_MARK",
  "finds a process of the host": "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -q $HOST_MARK",
  "reads the memory of a process of the host": "head -c 1 /proc/$HOST_PID/mem",
  "sees shared memory": "[ -e $SHARED_MEMORY ]",
  "sees temporary files": "[ -e $TEMPORARY ]",
  "uses a terminal": "exec 3<>/dev/tty",

  // sockets and networks
  "connects to a socket outside": "socat -u OPEN:/dev/null UNIX-CONNECT:$OUTSIDE/host.sock",
  "connects to a socket of the host in the workspace": "socat -u OPEN:/dev/null UNIX-CONNECT:$WORK/host.sock",
  "connects to an abstract socket": "socat -u OPEN:/dev/null ABSTRACT-CONNECT:$ABSTRACT",
  "connects to a server of the host": "socat -u OPEN:/dev/null TCP:127.0.0.1:$PORT",
  "has a network interface": "[ $(grep -c : /proc/net/dev) != 1 ]",
  "connects to an address": "socat -u OPEN:/dev/null TCP:192.0.2.1:80,connect-timeout=2",
  "looks up a name": "getent hosts example.org",
  "knows the agent of ssh": '[ -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR$DISPLAY" ]',
  "reaches the services of the system":
    "[ -e /run/user ] || [ -e /run/dbus ] || [ -e /run/docker.sock ] || [ -e /tmp/.X11-unix ]",
};

/** What an ordinary command does, and must be able to. */
export const uses: Readonly<Record<string, string>> = {
  "writes to the workspace": "echo new >file && mkdir -p deep/er && echo x >deep/er/file",
  "reads other files": "cat $HOME/.config/tool/settings $OUTSIDE/file",
  commits:
    "git -c user.name=t -c user.email=t@example.org commit -qm x --allow-empty && git status --porcelain",
  "uses /tmp": "echo x >/tmp/mine && [ $TMPDIR = /tmp ] && mktemp && echo x >/dev/shm/mine",
  "replaces a file atomically": "echo new >t1 && mv t1 file",
  "starts processes and sees them": "sleep 100 & kill $! && [ -e /proc/$$/status ]",
  "listens on its own loopback interface":
    "socat TCP-LISTEN:4000,bind=127.0.0.1 /dev/null & until socat -u OPEN:/dev/null TCP:127.0.0.1:4000; do :; done",
  // root needs a right for it that only agents get
  "starts a sandbox of its own":
    "[ $(id -u) = 0 ] || [ $PROFILE = strict ] || bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc true",
  "reads random numbers": "head -c 8 /dev/urandom >/dev/null && echo x >/dev/null",
};
