/**
 * What people are told about a resident: why it does nothing now, and that it keeps failing.
 * Must not know: when a resident looks.
 */

import type { PeopleText } from '../../domain/language.ts'
import { notAskedAgain, type ResidentMind } from '../../domain/resident.ts'

export const NOTHING_YET: PeopleText = { text: 'nothing has happened yet', zh: '还没有发生任何事' }
export const IS_LOOKING: PeopleText = { text: 'it is looking', zh: '它正在看' }

const NOTHING_NEW: PeopleText = { text: 'nothing is new', zh: '没有新的输入' }
const NOTHING_TO_DO: PeopleText = { text: 'nothing was to be done', zh: '没有需要做的事' }
const ASKED: PeopleText = { text: 'it has asked, and waits for the answer', zh: '它提了问题，在等回答' }

/** Contract: pure; the reason after a look that came to an action. */
export function reasonAfterLook(mind: ResidentMind | undefined): PeopleText {
  const { last = null, unanswered = 0 } = mind ?? {}
  if (last?.action === 'query' && unanswered > 0) return ASKED
  if (last?.action !== 'noop') return NOTHING_NEW
  const silenced = notAskedAgain(unanswered)
  return last.why === silenced.text ? silenced : last.why === '' ? NOTHING_TO_DO : { text: last.why }
}

export const reasonAfterFailure = (error: string): PeopleText => ({
  text: `the last look failed: ${error}`,
  zh: `上次看失败了：${error}`,
})

/** One failed look may be chance; this many in a row are a problem. */
const MIN_FAILURES = 3

/** Contract: pure; the residents that fail at every look; empty if none does. */
export const failingResidents = (
  residents: readonly { readonly agent_id: string; readonly failures: number; readonly error: string | null }[],
): readonly string[] =>
  residents
    .filter(({ failures }) => failures >= MIN_FAILURES)
    .map(({ agent_id, failures, error }) => `the last ${failures} looks of the resident ${agent_id} failed: ${error}`)
