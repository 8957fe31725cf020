/** Shows cycles and models as tables. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { describeParts } from '../../domain/error.ts'
import { formatTable } from './table.ts'

export const renderCycles = ({ items }: CommandOutput<'cycles list'>): string =>
  formatTable(
    items.map(({ result, ...cycle }) => ({
      ...{ ...cycle, status: 'running', dispatched: null, succeeded: null, failed: null, parked: null },
      ...result,
      why: result?.error ?? result?.idle_reason ?? null,
    })),
    ['cycle_id', 'trigger', 'started_at', 'status', 'dispatched', 'succeeded', 'failed', 'parked', 'why'],
  )

export const renderModels = ({ items, selections, keys }: CommandOutput<'models list'>): string =>
  [
    formatTable(
      items.map(({ id, key, price }) => ({
        ...{ id, key },
        price: price && `$${price.input} in, $${price.output} out`,
      })),
      ['id', 'key', 'price'],
    ),
    ...items.flatMap(({ id, problem }) => (problem === null ? [] : [`${id} cannot be used: ${problem}`])),
    ...items.filter(({ is_default }) => is_default).map(({ id, why }) => `default: ${id}${why ? ` (${why})` : ''}`),
    ...selections.map(({ scope, model }) => `chosen for ${scope}: ${model}`),
    ...missingKeys(keys),
  ].join('\n')

/** Where keys are to be set. Tireless reads them when it starts. */
function missingKeys(keys: CommandOutput<'models list'>['keys']): string[] {
  const missing = keys.filter(({ is_set }) => !is_set)
  const [first] = missing
  if (!first) return []
  return [
    `no key for: ${missing.map(({ provider, variable }) => `${provider} (${variable})`).join(', ')}`,
    `To use one, set its variable in the shell that starts Tireless (export ${first.variable}=…), then start again.`,
  ]
}

/** Each part of an error has its own line: what happened, got, expected, do this. */
export function renderModelTest(test: CommandOutput<'models test'>): string {
  const { model, ok, latency_ms, usage, code, error_parts, note } = test
  if (!ok) return [`${model}: FAILED (${code})`, ...partLines(error_parts)].join('\n')
  const tokens = usage ? `, ${usage.input_tokens} tokens in, ${usage.output_tokens} out` : ''
  return [`${model}: works; answered in ${latency_ms} ms${tokens}`, ...(note === null ? [] : [note])].join('\n')
}

const partLines = (parts: CommandOutput<'models test'>['error_parts']): readonly string[] =>
  parts === null ? [] : describeParts(parts).map((part) => `  ${part}`)
