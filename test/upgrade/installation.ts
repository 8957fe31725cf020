/** An installation of the first version, with a home that has done some work, on a machine with fakes where needed. */

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext } from 'node:test'
import type { CommandOutput } from '../support/command-line.ts'
import { freshFolder, waitUntil } from '../support/open-app.ts'
import { buildPackage, edit, FAKE_NPM, installInto, packVersion, raiseSchema, writeProgram } from './packages.ts'

const folder = mkdtempSync(join(tmpdir(), 'tireless-upgrade-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const built = join(folder, 'built')

/** Whether all tests run, not only the quick ones: `npm run upgrades`. */
export const IS_SWEEP = process.env.UPGRADE_SWEEP === 'full'

/** Built on first use. `UPGRADE_SWEEP=full`: as for users, which takes longer. */
function buildOnce(): void {
  if (!existsSync(built)) buildPackage(built, IS_SWEEP)
}

const packed = new Map<string, string>()

function packOnce(version: string, change?: (folder: string) => void): string {
  buildOnce()
  const tarball = packed.get(version) ?? packVersion(built, version, change)
  packed.set(version, tarball)
  return tarball
}

/** Tarballs of newer versions. */
export const tarballs = () => ({
  /** With a higher schema. */
  get migrating() {
    return packOnce('0.2.0', raiseSchema)
  },
  get same() {
    return packOnce('0.1.1')
  },
  /** Crashes when it is started. */
  get crashing() {
    return packOnce('0.2.1', (at) => writeFileSync(join(at, 'lib/cli/main.js'), 'throw new Error("broken version")'))
  },
  /** Its migration fails. */
  get unmigratable() {
    return packOnce('0.2.2', (at) => raiseSchema(at, 'INSERT INTO added_by_upgrade VALUES (1), (1)'))
  },
  /** Opens the copy, and fails after it has migrated the home itself. */
  get treacherous() {
    return packOnce('0.2.3', (at) => {
      raiseSchema(at)
      edit(join(at, 'lib/cli/cli.js'), /(const output = await runCommand\(.*)/, (line) => {
        const isReal = "!home.includes('.trial-') && command.name === 'status'"
        return `${line}\n        if (${isReal}) throw new Error('broken after the migration')`
      })
    })
  },
  /** Lacks its code. */
  get incomplete() {
    return packOnce('0.2.4', (at) => rmSync(join(at, 'lib/cli'), { recursive: true }))
  },
  /** Is not this program. */
  get foreign() {
    return packOnce('9.9.9', (at) => edit(join(at, 'package.json'), /"name":"tireless"/, () => '"name":"other"'))
  },
})

const SYSTEMCTL = `#!/bin/sh
shift
case $1 in
  is-active) cat "$0.state"; exit 0 ;;
  is-enabled) exit 0 ;;
esac
echo "$1" >> "$0.calls"
`

export interface TestInstallation {
  readonly user: string
  readonly home: string
  readonly programs: string
  readonly packageFolder: string
  readonly command: string
  readonly env: NodeJS.ProcessEnv
  program(...args: string[]): Promise<CommandOutput>
  // biome-ignore lint/suspicious/noExplicitAny: the output of any command
  json(...args: string[]): Promise<any>
  /** The schema of the home's database. */
  schema(): number
  setService(state: 'active' | 'inactive'): void
  systemctlCalls(): readonly string[]
}

let homeOfFirst: string | undefined

export function createInstallation(t: TestContext, { npm = 'fake' }: { npm?: 'fake' | 'real' } = {}): TestInstallation {
  buildOnce()
  const user = freshFolder(t, 'user 中文 100%')
  const [home, programs, consumer] = [join(user, '.tireless'), join(user, 'programs'), join(user, 'an app')]
  const command = installInto(consumer, built)
  const packageFolder = join(consumer, 'node_modules/tireless')
  writeProgram(programs, 'systemctl', SYSTEMCTL)
  writeFileSync(join(programs, 'systemctl.state'), 'inactive\n')
  if (npm === 'fake') writeProgram(programs, 'npm', FAKE_NPM)
  const env = {
    ...{ HOME: user, PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}`, LANG: 'C.UTF-8' },
    ...{ XDG_CACHE_HOME: join(folder, 'cache') },
  }
  const program = (...args: string[]): Promise<CommandOutput> =>
    new Promise((resolve) =>
      execFile(command, args, { env, cwd: user }, (error, stdout, stderr) =>
        resolve({ exit: error ? (typeof error.code === 'number' ? error.code : null) : 0, stdout, stderr }),
      ),
    )
  // The same work for all: only the first installation does it.
  if (homeOfFirst) cpSync(homeOfFirst, home, { recursive: true })
  else homeOfFirst = createHome(command, env, home)
  return {
    ...{ user, home, programs, packageFolder, command, env, program },
    async json(...args) {
      const { stdout, stderr } = await program(...args, '--json')
      if (stdout === '') throw new Error(stderr)
      return JSON.parse(stdout)
    },
    schema() {
      const db = new DatabaseSync(join(home, 'tireless.db'), { readOnly: true })
      try {
        return Number(db.prepare('PRAGMA user_version').get()?.user_version)
      } finally {
        db.close()
      }
    },
    setService(state) {
      const unit = join(user, '.config/systemd/user/tireless.service')
      mkdirSync(dirname(unit), { recursive: true })
      writeFileSync(unit, '')
      writeFileSync(join(programs, 'systemctl.state'), `${state}\n`)
    },
    systemctlCalls: () => readFileSync(join(programs, 'systemctl.calls'), 'utf8').trim().split('\n'),
  }
}

function createHome(command: string, env: NodeJS.ProcessEnv, home: string): string {
  mkdirSync(home)
  writeFileSync(join(home, 'tireless.yaml'), 'server: { port: 0 }\nsandbox: "off"\n')
  execFileSync(command, ['enqueue', '--prompt', 'work for later'], { env })
  const copy = join(folder, 'home')
  cpSync(home, copy, { recursive: true })
  return copy
}

export async function startKernel(t: TestContext, { command, env, home }: TestInstallation): Promise<ChildProcess> {
  const child = spawn(command, ['start'], { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await waitUntil(() => existsSync(join(home, 'socket')))
  return child
}
