/**
 * Escape attempts, each a line of shell that succeeds where the way is open. All run inside the sandbox and, as proof
 * that the attempt itself works, outside as the same user.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hostEnvs } from '../../src/adapters/envs/host/host.ts'
import { createSandbox } from '../../src/adapters/envs/sandbox/sandbox.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { requireOps } from '../../src/ports/env.ts'
import type { Attempt, EscapeFacts } from './attempt.ts'
import { basicAttempts } from './basic-escapes.ts'
import { fileAndKernelAttempts } from './file-and-kernel-escapes.ts'
import { processAttempts } from './process-escapes.ts'

export interface Outcome extends Omit<Attempt, 'command'> {
  readonly inside: boolean
  readonly control: boolean
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
    const attempts = [...basicAttempts(facts), ...fileAndKernelAttempts(facts), ...processAttempts(facts)]
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
