/**
 * Whether the sandbox holds, found out by trying to get out of it: one command in a workspace of its own tries every way it knows.
 * Who escapes is judged from outside wherever that can be seen: a file that is there, a connection that came, a process that died.
 */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readlinkSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../../ports/clock.ts'
import type { Launcher } from '../host/launch.ts'
import { type ProcessTable, processTable } from '../host/process-table.ts'
import { hostProcesses } from '../host/processes.ts'

export type Trial =
  | { readonly holds: true; readonly what: string }
  | { readonly holds: false; readonly why: string; readonly remedy: string }

export interface TestOptions {
  readonly folder: string
  readonly hidden: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly table?: ProcessTable
  readonly launcher: Launcher
  /** What it is, for people. */
  readonly named: string
  /** What can be got in there and is no way out of it. */
  readonly harmless?: readonly string[]
  /** Namespaces that it has in common with the machine. */
  readonly shared?: readonly string[]
  /** What to do where it does not hold; default: as for bubblewrap. */
  readonly remedy?: string
}

const TIMEOUT_MS = 10_000
const MOST_OUTPUT = 64 * 1024

export async function trialOf(options: TestOptions): Promise<Trial> {
  const { named } = options
  const base = await realpath(await mkdtemp(join(options.folder, 'try-')))
  const outside = await realpath(await mkdtemp(join(tmpdir(), 'tireless-try-')))
  try {
    const { escapes, tried, wrote, said } = await escapesFrom(options, base, outside)
    if (!tried)
      return {
        holds: false,
        why: `${named} cannot make a sandbox here: ${lastLine(said)}`,
        remedy: options.remedy ?? remedyFor(said),
      }
    if (!wrote)
      return {
        holds: false,
        why: `${named} does not write the workspace as its owner`,
        remedy: options.remedy ?? remedyFor(said),
      }
    if (escapes.length === 0) return { holds: true, what: `${named}; it was tried and holds` }
    return {
      holds: false,
      why: `${named} was escaped from: ${escapes.join(', ')}`,
      remedy:
        options.remedy ?? 'install a bubblewrap of your distribution, 0.8 or newer, and look for what stands between',
    }
  } finally {
    await Promise.all([base, outside].map((folder) => rm(folder, { recursive: true, force: true })))
  }
}

interface Tried {
  readonly escapes: readonly string[]
  readonly tried: boolean
  /** Into the workspace, what is then ours. */
  readonly wrote: boolean
  readonly said: string
}

