/** Shows the output of `init`: written files, model, expected cost of a day, next command. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { formatDollars } from '../../domain/money.ts'
import { style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatLabelled } from './table.ts'

type Initialized = CommandOutput<'init'>
type DayForecast = Initialized['forecast'][number]
type Row = readonly [label: string, text: string]

const TEXTS = {
  en: {
    labels: {
      ...{ home: 'home', wrote: 'wrote', kept: 'already there', model: 'model', day: 'a day', off: 'off' },
      next: 'next',
    },
    enable: (id: string, file: string) => `${id}; to enable it, edit ${file}`,
    noPrice: (model: string) => `no price for ${model}; set models.prices`,
    free: (model: string) => `costs nothing with ${model}`,
    cost: (dollars: string, model: string) => `about ${dollars} with ${model}:`,
    runs: (count: number, guessed: boolean) =>
      ` (${count} ${count === 1 ? 'run' : 'runs'}${guessed ? ', a guess: it runs only on changes' : ''})`,
  },
  zh: {
    labels: {
      ...{ home: '目录', wrote: '已写入', kept: '已存在', model: '模型', day: '每天', off: '未启用' },
      next: '下一步',
    },
    enable: (id: string, file: string) => `${id}；要启用请编辑 ${file}`,
    noPrice: (model: string) => `不知道 ${model} 的价格；请设置 models.prices`,
    free: (model: string) => `使用 ${model} 不花钱`,
    cost: (dollars: string, model: string) => `使用 ${model} 约 ${dollars}：`,
    runs: (count: number, guessed: boolean) => `（${count} 次运行${guessed ? '，估计值：只在有变化时运行' : ''}）`,
  },
} as const

const texts = () => TEXTS[terminalLanguage()]

export function renderInit({ home, wrote, kept, model, agents, forecast, next }: Initialized): string {
  const { labels, enable } = texts()
  const disabled = agents.filter(({ enabled, on_call }) => !enabled && !on_call).map(({ agent_id }) => agent_id)
  return formatLabelled([
    [labels.home, home],
    ...wrote.map((name): Row => [labels.wrote, name]),
    ...(wrote.length === 0 ? kept : []).map((name): Row => [labels.kept, name]),
    [labels.model, `${model.id} (${model.why})`],
    ...forecast.flatMap(costLines).map((text): Row => [labels.day, text]),
    ...disabled.map((id): Row => [labels.off, enable(id, `${home}/agents/${id}/agent.yaml`)]),
    [labels.next, style('bold', next)],
  ])
}

function costLines({ model, day_usd, items }: DayForecast): readonly string[] {
  const { noPrice, free, cost, runs: sayRuns } = texts()
  if (day_usd === null) return [noPrice(model)]
  if (day_usd === 0) return [free(model)]
  return [
    cost(formatDollars(day_usd), model),
    ...items.map(
      ({ agent_id, runs, guessed, usd }) => `  ${agent_id}: ${formatDollars(usd ?? 0)}${sayRuns(runs, guessed)}`,
    ),
  ]
}
