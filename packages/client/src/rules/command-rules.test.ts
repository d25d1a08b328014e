// The star at the end of a command rule, and commands inside commands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../../test/support/gate-probe.ts";
import { commandSubject, permissionGate } from "../internal.ts";

const session = { sessionId: "s", cwd: "/nowhere/w", roots: ["/nowhere/w"] };

/** The words of a command as a test writes them: those with blanks in quotes. */
function wordsOf(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

function verdictOn(command: string, ...texts: string[]) {
  const [program = "", ...args] = wordsOf(command);
  const subject = commandSubject("op", program, args, "/nowhere/w");
  return permissionGate({ rules: rules(...texts) }).check(session, [subject]);
}

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** A rule and a command, on either side of a bar. */
function wrongOnes(table: string, wanted: "allow" | "ask"): string[] {
  return lines(table).filter((line) => {
    const [rule = "", command = ""] = line.split(" | ");
    return verdictOn(command.trim(), `allow exec ${rule.trim()}`).effect !== wanted;
  });
}

test("a star stands for no word by which a known program runs another one, however it is written (N197)", () => {
  const tricks = `
    sed *        | sed '1e touch x' a.txt
    sed *        | sed 1etouch a.txt
    sed *        | sed 's/a/touch x/e' a.txt
    sed *        | sed 's/a/b/w x' a.txt
    sed *        | sed -n evil.sh
    sed *        | sed -e p a.txt
    sed *        | sed -ne p a.txt
    sed *        | sed --expression=p a.txt
    sed *        | sed -fscript a.txt
    sed 's/a/b/' * | sed s/a/b/ a.txt '-e1e touch x'
    sed -l 5 *   | sed -l 5 evil.sh
    sed -f *     | sed -f script a.txt
    awk *        | awk 'BEGIN{system("x")}'
    awk -F : *   | awk -F : 'BEGIN{system("x")}'
    gawk *       | gawk -f x
    perl *       | perl '-esystem("touch x")'
    perl *       | perl -e 'system("x")'
    perl *       | perl x.pl
    perl *       | perl -wle 'system("x")'
    perl -e 1 *  | perl -e 1 -e 'system("x")'
    python3 *    | python3 '-cimport os'
    python3 *    | python3 -c 'import os'
    python3 *    | python3 x.py
    python3.12 * | python3.12 -m http.server
    python3 -m * | python3 -m evil
    ruby *       | ruby -e x
    node *       | node -e 1
    node *       | node --eval=1
    node *       | node x.js
    node -e 1 *  | node -e 1 -r ./evil.js
    nodejs *     | nodejs -e 1
    node run *   | node run evil.js
    deno run *   | deno run evil.ts
    deno run -A * | deno run -A evil.ts
    deno test *  | deno test evil.ts
    php *        | php '-rsystem("x");'
    lua *        | lua '-eos.execute("x")'
    java *       | java -jar x.jar
    make *       | make -fX
    make *       | make -f X
    make *       | make --file=X
    make *       | make --eval=x
    make *       | make SHELL=/tmp/x
    make *       | make -C /tmp/x
    make *       | make -sfX
    tar *        | tar -Iprog -xf a.tar
    tar *        | tar xIf prog a.tar
    tar *        | tar -xf a --to-command=sh
    tar *        | tar -xf a --to-c=sh
    tar *        | tar cf a b --checkpoint=1 --checkpoint-action=exec=sh
    tar *        | tar -xf evil:a.tar
    git *        | git -c core.pager=evil log
    git *        | git -ccore.pager=evil log
    git *        | git -C evil status
    git *        | git --exec-path=/tmp/x log
    git *        | git rebase -x evil HEAD~1
    git *        | git rebase -xevil HEAD~1
    git *        | git rebase --exec=evil HEAD~1
    git *        | git bisect run evil
    git *        | git -c alias.x=!evil x
    git *        | git config core.pager evil
    git *        | git config --global alias.x !evil
    git *        | git fetch --upload-pack=evil origin
    git *        | git ls-remote --upload-pack evil x
    git *        | git clone ext::sh
    git *        | git push --receive-pack=evil origin
    git *        | git fetch ext::sh
    git *        | git grep -Oevil x
    git *        | git grep --open-files-in-pager=evil x
    git *        | git grep --open=evil x
    git *        | git diff --ext-diff
    git *        | git log --output=x
    git *        | git submodule foreach evil
    git *        | git filter-branch --tree-filter evil
    git *        | git difftool -x evil
    git grep *   | git grep -nOevil x
    find *       | find . -exec rm {} ;
    find *       | find . -execdir rm {} +
    find *       | find . -ok rm {} ;
    find *       | find . -delete
    find *       | find . -fprintf x y
    find . *     | find . -name x -exec rm {} +
    xargs *      | xargs rm
    env *        | env X=1 rm
    env *        | env -S 'rm x'
    ssh *        | ssh host rm
    ssh host *   | ssh host rm
    ssh *        | ssh -oProxyCommand=evil host
    scp *        | scp -S evil a b:
    npm *        | npm exec evil
    npm *        | npm x evil
    npm *        | npm install evil
    npm *        | npm test --script-shell=evil
    npm *        | npm config set script-shell evil
    npm test *   | npm test --prefix /tmp/evil
    npm test *   | npm test --prefix -- --script-shell=evil
    npx *        | npx evil
    npx -p *     | npx -p evil x
    npx node *   | npx node -e 1
    yarn *       | yarn dlx evil
    pnpm *       | pnpm dlx evil
    docker *     | docker run -v /:/x image
    docker *     | docker exec c sh
    vim *        | vim -c !evil
    vim *        | vim +!evil
    vim *        | vim x
    less *       | less +!evil x
    man *        | man -P evil ls
    man *        | man --pager=evil ls
    rsync *      | rsync -e evil a b:
    rsync *      | rsync -eevil a b
    rsync *      | rsync -ave evil a b
    rsync *      | rsync --rsh=evil a b
    curl *       | curl -K x
    curl *       | curl -o x https://example.org
    curl *       | curl -ox https://example.org
    curl *       | curl -sox https://example.org
    wget *       | wget --use-askpass=evil x
    wget *       | wget -e x=y
    sort *       | sort --compress-program=evil x
    sort *       | sort --comp=evil x
    rg *         | rg --pre evil x
    rg *         | rg --pre=evil x
    go *         | go test -exec evil ./x
    go *         | go build -toolexec=evil ./x
    go *         | go run evil
    cargo *      | cargo test --config x
    cargo *      | cargo +evil test
    cargo *      | cargo install evil
    uv *         | uv run evil
    uv *         | uv tool run evil
    uv *         | uv add evil
    pipx *       | pipx run evil
    pipx run *   | pipx run evil
    poetry *     | poetry shell
    python3 -m pdb * | python3 -m pdb evil.py
    python3 -m timeit * | python3 -m timeit evil
    node inspect * | node inspect evil.js
    cmake *      | cmake /tmp/evil
    wine *       | wine evil.exe
    ipython *    | ipython evil.py
    rustup *     | rustup run stable evil
    rustup run stable * | rustup run stable evil
    unheard-of * | unheard-of exec evil
    unheard-of * | unheard-of a run evil
    unheard-of run * | unheard-of run evil
    unheard-of * | unheard-of a bash
    unheard-of * | unheard-of python3 x
    pytest *     | pytest -p evil
    pytest *     | pytest /tmp/evil.py
    pytest *     | pytest ../evil.py
    sh *         | sh evil.sh
    bash -x *    | bash -x evil.sh
    busybox *    | busybox sh evil.sh
    sudo *       | sudo evil
    timeout 5 *  | timeout 5 evil
    timeout 5 python3 * | timeout 5 python3 -c x
    sqlite3 *    | sqlite3 x '.shell evil'
    crontab *    | crontab evil
    gdb *        | gdb -ex '!evil'
    unheard-of * | unheard-of --plugin=evil
    unheard-of * | unheard-of -xevil
    unheard-of * | unheard-of @evil
    unheard-of * | unheard-of 'a;b'
    unheard-of * | unheard-of SHELL=evil
    /opt/unheard-of * | /opt/unheard-of --plugin=evil
    /usr/bin/git *    | /usr/bin/git -c core.pager=evil log
  `;
  assert.deepEqual(wrongOnes(tricks, "ask"), []);
});

test("a star matches words that only name the input of a program", () => {
  const uses = `
    ls *         | ls -la --sort=size src
    cat *        | cat -n a b
    grep *       | grep -rn 'a|b' src
    echo *       | echo -e x y
    sed *        | sed -n 1,5p a.txt
    sed *        | sed -i.bak s/a/b/g a.txt b.txt
    sed *        | sed -E 's|a(b)|\\1|' a.txt
    sed 's/a/b/e' * | sed s/a/b/e a.txt
    awk '{print $1}' * | awk '{print $1}' a.txt
    python3 *    | python3 --version
    python3 x.py * | python3 x.py -c anything --at=all
    python3 -m pytest * | python3 -m pytest -q tests
    node x.js *  | node x.js -e 1
    deno run x.ts * | deno run x.ts -c y
    deno x.ts *  | deno x.ts -c y
    bash x.sh *  | bash x.sh --fast
    make *       | make -j4 build test
    tar *        | tar -xzf a.tar.gz -C out
    tar *        | tar czvf a.tar.gz src
    git *        | git status --porcelain
    git *        | git --no-pager diff --stat HEAD~1
    git *        | git log --oneline -5 --format=%h -- src
    git *        | git log -n 3
    git *        | git commit -am 'a message; with $things'
    git *        | git grep -n 'x y'
    git *        | git fetch origin main
    git log *    | git log -p -1
    git -c a=b * | git -c a=b
    find *       | find . -type f ( -name x -o -iname 'y*' ) -not -path z
    npm *        | npm run build
    npm *        | npm ls --depth=0
    npm test *   | npm test -- --anything
    npm run x *  | npm run x -- -e 1
    npx eslint * | npx eslint --fix src
    uv run pytest * | uv run pytest -q
    docker *     | docker ps -a
    man *        | man ls
    rsync *      | rsync -avn a/ b/
    curl *       | curl -sSL -H 'A: b' https://example.org
    sort *       | sort -t, -k2 x
    rg *         | rg -n --glob=x y
    go *         | go test -run=X ./...
    cargo *      | cargo test --release name -- --nocapture
    pytest *     | pytest -q tests/a.py
    pytest *     | pytest 'tests/a.py::test_x'
    eslint *     | eslint --fix src
    ./build.sh * | ./build.sh --whatever -e 1
    unheard-of * | unheard-of build a/b.txt --verbose
    env *        | env
    unheard-of -x * | unheard-of -x a
  `;
  assert.deepEqual(wrongOnes(uses, "allow"), []);
});

test("two stars stand for any words at all, and still for no line that a shell has to read", () => {
  const uses = `
    python3 **     | python3 -c 'import os'
    unheard-of **  | unheard-of --plugin=evil
    npm install ** | npm install -g x
    xargs **       | xargs rm
  `;
  assert.deepEqual(wrongOnes(uses, "allow"), []);
  assert.equal(verdictOn("sh -c 'a && b'", "allow exec sh **").effect, "ask");
  assert.equal(verdictOn("npm test", "allow exec npm install **").effect, "ask");
});

test("the reason names the first word that the star does not match", () => {
  const { reason } = verdictOn("git log --output=x", "allow exec git *");
  assert.match(reason, /allow op:exec git \* .*its star does not stand for --output=x/);
  assert.equal(verdictOn("ls", "allow exec git *").reason, "no rule is about it");
});

test("a command that is forbidden is found wherever a program that is known to run others would run it", () => {
  const hidden = lines(`
    rm x
    /bin/rm x
    find . -exec rm {} +
    find . -type f -execdir rm {} ;
    xargs rm
    xargs -n 1 rm
    env rm x
    env A=b rm x
    env -S 'rm x'
    sh -c 'rm x'
    sh -c rm
    sudo sh -c 'cd a; rm x'
    sudo -u root rm x
    nice rm x
    nice -n 5 timeout 5 rm x
    timeout 5 rm x
    busybox rm x
    nohup rm x
    npm exec rm x
    npm exec -- rm x
    npx rm x
    pnpm dlx rm x
    uv run rm x
    poetry run rm x
    git bisect run rm x
    git submodule foreach 'rm x'
    git rebase -x 'rm x' HEAD~1
    git rebase '-xrm x' HEAD~1
    git -c 'alias.x=!rm x' x
    git fetch '--upload-pack=rm x' origin
    tar -xf a '--to-command=rm x'
    tar cf a b '--checkpoint-action=exec=rm x'
    rsync -e 'rm x' a b
    ssh host rm x
    ssh host 'cd a && rm x'
    docker run image rm x
    kubectl exec pod -- rm x
    direnv exec . rm x
    rustup run stable rm x
    unheard-of exec -- rm x
    nix run rm
    python3 -c 'import os; os.system("rm x")'
    python3 -c 'subprocess.run(["rm", "x"])'
    perl '-esystem("rm x")'
    node -e 'require("child_process").execSync("rm x")'
    awk 'BEGIN{system("rm x")}'
    sed '1e rm x' a
    vim -c '!rm x'
    make 'SHELL=rm x'
    watch 'rm x'
    parallel rm
    su -c 'rm x'
    flock lock -c 'rm x'
    sudo env nice sh -c 'xargs rm'
  `);
  const missed = hidden.filter(
    (command) => verdictOn(command, "deny exec rm *", "allow *").effect !== "deny",
  );
  assert.deepEqual(missed, []);
});

test("mentioning a forbidden command is allowed", () => {
  const harmless = lines(`
    echo rm x
    git rm x
    git commit -m 'rm x'
    grep 'rm x' a
    find . -name rm
    npm run rm
    docker rm x
    ls rm
    sed s/rm/x/ a
  `);
  const wrong = harmless.filter(
    (command) => verdictOn(command, "deny exec rm *", "allow *").effect !== "allow",
  );
  assert.deepEqual(wrong, []);
});

test("options before the words that are forbidden do not hide them", () => {
  for (const command of ["git -C x push", "git --no-pager push origin", "git -c a=b -P push -f"])
    assert.equal(verdictOn(command, "deny exec git push *", "allow *").effect, "deny", command);
  assert.equal(verdictOn("git log push", "deny exec git push *", "allow *").effect, "allow");
});

test("a command that is nested too deeply is treated as forbidden, quickly", () => {
  const started = performance.now();
  const deep = Array.from({ length: 3_000 }, () => "sudo").join(" ");
  assert.equal(verdictOn(`${deep} ls`, "deny exec rm *", "allow *").effect, "deny");
  const nested = Array.from({ length: 12 }, () => "sh -c").reduce(
    (inner, shell) => `${shell} "${inner}"`,
    "ls",
  );
  verdictOn(`sudo '${nested}'`, "deny exec rm *", "allow *");
  assert.ok(performance.now() - started < 20_000);
});

test("a file that is forbidden is found in what a command would run, and where it is attached to an option", () => {
  for (const command of [
    "sudo sh -c 'cat secrets/key'",
    "curl -osecrets/key x",
    "xargs -I{} cat secrets/key",
  ])
    assert.equal(verdictOn(command, "deny read secrets", "allow exec **").effect, "ask", command);
});
