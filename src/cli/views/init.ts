/** Shows the output of `init`: written files, model, expected cost of a day, next command. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { ASSISTANT } from '../../domain/agent.ts'
import { formatDollars } from '../../domain/money.ts'
import { style } from '../terminal.ts'

type Initialized = CommandOutput<'init'>
type DayForecast = Initialized['forecast'][number]

export function renderInit({ home, wrote, kept, model, agents, forecast, next }: Initialized): string {
  const disabled = agents
    .filter(({ agent_id, enabled }) => !enabled && agent_id !== ASSISTANT)
    .map(({ agent_id }) => agent_id)
  return [
    line('home', home),
    ...labelledLines('wrote', wrote),
    ...(wrote.length === 0 ? labelledLines('already there', kept) : []),
    line('model', `${model.id} (${model.why})`),
    ...forecast.flatMap(costLines),
    ...disabled.map((id) => line('off', `${id}; to enable it, edit ${home}/agents/${id}/agent.yaml`)),
    line('next', style('bold', next)),
  ].join('\n')
}

function costLines({ model, day_usd, items }: DayForecast): string[] {
  if (day_usd === null) return [line('a day', `no price for ${model}; set models.prices`)]
  if (day_usd === 0) return [line('a day', `costs nothing with ${model}`)]
  return [
    line('a day', `about ${formatDollars(day_usd)} with ${model}:`),
    ...items.map(({ agent_id, runs, guessed, usd }) => {
      const runText = `${runs} ${runs === 1 ? 'run' : 'runs'}${guessed ? ', a guess: it runs only on changes' : ''}`
      return line('', `${agent_id}: ${formatDollars(usd ?? 0)} (${runText})`)
    }),
  ]
}

const labelledLines = (label: string, names: readonly string[]): string[] =>
  names.map((name, at) => line(at === 0 ? label : '', name))

const line = (label: string, text: string): string => `${style('dim', label.padEnd(14))}${text}`
