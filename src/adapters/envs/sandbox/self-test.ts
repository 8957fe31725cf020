/**
 * The self-test of a sandbox: one command in a temporary workspace tries every known way to escape. If possible, the
 * success of an attempt is judged from outside: a file was written, a connection arrived, a process died.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../../ports/clock.ts'
import { createHostProcesses } from '../host/host-processes.ts'
import type { Launcher } from '../host/launcher.ts'
import { type ProcessTable, processTable } from '../host/process-table.ts'

export type SandboxTestResult =
  | { readonly holds: true; readonly what: string }
  | { readonly holds: false; readonly why: string; readonly remedy: string }

interface SelfTestOptions {
  readonly folder: string
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly table?: ProcessTable
  readonly launcher: Launcher
  /** Name of the sandbox in messages. */
  readonly named: string
  /** Reported results, such as `/dev writable`, that do not count as an escape. */
  readonly harmless?: readonly string[]
  /** Namespaces that the sandbox shares with the machine. */
  readonly shared?: readonly string[]
  /** Advice if the test fails; default: advice for bubblewrap. */
  readonly remedy?: string
}

const TIMEOUT_MS = 10_000
const MAX_OUTPUT_BYTES = 64 * 1024

export async function runSelfTest(options: SelfTestOptions): Promise<SandboxTestResult> {
  const { named } = options
  const base = await realpath(await mkdtemp(join(options.folder, 'try-')))
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'tireless-try-')))
  try {
    const { escapes, tried, wrote, said } = await attemptEscapes(options, base, outside)
    if (!tried)
      return {
        holds: false,
        why: `${named} cannot create a sandbox: ${lastLine(said)}`,
        remedy: options.remedy ?? remedyFor(said),
      }
    if (!wrote)
      return {
        holds: false,
        why: `commands in ${named} cannot write workspace files as your user`,
        remedy: options.remedy ?? remedyFor(said),
      }
    if (escapes.length === 0) return { holds: true, what: `${named}; self-test passed` }
    return {
      holds: false,
      why: `the self-test could break out of ${named}: ${escapes.join(', ')}`,
      remedy: options.remedy ?? 'install bubblewrap 0.8 or newer from your distribution',
    }
  } finally {
    await Promise.all([base, outside].map((folder) => rm(folder, { recursive: true, force: true })))
  }
}

interface Attempts {
  readonly escapes: readonly string[]
  readonly tried: boolean
  /** True if the command wrote a file into the workspace, and the file belongs to the user of this process. */
  readonly wrote: boolean
  readonly said: string
}

async function attemptEscapes(options: SelfTestOptions, base: string, outside: string): Promise<Attempts> {
  const root = join(base, 'ws')
  const canary = `canary-${base.slice(-6)}`
  await plantTargets(root, base, outside, canary)
  const env = { PATH: options.env.PATH ?? '/usr/bin:/bin', TIRELESS_CANARY: canary }
  const bystander = spawn('sleep', ['60'], { env, stdio: 'ignore' })
  bystander.on('error', () => {})
  // Each test sets /dev/null to another time, so that a concurrent test does not take the change for its own.
  const stamp = 1_000_000_000 + (createHash('sha256').update(base).digest().readUInt32LE() % 500_000_000)
  const listener = await listenForConnections()
  try {
    const { port } = listener
    const pid = bystander.pid ?? 0
    const facts: Facts = {
      base,
      outside,
      port,
      pid,
      hidden: options.hidden,
      canary,
      stamp,
      own: ownNamespaces(options),
    }
    const output = await runScript(options, { root, base, env, script: scriptFor(facts) })
    await new Promise((resolve) => setImmediate(resolve))
    const reported = [...output.matchAll(/^escaped: (.+)$/gm)].map(([, got]) => String(got))
    const isBystanderAlive = bystander.pid !== undefined && bystander.exitCode === null && bystander.signalCode === null
    const observed = [
      ...(listener.isConnected() ? ['opened a connection'] : []),
      ...(isBystanderAlive ? [] : ['killed a process outside']),
      ...(await observeChanges(root, facts)),
    ]
    const escapes = [...new Set([...reported, ...observed])].filter(
      (got) => ![NOT_REPORTED, ...(options.harmless ?? [])].includes(got),
    )
    const wrote = statSync(join(root, 'wrote'), { throwIfNoEntry: false })?.uid === process.getuid?.()
    return { escapes, tried: reported[0] === NOT_REPORTED && /^tried everything$/m.test(output), wrote, said: output }
  } finally {
    bystander.kill('SIGKILL')
    listener.close()
  }
}

