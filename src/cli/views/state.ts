/** Documents as people read them. */

interface Shown {
  readonly text: string
  readonly pending: boolean
}

export function stateText({ text, pending }: Shown): string {
  const whole = text.replace(/\n$/, '')
  return pending
    ? `${whole}\n\nThe file was edited, and the edit is not in use: the sandbox is off. Look: tireless state diff. To accept it: tireless state accept`
    : whole
}

export function stateDifference({ from, to, diff }: { from: string; to: string; diff: string }): string {
  return diff === '' ? `no difference between ${from} and ${to}` : diff.replace(/\n$/, '')
}

export function stateReverted({ name, version, reason }: { name: string; version: number; reason: string }): string {
  return `${name} is at version ${version} (${reason})`
}

const OUTCOMES = {
  taken: 'the edit was taken in',
  clash: 'the edit clashes with what was written meanwhile; it was put beside the file',
} as const

export function stateAccepted({ items }: { items: { name: string; outcome: keyof typeof OUTCOMES }[] }): string {
  return items.map(({ name, outcome }) => `${name}: ${OUTCOMES[outcome]}`).join('\n') || 'no edit waits'
}
