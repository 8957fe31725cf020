/** What `init` did, as people read it: what is there now, which model, what a day costs, what to type next. */

import { dollars } from '../../domain/money.ts'
import { style } from '../terminal.ts'

interface Begun {
  readonly home: string
  readonly wrote: readonly string[]
  readonly kept: readonly string[]
  readonly model: { readonly id: string; readonly why: string }
  readonly agents: readonly { readonly agent_id: string; readonly enabled: boolean }[]
  readonly forecast: readonly Forecast[]
  readonly next: string
}

interface Forecast {
  readonly model: string
  readonly day_usd: number | null
  readonly items: readonly {
    readonly agent_id: string
    readonly runs: number
    readonly guessed: boolean
    readonly usd: number | null
  }[]
}

export function begun({ home, wrote, kept, model, agents, forecast, next }: Begun): string {
  const disabled = agents.filter(({ enabled }) => !enabled).map(({ agent_id }) => agent_id)
  return [
    line('home', home),
    ...listed('wrote', wrote),
    ...(wrote.length === 0 ? listed('there already', kept) : []),
    line('model', `${model.id} (${model.why})`),
    ...forecast.flatMap(costs),
    ...disabled.map((id) => line('off', `${id}: its file says how to let it run (${home}/agents/${id}/agent.yaml)`)),
    line('next', style('bold', next)),
  ].join('\n')
}

function costs({ model, day_usd, items }: Forecast): string[] {
  if (day_usd === null) return [line('a day', `no price is known of ${model}: say it under models.prices`)]
  if (day_usd === 0) return [line('a day', `costs nothing with ${model}`)]
  return [
    line('a day', `about ${dollars(day_usd)} with ${model}:`),
    ...items.map(({ agent_id, runs, guessed, usd }) => {
      const often = `${runs} ${runs === 1 ? 'run' : 'runs'}${guessed ? ': a guess, it runs when something is new' : ''}`
      return line('', `${agent_id}: ${dollars(usd ?? 0)} (${often})`)
    }),
  ]
}

const listed = (label: string, names: readonly string[]): string[] =>
  names.map((name, at) => line(at === 0 ? label : '', name))

const line = (label: string, text: string): string => `${style('dim', label.padEnd(14))}${text}`
