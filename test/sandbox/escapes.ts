/**
 * Escape attempts, each a line of shell that succeeds where the way is open. All run inside the sandbox and, as proof
 * that the attempt itself works, outside as the same user.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { requireOps } from '../../src/ports/env.ts'
import { fileAndKernelAttempts } from './file-and-kernel-escapes.ts'
import { processAttempts } from './process-escapes.ts'

export interface Attempt {
  readonly name: string
  readonly command: string
  /** Who can do it outside: every user, only root, or it depends on the machine. */
  readonly outside: 'all' | 'root' | 'some'
}

export interface Outcome extends Omit<Attempt, 'command'> {
  readonly inside: boolean
  readonly control: boolean
}

/** Numbers of system calls that differ by architecture. */
const CALLS = {
  x64: {
    ptrace: 101,
    keyctl: 250,
    add_key: 248,
    process_vm_readv: 310,
    bpf: 321,
    open_by_handle_at: 304,
    unshare: 272,
    perf: 298,
    kcmp: 312,
    clone: 56,
  },
  arm64: {
    ptrace: 117,
    keyctl: 219,
    add_key: 217,
    process_vm_readv: 270,
    bpf: 280,
    open_by_handle_at: 265,
    unshare: 97,
    perf: 241,
    kcmp: 272,
    clone: 220,
  },
}[process.arch as 'x64' | 'arm64']

/** True if the kernel lets the call through, even if it only rejects the arguments. */
const call = (number: number | undefined, ...args: readonly (string | number)[]): string =>
  [
    `perl -e '$! = 0; my @a = (${args.join(', ')}); my $got = syscall(${number ?? -1}, @a);`,
    `exit(($got >= 0 || ($! != 1 && $! != 38)) ? 0 : 1)'`,
  ].join(' ')

const family = (number: number): string =>
  [
    `perl -MSocket -e 'socket(my $s, ${number}, SOCK_DGRAM, 0) || socket($s, ${number}, SOCK_STREAM, 0) ||`,
    `socket($s, ${number}, 5, 0) or exit 1'`,
  ].join(' ')

export interface EscapeFacts {
  readonly base: string
  readonly home: string
  readonly outside: string
  readonly victim: number
  readonly port: number
  readonly datagrams: number
  readonly socket: string
  readonly abstract: string
  readonly shared: string
}

