/** The outcome of a dispatch for people: the first lines of its result, its error, or what it waits for. Pure. */

import { clipText, sanitiseSummary } from './clean-summary.ts'
import type { Dispatch } from './dispatch.ts'

const MAX_LINES = 3
const MAX_CHARACTERS = 300
const HEADING = /^#{1,6}\s/

/** Contract: null if there is no outcome yet. Headings are left out, unless there is nothing else. */
export function outcomeOf({ result, error, wait }: Pick<Dispatch, 'result' | 'error' | 'wait'>): string | null {
  const text = sanitiseSummary(error ?? result ?? wait?.reason ?? '')
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const content = lines.filter((line) => !HEADING.test(line))
  const shown = (content.length > 0 ? content : lines).slice(0, MAX_LINES).join('\n')
  return shown === '' ? null : clipText(shown, MAX_CHARACTERS)
}
