/** Runs the kernel in the foreground: beats, cycles, the queue. */

import { z } from 'zod'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { MAX_DURATION_MS } from '../domain/limits.ts'
import { isPaused } from '../kernel/pause-setting.ts'
import { iso } from '../ports/clock.ts'
import { startTimer } from '../ports/deadline.ts'
import { channelProblem } from './channels.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { announceWrittenFiles, runAndPriceFirstCycle } from './lib/first-run-notes.ts'
import type { Progress } from './lib/progress.ts'
import { nextScheduledRun } from './schedule.ts'

export const start = defineCommand({
  name: 'start',
  summary: 'start the kernel in the foreground: run scheduled agents and queued tasks',
  example: 'start',
  runsIn: 'own_process',
  needs: [
    'channels',
    'clock',
    'drain',
    'homeSetup',
    'kernel',
    'listen',
    'notifier',
    'requireSandbox',
    'sandboxNotices',
    'serveHttp',
    'settings',
    'signals',
    'startNotices',
    'store',
    'wakeSignal',
  ],
  input: z.object({
    until_idle: z
      .boolean()
      .default(false)
      .describe('run due and pending work, then exit; leave parked and future work'),
    max_minutes: z
      .number()
      .positive()
      .max(MAX_DURATION_MS / 60_000)
      .default(30)
      .describe('with --until-idle: exit after this many minutes at the latest'),
    expose: z.boolean().default(false).describe('allow server.host to be an address that other machines can reach'),
  }),
  output: z.object({ queue: z.record(z.enum(DISPATCH_STATUSES), z.number()) }),
  async run(context, { until_idle, max_minutes, expose }, tell) {
    await context.requireSandbox()
    await refuseUnknownChannel(context)
    for (const text of await context.startNotices()) tell({ kind: 'note', text })
    // Not awaited: trying the sandbox takes time.
    void context.sandboxNotices().then((texts) => texts.map((text) => tell({ kind: 'note', text })))
    const stopListening = context.listen(tell)
    try {
      await (until_idle ? runUntilIdle(context, max_minutes) : runKernel(context, tell, expose))
      return { queue: { ...(await context.store.counts()) } }
    } finally {
      stopListening()
    }
  },
})

/** Throws `config_invalid` if the configured channel for notices does not exist: they could never be delivered. */
async function refuseUnknownChannel({ notifier, channels }: Needs<'notifier' | 'channels'>): Promise<void> {
  const target = await notifier.target()
  if (target?.by !== 'config' || channels.has(target.channel)) return
  throw new TirelessError('config_invalid', {
    what: 'kernel.channel names an unknown channel',
    got: target.channel,
    expected: `one of ${[...channels.keys()].join(', ')}`,
    fix: 'change kernel.channel, or remove the key',
  })
}

/** Catches up missed beats and works the queue until it is idle. Does not wait for later beats. */
async function runUntilIdle(
  context: Needs<'clock' | 'drain' | 'kernel' | 'notifier' | 'signals' | 'wakeSignal'>,
  minutes: number,
): Promise<void> {
  const { kernel, wakeSignal: bell, clock, signals } = context
  const timeUp = new AbortController()
  const stopTimer = startTimer(clock, minutes * 60_000, () => timeUp.abort())
  const until = AbortSignal.any([timeUp.signal, signals.drain])
  let caughtUp = false
  try {
    await awaitAll([
      context.drain({ untilIdle: () => caughtUp, until: timeUp.signal }),
      kernel.catchUp(until).finally(() => {
        caughtUp = true
        bell.ring()
      }),
    ])
    await context.notifier.once(until)
  } finally {
    stopTimer()
  }
}

async function runKernel(
  context: Needs<
    | 'channels'
    | 'clock'
    | 'drain'
    | 'homeSetup'
    | 'kernel'
    | 'listen'
    | 'notifier'
    | 'serveHttp'
    | 'settings'
    | 'signals'
    | 'store'
  >,
  tell: (progress: Progress) => void,
  expose: boolean,
): Promise<void> {
  const { kernel, signals } = context
  const { login_url, token_file, loopback } = await context.serveHttp({ expose })
  tell({
    kind: 'note',
    text: `Open the page: ${login_url} (single-use link; later log in with the token in ${token_file})`,
  })
  if (!loopback)
    tell({ kind: 'note', text: 'Other machines can reach the page. Anyone with the token has full control.' })
  const target = await context.notifier.target()
  const problem = target && channelProblem(context.channels, target.channel)
  if (problem) tell({ kind: 'note', text: `Notices go to ${target.channel}, which cannot deliver them: ${problem}` })
  tell({ kind: 'note', text: await beatLine(context) })
  const failed = new AbortController()
  const stop = AbortSignal.any([signals.drain, failed.signal])
  const tasks = [
    context.drain({ untilIdle: false, until: failed.signal }),
    kernel.run(stop),
    context.notifier.run(stop),
  ]
  // If one task fails, the others stop too: a kernel without its queue would only look alive.
  for (const task of tasks) task.catch(() => failed.abort())
  const stopAnnouncing = announceWrittenFiles(context, tell)
  runAndPriceFirstCycle(context, tell).catch(() => {})
  try {
    await awaitAll(tasks)
  } finally {
    stopAnnouncing()
  }
}

async function beatLine(context: Needs<'clock' | 'settings' | 'store'>): Promise<string> {
  if (await isPaused(context.store)) return 'Paused; beats are skipped. Run: tireless resume'
  const next = await nextScheduledRun(context)
  return next === undefined ? 'No agent is scheduled. Run: tireless agent list' : `Next beat: ${iso(next)}`
}

/** Waits for all tasks; then throws the error of the first failed task in the list. */
async function awaitAll(tasks: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(tasks)
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
}
