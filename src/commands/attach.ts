/** Follows the events of the process that holds the home. */

import { z } from 'zod'
import type { Dispatch } from '../domain/dispatch.ts'
import type { PeopleText } from '../domain/language.ts'
import { RESIDENT_BEHAVIOUR } from '../domain/resident.ts'
import { iso } from '../ports/clock.ts'
import { untilAborted } from '../ports/deadline.ts'
import { defineCommand } from './lib/command.ts'
import type { Needs } from './lib/context.ts'
import { tellLooks } from './lib/look-notes.ts'
import type { Progress } from './lib/progress.ts'

const MAX_RUNS_NAMED = 20

export const attach = defineCommand({
  name: 'attach',
  summary: 'follow what the running kernel does until you interrupt; the kernel continues',
  example: 'attach',
  // A viewer must not hold the home, or `start` could not run at the same time.
  runsIn: 'kernel',
  needs: ['kernel', 'kernelId', 'listen', 'residents', 'signals', 'store'],
  input: z.object({}),
  output: z.null().describe('everything was printed already'),
  async run(context, _, tell) {
    const { listen, signals, store } = context
    const early: Progress[] = []
    let show = (progress: Progress): void => void early.push(progress)
    const stopListening = listen((progress) => show(progress), { everywhere: true })
    const stopTelling = tellLooks(context, tell)
    try {
      const running = await store.dispatches({ status: 'running', limit: MAX_RUNS_NAMED })
      for (const note of currentState(context, running)) tell({ kind: 'note', ...note })
      // The start of these looks was not seen, so the view would take them for runs.
      const looks = new Set(running.filter(isLook).map(({ dispatch_id }) => dispatch_id))
      show = (progress) => (looks.has(runOf(progress) ?? '') ? undefined : tell(progress))
      for (const progress of early) show(progress)
      await untilAborted(signals.drain)
      return null
    } finally {
      stopListening()
      stopTelling()
    }
  },
})

const isLook = ({ metadata }: Dispatch): boolean => metadata.behaviour === RESIDENT_BEHAVIOUR

const runOf = (progress: Progress): string | undefined =>
  progress.kind === 'event' ? progress.event.run_id : progress.kind === 'delta' ? progress.delta.run_id : undefined

function currentState(
  { kernel, kernelId }: Needs<'kernel' | 'kernelId'>,
  running: readonly Dispatch[],
): readonly PeopleText[] {
  const next = kernel.nextBeatAt()
  const [beat, beatZh] = next === undefined ? ['', ''] : [`; next beat: ${iso(next)}`, `；下次节拍：${iso(next)}`]
  const state = kernel.isRunning()
    ? { text: 'is running', zh: '正在运行' }
    : { text: 'is not running; another command uses its home', zh: '没有运行；另一个命令正在使用它的目录' }
  return [
    { text: `Kernel ${kernelId} ${state.text}${beat}`, zh: `内核 ${kernelId} ${state.zh}${beatZh}` },
    ...running.map(({ agent_id, dispatch_id, parent_id }) => ({
      text: `${agent_id} is running (${dispatch_id}${parent_id === null ? '' : `, for run ${parent_id}`})`,
      zh: `${agent_id} 正在运行（${dispatch_id}${parent_id === null ? '' : `，由 ${parent_id} 派出`}）`,
    })),
    { text: 'Ctrl-C ends this view; the kernel continues.', zh: '按 Ctrl-C 结束查看；内核继续运行。' },
  ]
}
