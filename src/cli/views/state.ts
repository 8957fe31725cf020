/** Shows the documents of the kernel, their versions and pending edits. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { labelWord } from '../../domain/label.ts'
import { formatTable } from './table.ts'

export function renderDocument({ text, pending }: CommandOutput<'state show'>): string {
  const trimmed = text.replace(/\n$/, '')
  return pending ? `${trimmed}\n\n${PENDING}` : trimmed
}

const PENDING =
  'The file was edited; the edit is not in use because the sandbox is off. ' +
  'Review it: tireless state diff. Accept it: tireless state accept'

export function renderDiff({ from, to, diff }: CommandOutput<'state diff'>): string {
  return diff === '' ? `no difference between ${from} and ${to}` : diff.replace(/\n$/, '')
}

export function renderVersion({ name, version, reason }: CommandOutput<'state revert' | 'state edit'>): string {
  return `${name} is at version ${version} (${reason})`
}

export function renderDocuments({ items, degraded }: CommandOutput<'documents list'>): string {
  const rows = items.map(({ name, latest, pending, copies, ...label }) => ({
    ...{ name, version: null, author: null, ts: null, ...latest, label: latest ? labelWord(label) : null },
    ...{ pending: pending ? 'yes' : 'no', copies: copies.length },
  }))
  const saved = items.flatMap(({ copies }) => copies.map(({ file }) => `saved copy: ${file}`))
  const table = formatTable(rows, ['name', 'version', 'author', 'ts', 'label', 'pending', 'copies'])
  return [table, ...saved, ...(degraded === null ? [] : [degraded])].join('\n')
}

const OUTCOMES = {
  taken: 'edit accepted',
  clash: 'edit conflicts with a newer version; it was saved next to the file',
  trusted: 'untrusted sections accepted as yours',
} as const

export function renderAccepted({ items }: CommandOutput<'state accept'>): string {
  return items.map(({ name, outcome }) => `${name}: ${OUTCOMES[outcome]}`).join('\n') || 'no pending edit'
}
