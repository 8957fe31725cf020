/**
 * What people said to a session, and the task of each of its runs: what no cut may take from the model.
 * Must not know: how it is shown.
 * Invariants: each text once, in the turn whose answer took it in.
 */

import type { JournalRecord } from '../domain/record.ts'

export interface SaidWords {
  readonly id: string
  readonly turn: number
  readonly run_id: string
  readonly text: string
  /** False: a model wrote it. It is kept only where it is the task of the run that goes on. */
  readonly isOwner: boolean
}

export function saidIn(
  run_id: string,
  { turn, input }: Extract<JournalRecord, { kind: 'input_bound' }>,
): readonly SaidWords[] {
  return input.flatMap((observation): SaidWords[] =>
    observation.type === 'user_message'
      ? [{ id: observation.id, turn, run_id, text: observation.text, isOwner: observation.words !== 'model' }]
      : [],
  )
}

/** Of a turn that came to nothing: its input is still unread and will be bound again. */
export function unsay(words: SaidWords[], turn: number): void {
  while (words.at(-1)?.turn === turn) words.pop()
}

/** The task of a run: what it was made for, or what it was told first. */
export function taskIn(words: readonly SaidWords[], run_id: string | undefined): SaidWords | undefined {
  return words.find(({ id }) => id === run_id) ?? words.find((word) => word.run_id === run_id)
}