async function escapesFrom(options: TestOptions, base: string, outside: string): Promise<Tried> {
  const { launcher, clock, table = processTable() } = options
  const root = join(base, 'ws')
  await Promise.all([mkdir(join(root, '.git/hooks'), { recursive: true }), mkdir(join(base, 'calls'))])
  const canary = `canary-${base.slice(-6)}`
  const files: Readonly<Record<string, string>> = {
    [join(base, 'token')]: canary,
    [join(outside, 'seen')]: canary,
    [join(root, '.git/config')]: '[core]\n',
    [join(root, '.git/HEAD')]: 'ref: refs/heads/main\n',
  }
  for (const [path, text] of Object.entries(files)) await writeFile(path, text)
  const env = { PATH: options.env.PATH ?? '/usr/bin:/bin', TIRELESS_CANARY: canary }
  const others = spawn('sleep', ['60'], { env, stdio: 'ignore' })
  others.on('error', () => {})
  // Another number for each: what others do to the nodes of the machine meanwhile is not this one's doing.
  const stamp = 1_000_000_000 + (createHash('sha256').update(base).digest().readUInt32LE() % 500_000_000)
  let connected = false
  const server = createServer((socket) => {
    connected = true
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const address = server.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    const facts: Facts = {
      base,
      outside,
      port,
      pid: others.pid ?? 0,
      hidden: options.hidden,
      canary,
      stamp,
      own: ownOf(options),
    }
    const processes = hostProcesses({
      root,
      callsDir: join(base, 'calls'),
      clock,
      env,
      table,
      maxOutputBytes: MOST_OUTPUT,
      launcher,
    })
    const { output } = await processes.run('self-test', scriptFor(facts), {
      timeoutMs: TIMEOUT_MS,
      signal: new AbortController().signal,
    })
    await new Promise((resolve) => setImmediate(resolve))
    const told = [...output.matchAll(/^escaped: (.+)$/gm)].map(([, got]) => String(got))
    const seen = [
      ...(connected ? ['a connection out'] : []),
      ...(existsSync(join(outside, 'written')) || existsSync(join(base, 'written')) ? ['a file written outside'] : []),
      ...(others.pid !== undefined && others.exitCode === null && others.signalCode === null
        ? []
        : ['a process killed outside']),
      ...(statSync('/dev/null').mtimeMs !== stamp * 1000 ? [] : ['the nodes of /dev']),
      ...((await readFile(join(root, '.git/config'), 'utf8').catch(() => '')) === '[core]\n'
        ? []
        : ['the configuration of git written']),
      ...((await readdir(join(root, '.git/hooks')).catch(() => ['moved'])).length === 0
        ? []
        : ['a hook of git written']),
    ]
    const escapes = [...new Set([...told, ...seen])].filter(
      (got) => ![NOTHING, ...(options.harmless ?? [])].includes(got),
    )
    const wrote = statSync(join(root, 'wrote'), { throwIfNoEntry: false })?.uid === process.getuid?.()
    return { escapes, tried: told[0] === NOTHING && /^tried everything$/m.test(output), wrote, said: output }
  } finally {
    others.kill('SIGKILL')
    server.close()
  }
}

interface Facts {
  readonly base: string
  readonly outside: string
  readonly port: number
  readonly pid: number
  readonly hidden: readonly string[]
  readonly canary: string
  /** A time that no file has. */
  readonly stamp: number
  /** The kinds of namespaces that are to be its own. */
  readonly own: readonly string[]
}

const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts', 'mnt']
const ownOf = ({ shared = [] }: TestOptions): readonly string[] => NAMESPACES.filter((kind) => !shared.includes(kind))

/** Each way says what was got by it, where it was got. Few of them start a program: it has to be quick. */
function scriptFor({ base, outside, port, pid, hidden, canary, stamp, own }: Facts): string {
  const readable = (path: string): string => `{ read -r line || [ -n "$line" ]; } < ${quoted(path)}`
  const ways: readonly (readonly [got: string, way: string])[] = [
    [NOTHING, 'true'],
    [NOTHING, ': > wrote'],
    ["the home's token", readable(join(base, 'token'))],
    ...hidden.flatMap((folder) =>
      ['token', 'tireless.db'].map((name) => ['the home', readable(join(folder, name))] as const),
    ),
    ['the temporary files of others', readable(join(outside, 'seen'))],
    [NOTHING, `: > ${quoted(join(outside, 'written'))}; : > ${quoted(join(base, 'written'))}`],
    ...['/', '/usr', '/etc', '/opt', '/dev', '/run', '/var'].map(
      (folder) => [`${folder} writable`, `[ -w ${folder} ]`] as const,
    ),
    [
      'a setting of the kernel',
      'read -r line < /proc/sys/kernel/core_pattern && printf %s "$line" > /proc/sys/kernel/core_pattern',
    ],
    [NOTHING, `touch -m -d @${stamp} /dev/null`],
    ["another process's environment", `grep -qs ${canary} /proc/[0-9]*/environ`],
    ['the environment of the runtime', '[ -n "$TIRELESS_CALL$TIRELESS_CANARY" ]'],
    ['capabilities', statusSays('Cap*', '0000000000000000')],
    ['new privileges', statusSays('NoNewPrivs:', '1')],
    ...(FILTERED.includes(process.arch) ? [['every system call', statusSays('Seccomp:', '2')] as const] : []),
    ...namespaces(own),
    ['the session of the runtime', `read -r stat < /proc/self/stat && set -- \${stat##*) } && [ "$4" = 0 ]`],
    ['a remount', 'mount -o remount,rw /usr || { mount -t tmpfs none /mnt && umount /mnt; }'],
    ['a user namespace', 'unshare -U true'],
    ['a device', 'mknod node c 1 1'],
    [NOTHING, ': > .git/hooks/pre-commit; printf "[alias]" >> .git/config'],
    ['the folder of git moved away', 'mv .git elsewhere'],
    ['cores', '[ "$(ulimit -c)" != 0 ]'],
    ['files of any size', '[ "$(ulimit -f)" = unlimited ]'],
    [NOTHING, `exec 5<>/dev/tcp/127.0.0.1/${port}`],
    [NOTHING, `read -r name < /proc/${pid}/comm && [ "$name" = sleep ] && kill -KILL ${pid}`],
  ]
  const tries = ways.map(([got, way]) => `if ( ${way} ) > /dev/null 2>&1; then echo "escaped: ${got}"; fi`)
  return [...tries, 'echo tried everything'].join('\n')
}

/** Tried as well: whether it succeeded is seen from outside. The first is the proof that anything was tried at all. */
const NOTHING = 'nothing'
const FILTERED = ['x64', 'arm64']

/** True where one of these lines of /proc/self/status says something else. */
const statusSays = (key: string, expected: string): string =>
  `while read -r key value; do case $key in ${key}) [ "$value" = ${expected} ] || exit 0;; esac; done < /proc/self/status; exit 1`

function namespaces(own: readonly string[]): (readonly [string, string])[] {
  const links = own.map((kind) => `/proc/self/ns/${kind}`).join(' ')
  const look = `for own in $(readlink ${links}); do case " ${own.map(namespaceOf).join(' ')} " in *" $own "*) exit 0;; esac; done; exit 1`
  return [["a namespace of the machine's", look]]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

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
    return 'allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 or a profile for bwrap (Ubuntu), user.max_user_namespaces=10000; in a container, start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined'
  return 'try it by hand: bwrap --ro-bind / / --unshare-all true'
}
