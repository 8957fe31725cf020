/**
 * Runs a scripted job in a real process, kills it with -9 at a numbered system call on the database, then resumes it.
 * strace does the killing: it counts per thread and per system call, and only the writer thread touches the database.
 */

import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import { type ProviderServer, type Script, startProviderServer } from '../../src/testing/provider-server.ts'

export const STEPS = 12
const IS_FULL = process.env.CRASH_SWEEP === 'full'
/** `npm run crash` tries all kill points; each test run tries the first and every nth after it. */
export const sampled = <Point>(points: readonly Point[], nth: number): readonly Point[] =>
  IS_FULL ? points : points.filter((_, i) => i % nth === 0)

/** A run of all tests starts the bundle, as bin/tireless does; a single file, the sources. */
export const MAIN = process.env.BUNDLED_MAIN ?? join(import.meta.dirname, '../../src/cli/main.ts')
export const NODE_FLAGS = ['--disable-warning=ExperimentalWarning']

export const hasStrace = spawnSync('strace', ['-V']).status === 0

const lineOf = (k: number): string => `line-${k}`
export const EXPECTED_LINES = Array.from({ length: STEPS }, (_, i) => lineOf(i + 1))

/** Twelve appends, one per turn, then an answer. */
export const appendScript: Script = [
  ...EXPECTED_LINES.map((line) => ({ calls: [{ tool: 'bash', args: { command: `echo ${line} >> out.txt` } }] })),
  { text: 'twelve lines' },
]

export interface KillResult {
  /** Whether the kill came before the job ended. */
  readonly killed: boolean
  readonly lines: readonly string[]
  /** Commands listed as unknown outcomes. */
  readonly unknown: readonly string[]
  /** Turns whose answer was in the journal at the kill and was requested again afterwards. */
  readonly requestedTwice: readonly number[]
  readonly statuses: readonly string[]
  readonly answers: readonly (string | null)[]
  readonly resumeExit: number | null
  readonly resumeErrors: string
}

export function configFor(provider: ProviderServer): string {
  return `sandbox: off
models: { default: local/test, providers: { local: { type: openai-compatible, base_url: "${provider.url}" } } }
`
}

/** `point`: the number of the call that kills; undefined: no kill. */
export async function killAndResume(folder: string, syscall: string, point: number | undefined): Promise<KillResult> {
  const home = join(folder, `home-${syscall}-${point}`)
  const workspace = join(folder, `work-${syscall}-${point}`)
  mkdirSync(home, { recursive: true })
  const provider = await startProviderServer({ script: appendScript })
  try {
    writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
    const database = join(home, 'tireless.db')
    const inject = point === undefined ? [] : ['-e', `inject=${syscall}:signal=KILL:when=${point}`]
    // Not --seccomp-bpf: injection does not work with it.
    const strace = [
      '-f',
      '-o',
      '/dev/null',
      '-e',
      `trace=${syscall}`,
      ...inject,
      '-P',
      database,
      '-P',
      `${database}-wal`,
    ]
    const task = ['run', '--behaviour', 'solo', 'append twelve lines', '--home', home, '--workspace', workspace]
    const first = await run('strace', [...strace, process.execPath, ...NODE_FLAGS, MAIN, ...task])
    const answered = new Set(
      journalIn(database).flatMap((record) => (record.kind === 'model_answered' ? [record.turn - 1] : [])),
    )
    const requestsBefore = provider.requests.length
    const second = await run(process.execPath, [...NODE_FLAGS, MAIN, 'start', '--until-idle', '--home', home])
    const requestedTwice = provider.requests
      .slice(requestsBefore)
      .flatMap(({ turn }) => (answered.has(turn) ? [turn] : []))
    const queue = rowsOf(database, 'SELECT status, result FROM dispatches ORDER BY n')
    return {
      killed: first.exit !== 0,
      lines: existsSync(join(workspace, 'out.txt'))
        ? readFileSync(join(workspace, 'out.txt'), 'utf8').trim().split('\n')
        : [],
      unknown: rowsOf(database, 'SELECT args FROM unknowns').map((row) => JSON.parse(String(row.args)).command),
      requestedTwice,
      statuses: queue.map((row) => String(row.status)),
      answers: queue.map((row) => (row.result === null ? null : String(row.result))),
      resumeExit: second.exit,
      resumeErrors: second.stderr,
    }
  } finally {
    await provider.close()
    rmSync(home, { recursive: true, force: true })
    rmSync(workspace, { recursive: true, force: true })
  }
}

/** Counts such calls on the database in a job that is not killed. */
export async function countCalls(folder: string, syscall: string): Promise<number> {
  const home = join(folder, `count-${syscall}`)
  const log = join(folder, `count-${syscall}.log`)
  mkdirSync(home, { recursive: true })
  const provider = await startProviderServer({ script: appendScript })
  writeFileSync(join(home, 'tireless.yaml'), configFor(provider))
  const database = join(home, 'tireless.db')
  const strace = ['-f', '--seccomp-bpf', '-o', log, '-e', `trace=${syscall}`, '-P', database, '-P', `${database}-wal`]
  await run('strace', [
    ...strace,
    process.execPath,
    ...NODE_FLAGS,
    MAIN,
    'run',
    '--behaviour',
    'solo',
    'count',
    '--home',
    home,
  ])
  await provider.close()
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes(`${syscall}(`)).length
}

function journalIn(database: string): JournalRecord[] {
  return rowsOf(database, 'SELECT body FROM journal ORDER BY session, n').flatMap(
    (row) => JSON.parse(String(row.body)) as JournalRecord[],
  )
}

function rowsOf(database: string, sql: string): Record<string, unknown>[] {
  if (!existsSync(database)) return []
  const db = new DatabaseSync(database)
  try {
    return db.prepare(sql).all()
  } catch (error) {
    // Killed before the tables were created.
    if (error instanceof Error && error.message.includes('no such table')) return []
    throw error
  } finally {
    db.close()
  }
}

export function run(
  command: string,
  args: readonly string[],
): Promise<{ exit: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text) => (chunks.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (chunks.stderr += text))
    child.once('error', reject)
    child.once('close', (exit) => resolve({ exit, ...chunks }))
  })
}
