/** Texts that the owner has not saved yet, kept in this browser, so that a reload or a crash loses nothing. */

import type { DocumentName } from './versions.ts'

export interface Draft {
  readonly text: string
  /** The version that was edited; 0: there was none. */
  readonly base: number
}

const keyOf = (name: DocumentName): string => `tireless-draft ${name}`

export function readDraft(name: DocumentName): Draft | undefined {
  try {
    const { text, base } = JSON.parse(localStorage.getItem(keyOf(name)) ?? '{}') as Partial<Draft>
    return typeof text === 'string' && typeof base === 'number' ? { text, base } : undefined
  } catch {
    return undefined
  }
}

/** Contract: with undefined, nothing is kept. A full storage loses only the safety net, not the text on the screen. */
export function keepDraft(name: DocumentName, draft: Draft | undefined): void {
  try {
    if (draft) localStorage.setItem(keyOf(name), JSON.stringify(draft))
    else localStorage.removeItem(keyOf(name))
  } catch {
    // See above.
  }
}
