/** Documents and their versions, as the commands give them, and in words. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { visibleText } from '../format.ts'
import type { MemoryTexts } from '../texts/memory.ts'

export type DocumentText = CommandOutput<'state show'>
export type DocumentName = CommandOutput<'documents list'>['items'][number]['name']
export type DocumentVersion = CommandOutput<'state log'>['items'][number]

/** Only these have an effect on the work; the others are written by the system to be read. */
export const EDITABLE: readonly DocumentName[] = ['STATE.md', 'GOAL.md']

export const sayAuthor = (own: MemoryTexts, author: string): string => own.authors[author] ?? visibleText(author)

/** Reasons are stored in English; those that the program writes are said in the language of the page. */
export function sayReason(own: MemoryTexts, reason: string): string {
  const [, version] = /^back to version (\d+)$/.exec(reason) ?? []
  if (version !== undefined) return own.backTo(version)
  if (/^edit_state .+\.\d+\.\d+$/.test(reason)) return own.byRun
  if (/^undo \S+$/.test(reason)) return own.undone
  return Object.hasOwn(own.reasons, reason) ? (own.reasons[reason] ?? '') : visibleText(reason)
}
