/** Opens apps in temporary homes that are removed after the test, and advances fake clocks. */

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import type { CommandInput, CommandOutput } from '../../src/commands/lib/registry.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'

/** By home: apps must be closed, and processes ended, before their folder is removed. */
const openApps = new Map<string, App[]>()
const endings = new Map<string, (() => Promise<void>)[]>()

/** Contract: `end` runs after the test, before the folder is removed. */
export function endBeforeRemoving(folder: string, end: () => Promise<void>): void {
  endings.set(folder, [...(endings.get(folder) ?? []), end])
}

export function freshFolder(t: TestContext, name = 'home'): string {
  const folder = mkdtempSync(join(tmpdir(), `tireless-${name}-`))
  t.after(async () => {
    for (const app of openApps.get(folder) ?? []) await app.close()
    for (const end of endings.get(folder) ?? []) await end()
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

export async function openApp(t: TestContext, options: AppOptions & { yaml?: string } = {}): Promise<App> {
  const { yaml = '', ...given } = options
  const home = given.home ?? freshFolder(t)
  if (yaml !== '') writeFileSync(join(home, 'tireless.yaml'), yaml)
  const app = await createApp({ ...given, home })
  openApps.set(home, [...(openApps.get(home) ?? []), app])
  t.after(() => app.close())
  // The sandbox probe takes real time; finish it before a test advances the fake clock.
  if (given.clock) await app.service('sandbox').trial()
  return app
}

export const runTaskIn = (
  app: App,
  task = 'the task',
  input: Partial<CommandInput<'run'>> = {},
): Promise<CommandOutput<'run'>> => app.run('run', { task, ...input })

type ReplayReport = Extract<CommandOutput<'replay'>, { identical: boolean }>

/** Replays a whole run, without a fork. */
export async function replayIn(app: App, run: string): Promise<ReplayReport> {
  const report = await app.run('replay', { run })
  return 'identical' in report ? report : assert.fail('the run was forked')
}

/** The last entries of the home's log. */
export const readLogs = async (app: App, lines?: number): Promise<NonNullable<CommandOutput<'logs'>>> =>
  (await app.run('logs', { lines })) ?? assert.fail('the log was followed')

export async function journalOf(app: App, sessionId: string): Promise<JournalRecord[]> {
  return (await app.run('sessions show', { id: sessionId })).journal
}

export const kindsOf = (journal: readonly JournalRecord[]): string[] => journal.map(({ kind }) => kind)

export const dispatchOf = (app: App, id: string): Promise<CommandOutput<'queue show'>> => app.run('queue show', { id })

/** Longer timers are limits (timeouts, deadlines) that the work must not reach. */
const LONGEST_JUMP_MS = 20 * 60_000

/** Advances the fake clock, timer by timer, until the work is done. */
export async function advanceUntilDone<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  done.catch(() => {})
  const waitUntilIdle = idleWaiter()
  let previous: number | undefined
  while (!isDone) {
    await waitUntilIdle()
    const next = clock.nextIn
    // The same next timer twice in a row: no code is still about to set an earlier one.
    const settled = next !== undefined && next === previous && next <= LONGEST_JUMP_MS
    previous = settled ? undefined : next
    if (!isDone && settled) await clock.advance(next)
  }
  return done
}

/** Contract: so much time passes, timer by timer. */
export async function passTime(clock: FakeClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= LONGEST_JUMP_MS)
    await advanceUntilDone(clock, clock.sleep(Math.min(left, LONGEST_JUMP_MS)))
}

/** Files, processes and commits in the store's thread take real time; the fake clock must not advance meanwhile. */
const REAL_TIME_WORK = /^FSReq|^ProcessWrap|^MessagePort/
/** Limit of one wait: a child process may itself wait for the fake clock. */
const IDLE_WAIT_MS = 1000

/** Contract: each call waits until no such work is pending; after one full wait in vain, not again. */
export function idleWaiter(): () => Promise<void> {
  let limitMs = IDLE_WAIT_MS
  return async () => {
    const from = performance.now()
    do await pause(1)
    while (hasPendingWork() && performance.now() - from < limitMs)
    limitMs = hasPendingWork() ? 0 : IDLE_WAIT_MS
  }
}

const hasPendingWork = (): boolean => process.getActiveResourcesInfo().some((name) => REAL_TIME_WORK.test(name))

/** Polls the condition; the test runner's time limit ends a wait without end. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(5)
}

/** Whether any process on this machine runs `sleep MARK`; use a number that no other test uses. */
export const isSleepRunning = (mark: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`sleep\0${mark}`)
    } catch {
      return false
    }
  })