/** What the commands of the test try to read and to change. */
async function plantTargets(root: string, base: string, outside: string, canary: string): Promise<void> {
  await Promise.all([mkdir(join(root, '.git/hooks'), { recursive: true }), mkdir(join(base, 'calls'))])
  const files: Readonly<Record<string, string>> = {
    [join(base, 'token')]: canary,
    [join(outside, 'seen')]: canary,
    [join(root, '.git/config')]: '[core]\n',
    [join(root, '.git/HEAD')]: 'ref: refs/heads/main\n',
  }
  for (const [path, text] of Object.entries(files)) await writeFile(path, text)
}

async function listenForConnections(): Promise<{
  readonly port: number
  isConnected(): boolean
  close(): void
}> {
  let connected = false
  const server = createServer((socket) => {
    connected = true
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    isConnected: () => connected,
    close: () => void server.close(),
  }
}

interface TestScript {
  readonly root: string
  readonly base: string
  readonly env: Readonly<Record<string, string>>
  readonly script: string
}

async function runScript(
  { launcher, clock, table = processTable() }: SelfTestOptions,
  { root, base, env, script }: TestScript,
): Promise<string> {
  const callsDir = join(base, 'calls')
  const processes = createHostProcesses({
    ...{ root, callsDir, clock, env, table, launcher },
    maxOutputBytes: MAX_OUTPUT_BYTES,
  })
  const { output } = await processes.run('self-test', script, {
    timeoutMs: TIMEOUT_MS,
    signal: new AbortController().signal,
  })
  return output
}

async function observeChanges(root: string, { base, outside, stamp }: Facts): Promise<readonly string[]> {
  const isOutside = existsSync(join(outside, 'written')) || existsSync(join(base, 'written'))
  const config = await readFile(join(root, '.git/config'), 'utf8').catch(() => '')
  const hooks = await readdir(join(root, '.git/hooks')).catch(() => ['moved'])
  return [
    ...(isOutside ? ['wrote a file outside'] : []),
    ...(statSync('/dev/null').mtimeMs === stamp * 1000 ? ['changed a /dev node'] : []),
    ...(config === '[core]\n' ? [] : ['changed the git configuration']),
    ...(hooks.length === 0 ? [] : ['wrote a git hook']),
  ]
}

interface Facts {
  readonly base: string
  readonly outside: string
  readonly port: number
  readonly pid: number
  readonly hidden: readonly string[]
  readonly canary: string
  /** A time that no file has, in seconds since the epoch; the test tries to set /dev/null to it. */
  readonly stamp: number
  /** The namespaces that the sandbox must not share with the machine. */
  readonly own: readonly string[]
}

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts', 'mnt']
const ownNamespaces = ({ shared = [] }: SelfTestOptions): readonly string[] =>
  NAMESPACES.filter((kind) => !shared.includes(kind))

/** The test's script. Each attempt prints its result if it succeeds. Few attempts start a program, to save time. */
function scriptFor({ base, outside, port, pid, hidden, canary, stamp, own }: Facts): string {
  const readable = (path: string): string => `{ read -r line || [ -n "$line" ]; } < ${quoteForShell(path)}`
  const attempts: readonly (readonly [got: string, attempt: string])[] = [
    [NOT_REPORTED, 'true'],
    [NOT_REPORTED, ': > wrote'],
    ["read the home's token", readable(join(base, 'token'))],
    ...hidden.flatMap((folder) =>
      ['token', 'tireless.db'].map((name) => ['read a file of the home', readable(join(folder, name))] as const),
    ),
    ["read others' temporary files", readable(join(outside, 'seen'))],
    [NOT_REPORTED, `: > ${quoteForShell(join(outside, 'written'))}; : > ${quoteForShell(join(base, 'written'))}`],
    ...['/', '/usr', '/etc', '/opt', '/dev', '/run', '/var'].map(
      (folder) => [`${folder} writable`, `[ -w ${folder} ]`] as const,
    ),
    [
      'wrote a kernel setting',
      'read -r line < /proc/sys/kernel/core_pattern && printf %s "$line" > /proc/sys/kernel/core_pattern',
    ],
    [NOT_REPORTED, `touch -m -d @${stamp} /dev/null`],
    ["read another process's environment", `grep -qs ${canary} /proc/[0-9]*/environ`],
    ["read the runtime's environment", '[ -n "$TIRELESS_CALL$TIRELESS_CANARY" ]'],
    ['has capabilities', statusDiffers('Cap*', '0000000000000000')],
    ['can gain privileges', statusDiffers('NoNewPrivs:', '1')],
    ...(WITH_SECCOMP.includes(process.arch) ? [['no seccomp filter', statusDiffers('Seccomp:', '2')] as const] : []),
    ...namespaces(own),
    ["is in the runtime's session", `read -r stat < /proc/self/stat && set -- \${stat##*) } && [ "$4" = 0 ]`],
    ['remounted a folder', 'mount -o remount,rw /usr || { mount -t tmpfs none /mnt && umount /mnt; }'],
    ['created a user namespace', 'unshare -U true'],
    ['created a device', 'mknod node c 1 1'],
    [NOT_REPORTED, ': > .git/hooks/pre-commit; printf "[alias]" >> .git/config'],
    ['moved the .git folder', 'mv .git elsewhere'],
    ['core dumps allowed', '[ "$(ulimit -c)" != 0 ]'],
    ['no file size limit', '[ "$(ulimit -f)" = unlimited ]'],
    [NOT_REPORTED, `exec 5<>/dev/tcp/127.0.0.1/${port}`],
    [NOT_REPORTED, `read -r name < /proc/${pid}/comm && [ "$name" = sleep ] && kill -KILL ${pid}`],
  ]
  const checks = attempts.map(([got, attempt]) => `if ( ${attempt} ) > /dev/null 2>&1; then echo "escaped: ${got}"; fi`)
  return [...checks, 'echo tried everything'].join('\n')
}

/** Label of attempts whose success is observed from outside; the first such attempt proves that the script ran. */
const NOT_REPORTED = 'nothing'
const WITH_SECCOMP = ['x64', 'arm64']

/** Shell code that succeeds if a line of /proc/self/status has this key and a value other than `expected`. */
const statusDiffers = (key: string, expected: string): string =>
  `while read -r key value; do case $key in ${key}) [ "$value" = ${expected} ] || exit 0;; esac; done ` +
  '< /proc/self/status; exit 1'

function namespaces(own: readonly string[]): (readonly [string, string])[] {
  const links = own.map((kind) => `/proc/self/ns/${kind}`).join(' ')
  const outer = own.map(namespaceOf).join(' ')
  const look = `for own in $(readlink ${links}); do case " ${outer} " in *" $own "*) exit 0;; esac; done; exit 1`
  return [['shares a namespace with the machine', look]]
}

const quoteForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function namespaceOf(kind: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`)
  } catch {
    return 'none'
  }
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? ''

function remedyFor(said: string): string {
  if (/namespace|uid map|permission|not permitted|No space left/i.test(said))
    return [
      'allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 (Debian),',
      'kernel.apparmor_restrict_unprivileged_userns=0 or a profile for bwrap (Ubuntu), user.max_user_namespaces=10000;',
      'in a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined',
    ].join(' ')
  return 'run bwrap --ro-bind / / --unshare-all true to see the error'
}
