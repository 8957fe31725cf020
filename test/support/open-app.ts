/** Apps for tests: a fresh home each, closed and removed afterwards; and a way to let a fake clock run. */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type App, type AppOptions, createApp } from '../../src/app.ts'
import type { Dispatch } from '../../src/domain/dispatch.ts'
import type { JournalRecord } from '../../src/domain/journal-record.ts'
import type { TaskResult } from '../../src/run-task.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'

/** By their homes: nothing may be open in a folder that goes. */
const opened = new Map<string, App[]>()

export function freshFolder(t: TestContext, name = 'home'): string {
  const folder = mkdtempSync(join(tmpdir(), `tireless-${name}-`))
  t.after(async () => {
    for (const app of opened.get(folder) ?? []) await app.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

export async function openApp(t: TestContext, options: AppOptions & { yaml?: string } = {}): Promise<App> {
  const { yaml = '', ...given } = options
  const home = given.home ?? freshFolder(t)
  if (yaml !== '') writeFileSync(join(home, 'tireless.yaml'), yaml)
  const app = await createApp({ ...given, home })
  opened.set(home, [...(opened.get(home) ?? []), app])
  t.after(() => app.close())
  // Takes real time, in which no fake clock may run on.
  if (given.clock) await app.service('sandbox').trial()
  return app
}

export const runTaskIn = async (app: App, task = 'the task', input: object = {}): Promise<TaskResult> =>
  (await app.run('run', { task, ...input })) as TaskResult

export async function journalOf(app: App, sessionId: string): Promise<JournalRecord[]> {
  return ((await app.run('sessions show', { id: sessionId })) as { journal: JournalRecord[] }).journal
}

export const kindsOf = (journal: readonly JournalRecord[]): string[] => journal.map(({ kind }) => kind)

export const dispatchOf = async (app: App, id: string): Promise<Dispatch> =>
  (await app.run('queue show', { id })) as Dispatch

/** Further than this it does not jump: what lies beyond are limits that the work must not run into. */
const LONGEST_JUMP_MS = 20 * 60_000

/** Lets a fake clock run, event by event, until the work is done. */
export async function advanceUntilDone<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let over = false
  const done = work.finally(() => {
    over = true
  })
  done.catch(() => {})
  const rest = idleWaiter()
  let seen: number | undefined
  while (!over) {
    await rest()
    const next = clock.nextIn
    // Twice the same: whoever is on the way to its sleep has come there.
    const settled = next !== undefined && next === seen && next <= LONGEST_JUMP_MS
    seen = settled ? undefined : next
    if (!over && settled) await clock.advance(next)
  }
  return done
}

/** What takes real time, in which no fake clock may run on: files, children. */
const UNDER_WAY = /^FSReq|^ProcessWrap/
/** A child may itself wait for the clock. */
const PATIENCE_MS = 1000

/** Contract: each call waits until the world is at rest. One that does not come to rest is waited for once. */
export function idleWaiter(): () => Promise<void> {
  let patience = PATIENCE_MS
  return async () => {
    const from = performance.now()
    do await pause(1)
    while (isUnderWay() && performance.now() - from < patience)
    patience = isUnderWay() ? 0 : PATIENCE_MS
  }
}

const isUnderWay = (): boolean => process.getActiveResourcesInfo().some((name) => UNDER_WAY.test(name))

/** Waits until something is so; a test that would wait for ever is stopped by the runner's own limit. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(5)
}

/** Whether anybody on this machine sleeps for so long: a number that nobody else uses finds a process wherever it runs. */
export const isSleepRunning = (mark: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(`sleep\0${mark}`)
    } catch {
      return false
    }
  })
