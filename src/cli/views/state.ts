/** Shows the documents of the kernel, their versions and pending edits. */

import type { CommandOutput } from '../../commands/lib/registry.ts'

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

export function renderRevert({ name, version, reason }: CommandOutput<'state revert'>): string {
  return `${name} is at version ${version} (${reason})`
}

const OUTCOMES = {
  taken: 'edit accepted',
  clash: 'edit conflicts with a newer version; it was saved next to the file',
  trusted: 'untrusted sections accepted as yours',
} as const

export function renderAccepted({ items }: CommandOutput<'state accept'>): string {
  return items.map(({ name, outcome }) => `${name}: ${OUTCOMES[outcome]}`).join('\n') || 'no pending edit'
}
