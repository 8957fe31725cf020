/**
 * The owner's messages that a run has read, until it succeeds: a retry of a run that failed reads them again.
 * Must not know: the store.
 * Invariant: a message that another run has read since is not read again.
 */

import type { JournalRecord } from '../../domain/journal-record.ts'
import type { Observation } from '../../domain/observation.ts'
import { dispatchEndOf } from '../../domain/stop-reason.ts'
import { messagesWithoutTask } from './bind-input.ts'
import type { SessionThread } from './session-thread.ts'

/** Messages by the run that has read them. */
export type UnfinishedInput = Map<string, readonly Observation[]>

export function noteInputRead({ unfinished, run_id = '' }: SessionThread, input: readonly Observation[]): void {
  const read = messagesWithoutTask(input, run_id).filter(({ type }) => type === 'user_message')
  if (read.length === 0) return
  const isOther = ({ id }: Observation): boolean => read.every((message) => message.id !== id)
  for (const [run, messages] of unfinished) unfinished.set(run, messages.filter(isOther))
  unfinished.set(run_id, [...(unfinished.get(run_id) ?? []), ...read])
}

export function noteRunEnd(
  { unfinished }: SessionThread,
  { run_id, stop_reason, failure_class }: Extract<JournalRecord, { kind: 'run_ended' }>,
): void {
  if (dispatchEndOf(stop_reason, failure_class).status !== 'failed') unfinished.delete(run_id)
}

/** Contract: what the run reads first: its messages from before it failed, then the unread ones. */
export function withUnfinished(
  { unfinished, run_id = '' }: SessionThread,
  unread: readonly Observation[],
): readonly Observation[] {
  const before = unfinished.get(run_id) ?? []
  return [...before.filter(({ id }) => unread.every((other) => other.id !== id)), ...unread]
}
