/** Shows what was spent: a line per day and agent or model, the beats without work, and the most expensive runs. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { formatDollars } from '../../domain/money.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'

type Spending = CommandOutput<'budget spend'>

const TEXTS = {
  en: {
    total: (days: string, usd: string, calls: number) => `${days}: ${usd}, ${calls} calls`,
    quiet: (quiet: number, ended: number) => `${quiet} of ${ended} beats found nothing to do and cost nothing`,
    others: '(others)',
  },
  zh: {
    total: (days: string, usd: string, calls: number) => `${days}：${usd}，${calls} 次调用`,
    quiet: (quiet: number, ended: number) => `${ended} 次心跳中有 ${quiet} 次无事可做，没有花费`,
    others: '（其他）',
  },
} as const

export function renderSpending({ from, to, total, items, beats, runs }: Spending): string {
  const texts = TEXTS[terminalLanguage()]
  const rows = items.map((item) => ({ ...amountsOf(item), day: item.day, of: item.key ?? texts.others }))
  const isByDay = items.every(({ key }) => key === '')
  const runRows = runs.map((run) => ({ ...run, usd: formatDollars(run.usd) }))
  return [
    texts.total(`${from} – ${to}`, formatDollars(total.usd), total.calls),
    texts.quiet(beats.quiet, beats.ended),
    ...(items.length === 0 ? [] : [formatTable(rows, ['day', ...(isByDay ? [] : ['of']), 'usd', 'calls', 'tokens'])]),
    ...(runs.length === 0 ? [] : [formatTable(runRows, ['run_id', 'agent_id', 'usd', 'started_at', 'task'])]),
  ].join('\n')
}

const amountsOf = ({ usd, calls, input_tokens, output_tokens }: Spending['items'][number]) => ({
  ...{ usd: formatDollars(usd), calls, tokens: input_tokens + output_tokens },
})
