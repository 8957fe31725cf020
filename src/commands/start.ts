/** The kernel, living in the foreground: beats, cycles, the queue. */

import { z } from 'zod'
import { DISPATCH_STATUSES } from '../domain/dispatch.ts'
import { TirelessError } from '../domain/error.ts'
import { MAX_DURATION_MS } from '../domain/limits.ts'
import { isPaused } from '../kernel/paused.ts'
import { iso } from '../ports/clock.ts'
import { troubleOf } from './channels.ts'
import { type Context, command, type Progress } from './command.ts'
import { firstCycle, tellMade } from './first-minute.ts'
import { nextDue } from './schedule.ts'

export const start = command({
  name: 'start',
  summary: 'run the kernel and work the queue, in the foreground',
  runsIn: 'own_process',
  input: z.object({
    until_idle: z
      .boolean()
      .default(false)
      .describe('do what is due and pending now, leave what is parked and what comes later, then end'),
    max_minutes: z
      .number()
      .positive()
      .max(MAX_DURATION_MS / 60_000)
      .default(30)
      .describe('with --until-idle: end after so long in any case'),
    expose: z.boolean().default(false).describe('serve the page also where server.host is not this machine alone'),
  }),
  output: z.object({ queue: z.record(z.enum(DISPATCH_STATUSES), z.number()) }),
  async run(context, { until_idle, max_minutes, expose }, tell) {
    await context.refuseWithoutSandbox()
    await refuseUnknownChannel(context)
    for (const text of await context.notices()) tell({ kind: 'note', text })
    // Tried while everything else begins.
    void context.sandboxNotices().then((texts) => texts.map((text) => tell({ kind: 'note', text })))
    const stopListening = context.listen(tell)
    try {
      await (until_idle ? untilIdle(context, max_minutes) : living(context, tell, expose))
      return { queue: { ...(await context.store.counts()) } }
    } finally {
      stopListening()
    }
  },
})

/** A notice that can never be delivered is not what the owner asked for. */
async function refuseUnknownChannel({ notifier, channels }: Context): Promise<void> {
  const target = await notifier.target()
  if (target?.by !== 'config' || channels.has(target.channel)) return
  throw new TirelessError('config_invalid', {
    what: 'kernel.channel names a channel that is not there',
    got: target.channel,
    expected: `one of ${[...channels.keys()].join(', ')}`,
    fix: 'change kernel.channel, or take the key out',
  })
}

/** Beats that were missed, and whatever is there to be done; nothing is waited for. */
async function untilIdle(context: Context, minutes: number): Promise<void> {
  const { kernel, bell, clock, signals } = context
  const enough = new AbortController()
  const over = new AbortController()
  void clock.sleep(minutes * 60_000, over.signal).then(() => enough.abort())
  const until = AbortSignal.any([enough.signal, signals.drain])
  let caughtUp = false
  try {
    await together([
      context.drain({ untilIdle: () => caughtUp, until: enough.signal }),
      kernel.catchUp(until).finally(() => {
        caughtUp = true
        bell.ring()
      }),
    ])
    await context.notifier.once(until)
  } finally {
    over.abort()
  }
}

async function living(context: Context, tell: (progress: Progress) => void, expose: boolean): Promise<void> {
  const { kernel, signals } = context
  const { login_url, token_file, loopback } = await context.serve({ expose })
  tell({
    kind: 'note',
    text: `the page is at ${login_url} (this link once; after that with the token in ${token_file})`,
  })
  if (!loopback)
    tell({ kind: 'note', text: 'others can reach the page over the network: whoever has the token is the owner' })
  const target = await context.notifier.target()
  const trouble = target && troubleOf(context.channels, target.channel)
  if (trouble) tell({ kind: 'note', text: `notices go to ${target.channel}, which cannot deliver them: ${trouble}` })
  tell({ kind: 'note', text: await beatLine(context) })
  const broken = new AbortController()
  const stop = AbortSignal.any([signals.drain, broken.signal])
  const works = [
    context.drain({ untilIdle: false, until: broken.signal }),
    kernel.run(stop),
    context.notifier.run(stop),
  ]
  // What cannot go on takes the rest with it: a kernel whose queue stands still only looks alive.
  for (const work of works) work.catch(() => broken.abort())
  const stopTelling = tellMade(context, tell)
  firstCycle(context, tell).catch(() => {})
  try {
    await together(works)
  } finally {
    stopTelling()
  }
}

async function beatLine(context: Context): Promise<string> {
  if (await isPaused(context.store)) return 'the kernel is paused, and lets its beats pass: resume'
  const next = await nextDue(context)
  return next === undefined ? 'nobody is due at any beat: see agent list' : `the next beat is at ${iso(next)}`
}

/** All of them; what the first to fail threw. */
async function together(works: readonly Promise<unknown>[]): Promise<void> {
  const ended = await Promise.allSettled(works)
  for (const one of ended) if (one.status === 'rejected') throw one.reason
}
