/** Shows what came of a cycle: what each agent did, and the files it wrote. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { clipText } from '../../domain/clean-summary.ts'
import { countEarlier } from '../../domain/cycle.ts'
import { shortId } from '../../domain/short-id.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { sayInstant } from './times.ts'

type RecordedCycle = CommandOutput<'cycles show'>
type Result = NonNullable<RecordedCycle['result']>

const MAX_SUMMARY = 300

const TEXTS = {
  en: {
    counts: ({ succeeded, failed, parked, duration_ms }: Result) =>
      `${succeeded} done, ${failed} failed, ${parked} waiting, in ${(duration_ms / 1000).toFixed(1)} s`,
    ...{ idle: 'nothing to do', wrote: 'wrote', run: 'run', running: 'is still running' },
    earlier: (count: number) => `; ${count} of them dispatched by earlier cycles`,
    began: (id: string, trigger: string, at: string) => `${id} (${trigger}), ${at}`,
  },
  zh: {
    counts: ({ succeeded, failed, parked, duration_ms }: Result) =>
      `完成 ${succeeded}，失败 ${failed}，等待 ${parked}，用时 ${(duration_ms / 1000).toFixed(1)} 秒`,
    ...{ idle: '无事可做', wrote: '写入', run: '运行', running: '仍在运行' },
    earlier: (count: number) => `；其中 ${count} 个由早先的周期派发`,
    began: (id: string, trigger: string, at: string) => `${id}（${trigger}），${at}`,
  },
} as const

export function renderCycle(result: Result): string {
  const { counts, idle, earlier } = TEXTS[terminalLanguage()]
  const { status, idle_reason, error, agents } = result
  const old = countEarlier(result)
  const came = `${counts(result)}${old === 0 ? '' : earlier(old)}`
  return [
    `${style(status === 'success' ? 'green' : 'yellow', status)}: ${error ?? came}`,
    ...(idle_reason === null ? [] : [`${idle}: ${idle_reason}`]),
    ...agents.flatMap(renderAgentResult),
  ].join('\n')
}

function renderAgentResult({ agent_id, status, dispatch_id, summary, files = [] }: Result['agents'][number]): string[] {
  const { wrote, run } = TEXTS[terminalLanguage()]
  const said = clipText(summary.replaceAll(/\s+/g, ' ').trim(), MAX_SUMMARY)
  return [
    `${style('bold', agent_id)} ${status} (${run} ${shortId(dispatch_id)})${said === '' ? '' : `: ${said}`}`,
    ...files.map((file) => `  ${wrote} ${file}`),
  ]
}

export function renderRecordedCycle({ cycle_id, trigger, started_at, result }: RecordedCycle): string {
  const { began, running } = TEXTS[terminalLanguage()]
  const head = began(cycle_id, trigger, sayInstant(started_at))
  return result ? `${head}\n${renderCycle(result)}` : `${head}: ${running}`
}
