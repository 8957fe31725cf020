/** Runs the kernel in the foreground: beats, cycles, the queue. */

import { z } from 'zod'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import type { PeopleText } from '../domain/language.ts'
import { MAX_DURATION_MS } from '../domain/limits.ts'
import { PROCESS_ROLES, type ProcessRole } from '../domain/process-role.ts'
import { isPaused } from '../kernel/pause-setting.ts'
import { iso } from '../ports/clock.ts'
import { startTimer, untilAborted } from '../ports/deadline.ts'
import { channelProblem } from './channels.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { announceWrittenFiles, runAndPriceFirstCycle } from './lib/first-run-notes.ts'
import { tellLooks } from './lib/look-notes.ts'
import type { Progress } from './lib/progress.ts'
import { nextScheduledRun } from './schedule.ts'

const NEEDS = [
  'channels',
  'clock',
  'connections',
  'drain',
  'homeSetup',
  'isShared',
  'joinAs',
  'kernel',
  'listen',
  'notifier',
  'progressMessages',
  'requireSandbox',
  'runThroughOutages',
  'residents',
  'sandboxNotices',
  'serveHttp',
  'settings',
  'signals',
  'sources',
  'snapshots',
  'startNotices',
  'store',
  'wakeSignal',
  'whileLeading',
] as const

export const start = defineCommand({
  name: 'start',
  summary: 'start the kernel in the foreground: run scheduled agents and queued tasks',
  example: 'start',
  runsIn: 'own_process',
  needs: NEEDS,
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
    role: z
      .enum(PROCESS_ROLES)
      .default('all')
      .describe('with `store: postgres://…`: run queued work, lead the schedules, serve the page, or do everything'),
    expose: z.boolean().default(false).describe('allow server.host to be an address that other machines can reach'),
  }),
  output: z.object({
    queue: z
      .record(z.enum(DISPATCH_STATUSES), z.number())
      .nullable()
      .describe('dispatches by status; null: the database was away when the process was stopped'),
  }),
  async run(context, { until_idle, max_minutes, expose, role }, tell) {
    refuseRole(context, role, until_idle)
    await context.requireSandbox()
    await refuseUnknownChannel(context)
    for (const notice of await context.startNotices()) tell({ kind: 'note', ...notice })
    // Not awaited: trying the sandbox takes time.
    void context.sandboxNotices().then((notices) => notices.map((notice) => tell({ kind: 'note', ...notice })))
    const stopListening = context.listen(tell)
    const stopTelling = tellLooks(context, tell)
    try {
      await (until_idle ? runUntilIdle(context, max_minutes) : runKernel(context, tell, { expose, role }))
      return { queue: await countDispatches(context) }
    } finally {
      stopListening()
      stopTelling()
    }
  },
})

/** A stop does not wait for a database that is away. Contract: null if it is. */
async function countDispatches({ store, signals }: Needs<'store' | 'signals'>) {
  const isAway = await store.ping?.().then(
    () => false,
    () => true,
  )
  return isAway && signals.drain.aborted ? null : { ...(await store.counts()) }
}

/** Throws `usage` if a part of the work would be left to processes that do not exist. */
function refuseRole({ isShared }: Needs<'isShared'>, role: ProcessRole, until_idle: boolean): void {
  if (role === 'all') return
  if (!isShared())
    throw new TirelessError('usage', {
      what: 'with the store sqlite, one process does everything',
      got: `--role ${role}`,
      expected: '--role all',
      fix: 'omit --role, or share a database between processes: store: postgres://… in tireless.yaml',
    })
  if (until_idle)
    throw new TirelessError('usage', {
      what: '--until-idle does all due work',
      got: `--role ${role}`,
      fix: 'omit --role, or --until-idle',
    })
}

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
  context: Needs<'clock' | 'drain' | 'kernel' | 'notifier' | 'residents' | 'signals' | 'wakeSignal'>,
  minutes: number,
): Promise<void> {
  const { wakeSignal: bell, clock, signals } = context
  const timeUp = new AbortController()
  const stopTimer = startTimer(clock, minutes * 60_000, () => timeUp.abort())
  const until = AbortSignal.any([timeUp.signal, signals.drain])
  let caughtUp = false
  try {
    await awaitAll([
      context.drain({ untilIdle: () => caughtUp, until: timeUp.signal }),
      catchUp(context, until).finally(() => {
        caughtUp = true
        bell.ring()
      }),
    ])
    await context.notifier.once(until)
  } finally {
    stopTimer()
  }
}

async function catchUp({ kernel, residents }: Needs<'kernel' | 'residents'>, until: AbortSignal): Promise<void> {
  await residents.lookNow()
  await kernel.catchUp(until)
}

