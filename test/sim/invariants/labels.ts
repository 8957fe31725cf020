/**
 * Labels (I12): a result is no more trusted than its tool declares, or than the input of the session when it was
 * requested.
 */

import type { JournalRecord } from '../../../src/domain/journal-record.ts'
import { CLEAN_LABEL, type Label } from '../../../src/domain/label.ts'
import { EFFECTS, RESULT_LABELS } from '../ground-truth.ts'
import { isToolName } from '../plan.ts'
import { isConversationTool } from '../ports/talk.ts'
import type { Fail } from './queue.ts'
import type { CallState, SessionState } from './session.ts'

/** Texts that tools write. Every other text in a result is the program's own. */
const TOOL_TEXT = /\bis done$|^it is so$|\boutput of /

export function checkResultLabel(
  session: SessionState,
  { key, tool, label: before }: CallState,
  { result, label = CLEAN_LABEL }: Extract<JournalRecord, { kind: 'call_settled' }>,
  fail: Fail,
): void {
  const given = isToolName(tool) ? (RESULT_LABELS[tool] ?? { trust: 'untrusted', private: false }) : CLEAN_LABEL
  const reachesPrivate = isToolName(tool) && EFFECTS[tool].reach === 'private'
  const isPrivate = before.private || given.private || reachesPrivate
  const isUntrusted = before.trust === 'untrusted' || given.trust === 'untrusted' || reachesPrivate
  // A tool may repeat its arguments, which the model wrote after it read everything else.
  if (TOOL_TEXT.test(result.content) || (result.status === 'ok' && isConversationTool(tool))) {
    if (isUntrusted && label.trust === 'trusted') fail('I12', `${key}: the result of ${tool} is trusted`)
    if (isPrivate && !label.private) fail('I12', `${key}: the result of ${tool} is not private`)
  }
  lowerLabel(session, label)
}

export function lowerLabel(session: SessionState, label: Label = CLEAN_LABEL): void {
  const { trust, private: isPrivate } = session.label
  session.label = {
    trust: trust === 'untrusted' ? trust : label.trust,
    private: isPrivate || label.private,
  }
}
