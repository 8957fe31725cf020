/** Shows cycles and models as tables. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
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

export const renderModels = ({ items, selections }: CommandOutput<'models list'>): string =>
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
