/** Shows cycles and models as tables. */

import type { Cycle } from '../../domain/cycle.ts'
import { formatTable } from './table.ts'

export const renderCycles = ({ items }: { readonly items: readonly Cycle[] }): string =>
  formatTable(
    items.map(({ result, ...cycle }) => ({
      ...{ ...cycle, status: 'running', dispatched: null, succeeded: null, failed: null, parked: null },
      ...result,
      why: result?.error ?? result?.idle_reason ?? null,
    })),
    ['cycle_id', 'trigger', 'started_at', 'status', 'dispatched', 'succeeded', 'failed', 'parked', 'why'],
  )

interface Model {
  readonly id: string
  readonly key: string
  readonly is_default: boolean
  readonly why: string | null
  readonly price: { readonly input: number; readonly output: number } | null
  readonly problem: string | null
}

interface Models {
  readonly items: readonly Model[]
  readonly selections: readonly { readonly scope: string; readonly model: string }[]
}

export const renderModels = ({ items, selections }: Models): string =>
  [
    formatTable(
      items.map(({ id, key, price, problem }) => ({
        ...{ id, key, problem },
        price: price && `$${price.input} in, $${price.output} out`,
      })),
      ['id', 'key', 'price', 'problem'],
    ),
    ...items.filter(({ is_default }) => is_default).map(({ id, why }) => `default: ${id}${why ? ` (${why})` : ''}`),
    ...selections.map(({ scope, model }) => `chosen for ${scope}: ${model}`),
  ].join('\n')