type KernelNeeds = Needs<Exclude<(typeof NEEDS)[number], 'requireSandbox' | 'sandboxNotices' | 'startNotices'>>

async function runKernel(
  context: KernelNeeds,
  tell: (progress: Progress) => void,
  { expose, role }: { readonly expose: boolean; readonly role: ProcessRole },
): Promise<void> {
  await context.joinAs(role)
  if (does(role, 'server')) await servePage(context, tell, expose)
  if (does(role, 'scheduler')) await tellBeats(context, tell)
  const stopAnnouncing = announceWrittenFiles(context, tell)
  try {
    await context.runThroughOutages(() => runParts(context, tell, role), tell)
  } finally {
    stopAnnouncing()
  }
}

/** Contract: resolves when the kernel is stopped; rejects when a part fails, after all have ended. */
async function runParts(context: KernelNeeds, tell: (progress: Progress) => void, role: ProcessRole): Promise<void> {
  const failed = new AbortController()
  const stop = AbortSignal.any([context.signals.drain, failed.signal])
  const tasks = [
    context.kernel.watchConfig(stop),
    untilStopped(context, stop),
    ...(does(role, 'worker') ? [context.drain({ untilIdle: false, until: failed.signal })] : []),
    ...(does(role, 'scheduler') ? [context.whileLeading((signal) => lead(context, tell, signal), stop)] : []),
  ]
  // If one task fails, the others stop too: a kernel without its queue would only look alive.
  for (const task of tasks) task.catch(() => failed.abort())
  await awaitAll(tasks)
}

const does = (role: ProcessRole, part: ProcessRole): boolean => role === 'all' || role === part

/** Contract: rejects if the store has failed, which a process that only waits would not notice. */
async function untilStopped({ wakeSignal }: Needs<'wakeSignal'>, stop: AbortSignal): Promise<void> {
  const { storeFailed } = wakeSignal
  await untilAborted(AbortSignal.any([stop, storeFailed]))
  if (storeFailed.aborted) throw storeFailed.reason
}

/** What only one process of a kernel does. Contract: resolves after `signal` aborts; rejects if a part fails. */
async function lead(context: KernelNeeds, tell: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const tasks = [
    context.kernel.run(stop),
    context.notifier.run(stop),
    context.progressMessages.run(stop),
    context.residents.run(stop),
    context.sources.run(stop),
    context.connections.run(stop),
  ]
  for (const task of tasks) task.catch(() => failed.abort())
  runAndPriceFirstCycle(context, tell).catch(() => {})
  await awaitAll(tasks)
}

async function servePage(
  context: Needs<'serveHttp'>,
  tell: (progress: Progress) => void,
  expose: boolean,
): Promise<void> {
  const { login_url, token_file, loopback } = await context.serveHttp({ expose })
  tell({
    kind: 'note',
    text: `Open the page: ${login_url} (single-use link; a new one: tireless open; the token is in ${token_file})`,
    zh: `打开页面：${login_url} （链接只能用一次；新链接：tireless open；令牌在 ${token_file}）`,
  })
  if (!loopback) tell({ kind: 'note', ...EXPOSED })
}

async function tellBeats(
  context: Needs<'channels' | 'clock' | 'notifier' | 'settings' | 'store'>,
  tell: (progress: Progress) => void,
): Promise<void> {
  const target = await context.notifier.target()
  const problem = target && channelProblem(context.channels, target.channel)
  if (problem) tell({ kind: 'note', ...undeliverable(target.channel, problem) })
  tell({ kind: 'note', ...(await beatLine(context)) })
}

const EXPOSED: PeopleText = {
  text: 'Other machines can reach the page. Anyone with the token has full control.',
  zh: '其他机器可以访问此页面。持有令牌的人拥有全部控制权。',
}

const undeliverable = (channel: string, problem: string): PeopleText => ({
  text: `Notices go to ${channel}, which cannot deliver them: ${problem}`,
  zh: `通知发往 ${channel}，但它无法送达：${problem}`,
})

async function beatLine(context: Needs<'clock' | 'settings' | 'store'>): Promise<PeopleText> {
  if (await isPaused(context.store))
    return { text: 'Paused; beats are skipped. Run: tireless resume', zh: '已暂停；跳过节拍。恢复：tireless resume' }
  const next = await nextScheduledRun(context)
  if (next !== undefined) return { text: `Next beat: ${iso(next)}`, zh: `下次节拍：${iso(next)}` }
  return {
    text: 'No agent is scheduled. Create one: tireless agent new "…"; see all: tireless agent list',
    zh: '没有计划运行的智能体。创建：tireless agent new "…"；查看：tireless agent list',
  }
}

/** Waits for all tasks; then throws the error of the first failed task in the list. */
async function awaitAll(tasks: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(tasks)
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason
}
