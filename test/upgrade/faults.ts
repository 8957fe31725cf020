/** Faults during an upgrade: each is a way to run it that goes wrong. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startKernel, type TestInstallation, tarballs } from './installation.ts'
import { writeProgram } from './packages.ts'

interface Fault {
  readonly name: string
  /** Also without `npm run upgrades`. */
  readonly always?: true
  readonly npm?: 'real'
  /** Contract: runs the upgrade to its end, or kills it. */
  run(at: TestInstallation, t: TestContext): Promise<unknown>
}

const from = (at: TestInstallation, tarball: string): Promise<unknown> => at.program('upgrade', '--from', tarball)

const withNpm = (script: string) => (at: TestInstallation) => {
  writeProgram(at.programs, 'npm', `#!/bin/sh\n${script}\n`)
  return from(at, tarballs().migrating)
}

/** A damaged copy of a tarball. */
function damaged({ user }: TestInstallation, damage: (file: string) => void): string {
  const file = join(user, 'damaged.tgz')
  writeFileSync(file, readFileSync(tarballs().migrating))
  damage(file)
  return file
}

const until = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('close', () => resolve()))

/** Sends a signal to the upgrade and all its children when it has printed `line`, `ms` later. */
const signalAt =
  (line: RegExp, { signal = 'SIGKILL' as NodeJS.Signals, ms = 0, args = ['--from', ''] } = {}) =>
  async ({ command, env, user }: TestInstallation): Promise<void> => {
    const words = args[0] === '--from' ? ['upgrade', '--from', tarballs().migrating] : ['upgrade', ...args]
    const child = spawn(command, words, { env, cwd: user, detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
    let printed = ''
    let isSent = false
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (isSent || !line.test(printed)) return
      isSent = true
      setTimeout(() => {
        try {
          process.kill(-(child.pid ?? 0), signal)
        } catch {
          // It has ended already.
        }
      }, ms)
    })
    await until(child)
  }

const kills: readonly Fault[] = (
  [
    ['npm installs', /Installing/, 0],
    ['npm installs, a little later', /Installing/, 150],
    ['the home is backed up', /Backing up/, 0],
    ['the home is backed up, later', /Backing up/, 400],
    ['the copy is restored', /Opening a copy/, 50],
    ['the copy is opened', /Opening a copy/, 900],
    ['it switches', /Switching to/, 0],
    ['the home is opened', /Switching to/, 150],
    ['the home is migrated', /Switching to/, 400],
    ['it ends', /Switched to/, 0],
  ] as const
).map(([name, line, ms]) => ({ name: `killed while ${name}`, run: signalAt(line, { ms }) }))

export const FAULTS: readonly Fault[] = [
  {
    name: 'a tarball cut short',
    npm: 'real',
    run: (at) =>
      from(
        at,
        damaged(at, (file) => truncateSync(file, 5000)),
      ),
  },
  {
    name: 'a tarball of garbage',
    npm: 'real',
    run: (at) =>
      from(
        at,
        damaged(at, (file) => writeFileSync(file, 'x')),
      ),
  },
  { name: 'a package of another program', run: (at) => from(at, tarballs().foreign) },
  { name: 'a package without its code', run: (at) => from(at, tarballs().incomplete) },
  {
    name: 'no npm',
    run: ({ command, env, user }) => {
      const programs = join(user, 'only node')
      mkdirSync(programs)
      symlinkSync(process.execPath, join(programs, 'node'))
      const words = ['upgrade', '--from', tarballs().migrating]
      return until(spawn(command, words, { env: { ...env, PATH: programs }, cwd: user, stdio: 'ignore' }))
    },
  },
  { name: 'npm that dies', run: withNpm('kill -9 $$') },
  { name: 'a disk that is full for npm', run: withNpm('echo "npm ERR! code ENOSPC" >&2; exit 228') },
  {
    name: 'no network',
    npm: 'real',
    run: ({ command, env, user }) => {
      const offline = { ...env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
      return until(spawn(command, ['upgrade', '--from', '0.2.0'], { env: offline, cwd: user, stdio: 'ignore' }))
    },
  },
  {
    name: 'a disk that is full for the backup',
    run: ({ command, env, user }) => {
      const limited = ['-c', 'ulimit -f 64; exec "$@"', 'sh', command, 'upgrade', '--from', tarballs().migrating]
      return until(spawn('/bin/sh', limited, { env, cwd: user, stdio: 'ignore' }))
    },
  },
  {
    name: 'an installation that cannot be written',
    run: (at) => {
      writeFileSync(join(at.packageFolder, 'versions'), 'not a folder')
      return from(at, tarballs().migrating)
    },
  },
  {
    name: 'a folder for backups that cannot be written',
    run: (at) => {
      writeFileSync(join(at.user, '.tireless-backups'), 'not a folder')
      return from(at, tarballs().migrating)
    },
  },
  { name: 'a version that crashes when it starts', run: (at) => from(at, tarballs().crashing) },
  { name: 'a version whose migration fails', run: (at) => from(at, tarballs().unmigratable) },
  {
    name: 'a version that fails after it migrated the home',
    always: true,
    run: (at) => from(at, tarballs().treacherous),
  },
  {
    name: 'a running kernel, and a version that crashes',
    async run(at, t) {
      await startKernel(t, at)
      await from(at, tarballs().crashing)
    },
  },
  {
    name: 'two upgrades at once',
    run: (at) => Promise.all([from(at, tarballs().migrating), from(at, tarballs().same)]),
  },
  { name: 'Ctrl-C while the copy is opened', run: signalAt(/Opening a copy/, { signal: 'SIGINT', ms: 100 }) },
  { name: 'Ctrl-C while the home is opened', run: signalAt(/Switching to/, { signal: 'SIGINT', ms: 100 }) },
  ...kills,
  {
    name: 'killed while it is undone',
    async run(at) {
      await from(at, tarballs().migrating)
      await signalAt(/Restoring/, { ms: 300, args: ['--undo'] })(at)
    },
  },
]
