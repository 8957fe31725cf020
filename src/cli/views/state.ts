/** Shows the documents of the kernel, their versions and pending edits. */

interface ShownDocument {
  readonly text: string
  readonly pending: boolean
}

export function renderDocument({ text, pending }: ShownDocument): string {
  const trimmed = text.replace(/\n$/, '')
  return pending ? `${trimmed}\n\n${PENDING}` : trimmed
}

const PENDING =
  'The file was edited; the edit is not in use because the sandbox is off. ' +
  'Review it: tireless state diff. Accept it: tireless state accept'

export function renderDiff({ from, to, diff }: { from: string; to: string; diff: string }): string {
  return diff === '' ? `no difference between ${from} and ${to}` : diff.replace(/\n$/, '')
}

export function renderRevert({ name, version, reason }: { name: string; version: number; reason: string }): string {
  return `${name} is at version ${version} (${reason})`
}

const OUTCOMES = {
  taken: 'edit accepted',
  clash: 'edit conflicts with a newer version; it was saved next to the file',
  trusted: 'untrusted sections accepted as yours',
} as const

export function renderAccepted({ items }: { items: { name: string; outcome: keyof typeof OUTCOMES }[] }): string {
  return items.map(({ name, outcome }) => `${name}: ${OUTCOMES[outcome]}`).join('\n') || 'no pending edit'
}