/** `$PWD` is a workspace with a repository in it and another one below. */
function attemptsFor({
  base,
  home,
  outside,
  victim,
  port,
  datagrams,
  socket,
  abstract,
  shared,
}: EscapeFacts): readonly Attempt[] {
  const all = (name: string, command: string): Attempt => ({ name, command, outside: 'all' })
  const root = (name: string, command: string): Attempt => ({ name, command, outside: 'root' })
  const some = (name: string, command: string): Attempt => ({ name, command, outside: 'some' })
  const token = join(home, 'token')
  const connect = (address: string): string =>
    `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un(${address})) or exit 1'`
  return [
    all("reads the home's token", `grep -q secret ${token}`),
    all('lists the home', `ls ${home} | grep -q token`),
    all('reads another workspace', `grep -q secret ${home}/workspaces/other/file`),
    all('reads through a symbolic link', `ln -sf ${token} link && grep -q secret link`),
    all('reads through a hard link', `rm -f hard && ln ${token} hard && grep -q secret hard`),
    all('reads through the root of a process', `grep -q secret /proc/self/root${token}`),
    all('reads beside the workspace', `grep -q secret /proc/self/cwd/../beside`),
    all('climbs out of the workspace', 'grep -q secret ../beside'),
    all('reads the files of the user', `grep -q secret ${base}/user/.ssh/id`),
    root('reads the password hashes of the machine', 'head -c 1 /etc/shadow | grep -q .'),
    some('reads the list of users', 'test "$(wc -l < /etc/passwd)" -gt 5'),
    all('reads temporary files of other users', `grep -q secret ${outside}/file`),
    all('writes outside the workspace', `echo got > ${outside}/written`),
    all('writes into the home', `echo got > ${home}/written`),
    all("writes a file that the user's shell runs", `echo got >> ${base}/user/.bashrc`),
    root('could write to /usr', 'test -w /usr/bin'),
    root('could write to /etc', 'test -w /etc && test -w /etc/passwd'),
    root('could write to the root folder', 'test -w /'),
    root(
      'writes a setting of the kernel',
      'v=$(cat /proc/sys/kernel/core_pattern) && printf %s "$v" > /proc/sys/kernel/core_pattern',
    ),
    root(
      'changes a node of /dev',
      [
        `before=$(stat -c %Z ${shared}/null) && sleep 0 && chmod 666 /dev/null &&`,
        `test "$(stat -c %i /dev/null)" = ${statSync('/dev/null').ino}`,
      ].join(' '),
    ),
    all('reads the environment of another process', `tr '\\0' '\\n' < /proc/${victim}/environ | grep -q CANARY=secret`),
    all('sees processes outside', 'grep -qsx sleep /proc/[0-9]*/comm'),
    all('may signal a process outside', `kill -0 ${victim}`),
    all('connects over TCP', `exec 5<>/dev/tcp/127.0.0.1/${port}`),
    all('sends a datagram', `echo got > /dev/udp/127.0.0.1/${datagrams}; sleep 0.05; test -e ${outside}/datagram`),
    all('connects to a socket in the home', connect(`"${socket}"`)),
    all('connects to an abstract socket', connect(`"\\0${abstract}"`)),
    some('sees the network of the machine', 'test "$(grep -c : /proc/net/dev)" -gt 1'),
    root('mounts', 'mkdir -p m && unshare -m mount -t tmpfs none m'),
    root('mounts without unshare', 'mkdir -p m && mount -t tmpfs none m && umount m'),
    root('remounts the system', 'unshare -m sh -c "mount --bind /usr /usr && mount -o remount,bind,rw /usr"'),
    root('creates a device node', 'rm -f node; mknod node b 7 7 && rm node'),
    root('changes the root folder', 'chroot / true'),
    all('makes a user namespace', 'unshare -U true'),
    all('makes a user namespace with a system call', call(CALLS?.unshare, 0x1000_0000)),
    all('clones into a user namespace', call(CALLS?.clone, 0x1000_0011, 0, 0, 0, 0)),
    root('makes a network namespace', 'unshare -n true'),
    root('enters another namespace', `nsenter -t ${victim} -m true`),
    all('traces', call(CALLS?.ptrace, 0, 0, 0, 0)),
    all('reads the memory of a process', call(CALLS?.process_vm_readv, '$$', 0, 0, 0, 0, 0)),
    all('asks for a key ring', call(CALLS?.keyctl, 0, -3, 0)),
    all('stores a key in the key ring', call(CALLS?.add_key, '"user"', '"tireless-try"', '"x"', 1, -2)),
    all('compares processes', call(CALLS?.kcmp, '$$', '$$', 0, 0, 0)),
    root('loads a program into the kernel', call(CALLS?.bpf, 0, 0, 0)),
    root('opens a file by its handle', call(CALLS?.open_by_handle_at, -1, 0, 0)),
    some('uses performance counters', call(CALLS?.perf, 0, 0, 0, 0, 0)),
    some('uses io_uring', call(425, 1, 0)),
    all('mounts with the new calls', `${call(430, '"tmpfs"', 0)} || ${call(428, -1, '"/"', 0)}`),
    some('opens a socket to the hypervisor', family(40)),
    root('opens a raw socket', family(17)),
    some("opens a socket of the kernel's crypto interface", family(38)),
    some('reads the log of the kernel', 'dmesg | grep -q .'),
    root('renames the machine', 'unshare -u hostname other || hostname "$(hostname)"'),
    root('raises its priority', 'renice -n -5 $$'),
    some('may write core dumps', 'ulimit -c unlimited'),
    some('may write files of any size', 'test "$(ulimit -f)" = unlimited'),
    some('sees devices of the machine', 'ls /dev | grep -Eq "^(vda|sda|nvme|loop|kmsg|mem|kvm|fuse)"'),
    all('sees /sys', 'test -e /sys/kernel'),
    all('sees /run', 'ls -A /run | grep -q .'),
    all('sees shared memory', `grep -q secret ${shared}/memory`),
    all('sees the keys of the machine', 'test -s /proc/keys || grep -q . /proc/keys'),
    all('writes a hook of git', 'echo true > .git/hooks/pre-commit'),
    all('removes the hooks of git', 'rm -rf .git/hooks && mkdir .git/hooks'),
    all('writes the configuration of git', 'git config alias.x "!true"'),
    all('replaces the configuration of git', 'cp .git/config new && mv -f new .git/config'),
    all('moves the repository away', 'mv .git aside && mv aside .git'),
    all('writes a hook of a nested repository', 'echo true > below/deep/.git/hooks/pre-commit'),
    all('writes the configuration of a nested repository', 'git -C below/deep config alias.x "!true"'),
    all('changes the settings of another agent', 'echo {} > .claude/settings.json'),
    all('adds MCP servers for other agents', 'echo {} > .mcp.json'),
  ]
}

/** Files that no mount can protect from being created: they must be gone when the command has ended. */
export const REMOVED_TRAPS: readonly (readonly [name: string, command: string, left: string])[] = [
  ['another common folder for git', 'echo ../evil > .git/commondir', '.git/commondir'],
  [
    'a repository with a hook',
    'git init -q fresh && mkdir fresh/.git/hooks && echo true > fresh/.git/hooks/post-checkout',
    'fresh/.git/hooks/post-checkout',
  ],
  [
    'a repository that runs a program',
    'git init -q other && git -C other config core.fsmonitor ./evil',
    'other/.git/config',
  ],
  ['a repository that points elsewhere', 'mkdir led && echo "gitdir: ../below" > led/.git', 'led/.git'],
  [
    'a repository in the place of another',
    'mv below gone && mkdir -p below/deep/.git/hooks && echo true > below/deep/.git/hooks/x',
    'below/deep/.git/hooks/x',
  ],
  ['a file that other agents obey', 'mkdir .codex && echo x > .codex/config.toml', '.codex'],
  ['a configuration of Tireless', 'echo "sandbox: off" > tireless.yaml', 'tireless.yaml'],
]

