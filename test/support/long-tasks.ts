/**
 * Tasks that keep a page from answering its user. Their processor time is taken from Chromium's own trace: on a busy
 * machine the time by the clock, which PerformanceObserver gives, says more about the machine than about the page. It
 * still counts what a neighbour takes from a shared core, so the page is tried again before it is blamed.
 */

import assert from 'node:assert/strict'
import type { Browser, Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  /** Processor time in microseconds. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

const MAX_TASK_MS = 50
const TRIES = 3
/** Without the first one, Chromium adds all others, which cost more than the page. */
const CATEGORIES = ['-*', 'disabled-by-default-devtools.timeline']

interface Tried {
  /** Leads to a freshly loaded page, on which the work has not been done. */
  prepare(): Promise<unknown>
  work(): Promise<void>
}

/** Contract: processor time in ms of the tasks over 50 ms during the work; none if one of three tries had none. */
export async function findLongTasks(browser: Browser, page: Page, { prepare, work }: Tried): Promise<number[]> {
  let found: number[] = []
  for (let tried = 0; tried < TRIES; tried += 1) {
    await prepare()
    found = (await traceTasks(browser, page, work)).filter((ms) => ms > MAX_TASK_MS)
    if (found.length === 0) break
  }
  return found
}

async function traceTasks(browser: Browser, page: Page, work: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: CATEGORIES })
  await work()
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  const placeOf = ({ pid, tid }: TraceEvent): string => `${pid} ${tid}`
  const isMain = ({ name, args }: TraceEvent): boolean => name === 'thread_name' && args?.name === 'CrRendererMain'
  const mainThreads = new Set(traceEvents.filter(isMain).map(placeOf))
  const tasks = traceEvents.filter((event) => event.name === 'RunTask' && mainThreads.has(placeOf(event)))
  const durations = tasks.map(({ tdur = 0 }) => tdur / 1000)
  assert.ok(Math.max(...durations) > 0, 'the trace has no tasks of the page')
  return durations
}
