/** Documents as people read them. */

import { type Label, labelWord } from '../../domain/trust.ts'
import { style } from '../terminal.ts'

interface Shown extends Label {
  readonly text: string
  readonly pending: boolean
  readonly version: number
  readonly author: string
  readonly reason: string
  readonly ts: string
  readonly sections: readonly (Label & { readonly title: string })[]
}

/** The text, then its origin and its label. */
export function stateText({ text, pending, sections, ...shown }: Shown): string {
  const { version, author, reason, ts } = shown
  const whole = [
    text.replace(/\n$/, ''),
    '',
    style('dim', `-- version ${version} by ${author} (${reason}), ${ts}: ${labelWord(shown)}`),
    ...sections.map((section) =>
      style('dim', `-- ${labelWord(section)}: ${section.title || 'before the first heading'}`),
    ),
  ].join('\n')
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