export function makeWorkspace(root: string): void {
  for (const git of ['.git', 'below/deep/.git']) {
    for (const folder of ['hooks', 'objects', 'refs/heads']) mkdirSync(join(root, git, folder), { recursive: true })
    writeFileSync(join(root, git, 'config'), '[core]\n\trepositoryformatversion = 0\n')
    writeFileSync(join(root, git, 'HEAD'), 'ref: refs/heads/main\n')
  }
  mkdirSync(join(root, '.claude'))
  writeFileSync(join(root, '.claude/settings.json'), '{}')
  writeFileSync(join(root, '.mcp.json'), '{}')
}

interface EscapeTargets {
  readonly base: string
  readonly facts: EscapeFacts
  readonly victim: ChildProcess
  readonly servers: readonly Server[]
  close(): void
}

async function createTargets(): Promise<EscapeTargets> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-escapes-')))
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'tireless-outside-')))
  const shared = realpathSync(mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'tireless-shared-')))
  const home = join(base, 'home')
  for (const folder of ['user/.ssh', 'home/workspaces/other', 'box', 'free', 'calls'])
    mkdirSync(join(base, folder), { recursive: true })
  const secrets = ['home/token', 'home/workspaces/other/file', 'user/.ssh/id', 'beside'].map((name) => join(base, name))
  for (const file of [...secrets, join(outside, 'file'), join(shared, 'memory'), join(shared, 'null')])
    writeFileSync(file, 'secret\n')
  for (const name of ['box', 'free']) makeWorkspace(join(base, name))
  const victim = spawn('sleep', ['4242'], { env: { CANARY: 'secret' }, stdio: 'ignore' })
  const socket = join(home, 'socket')
  const abstract = `tireless-try-${process.pid}`
  const tcp = createServer((client) => client.destroy())
  const servers = [tcp, createServer((client) => client.destroy()), createServer((client) => client.destroy())] as const
  const datagrams = createSocket('udp4').on('message', () => writeFileSync(join(outside, 'datagram'), ''))
  await Promise.all([
    new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve)),
    new Promise<void>((resolve) => servers[1].listen(socket, resolve)),
    new Promise<void>((resolve) => servers[2].listen(`\0${abstract}`, resolve)),
    new Promise<void>((resolve) => datagrams.bind(0, '127.0.0.1', resolve)),
  ])
  const { port } = tcp.address() as { port: number }
  const facts: EscapeFacts = {
    base,
    home,
    outside,
    victim: victim.pid ?? 0,
    port,
    datagrams: datagrams.address().port,
    socket,
    abstract,
    shared,
  }
  return {
    ...{ base, facts, victim, servers },
    close() {
      victim.kill('SIGKILL')
      datagrams.close()
      for (const server of servers) server.close()
      for (const folder of [base, outside, shared]) rmSync(folder, { recursive: true, force: true })
    },
  }
}

const UNREACHABLE_HOST = new AbortController().signal

/** Contract: runs every attempt inside and outside as the user of this process. */
export async function outcomes(): Promise<readonly Outcome[]> {
  const { base, facts, close } = await createTargets()
  try {
    const env = { ...process.env, SSH_AUTH_SOCK: facts.socket, CANARY: 'secret' }
    const sandbox = createSandbox({ folder: join(base, 'sandbox'), hidden: [facts.home], env, clock: systemClock })
    const options = { callsDir: join(base, 'calls'), clock: systemClock, env }
    const boxed = await hostEnvs({ ...options, launcher: sandbox.launcher }).open(join(base, 'box'))
    const free = await hostEnvs(options).open(join(base, 'free'))
    const attempts = [...attemptsFor(facts), ...fileAndKernelAttempts(facts), ...processAttempts(facts)]
    const script = attempts
      .map(({ command }, at) => `if ( ${command} ) > /dev/null 2>&1; then echo got ${at}.; fi`)
      .join('\n')
    const got = async (opened: typeof boxed): Promise<string> => {
      rmSync(join(facts.outside, 'datagram'), { force: true })
      const { output, exit } = await requireOps(opened, 'process').run('tries', `${script}\necho done`, {
        timeoutMs: 120_000,
        signal: UNREACHABLE_HOST,
      })
      if (exit !== 0 || !output.endsWith('done\n')) throw new Error(`the attempts did not finish: ${output}`)
      return output
    }
    const [inside, control] = [await got(boxed), await got(free)]
    return attempts.map(({ name, outside }, at) => ({
      name,
      outside,
      inside: inside.includes(`got ${at}.`),
      control: control.includes(`got ${at}.`),
    }))
  } finally {
    close()
  }
}
