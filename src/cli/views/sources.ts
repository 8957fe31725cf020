/** Shows input sources. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { escapeInvisible } from '../terminal.ts'
import { formatTable } from './table.ts'

export function renderSources({ items }: CommandOutput<'sources list'>): string {
  if (items.length === 0) return 'none; add one to sources in the configuration'
  const rows = items.map(({ listeners, why, ...rest }) => ({
    ...rest,
    listeners: listeners.join(', '),
    why: why === null ? null : escapeInvisible(why),
  }))
  const columns = ['name', 'type', 'listeners', 'state', 'last_event_at', 'published', 'duplicates', 'refused', 'why']
  return formatTable(rows, columns)
}
